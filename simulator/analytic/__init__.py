"""The analytic engine: mean-value analysis of the same system."""

from oltpsim.simulator.analytic.configurations import rows
from oltpsim.simulator.analytic.device_figures import demand_on_limits
from oltpsim.simulator.analytic.disks import QUEUES, service_s
from oltpsim.simulator.analytic.engine import simulate
from oltpsim.simulator.analytic.engine_errors import RATE_ERRORS_FILE, REGIMES, rate_errors, regime_of_result
from oltpsim.simulator.analytic.factors import (
    CPU_PART,
    DEVICE_PART,
    MISSES_PART,
    READS_PART,
    WRITES_PART,
    rate_factors,
)
from oltpsim.simulator.analytic.figures import Case
from oltpsim.simulator.analytic.parameters import Parameters, combined, parameters_of, stacked
from oltpsim.simulator.analytic.percentiles import NOT_KNOWN, response_quantiles_s
from oltpsim.simulator.analytic.result import NO_PERCENTILES, answer
from oltpsim.simulator.analytic.retiming import retimed, striped, transactions_key
from oltpsim.simulator.analytic.solution import Solution, rates, solve
from oltpsim.simulator.analytic.under_load import loaded
from oltpsim.simulator.analytic.validity import doubts
from oltpsim.simulator.analytic.volumes import Rates, places_of, sustained
from oltpsim.simulator.analytic.warming import STEADY, course
from oltpsim.simulator.analytic.workload import Workload, read_workload
