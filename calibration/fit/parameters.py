"""Parameters of a fit: numbers of a scenario that it may change, with bounds and priors.

A parameter is fitted on a scale of its own, on which its prior is a standard normal distribution: 0 is the value
before the fit, 1 is one standard deviation of the prior above it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from oltpsim.models.input import (
    Name,
    Number,
    Spec,
    Text,
    did_you_mean,
    read_mapping,
    repeated_name,
    validated,
    value_at,
    value_text,
)
from oltpsim.models.reading import names_a_part, numeric_keys, numeric_value
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

SIGMAS_OF_90_PERCENT = 1.6448536269514722
MOST_LISTED = 8
"""keys that a message lists"""
NEARLY_WHOLE = 1e-6
"""a value so near to a whole number is that number"""
DEFAULTS_FILE = Path(__file__).with_name("parameters.yaml")


@dataclass(frozen=True)
class Parameter:
    """Number of a scenario. Its prior is log-normal with the standard deviation `factor`, or normal with `sd`.

    `value`, `low`, `high` and `sd` are in the unit that the key's name says.
    """

    key: str
    value: float
    low: float
    high: float
    factor: float | None
    sd: float | None
    source: str
    whole: bool = False
    """whether only whole numbers can be: between two of them a fit has what lies between their figures"""

    def at(self, z: float) -> float:
        """The value at a place of the fit's scale; of whole numbers it may lie between two."""
        if self.factor is not None:
            return float(self.value * self.factor**z)
        assert self.sd is not None
        return self.value + self.sd * z

    def place(self, value: float) -> float:
        """The place of a value on the fit's scale."""
        if self.factor is not None:
            return math.log(value / self.value) / math.log(self.factor)
        assert self.sd is not None
        return (value - self.value) / self.sd

    def possible(self, z: float) -> float | int:
        """The value at a place that a machine can have: of whole numbers the nearest."""
        return round(self.at(z)) if self.whole else self.at(z)

    def around(self, z: float, step: float) -> tuple[float, float, float]:
        """Places for a difference: below, here and above, `step` apart, or at the nearest whole number and its next."""
        if not self.whole:
            return z - step, z, z + step
        here = round(self.at(z))
        least = max(here - 1, 1) if self.factor is not None else here - 1
        return self.place(least), self.place(here), self.place(here + 1)

    @property
    def prior(self) -> str:
        """The prior in words."""
        if self.factor is not None:
            return f"{self.value:.4g}, times or divided by {self.factor:.3g}"
        return f"{self.value:.4g} ± {self.sd:.3g}"


def possible_values(parameters: Sequence[Parameter], place: Iterable[float]) -> dict[str, float | int]:
    """Values by their keys at a place, as a machine can have them."""
    return {each.key: each.possible(float(z)) for each, z in zip(parameters, place, strict=True)}


def mixture(parameters: Sequence[Parameter], place: Iterable[float]) -> list[tuple[float, dict[str, float | int]]]:
    """Machines that stand for a place, with their shares: one, but where a whole number lies between two.

    Then one more than there are such numbers, the corners of the simplex around the place: figures in between are
    linear there, continuous, and those of the machine at whole numbers. Freudenthal, Annals of Mathematics 43 (1942).
    """
    values: dict[str, float | int] = {}
    between: list[tuple[float, str]] = []
    for each, z in zip(parameters, place, strict=True):
        value = each.at(float(z))
        if each.whole:
            below = math.floor(value + NEARLY_WHOLE)
            if value - below > NEARLY_WHOLE:
                between.append((value - below, each.key))
            value = below
        values[each.key] = value
    between.sort(reverse=True)
    shares = [1.0, *(share for share, _ in between), 0.0]
    corners = [values]
    for _, key in between:
        corners.append({**corners[-1], key: corners[-1][key] + 1})
    return [(shares[at] - shares[at + 1], corner) for at, corner in enumerate(corners)]


