"""Explanation of a machine: what limits it, what more would help, how much it holds."""

from oltpsim.scenarios.questions.explain.answers import (
    ExplainOptions,
    Explanation,
    PurchaseAdvice,
    advise,
    explain_scenario,
)
from oltpsim.scenarios.questions.explain.buffers import BufferAdvice, PoolSize
from oltpsim.scenarios.questions.explain.capacity import (
    HELD_RATE_FRACTION,
    Capacity,
    CapacityLimit,
    Growth,
    parse_growth,
)
from oltpsim.scenarios.questions.explain.clients import ClientCurve, rate_over_clients
from oltpsim.scenarios.questions.explain.credits import CreditUse
from oltpsim.scenarios.questions.explain.machines import (
    MachineSolver,
    Percentile,
    PercentileObjective,
    SolvedMachine,
    for_analytic_engine,
    with_busy_connections,
)
from oltpsim.scenarios.questions.explain.upgrades import (
    CORE_STEP,
    DISK_STEP,
    MEMORY_STEP,
    Upgrade,
    unit_prices,
)
from oltpsim.scenarios.questions.explain.warming import Warming
