"""The analytic engine: mean-value analysis of the same system, walked from reading over equations to an answer."""

from oltpsim.simulator.analytic.answer import (
    CPU_PART,
    DEVICE_PART,
    MISSES_PART,
    NO_PERCENTILES,
    NOT_KNOWN,
    RATE_ERRORS_FILE,
    READS_PART,
    REGIMES,
    WRITES_PART,
    Case,
    demand_on_limits,
    doubts,
    loaded,
    rate_errors,
    rate_factors,
    regime_of_result,
    response_quantiles_s,
    result_of,
)
from oltpsim.simulator.analytic.engine import simulate
from oltpsim.simulator.analytic.equations import STEADY, Solution, course, rates, solve
from oltpsim.simulator.analytic.reading import (
    QUEUES,
    Parameters,
    Rates,
    Workload,
    combined,
    parameters_of,
    places_of,
    read_workload,
    retimed,
    rows,
    service_s,
    stacked,
    striped,
    sustained,
    transactions_key,
)
