"""The scenario as tables that people read: grouped, with units, descriptions and sources."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from oltpsim.models.input import descriptions
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import MixSpec
from oltpsim.scenarios.show.numbers import count, share, span

UNITS = {
    "_mib_per_s": "MiB/s",
    "_per_s": "/s",
    "_gib": "GiB",
    "_mib": "MiB",
    "_kib": "KiB",
    "_ms": "ms",
    "_us": "µs",
    "_pages": "pages",
}
PARTS = ("machine", "operating_system", "database", "workload", "interval")
HIDDEN = ("name", "model", "kind", "source")
ABBREVIATIONS = {"cpu": "CPU", "io": "I/O", "tpcc": "rows chosen", "rpm": "revolutions per minute"}
ASSUMED = "assumption"


@dataclass(frozen=True)
class ConfigurationItem:
    """One setting: what it is called, its value with unit, and what it means if the name does not say."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class ConfigurationSection:
    """The settings of one part, what it is about, and where they come from."""

    title: str
    about: str
    items: tuple[ConfigurationItem, ...]
    source: str


@dataclass(frozen=True)
class ConfigurationGroup:
    """One table: a part of the scenario with its own parts."""

    title: str
    sections: tuple[ConfigurationSection, ...]


def configuration_groups(scenario: ScenarioSpec) -> list[ConfigurationGroup]:
    """Machine, operating system, database, workload and interval as tables."""
    found = []
    for part in PARTS:
        spec: BaseModel = getattr(scenario, part)
        sections = tuple(section for section in _sections(part, spec) if section.items or section.source)
        found.append(ConfigurationGroup(_title(part, spec), sections))
    return found


def assumptions(scenario: ScenarioSpec) -> list[tuple[str, str]]:
    """Every source that is an assumption: its words, and the parts that rest on it."""
    places: dict[str, list[str]] = {}
    for part in PARTS:
        for section in _sections(part, getattr(scenario, part)):
            if section.source.lower().startswith(ASSUMED):
                words = section.source.partition(":")[2].strip() or section.source
                places.setdefault(words, []).append(section.title)
    return [(words, ", ".join(titles)) for words, titles in places.items()]


def _sections(name: str, spec: BaseModel) -> Iterator[ConfigurationSection]:
    """The spec's own settings, then those of the specs inside it."""
    items = []
    inside: list[tuple[str, BaseModel]] = []
    about = descriptions(type(spec))
    for field in type(spec).model_fields:
        value = getattr(spec, field)
        if isinstance(value, BaseModel):
            inside.append((field, value))
        elif value is not None and field not in HIDDEN:
            as_share = isinstance(spec, MixSpec)
            items.append(ConfigurationItem(_label(field), _value(field, value, as_share), about.get(field, "")))
    contract = inspect.getdoc(type(spec)) or ""
    sentence = contract.partition("\n\n")[0].replace("\n", " ").replace("`", "")
    yield ConfigurationSection(_title(name, spec), sentence, tuple(items), str(getattr(spec, "source", "")))
    for field, part in inside:
        yield from _sections(field, part)


def _title(field: str, spec: BaseModel) -> str:
    called = getattr(spec, "name", None) or getattr(spec, "model", None)
    words = _label(field)
    return f"{words}: {called}" if called else words


def _label(field: str) -> str:
    for ending in (*UNITS, "_s", "_fraction"):
        if field.endswith(ending):
            field = field.removesuffix(ending)
            break
    words = " ".join(ABBREVIATIONS.get(word, word) for word in field.split("_"))
    return words[0].upper() + words[1:]


def _value(field: str, value: object, as_share: bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value).replace("_", " ")
    if as_share or field.endswith("_fraction") or "share" in field.split("_"):
        return share(float(value))
    if field.endswith("_s") and not field.endswith("_per_s"):
        return span(float(value))
    unit = next((unit for ending, unit in UNITS.items() if field.endswith(ending)), "")
    number = count(value) if value == round(value) else f"{value:,.4g}"
    return f"{number} {unit}".strip()
