"""What a solved machine shows: the terms of the simulating engines, with the error of the formulas."""

from oltpsim.simulator.analytic.answer.credits import with_credits
from oltpsim.simulator.analytic.answer.device_figures import demand_on_limits
from oltpsim.simulator.analytic.answer.doubt import doubts
from oltpsim.simulator.analytic.answer.factors import (
    CPU_PART,
    DEVICE_PART,
    MISSES_PART,
    READS_PART,
    WRITES_PART,
    rate_factors,
)
from oltpsim.simulator.analytic.answer.figures import Case
from oltpsim.simulator.analytic.answer.fixed_work import run_s
from oltpsim.simulator.analytic.answer.model_error import (
    DECIDED_FACTOR,
    ERROR_MODEL_FILE,
    FIGURES,
    MOST_FACTOR,
    PERCENTILES,
    RATE_ERROR,
    error_model,
    percentile_features,
    percentile_half_widths,
    rate_features,
    rate_half_widths,
    sizes_of,
)
from oltpsim.simulator.analytic.answer.percentiles import response_quantiles_s
from oltpsim.simulator.analytic.answer.regime import regime_of
from oltpsim.simulator.analytic.answer.result import NO_PERCENTILES, counted_per_min, percentiles_s, result_of
from oltpsim.simulator.analytic.answer.under_load import loaded
