"""Explanation of a machine: what limits it, what more would help, how much it holds."""

from scenarios.questions.explain.answers import ExplainOptions, Explanation, PurchaseAdvice, advise, explain_scenario
from scenarios.questions.explain.buffers import BufferAdvice, PoolSize
from scenarios.questions.explain.capacity import HELD_RATE_FRACTION, Capacity, CapacityLimit, Growth, parse_growth
from scenarios.questions.explain.clients import ClientCurve, rate_over_clients
from scenarios.questions.explain.credits import CreditUse
from scenarios.questions.explain.machines import (
    MachineSolver,
    Percentile,
    PercentileObjective,
    SolvedMachine,
    for_analytic_engine,
    with_busy_connections,
)
from scenarios.questions.explain.upgrades import (
    CORE_STEP,
    DISK_STEP,
    MEMORY_STEP,
    Upgrade,
    unit_prices,
)
from scenarios.questions.explain.warming import Warming