class ParameterSpec(Spec):
    """A parameter as a file has it. `value`: the scenario's if absent."""

    value: Number | None = None
    low: Number
    high: Number
    factor: Number | None = Field(default=None, gt=1, description="standard deviation of a log-normal prior, a factor")
    sd: Number | None = Field(default=None, gt=0, description="standard deviation of a normal prior, in the key's unit")
    vary: bool = True
    source: Text

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.factor is None) == (self.sd is None):
            raise ValueError("needs a prior: 'factor' (log-normal) or 'sd' (normal), one of them")
        if not self.low < self.high:
            raise ValueError(f"low {self.low:g} must be below high {self.high:g}")
        if self.factor is not None and self.low <= 0:
            raise ValueError("a log-normal prior needs a low above 0; give 'sd' for a normal one")
        return self


class ParameterFile(Spec):
    """Parameters by their keys."""

    parameters: dict[Name, ParameterSpec] = Field(min_length=1)


class DefaultSpec(Spec):
    """A parameter that is fitted unless others are named: bounds are shares of the scenario's value if `factor` is."""

    low: Number
    high: Number
    factor: Number | None = None
    sd: Number | None = None
    source: Text


class DefaultsFile(Spec):
    """The parameters that come with the program."""

    defaults: dict[Name, DefaultSpec]


def default_parameters(base: ScenarioSpec) -> list[Parameter]:
    """Parameters of the program's list that the scenario has, around its values. Raises InputError if there is none."""
    found = []
    file = validated(DefaultsFile, read_mapping(DEFAULTS_FILE), DEFAULTS_FILE.name)
    for key, each in file.defaults.items():
        value = numeric_value(base, key)
        if value is None or (each.factor is not None and value <= 0) or _idle(base, key):
            continue
        low, high = (each.low, each.high) if each.factor is None else (each.low * value, each.high * value)
        found.append(Parameter(key, value, low, _highest(base, key, high), each.factor, each.sd, each.source))
    if not found:
        raise InputError(f"{base.name}: has none of the parameters that are fitted by default; name some with --vary")
    return found


def read_parameters(path: Path, bases: Sequence[ScenarioSpec]) -> tuple[list[Parameter], dict[str, float | int]]:
    """The parameters of a file that vary, and the values of those that don't. Raises InputError."""
    varied, fixed = [], {}
    file = validated(ParameterFile, read_mapping(path), path.name)
    for key, each in file.parameters.items():
        where = f"{path.name}: parameters.{key}"
        own = _value(bases, key, where)
        if names_a_part(key) and each.value is not None:
            raise InputError(f"{where}: value: a part's number is the catalogue's, {own:g}; leave it out")
        value: float | int = each.value if each.value is not None else own
        if not each.low <= value <= each.high:
            raise InputError(
                f"{where}: value {value:g} is outside of {each.low:g} .. {each.high:g}; move the bounds or the value"
            )
        is_whole = isinstance(own, int)
        if is_whole:
            if value != int(value):
                raise InputError(f"{where}: value: got {value:g}; must be a whole number, as the scenario's {own}")
            value = int(value)
        if each.vary:
            low, high = _bounds(each.low, each.high, is_whole, where)
            varied.append(Parameter(key, value, low, high, each.factor, each.sd, each.source, is_whole))
        else:
            fixed[key] = value
    return varied, fixed


def _bounds(low: float, high: float, is_whole: bool, where: str) -> tuple[float, float]:
    """Bounds, of a whole number the whole ones within. Raises InputError if there aren't two."""
    if not is_whole:
        return low, high
    least, most = math.ceil(low), math.floor(high)
    if least >= most:
        raise InputError(
            f"{where}: low and high: got {low:g} .. {high:g}; it is a whole number, so give bounds with two of them"
        )
    return least, most


def parse_limits(text: str, example: str) -> tuple[str, float, float]:
    """Key and limits of `KEY=LOW..HIGH`. Raises InputError, with an example."""
    key, equals, limits = text.partition("=")
    try:
        low, high = (float(end) for end in limits.split(".."))
    except ValueError:
        low = high = math.nan
    if not equals or not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"--vary {text}: expected KEY=LOW..HIGH, two numbers in the key's own unit, for example {example}"
        )
    return key.strip(), low, high


