"""What a sweep varies: a field and its values, or a field and the two ends between which samples are drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from simulator.errors import InputError

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
    keys = [axis.key for axis in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"--vary {twice[0]}: stands twice; give all its values in one --vary")
    return axes


def _axis_or_interval(text: str) -> Axis | SampledAxis:
    key, values = _parts(text, "--vary", FORMS_WITH_SAMPLES)
    match = _ENDS.fullmatch(values.strip())
    if match is None:
        return parse_axis(text)
    low, high = float(match[1]), float(match[3])
    unit, also, scale = match[2], match[4], match[5]
    where = f"--vary {text!r}"
    if scale not in (None, "log"):
        raise InputError(f"{where}: got {scale!r} after the colon; the one scale beside the plain one is log")
    if unit.strip() and unit.strip() != also.strip():
        raise InputError(f"{where}: both ends must have the same unit, as in 2 GiB..64 GiB")
    if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
        raise InputError(f"{where}: low must be below high")
    if scale == "log" and low <= 0:
        raise InputError(f"{where}: a logarithmic scale begins above 0")
    return SampledAxis(key, low, high, also.rstrip(), scale == "log")


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
