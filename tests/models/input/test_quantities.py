"""Numbers with units: what they mean, what they refuse, and that writing and reading agree."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from oltpsim.models.input import (
    Fraction,
    Gib,
    Kib,
    Mib,
    MibPerSecond,
    Microseconds,
    Milliseconds,
    Number,
    PerSecond,
    Seconds,
    WholeNumber,
    parse_quantity,
)
from oltpsim.models.input.quantities import MOST, UNITS

FIELDS = [
    ("memory", "GiB"),
    ("memory", "MiB"),
    ("memory", "KiB"),
    ("transfer rate", "MiB/s"),
    ("time", "s"),
    ("time", "ms"),
    ("time", "us"),
    ("rate", "/s"),
]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Gib, "16 GiB", 16),
        (Gib, "16GiB", 16),
        (Gib, " 16  GiB ", 16),
        (Gib, 16, 16),
        (Gib, 0.5, 0.5),
        (Gib, "512 MiB", 0.5),
        (Gib, "1 TiB", 1024),
        (Gib, "1e3 MiB", 1000 / 1024),
        (Gib, ".5 GiB", 0.5),
        (Gib, "16 GB", 16e9 / 2**30),
        (Gib, "1 TB", 1e12 / 2**30),
        (Gib, "1 B", 2**-30),
        (Mib, "2 GiB", 2048),
        (Mib, "1 MB", 1e6 / 2**20),
        (Kib, "8 KiB", 8),
        (Kib, "8 kB", 8000 / 1024),
        (Kib, "8 KB", 8000 / 1024),
        (Kib, "8192 B", 8),
        (MibPerSecond, "72 MB/s", 72e6 / 2**20),
        (MibPerSecond, "1 GiB/s", 1024),
        (Seconds, "20 min", 1200),
        (Seconds, "8 ms", 0.008),
        (Seconds, "1.5 h", 5400),
        (Seconds, "1 d", 86400),
        (Seconds, 12, 12),
        (Milliseconds, "8 ms", 8),
        (Milliseconds, "0.2 s", 200),
        (Microseconds, "90 us", 90),
        (Microseconds, "500 ns", 0.5),
        (Microseconds, "90 \u00b5s", 90),
        (Microseconds, "90 \u03bcs", 90),
        (PerSecond, "600 /min", 10),
        (PerSecond, "3600 /h", 1),
        (Fraction, "75 %", 0.75),
        (Fraction, "0.5%", 0.005),
        (Fraction, 1, 1),
        (Number, 2, 2),
        (WholeNumber, 2.0, 2),
    ],
)
def test_a_quantity_means(kind: Any, text: object, value: float) -> None:
    assert TypeAdapter(kind).validate_python(text) == pytest.approx(value, rel=1e-12)


def test_decimal_and_binary_units_differ() -> None:
    assert parse_quantity("1 GB", "memory", "GiB") == pytest.approx(0.931322574615)
    assert parse_quantity("1 TB", "memory", "GiB") < parse_quantity("1 TiB", "memory", "GiB")


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (Gib, "8 ms", "'ms' is a unit of time, expected memory in one of B, kB"),
        (Seconds, "8 GiB", "'GiB' is a unit of memory, expected time in one of ns, us"),
        (Seconds, "8 /s", "'/s' is a unit of rate, expected time"),
        (MibPerSecond, "72 MB", "'MB' is a unit of memory, expected transfer rate in one of kB/s"),
        (Fraction, "3 s", "'s' is a unit of time, expected share in one of %"),
        (Gib, "8 gb", "unknown unit 'gb' (did you mean 'GB'?); known for memory: B, kB"),
        (Gib, "8 mb", "unknown unit 'mb' (did you mean 'MB'?)"),
        (Gib, "8 Mb", "unknown unit 'Mb' (did you mean 'MB'?)"),
        (Gib, "8 GIB", "unknown unit 'GIB' (did you mean 'GiB'?)"),
        (Seconds, "8 M", "unknown unit 'M'"),
        (Seconds, "8 S", "unknown unit 'S' (did you mean 's'?)"),
        (Seconds, "8 MS", "unknown unit 'MS' (did you mean 'ms'?)"),
        (Seconds, "8 m", "unknown unit 'm' (did you mean 'ms'?)"),
        (Seconds, "12 furlongs", "unknown unit 'furlongs'; known for time: ns, us, ms, s, min, h, d"),
        (Seconds, "8", "text needs a unit: '8 s'; a number without quotes is in s"),
        (Fraction, "8", "text needs a unit: '8 %'"),
        (Seconds, "eight", "is not a number with a unit; write for example '8 s'"),
        (Seconds, "", "is not a number with a unit"),
        (Seconds, "s", "is not a number with a unit"),
        (Seconds, "1_0 s", "unknown unit '_0 s'"),
        (Seconds, "1 2 s", "is not a number with a unit"),
        (Seconds, "1,5 s", "decimal comma: write a decimal point"),
        (Seconds, "nan s", "is not a number with a unit"),
        (Seconds, "1e999 s", "must be a finite number"),
        (Seconds, float("nan"), "must be a finite number"),
        (Seconds, float("-inf"), "must be a finite number"),
        (Seconds, 10**400, "must be a finite number"),
        (Seconds, True, "must be a number or a string such as '8 s', not true or false"),
        (Fraction, False, "must be a number or a string such as '75 %', not true or false"),
        (Fraction, 75, "75 looks like a percentage: write '75 %' or 0.75"),
        (Fraction, "150 %", "1.5 looks like a percentage"),
        (Seconds, "31 d", "must be at most 2.592e+06 s; is the unit right?"),
        (Milliseconds, "1 min", "must be at most 10000 ms; is the unit right?"),
        (Number, True, "must be a number, not true or false"),
        (WholeNumber, False, "must be a number, not true or false"),
    ],
)
def test_a_quantity_refuses(kind: Any, text: object, sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(text)
    (problem,) = caught.value.errors()
    assert sentence in problem["msg"]


@pytest.mark.parametrize("value", [None, [8], {"s": 8}])
def test_what_is_neither_number_nor_text_is_left_to_the_type(value: object) -> None:
    assert parse_quantity(value, "time", "s") == value
    with pytest.raises(ValidationError, match="valid number"):
        TypeAdapter(Seconds).validate_python(value)


@given(field=st.sampled_from(FIELDS), data=st.data())
def test_writing_in_any_unit_and_reading_agree(field: tuple[str, str], data: st.DataObject) -> None:
    dimension, unit = field
    number = data.draw(st.floats(min_value=0, max_value=MOST[unit] * 0.99, allow_subnormal=False))
    other = data.draw(st.sampled_from(sorted(UNITS[dimension])))
    space = data.draw(st.sampled_from(["", " ", "  "]))
    text = f"{number * UNITS[dimension][unit] / UNITS[dimension][other]!r}{space}{other}"
    assert parse_quantity(text, dimension, unit) == pytest.approx(number, rel=1e-12, abs=1e-300)
    assert parse_quantity(number, dimension, unit) == number
    assert parse_quantity(f"{number!r}{space}{unit}", dimension, unit) == number


@given(field=st.sampled_from(FIELDS), text=st.text(max_size=12))
def test_any_text_is_a_finite_number_or_a_sentence(field: tuple[str, str], text: str) -> None:
    try:
        value = parse_quantity(text, *field)
    except ValueError as error:
        value, said = 0.0, str(error)
    else:
        said = "a number"
    assert said.isprintable()
    assert isinstance(value, float)
    assert abs(value) < float("inf")
