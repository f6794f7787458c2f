"""Quantities with units: a bare number is in the field's own unit, a string names its unit ('16 GiB', '8 ms')."""

import difflib
import math
import re
import sys
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

UNITS: dict[str, dict[str, float]] = {
    "memory": {
        "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
        "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    },
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400},
    "transfer rate": {"kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30},
    "rate": {"/s": 1, "/min": 1 / 60, "/h": 1 / 3600},
    "share": {"%": 0.01},
}  # fmt: skip
"""Units by dimension, each in the dimension's base unit (byte, second, byte per second, per second, 1)."""

MOST = {
    "GiB": 2**30,
    "MiB": 2**40,
    "KiB": 2**50,
    "s": 30 * 86400,
    "ms": 1e4,
    "us": 1e7,
    "ns": 1e6,
    "MiB/s": 2**20,
    "/s": 1e9,
}
"""The largest value of a field in each unit: beyond it somebody took one unit for another (1 EiB, 30 d, 10 s, ...)."""

_NUMBER_AND_UNIT = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)?\s*$")


def parse_quantity(value: Any, dimension: str, unit: str) -> Any:
    """A number in `unit` from a number or a string with a unit of `dimension`.

    Raises ValueError with one sentence that says what came and what is allowed; what is no number or string is
    left to the type check that follows.
    """
    if isinstance(value, bool):
        problem = f"must be a number or a string such as '{example(dimension, unit)}', not true or false"
        raise ValueError(problem)  # noqa: TRY004 - pydantic reports ValueError
    if isinstance(value, int | float):
        return _checked(value, dimension, unit)
    if not isinstance(value, str):
        return value
    if re.match(r"^\s*[-+]?\d+,\d+", value):
        raise ValueError("decimal comma: write a decimal point")
    match = _NUMBER_AND_UNIT.match(value)
    if match is None:
        raise ValueError(f"is not a number with a unit; write for example '{example(dimension, unit)}'")
    number, name = float(match[1]), match[2]
    if name is None:
        raise ValueError(
            f"text needs a unit: '{match[1]} {unit or '%'}'; a number without quotes is in {unit or 'shares of 1'}"
        )
    return _checked(number * _factor(name, dimension, unit), dimension, unit)


def example(dimension: str, unit: str) -> str:
    """What a correct value looks like."""
    return "75 %" if dimension == "share" else f"8 {unit}"


def _factor(name: str, dimension: str, unit: str) -> float:
    known = UNITS[dimension]
    name = name.replace("\u00b5", "u").replace("\u03bc", "u")  # the micro sign and the Greek letter
    if name in known:
        return known[name] / known.get(unit, 1.0)
    for other, units in UNITS.items():
        if name in units:
            raise ValueError(f"{name!r} is a unit of {other}, expected {dimension} in one of {', '.join(known)}")
    folded = {unit.casefold(): unit for unit in known}
    nearest = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    hint = f" (did you mean '{folded[nearest[0]]}'?)" if nearest else ""
    raise ValueError(f"unknown unit {name[:40]!r}{hint}; known for {dimension}: {', '.join(known)}")


def _checked(number: float, dimension: str, unit: str) -> float:
    if not abs(number) <= sys.float_info.max:
        raise ValueError("must be a finite number")
    if dimension == "share" and number > 1:
        raise ValueError(
            f"is a share from 0 to 1; {number:g} looks like a percentage: write '{number:g} %' or {number / 100:g}"
        )
    if number > MOST.get(unit, math.inf):
        raise ValueError(f"must be at most {MOST[unit]:g} {unit}; is the unit right?")
    return float(number)


def _quantity(dimension: str, unit: str) -> Any:
    text = f"a number in {unit}, or a string with a unit of {dimension}" if unit else "a share from 0 to 1, or '75 %'"
    schema = {"anyOf": [{"type": "number"}, {"type": "string"}], "description": text}
    return BeforeValidator(lambda value: parse_quantity(value, dimension, unit)), WithJsonSchema(schema)


Gib = Annotated[float, *_quantity("memory", "GiB")]
Mib = Annotated[float, *_quantity("memory", "MiB")]
Kib = Annotated[float, *_quantity("memory", "KiB")]
MibPerSecond = Annotated[float, *_quantity("transfer rate", "MiB/s")]
Seconds = Annotated[float, *_quantity("time", "s")]
Milliseconds = Annotated[float, *_quantity("time", "ms")]
Microseconds = Annotated[float, *_quantity("time", "us")]
Nanoseconds = Annotated[float, *_quantity("time", "ns")]
PerSecond = Annotated[float, *_quantity("rate", "/s")]
Fraction = Annotated[float, *_quantity("share", "")]


def _no_truth(value: Any) -> Any:
    """Python takes true for 1; a person who writes `disks: true` means something else."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - pydantic reports ValueError
    return value


Number = Annotated[float, BeforeValidator(_no_truth)]
WholeNumber = Annotated[int, BeforeValidator(_no_truth)]
