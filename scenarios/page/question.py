"""What one side of the page asks: a scenario of the library or a described machine, with what its sliders say."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

from oltpsim.models.input import did_you_mean
from oltpsim.models.reading import Description, numeric_value, read_description
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import AskedScenario, library_files, load_scenario_file
from oltpsim.scenarios.show.numbers import count, significant
from oltpsim.simulator.errors import InputError

SIDES = ("a", "b")
MOST_LETTERS = 300
"""of a description"""
MOST_ADDRESS = 4000
OCTAVES, STEPS_PER_OCTAVE = 4, 8
"""a slider goes from a sixteenth of the scenario's value to sixteen times it"""
MEMORY, BUFFERS = "machine.memory_gib", "database.pool.buffers"
OCTAVES_UP = {BUFFERS: 2}
"""which are soon more than any memory holds"""
MOST_DISKS = 12
"""up to here each number of disks has its place"""


@dataclass(frozen=True)
class SliderKey:
    """A number of a scenario that has a slider. `steps`: places in an octave; 0: every whole number."""

    key: str
    label: str
    unit: str
    steps: int = STEPS_PER_OCTAVE
    whole: bool = True
    least: float = 1.0


SLIDERS = (
    SliderKey(MEMORY, "RAM", "GiB", 2, whole=False, least=0.25),
    SliderKey(BUFFERS, "Buffers", "", least=100),
    SliderKey("machine.disks.count", "Disks", "", 0),
    SliderKey("workload.arrivals.clients", "Clients", "", 4),
    SliderKey("machine.cpu.cores", "Cores", "", 0),
)
KEYS = {each.key: each for each in SLIDERS}
MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""one of the program's models, or the digest of a calibration of this page"""


@dataclass(frozen=True)
class PageQuestion:
    """A scenario's name or a line that describes a machine, values at the keys of sliders, and a model's name."""

    machine: str
    values: tuple[tuple[str, float], ...] = ()
    model: str = ""
    """empty: the parts' own numbers answer"""

    @property
    def settings(self) -> tuple[str, ...]:
        """As --set takes them."""
        return tuple(f"{key}={written(value)}" for key, value in self.values)

    @property
    def digest(self) -> str:
        """Hash that tells questions apart."""
        text = repr((self.machine, sorted(self.settings), *([self.model] if self.model else [])))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def scenario(self, engine: str) -> AskedScenario:
        """The checked scenario for an engine. Raises InputError; no file is read but those of the library."""
        settings = (*self.settings, f"engine={engine}")
        names = library_files()
        if self.machine in names:
            return AskedScenario(load_scenario_file(names[self.machine], settings))
        description = _described(self.machine, settings, names)
        if description.scenario.job is not None:
            raise InputError(f"{self.machine}: runs no transactions; give a machine for transactions")
        return AskedScenario(description.scenario, description)

    def plain(self) -> dict[str, Any]:
        """As the browser keeps it."""
        return {"machine": self.machine, "values": dict(self.values), "model": self.model}


def _described(line: str, settings: Sequence[str], names: Mapping[str, Any]) -> Description:
    try:
        return read_description(line, settings)
    except InputError as error:
        near = did_you_mean(line, names) if len(line.split()) == 1 else ""
        raise InputError(f"{error}{near and f'; as a scenario of the library{near}'}") from error


def written(value: float) -> str:
    """A number as an address and --set have it."""
    return f"{value:.12g}"


def read_question(data: object) -> PageQuestion:
    """What the browser keeps, checked: it may send anything. Raises InputError."""
    if not isinstance(data, Mapping):
        raise InputError(f"question: got {type(data).__name__}; give a machine and values")
    machine, values = data.get("machine"), data.get("values") or {}
    if not isinstance(machine, str) or not machine.strip():
        raise InputError("machine: got nothing; describe one, such as '8 cores, 32 GB, SSD, PostgreSQL 16'")
    machine = machine.strip()
    if len(machine) > MOST_LETTERS or not machine.isprintable():
        raise InputError(f"machine: got {len(machine)} letters; must be one line of at most {MOST_LETTERS}")
    if not isinstance(values, Mapping):
        raise InputError("values: must be numbers by their keys")
    numbers = tuple(sorted((str(key), _number(str(key), value)) for key, value in values.items()))
    return PageQuestion(machine, numbers, _model_name(data.get("model")))


def _model_name(name: object) -> str:
    if name is None or name == "":
        return ""
    text = name.strip() if isinstance(name, str) else None
    if text is None or (text and not MODEL_NAME.fullmatch(text)):
        raise InputError(f"model: got {str(name)[:40]!r}; choose one of the list, or leave it empty")
    return text


def _number(key: str, value: object) -> float:
    if key not in KEYS:
        raise InputError(f"{key[:60]}: has no slider{did_you_mean(key, KEYS)}; the sliders are {', '.join(KEYS)}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not 0 < number < 1e12:
        raise InputError(f"{key}: got {str(value)[:40]!r}; must be a number above 0")
    return number


def slider_values(slider: SliderKey, scenario: ScenarioSpec, value: float) -> list[float]:
    """The places of a slider around the scenario's own value, which is one of them; and `value`, if it isn't."""
    own = numeric_value(scenario, slider.key)
    assert own is not None
    if slider.key == MEMORY:
        sizes = (factor * 2.0**power for power in range(-2, 14) for factor in (1.0, 1.5))
        around = [each for each in sizes if own / 2**OCTAVES <= each <= own * 2**OCTAVES]
    elif slider.steps:
        places = range(-OCTAVES * slider.steps, OCTAVES_UP.get(slider.key, OCTAVES) * slider.steps + 1)
        around = [float(f"{own * 2.0 ** (place / slider.steps):.2g}") for place in places]
    elif own <= MOST_DISKS:
        around = [float(each) for each in range(1, 2 * MOST_DISKS + 1)]
    else:
        around = [float(round(own * 2.0 ** (place / 4))) for place in range(-8, 9)]
    if slider.whole:
        around = [float(round(each)) for each in around]
    return sorted({each for each in around if each >= slider.least} | {float(own), float(value)})


def sliders_of(scenario: ScenarioSpec) -> list[SliderKey]:
    """The sliders whose numbers a scenario has."""
    return [each for each in SLIDERS if numeric_value(scenario, each.key) is not None]


def value_words(slider: SliderKey, value: float) -> str:
    """A place of a slider as people read it."""
    number = count(value) if slider.whole else significant(value)
    return f"{number} {slider.unit}".rstrip()


def address_of(questions: Sequence[PageQuestion]) -> str:
    """The query of the page's address: `a`, `a.model`, `a.KEY`, and the same of `b` where two are compared."""
    pairs = []
    for side, question in zip(SIDES, questions, strict=False):
        pairs.append((side, question.machine))
        pairs += [(f"{side}.model", question.model)] * bool(question.model)
        pairs += [(f"{side}.{key}", written(value)) for key, value in question.values]
    return "?" + urlencode(pairs)


def questions_in(search: str) -> list[PageQuestion]:
    """The questions of an address, none to two. Raises InputError."""
    if len(search) > MOST_ADDRESS:
        raise InputError(f"address: got {len(search)} letters; must be at most {MOST_ADDRESS}")
    given = {key: values[-1] for key, values in parse_qs(search.removeprefix("?"), max_num_fields=40).items()}
    found = []
    for side in SIDES:
        if side in given:
            values = {key.partition(".")[2]: text for key, text in given.items() if key.startswith(f"{side}.")}
            model = values.pop("model", "")
            found.append(read_question({"machine": given[side], "values": values, "model": model}))
    return found
