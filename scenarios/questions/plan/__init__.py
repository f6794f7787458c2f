"""Which machine to buy: candidates, their bills, what each does at the load that is asked for, and the choice."""

from oltpsim.scenarios.questions.plan.belief import PARTS, ParameterUncertainty
from oltpsim.scenarios.questions.plan.bill import PERIODS_A_YEAR, BillLine
from oltpsim.scenarios.questions.plan.candidates import Stock, add_chassis
from oltpsim.scenarios.questions.plan.confirm import Simulations
from oltpsim.scenarios.questions.plan.plan import (
    FrontierPoint,
    Plan,
    ShortListed,
    candidate_stock,
    confirmed_plan,
    current_date,
    make_plan,
)
from oltpsim.scenarios.questions.plan.question import (
    PlanQuestion,
    ResponseObjective,
    parse_objective,
    parse_share,
    plan_question,
    under_load,
)
from oltpsim.scenarios.questions.plan.screening import SMALLEST_POOL, VERDICTS, ScreenedStock, Verdict
