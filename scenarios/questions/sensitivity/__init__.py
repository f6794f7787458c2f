"""Which numbers of a scenario its rate depends on: one at a time (tornado), or all at once (Sobol's indices)."""

from oltpsim.scenarios.questions.sensitivity.one_at_a_time import Tornado, tornado
from oltpsim.scenarios.questions.sensitivity.ranges import (
    ParameterRange,
    RateFunction,
    calibrated_ranges,
    default_ranges,
    ranges_of,
)
from oltpsim.scenarios.questions.sensitivity.sobol import SobolIndex, SobolIndices, SobolSamples
