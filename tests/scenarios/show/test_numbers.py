"""Numbers as people read them."""

import pytest

from oltpsim.scenarios.show.numbers import (
    amount,
    four_digits,
    number_tick,
    plural,
    rounded,
    share,
    share_tick,
    signed_count,
    significant,
    time_text,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (1234567.0, "1,230,000"),
        (12.345, "12.3"),
        (0.01234, "0.0123"),
        (999.6, "1,000"),
        (-2.5, "-2.50"),
    ],
)
def test_significant(number: float, text: str) -> None:
    assert significant(number) == text


@pytest.mark.parametrize(("number", "text"), [(0.0, "0"), (1.5, "1.500"), (999.96, "1,000"), (12345.6, "12,346")])
def test_four_digits(number: float, text: str) -> None:
    assert four_digits(number) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 disks"), (1, "1 disk"), (2000, "2,000 disks")])
def test_plural(number: int, text: str) -> None:
    assert plural(number, "disk") == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.00001, "< 0.01 %"),
        (0.0083, "0.83 %"),
        (0.083, "8.3 %"),
        (0.41, "41 %"),
        (0.968, "96.8 %"),
        (0.99996, "99.99 %"),
    ],
)
def test_share_never_rounds_to_none_or_all(fraction: float, text: str) -> None:
    assert share(fraction) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (9.5e-7, "950 ns"),
        (12.34e-6, "12.3 µs"),
        (0.0081, "8.10 ms"),
        (0.99999, "1.00 s"),
        (61.0, "61.0 s"),
    ],
)
def test_time(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "+0"), (-0.2, "+0"), (1234.4, "+1,234"), (-1234.4, "−1,234"), (-0.6, "−1")]
)
def test_signed_count(number: float, text: str) -> None:
    assert signed_count(number) == text


@pytest.mark.parametrize(("value", "text"), [(0.01234, "0.0123"), (99.94, "99.9"), (100.0, "100"), (12345.6, "12,346")])
def test_amount(value: float, text: str) -> None:
    assert amount(value) == text


def test_rounded_has_five_digits() -> None:
    assert rounded([123456.0, 0.000123456]) == [123460.0, 0.00012346]


@pytest.mark.parametrize(
    ("place", "text"), [(0.0, "0"), (0.5, "0.5"), (500.0, "500"), (20_000.0, "20,000"), (3e6, "3 M")]
)
def test_number_tick(place: float, text: str) -> None:
    assert number_tick(place) == text


@pytest.mark.parametrize(("place", "text"), [(0.0, "0"), (0.2, "+20 %"), (-0.05, "−5 %")])
def test_share_tick(place: float, text: str) -> None:
    assert share_tick(place) == text
