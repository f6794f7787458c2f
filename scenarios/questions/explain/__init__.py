"""What one asks of a machine: what limits it, what more would help, how much it holds. One file a question."""

from scenarios.questions.explain.answers import Asked, Explanation, explanation
from scenarios.questions.explain.buffers import BufferAdvice, Setting
from scenarios.questions.explain.credits import Spent
from scenarios.questions.explain.growth import Growth, parse_growth
from scenarios.questions.explain.machines import Solver, calculated, saturated
from scenarios.questions.explain.objective import Objective, Percentile
from scenarios.questions.explain.prices import CORE, DISK, MEMORY, UnitPrice, unit_prices
from scenarios.questions.explain.room import KEEPS, Held, Room
from scenarios.questions.explain.steps import Step
from scenarios.questions.explain.warming import Warming

__all__ = [
    "CORE",
    "DISK",
    "KEEPS",
    "MEMORY",
    "Asked",
    "BufferAdvice",
    "Explanation",
    "Growth",
    "Held",
    "Objective",
    "Percentile",
    "Room",
    "Setting",
    "Solver",
    "Spent",
    "Step",
    "UnitPrice",
    "Warming",
    "calculated",
    "explanation",
    "parse_growth",
    "saturated",
    "unit_prices",
]