def parse_vary(text: str, *bases: ScenarioSpec) -> Parameter:
    """Read `key=LOW..HIGH`; 90 % of the prior lie between them, log-normal if LOW is above 0. Raises InputError."""
    key, low, high = parse_limits(text, "database.path.row_operation_us=10..60")
    value = _value(bases, key, f"--vary {text}")
    is_whole = isinstance(value, int)
    least, most = _bounds(low, high, is_whole, f"--vary {text}")
    if low > 0:
        middle = value if low <= value <= high else math.sqrt(low * high)
        factor, sd = math.exp(math.log(high / low) / (2 * SIGMAS_OF_90_PERCENT)), None
    else:
        middle = value if low <= value <= high else (low + high) / 2
        factor, sd = None, (high - low) / (2 * SIGMAS_OF_90_PERCENT)
    if is_whole:
        middle = min(max(round(middle), least), most)
    source = f"--vary: 90 % between {low:g} and {high:g}"
    return Parameter(key, middle, least, most, factor, sd, source, is_whole)


def parameters_to_fit(
    bases: Sequence[ScenarioSpec], file: Path | None, vary: Sequence[str]
) -> tuple[tuple[Parameter, ...], dict[str, float]]:
    """The parameters that are asked for, --vary before the file, the program's own if neither is given; fixed values.

    `bases`: scenarios of which at least one has each of them; the program's own are those of the first. Raises
    InputError.
    """
    varied, fixed = read_parameters(file, bases) if file is not None else ([], {})
    by_key = {parameter.key: parameter for parameter in varied}
    named = [parse_vary(text, *bases) for text in vary]
    if twice := repeated_name(each.key for each in named):
        raise InputError(f"--vary {twice}: stands twice; keep one")
    by_key |= {parameter.key: parameter for parameter in named}
    fixed = {key: value for key, value in fixed.items() if key not in by_key}
    if not by_key and file is not None:
        raise InputError(f"{file.name}: no parameter varies; set 'vary: true' for one")
    return tuple(by_key.values()) or tuple(default_parameters(bases[0])), fixed


def _value(bases: Sequence[ScenarioSpec], key: str, where: str) -> float | int:
    value = next((found for base in bases if (found := numeric_value(base, key)) is not None), None)
    if value is None:
        known = sorted({each for base in bases for each in numeric_keys(base)})
        found = next((found for base in bases if (found := value_at(base, key)) is not None), None)
        problem = f"the scenario has no such number{did_you_mean(key, known)}"
        if isinstance(found, tuple):
            problem = f"is a list of {len(found)}; name a number of one of its members, the first is {key}[0]"
            problem = problem if found else "is an empty list; the scenario has no number there"
        elif isinstance(found, Spec):
            problem = "is a part, no number; name one of its numbers"
        elif found is not None:
            problem = f"is {value_text(found)}, no number"
        above, below = key, list[str]()
        while above and not below:
            below = [each for each in known if each.startswith((f"{above}.", f"{above}["))]
            above = above.rpartition(".")[0]
        most = f", ... ({len(below)} in all)" if len(below) > MOST_LISTED else ""
        can = f"{', '.join(below[:MOST_LISTED])}{most}" or "numbers, such as database.path.row_operation_us"
        raise InputError(f"{where}: {problem}; what can be varied: {can}")
    return value


def _idle(base: ScenarioSpec, key: str) -> bool:
    """Keys that a scenario has but doesn't use."""
    if key.startswith("database.log."):
        return base.database.log.commit != "durable"
    return key.startswith("operating_system.cpu.contended") and not base.database.critical_section.share_of_path


def _highest(base: ScenarioSpec, key: str, high: float) -> float:
    """The upper bound, cut where the scenario would contradict itself."""
    if key.endswith("seek_track_to_track_ms"):
        return min(high, numeric_value(base, key.replace("track_to_track", "average")) or high)
    return high
