"""The analytic engine: mean-value analysis of the same system."""

from simulator.analytic.configurations import rows
from simulator.analytic.device_figures import demand_on_limits
from simulator.analytic.disks import QUEUES, service_s
from simulator.analytic.engine import simulate
from simulator.analytic.engine_errors import RATE_ERRORS_FILE, REGIMES, rate_errors, regime_of_result
from simulator.analytic.factors import (
    CPU_PART,
    DEVICE_PART,
    MISSES_PART,
    READS_PART,
    WRITES_PART,
    rate_factors,
)
from simulator.analytic.figures import Case
from simulator.analytic.parameters import Parameters, combined, parameters_of, stacked
from simulator.analytic.percentiles import NOT_KNOWN, response_quantiles_s
from simulator.analytic.result import NO_PERCENTILES, answer
from simulator.analytic.retiming import retimed, striped, transactions_key
from simulator.analytic.solution import Solution, rates, solve
from simulator.analytic.under_load import loaded
from simulator.analytic.validity import doubts
from simulator.analytic.volumes import Rates, places_of, sustained
from simulator.analytic.warming import STEADY, course
from simulator.analytic.workload import Workload, read_workload
