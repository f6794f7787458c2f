"""Design of a sweep: fields and their values, or two ends between which samples are drawn; and the points they make.

Points are every combination of listed values, and Sobol samples of what lies between two ends (scipy.stats.qmc;
scrambled after Owen, by the seed), which fill the space more evenly than independent draws.
"""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import scipy

from oltpsim.models.input import repeated_name, value_at
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import ScenarioLoader
from oltpsim.simulator.errors import InputError

MOST_POINTS = 10_000
SIGNIFICANT_DIGITS = 6
FORMS = "key=a,b,c or key=start:stop:step"
FORMS_WITH_SAMPLES = f"{FORMS}, or with --samples key=low..high or key=low..high:log"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ENDS = re.compile(rf"({_NUMBER})(\s*[^\d\s.:,]*)\s*\.\.\s*({_NUMBER})(\s*[^\d\s.:,]*)\s*(?::\s*(\w+))?")


@dataclass(frozen=True)
class Axis:
    """A field (dotted key) and the values it takes, as they would be written in a scenario file."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class SampledAxis:
    """A field (dotted key) of which samples are drawn from `low` to `high`, both in `unit` (as written; may be empty).

    `logarithmic`: equal shares of the samples for equal ratios, not for equal differences.
    """

    key: str
    low: float
    high: float
    unit: str = ""
    logarithmic: bool = False

    def at(self, fraction: float, whole: bool) -> str:
        """The value at a fraction of the way from low to high, as it would be written; rounded if `whole`."""
        if self.logarithmic:
            value = self.low * (self.high / self.low) ** fraction
        else:
            value = self.low + (self.high - self.low) * fraction
        written = f"{round(value)}" if whole else plain(Decimal(f"{value:.{SIGNIFICANT_DIGITS}g}"))
        return written + self.unit


def plain(number: Decimal) -> str:
    """A number without an exponent, which scenario files would take for text."""
    return f"{number.normalize():f}"


def parse_axis(text: str, option: str = "--vary") -> Axis:
    """Read `key=a,b,c` or `key=start:stop:step` (numbers, `stop` included). Raises InputError."""
    key, values = _parts(text, option, FORMS)
    chosen = tuple(value.strip() for value in _split(values))
    if len(chosen) == 1 and values.count(":") == 2 and "{" not in values:
        chosen = _range(f"{option} {text!r}", values)
    if "" in chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"{option} {text!r}: every value must be there once")
    return Axis(key, chosen)


def parse_axes(texts: Sequence[str], samples: int | None) -> tuple[Axis | SampledAxis, ...]:
    """Read every --vary; `low..high` is for samples. Raises InputError if only one of the two is there."""
    axes = tuple(_axis_or_interval(text) for text in texts)
    intervals = [text for text, axis in zip(texts, axes, strict=True) if isinstance(axis, SampledAxis)]
    if intervals and samples is None:
        raise InputError(f"--vary {intervals[0]!r}: low..high is sampled: give --samples N, or {FORMS} for a grid")
    if samples is not None and not intervals:
        raise InputError("--samples: nothing to sample from; give --vary key=low..high at least once")
    if twice := repeated_name(axis.key for axis in axes):
        raise InputError(f"--vary {twice}: stands twice; give all its values in one --vary")
    return axes


def _axis_or_interval(text: str) -> Axis | SampledAxis:
    key, values = _parts(text, "--vary", FORMS_WITH_SAMPLES)
    match = _ENDS.fullmatch(values.strip())
    if match is None:
        return parse_axis(text)
    low, high, unit, high_unit, scale = float(match[1]), float(match[3]), match[2], match[4], match[5]
    where = f"--vary {text!r}"
    if scale not in (None, "log"):
        raise InputError(f"{where}: got {scale!r} after the colon; the one scale beside the plain one is log")
    if unit.strip() and unit.strip() != high_unit.strip():
        raise InputError(f"{where}: both ends must have the same unit, as in 2 GiB..64 GiB")
    if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
        raise InputError(f"{where}: low must be below high")
    if scale == "log" and low <= 0:
        raise InputError(f"{where}: a logarithmic scale begins above 0")
    return SampledAxis(key, low, high, high_unit.rstrip(), scale == "log")


def _parts(text: str, option: str, forms: str) -> tuple[str, str]:
    key, separator, values = text.partition("=")
    if not separator or not key.strip() or not values.strip():
        raise InputError(f"{option} {text!r}: expected {forms}")
    return key.strip(), values


def _split(values: str) -> list[str]:
    """The values between commas; commas inside brackets belong to a value."""
    parts, depth = [""], 0
    for letter in values:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _range(where: str, values: str) -> tuple[str, ...]:
    try:
        start, stop, step = (Decimal(part.strip()) for part in values.split(":"))
    except InvalidOperation as error:
        raise InputError(f"{where}: start, stop and step must be numbers") from error
    if not (start.is_finite() and stop.is_finite() and step.is_finite()) or step <= 0 or stop < start:
        raise InputError(f"{where}: step must be above 0 and stop not below start")
    if (stop - start) / step >= MOST_POINTS:
        raise InputError(f"{where}: more than {MOST_POINTS:,} values")
    count = int((stop - start) / step) + 1
    return tuple(plain(start + step * number) for number in range(count))


ScenarioReader = Callable[[Sequence[str]], ScenarioSpec]
"""Reader of the scenario with settings. Raises InputError."""


@dataclass(frozen=True)
class SweepPoint:
    """Point of a sweep before it is run: a scenario, or why there is none."""

    values: tuple[str, ...]
    scenario: ScenarioSpec | InputError


def sweep_points(
    load: ScenarioLoader, axes: Sequence[Axis | SampledAxis], samples: int | None = None, seed: int = 1
) -> list[SweepPoint]:
    """The points, listed values in the order of a grid, each combination of them with the same samples.

    `load`: the scenario with more settings, KEY=VALUE. Raises InputError if no point is a valid scenario.
    """
    load(())
    count = math.prod(len(axis.values) for axis in axes if isinstance(axis, Axis)) * (samples or 1)
    if count > MOST_POINTS:
        raise InputError(
            f"--vary: that makes {count:,} points, more than {MOST_POINTS:,}; give fewer values or samples"
        )
    choices = [axis.values if isinstance(axis, Axis) else ("",) for axis in axes]
    intervals = [axis for axis in axes if isinstance(axis, SampledAxis)]
    drawn: list[tuple[str, ...]] = [()]
    if samples is not None:
        whole = [_takes_whole_numbers(interval, load) for interval in intervals]
        drawn = [
            tuple(axis.at(fraction, rounded) for axis, fraction, rounded in zip(intervals, row, whole, strict=True))
            for row in sobol(samples, len(intervals), seed)
        ]
    points: list[SweepPoint] = []
    for listed, sample in itertools.product(itertools.product(*choices), drawn):
        sampled = iter(sample)
        values = tuple(value or next(sampled) for value in listed)
        settings = [f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True)]
        try:
            points.append(SweepPoint(values, load(settings)))
        except InputError as error:
            points.append(SweepPoint(values, error))
    errors = [point.scenario for point in points if isinstance(point.scenario, InputError)]
    if len(errors) == len(points):
        raise errors[0]
    return points


def _takes_whole_numbers(interval: SampledAxis, load: ScenarioReader) -> bool:
    """Whether the field holds integers: asked of the scenario, since `1..4` may be written for any number."""
    try:
        scenario = load([f"{interval.key}={interval.at(0.0, whole=False)}"])
    except InputError:
        scenario = load([f"{interval.key}={interval.at(1.0, whole=False)}"])
    return isinstance(value_at(scenario.model_dump(mode="json"), interval.key), int)


def sobol(samples: int, dimensions: int, seed: int) -> list[list[float]]:
    """The first `samples` points of a scrambled Sobol sequence, in [0, 1); the same for the same seed."""
    power = max(0, math.ceil(math.log2(samples)))
    drawn: list[list[float]] = (
        scipy.stats.qmc.Sobol(dimensions, scramble=True, rng=seed).random_base2(power)[:samples].tolist()
    )
    return drawn
