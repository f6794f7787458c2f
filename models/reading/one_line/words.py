"""The table of what people write, words.yaml: its forms as patterns, and what a text that matches one says."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field

from oltpsim.models.input import Number, Spec, as_mapping, parse_yaml, validated

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,6})?)"
SEPARATOR = r"(?: ?[=:] ?|[ _]|-(?!\d))?"
"""what a blank of a form stands for"""
BYTES_OF = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}
"""of memory and what lies in it, whose GB has 2^30 bytes as it is sold; a GB of data or of a drive has 10^9"""
DECIMAL_OF = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
TIMES_OF = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
SECONDS_OF = {"us": 1e-6, "µs": 1e-6, "mi": 60.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TIME = (
    rf"{NUMBER} ?(?:us|µs|micros(?:econds?)?|ms|milliseconds?|s(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?|h(?:(?:ou)?rs?)?)"
)
RECORDS_OF_UNIT = 1_000_000


class Form(Spec):
    """One form of a piece; see words.yaml."""

    form: str
    says: Mapping[str, Any] = Field(default_factory=dict)
    sets: Mapping[str, Any] = Field(default_factory=dict)
    of: str = ""
    source: str = ""
    factor: Number | None = None
    others: tuple[float, ...] = ()
    disk: str = ""
    refuse: str = ""
    driver: str = ""
    alone: str = ""


@dataclass(frozen=True)
class Setting:
    """A value of a scenario's key that a piece says, and the form that it matched."""

    value: Any
    form: Form = field(compare=False)


def number(text: str) -> float:
    """A number above 0, with or without thousands' commas. Raises ValueError."""
    value = float(text.replace(",", ""))
    if value <= 0:
        raise ValueError(f"got {text}; must be greater than 0")
    return value


def _count(text: str) -> int:
    """A whole number above 0, maybe of thousands or millions. Raises ValueError."""
    digits, times = re.match(r"[\d.,]+", text), re.search(r"[a-z]", text)
    value = number(digits[0] if digits else text) * (TIMES_OF[times[0]] if times else 1.0)
    if abs(value - round(value)) > 1e-6 * value:
        raise ValueError(f"got {text}; must be a whole number")
    return round(value)


def _bytes(text: str, of: Mapping[str, float]) -> float:
    unit = re.search(r"[a-z]", text)
    assert unit is not None
    return number(re.sub(r"[^\d.,]", "", text)) * of[unit[0]]


def gib(text: str) -> float:
    """GiB of memory, whose GB has 2^30 bytes. Raises ValueError."""
    return _bytes(text, BYTES_OF) / 2**30


def _gib_of_data(text: str) -> float:
    return _bytes(text, BYTES_OF if re.search(r"[kmgt]i", text) else DECIMAL_OF) / 2**30


def _gib_of_logs(text: str) -> float:
    """Log files' size times their number."""
    size = re.search(SIZE, text)
    assert size is not None
    times = re.search(r"\d+", text[: size.start()] + text[size.end() :])
    return gib(size[0]) * (int(times[0]) if times else 1)


def _seconds(text: str) -> float:
    unit = re.search(r"[a-zµ]+", text)
    assert unit is not None
    name = unit[0].replace("micro", "us").replace("milli", "ms")
    return number(text[: unit.start()].strip()) * next(
        each for start, each in SECONDS_OF.items() if name.startswith(start)
    )


def _page_kib(text: str) -> float:
    value = number(re.sub(r"[^\d.,]", "", text))
    return value / 1024 if value >= 1024 else value


def _records(text: str) -> int:
    records = _count(text)
    if records % RECORDS_OF_UNIT:
        nearest = max(1, round(records / RECORDS_OF_UNIT))
        raise ValueError(f"got {records:,} records, which are counted by the million here; nearest: {nearest} million")
    return records // RECORDS_OF_UNIT


def _fraction(text: str) -> float:
    value = number(text.rstrip("%percnt ")) / 100
    if value > 1:
        raise ValueError(f"got {text}; at most 100 %")
    return value


