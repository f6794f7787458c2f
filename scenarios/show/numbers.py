"""Numbers as people read them: grouped thousands, two or three significant digits, always a unit."""

import math
from collections.abc import Iterable

NONE = "–"


def count(number: float) -> str:
    """Whole things, thousands grouped: 1,234,567."""
    return f"{number:,.0f}"


def plural(number: int, thing: str) -> str:
    """So many things, grouped: 1 client, 2,000 clients."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def significant(number: float, digits: int = 3) -> str:
    """Rounded to significant digits, thousands grouped, no exponent: 1,230 or 0.0123."""
    if number == 0 or not math.isfinite(number):
        return f"{number:.0f}"
    rounded = float(f"{number:.{digits - 1}e}")
    places = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, places)}f}"


def share(fraction: float) -> str:
    """A fraction in per cent, finer near the ends: 0.83 %, 41 %, 99.7 %; a true 0 or 1 without digits."""
    percent = 100.0 * fraction
    if percent in (0.0, 100.0):
        return f"{percent:.0f} %"
    if abs(percent) < 0.005:
        return "< 0.01 %"
    if abs(percent) < 0.995:
        return f"{percent:.2f} %"
    if abs(percent) < 9.95 or 95.0 <= percent < 99.95:
        return f"{percent:.1f} %"
    return f"{min(percent, 99.99):.2f} %" if 99.95 <= percent < 100.0 else f"{percent:,.0f} %"


def time_text(seconds: float) -> str:
    """A short time in the unit that fits: 950 ns, 12.3 µs, 8.10 ms, 1.25 s."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= 0.9995 * factor:
            return f"{significant(seconds / factor)} {unit}"
    return f"{significant(seconds / 1e-9)} ns" if seconds else "0 ms"


def time_tick(seconds: float) -> str:
    """A round time at an axis: 0, 200 ms, 1 s."""
    if not seconds:
        return "0"
    return f"{seconds:,.4g} s" if seconds >= 1 else f"{seconds * 1e3:,.4g} ms"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds without the unit, for columns that name it."""
    return significant(seconds * 1e3) if seconds else "0"


def span(seconds: float) -> str:
    """A length of simulated time: 30 s, 20 min, 1.5 h."""
    if seconds < 120:
        return f"{seconds:,.4g} s"
    return f"{seconds / 60:,.4g} min" if seconds < 600 * 60 else f"{seconds / 3600:,.4g} h"


def signed_share(fraction: float) -> str:
    """A relative difference with its sign: +3.1 %, −12 %."""
    sign = "+" if fraction >= 0 else "−"
    percent = abs(fraction) * 100
    return f"{sign}{percent:.1f} %" if percent < 9.95 else f"{sign}{percent:,.0f} %"


def size(count_bytes: float) -> str:
    """Bytes with a binary unit: 512 B, 1.50 MiB."""
    value, unit = float(count_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{significant(value)} {unit}"


def signed_count(number: float) -> str:
    """Whole things with their sign: +1,234, −5."""
    return f"{'−' if round(number) < 0 else '+'}{count(abs(number))}"


def four_digits(value: float) -> str:
    """A figure of any unit: whole from a thousand on, thousands grouped, else four significant digits."""
    return count(value) if value >= 1000 else significant(value, 4)


def amount(value: float) -> str:
    """A figure in its own unit: whole from a hundred on, else three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def known_digits(value: float, low: float, high: float) -> str:
    """A figure rounded to what its interval allows, two digits of the interval's width: 190,000 of 140,000 to 260,000.

    At least two digits of the figure itself; one of less than 10 keeps three.
    """
    width = high - low
    if not width > 0.0 or not math.isfinite(width) or abs(value) < 10.0:
        return four_digits(value)
    step = 10.0 ** max(math.floor(math.log10(min(width, abs(value)))) - 1, 0)
    return count(round(value / step) * step)


def between(low: float, high: float) -> str:
    """An interval of whole things: 1,180 .. 1,290."""
    return f"{count(low)} .. {count(high)}"


def rounded(values: Iterable[float]) -> list[float]:
    """Five significant digits: more cannot be seen in a picture, and pages are mailed."""
    return [float(f"{value:.5g}") for value in values]


def number_tick(place: float) -> str:
    """A round number at an axis: 0.5, 500, 20,000, 3 M."""
    if abs(place) >= 1e6:
        return f"{place / 1e6:,.4g} M"
    return f"{place:,.4g}" if abs(place) < 1e4 else f"{place:,.0f}"


def share_tick(place: float) -> str:
    """A round share at an axis: 0, +20 %, −5 %."""
    return f"{round(100 * place, 6):+.4g} %".replace("-", "−") if place else "0"
