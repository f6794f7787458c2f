"""One number at a time from its low end to its high, the others at their middle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from oltpsim.scenarios.questions.sensitivity.ranges import ParameterRange
from oltpsim.simulator.form import FloatArray


@dataclass(frozen=True)
class TornadoBar:
    """Rates at the two ends of one number. None: there is no such machine, for `reason`."""

    range: ParameterRange
    low_per_min: float | None
    high_per_min: float | None
    reason: str | None

    def swing(self, middle: float) -> float:
        """Largest difference of the rates at the two ends and the middle."""
        ends = [end for end in (self.low_per_min, self.high_per_min) if end is not None]
        return max([middle, *ends]) - min([middle, *ends])


@dataclass(frozen=True)
class Tornado:
    """The rate with everything at its middle, and all bars, the widest first."""

    rate_per_min: float
    bars: tuple[TornadoBar, ...]
    main_class: str = "new order"
    """what the rates count"""


def tornado(
    rates: Callable[[FloatArray], FloatArray],
    ranges: Sequence[ParameterRange],
    reasons: Callable[[], dict[int, str]],
    main_class: str,
) -> Tornado:
    """`rates` of points of shape (points, ranges); `reasons`: why those of its last call that are NaN are."""
    middle = np.array([each.middle for each in ranges], dtype=np.float64)
    places = np.tile(middle, (1 + 2 * len(ranges), 1))
    for number, each in enumerate(ranges):
        places[1 + 2 * number, number], places[2 + 2 * number, number] = each.low, each.high
    middle_rate, *end_rates = rates(places).tolist()
    ends = [None if np.isnan(rate) else rate for rate in end_rates]
    why = reasons()
    bars = [
        TornadoBar(each, ends[at], ends[at + 1], why.get(at + 1, why.get(at + 2)))
        for each, at in zip(ranges, range(0, len(ends), 2), strict=True)
    ]
    return Tornado(
        middle_rate, tuple(sorted(bars, key=lambda bar: (-bar.swing(middle_rate), bar.range.key))), main_class
    )
