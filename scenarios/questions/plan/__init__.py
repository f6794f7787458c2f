"""Which machine to buy: candidates, their bills, what each does at the load that is asked for, and the choice."""

from scenarios.questions.plan.belief import CONFIDENCE, DISK_SD, SPEED_SD, Open
from scenarios.questions.plan.bill import PERIODS_A_YEAR, Line
from scenarios.questions.plan.choice import FrontierPoint, Listed
from scenarios.questions.plan.confirm import Confirmed, confirmed
from scenarios.questions.plan.expand import add_chassis
from scenarios.questions.plan.plan import Plan, confirmed_by, planned, stock_of, today
from scenarios.questions.plan.question import Objective, Question, asked
from scenarios.questions.plan.screening import (
    BUDGET,
    LATENCY,
    MEETS,
    MEMORY,
    NO_PRICE,
    OVERLOAD,
    PROCESSORS,
    ROOM,
    SMALLEST_POOL,
    VERDICTS,
    Screened,
)
from scenarios.questions.plan.stock import Stock

__all__ = [
    "BUDGET",
    "CONFIDENCE",
    "DISK_SD",
    "LATENCY",
    "MEETS",
    "MEMORY",
    "NO_PRICE",
    "OVERLOAD",
    "PERIODS_A_YEAR",
    "PROCESSORS",
    "ROOM",
    "SMALLEST_POOL",
    "SPEED_SD",
    "VERDICTS",
    "Confirmed",
    "FrontierPoint",
    "Line",
    "Listed",
    "Objective",
    "Open",
    "Plan",
    "Question",
    "Screened",
    "Stock",
    "add_chassis",
    "asked",
    "confirmed",
    "confirmed_by",
    "planned",
    "stock_of",
    "today",
]
