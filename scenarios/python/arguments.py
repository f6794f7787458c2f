"""Arguments of the Python interface: what they may be, and what is said of those that can't be."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from oltpsim.scenarios.python.modules import options
from oltpsim.simulator.errors import InputError

Engine = Literal["kernel", "reference", "analytic"]
ProgressFunction = Callable[[float, str], None]
"""called with the fraction of the work that is done, and words for it"""

MOST_WORKERS = 1024


def written(key: str, value: object) -> str:
    """A value as --set takes it; numpy's numbers too."""
    plain = getattr(value, "tolist", lambda: value)()
    try:
        return json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise InputError(f"{key}: got {value!r}; give a number, a text, true or false, or a list of them") from error


def axis_values(key: str, listed: object) -> tuple[str, ...]:
    """Values of a field that is varied. Raises InputError for none and for one that stands twice."""
    if isinstance(listed, str | Mapping) or not isinstance(listed, Iterable):
        raise InputError(f"sweep: {key}: got {listed!r}; give a list of values")
    values = tuple(written(key, each) for each in listed)
    if not values or len(set(values)) < len(values):
        raise InputError(f"sweep: {key}: got {list(listed)!r}; give one value or more, each once")
    return values


def whole(where: str, number: int, least: int, most: int) -> int:
    """A whole number, numpy's too. Raises InputError for what isn't one from `least` to `most`."""
    plain: object = getattr(number, "tolist", lambda: number)()
    if not isinstance(plain, int) or isinstance(plain, bool) or not least <= plain <= most:
        raise InputError(f"{where}: got {number!r}; must be a whole number from {least:,} to {most:,}")
    return plain


def number(where: str, value: float, least: float, most: float = math.inf) -> float:
    """A number, numpy's too. Raises InputError for what isn't one from `least` to `most`, and for one without end."""
    plain: object = getattr(value, "tolist", lambda: value)()
    if isinstance(plain, int | float) and not isinstance(plain, bool) and least <= plain <= most and plain < math.inf:
        return float(plain)
    most_words = "" if most == math.inf else f" to {most:,g}"
    raise InputError(f"{where}: got {value!r}; must be a number from {least:,g}{most_words}")


def counts(seed: int, replications: int, workers: int) -> tuple[int, int, int]:
    """The three as whole numbers. Raises InputError."""
    return (
        whole("seed", seed, 0, options.MOST_SEED),
        whole("replications", replications, 1, options.MOST_REPLICATIONS),
        whole("workers", workers, 1, MOST_WORKERS),
    )


class FunctionDisplay:
    """Display of progress that calls a function; nothing if there is none."""

    def __init__(self, progress: ProgressFunction | None) -> None:
        self._progress = progress

    def step(self, name: str) -> None:
        """A named step begins."""
        self.advance(0.0, name)

    def advance(self, fraction: float, detail: str) -> None:
        """So much of the work is done."""
        if self._progress is not None:
            self._progress(fraction, detail)
