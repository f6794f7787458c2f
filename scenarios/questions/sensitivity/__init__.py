"""Which numbers of a scenario its rate depends on: one at a time (tornado), or all at once (Sobol's indices)."""

from scenarios.questions.sensitivity.one_at_a_time import Bar, Tornado, tornado
from scenarios.questions.sensitivity.ranges import Range, calibrated_ranges, default_ranges, ranges_of
from scenarios.questions.sensitivity.rates import Rates
from scenarios.questions.sensitivity.sobol import Indices, Samples

__all__ = [
    "Bar",
    "Indices",
    "Range",
    "Rates",
    "Samples",
    "Tornado",
    "calibrated_ranges",
    "default_ranges",
    "ranges_of",
    "tornado",
]