SIZE = rf"{NUMBER} ?(?:[kmgt](?:i?b(?:yte)?s?)?)"
ATOMS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "n": (NUMBER, number),
    "count": (NUMBER, _count),
    "few": (r"\d{1,3}(?:,\d{3})*", _count),
    "threads": (NUMBER, _count),
    "bare": (NUMBER, lambda text: float(_count(text))),
    "many": (rf"{NUMBER} ?(?:k|m|bn?|thousand|million|billion)?", _count),
    "requests": (rf"{NUMBER} ?k?", lambda text: float(_count(text))),
    "records": (rf"{NUMBER} ?(?:k|m|bn?|thousand|million|billion)?", _records),
    "gib": (rf"{NUMBER} ?(?:[kmgt]i?b(?:yte)?s?|[gt]i?)", gib),
    "size": (SIZE, gib),
    "data": (rf"{NUMBER} ?[kmgt]i?b(?:yte)?s?", _gib_of_data),
    "disk": (rf"{NUMBER} ?[gt](?:i?b)?", lambda text: _bytes(text, DECIMAL_OF) / 2**30),
    "redo": (rf"(?:\d+ ?[x×*] ?)?{SIZE}(?: ?[x×*] ?\d+)?", _gib_of_logs),
    "s": (TIME, _seconds),
    "us": (rf"{NUMBER} ?(?:us|µs|micros(?:econds?)?|ms|milliseconds?)", lambda text: _seconds(text) * 1e6),
    "zero": (r"(?:0|[2-9]|\d{2,7})", lambda _: 0),
    "pagekib": (rf"(?:{NUMBER} ?ki?b?|4096|8192|16384|32768|65536)", _page_kib),
    "percent": (rf"{NUMBER} ?(?:%|percent|per cent)", _fraction),
    "level": (r"(?:0|10|1\+0|1|5|6)", lambda text: f"raid{text.replace('1+0', '10')}"),
    "krpm": (r"(?:5\.4|7\.2|10|15)", lambda text: int(1000 * float(text))),
    "ghz": (rf"{NUMBER} ?[gm]hz", lambda text: number(text.rstrip("gmhz ")) / (1.0 if "g" in text else 1000.0)),
    "letter": ("[a-f]", str.upper),
    "value": (r"\S+(?: (?:[kmg]i?b|min|m?s))?", str),
    "on": ("(?:on|true|1|yes|enabled)", lambda _: True),
}
"""What stands in angle brackets in a form: its pattern, and its value. Values raise ValueError."""


@dataclass(frozen=True)
class Pattern:
    """A form as a pattern; `atoms`: what each of its groups holds."""

    expression: re.Pattern[str]
    atoms: tuple[str, ...]
    form: Form

    def says(self, match: re.Match[str]) -> dict[str, Any]:
        """What a match says, keys of the scenario as settings. Raises ValueError."""
        values: dict[str, Any] = {}
        for atom, text in zip(self.atoms, match.groups(), strict=True):
            if text is not None and atom not in values:
                values[atom] = ATOMS[atom][1](text.lower())

        def value(of: Any) -> Any:
            return values[of[1:-1]] if isinstance(of, str) and of[:1] == "<" else of

        settings = {key: Setting(value(of), self.form) for key, of in self.form.sets.items()}
        driver = {"driver": self.form.alone} if self.form.alone else {}
        return driver | {key: value(of) for key, of in self.form.says.items()} | settings


def pattern_of(form: Form) -> Pattern:
    """The pattern of a form."""
    text = form.form.replace("{who}", table()["macros"]["who"])
    text = re.sub(r"(?<!\\)\((?!\?)", "(?:", re.sub(" (?!\\?)", lambda _: SEPARATOR, text))
    text = re.sub(r"(?<![-\w\\])-([A-Z])\b", r"(?-i:-\1)", text)
    atoms = tuple(re.findall(r"<([a-z]+)>", text))
    return Pattern(re.compile(re.sub(r"<([a-z]+)>", lambda atom: f"({ATOMS[atom[1]][0]})", text), re.I), atoms, form)


@cache
def table() -> dict[str, Any]:
    """The table as it is written."""
    text = resources.files("oltpsim.models").joinpath("reading/one_line/words.yaml").read_text(encoding="utf-8")
    return as_mapping(parse_yaml(text, "words.yaml"), "words.yaml")


@cache
def patterns() -> tuple[Pattern, ...]:
    """Forms of whole pieces; those of a benchmark's lines stand first."""
    forms = validated(list[Form], table()["pieces"], "words.yaml")
    return tuple(map(pattern_of, sorted(forms, key=lambda form: not form.driver)))


@cache
def disk_terms() -> tuple[Pattern, ...]:
    """Forms of what a piece about disks is made of."""
    return tuple(map(pattern_of, validated(list[Form], table()["disks"]["terms"], "words.yaml")))


def matches(text: str, driver: str) -> Iterator[tuple[Pattern, re.Match[str]]]:
    """Forms that a whole text has, in a line of this benchmark; empty: of none."""
    for pattern in patterns():
        owner, alone = pattern.form.driver or pattern.form.alone, bool(pattern.form.alone)
        fits = not owner or driver == owner or (alone and not driver)
        if fits and (match := pattern.expression.fullmatch(text)):
            yield pattern, match
