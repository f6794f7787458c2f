"""A plan for people, for programs and for spreadsheets."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

from oltpsim.calibration.fit import scenario_hash
from oltpsim.calibration.predict import CALIBRATED, MISSED, ONE_RUN
from oltpsim.models.input import document_text
from oltpsim.models.wiring import pages_not_logged
from oltpsim.scenarios.questions.plan import PARTS, VERDICTS, BillLine, FrontierPoint, Plan, ShortListed, Verdict
from oltpsim.scenarios.show.numbers import amount, between, count, plural, share, significant
from oltpsim.scenarios.show.plan_reasons import objective_words, rejection_reason
from oltpsim.scenarios.show.table import aligned, csv_text, flow, sentence_flow
from oltpsim.simulator.results import NOT_STEADY

FORMAT = "oltpsim-plan-1"
CSV_COLUMNS = ("candidate", "cost", "currency", "verdict", "reason", "reach_per_min", "holds_per_min", "chance")
BILL_FIELDS = ("part", "pieces", "units", "per", "price", "amount", "price_list", "date", "old")
CONFIRMED_FIELDS = (
    "rate_per_min",
    "low_per_min",
    "high_per_min",
    "bottleneck",
    "holds",
    "sampling_fraction",
    "fault",
    "unsteady",
)
MACHINES_SHOWN, FRONTIER_SHOWN = 3, 8


def plan_table(plan: Plan, width: int, shown: int = MACHINES_SHOWN) -> str:
    """The choice with its bill, what else was looked at closely, why the others fell out, and the frontier."""
    lines = flow("", question_words(plan), width, separator=" · ", indent=0)
    if plan.choice is not None:
        lines += _chosen(plan, plan.choice, width)
    else:
        lines += flow("buy", ["nothing: " + nothing(plan)], width)
    others = [each for each in plan.listed if plan.choice is None or each.number != plan.choice.number]
    if others:
        lines += ["", *_listed(plan, others[: shown - (plan.choice is not None)], width)]
    lines += ["", *_rejected(plan, width)]
    if plan.frontier:
        lines += ["", *_frontier(plan, width)]
    lines += ["", *_origin(plan, width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def question_words(plan: Plan) -> list[str]:
    """What is asked, in pieces."""
    question, workload = plan.question, plan.question.base.workload
    size = f"{workload.loaded:,} {workload.unit_words}, {count(question.data_gib)} GiB"
    words = [question.base.database.name, size]
    if question.target_per_min is not None:
        words.append(f"{count(question.target_per_min)} new orders/min")
    words += [objective_words(each) for each in question.objectives]
    if question.growth != 1.0:
        words.append(f"after {question.months:g} months of {share(question.growth_per_month)} growth")
    words.append(f"{plural(len(plan.screened.stock.candidates), 'candidate')}")
    return words


def _chosen(plan: Plan, best: ShortListed, width: int) -> list[str]:
    question, till = plan.question, plan.till
    lines = flow("buy", [best.name], width)
    for note in best.notes:
        lines += flow("", [f"note: {note}"], width)
    low, high = best.belief.interval
    holds = f"{count(best.belief.value)} new orders/min  [{between(low, high)}]"
    lines += flow("holds", [holds, f"{share(0.9)} interval, predicted"], width)
    if question.target_per_min is not None:
        words = [f"{chance(best.chance)} to hold {count(question.target_per_min)}", *regret(plan, best)]
        lines += flow("probability", words, width)
    confirmed = plan.confirmed.get(best.number)
    if confirmed is not None:
        lines += flow("simulated", [confirmation(plan, best.number)], width)
    for doubt in unsettled_doubts(plan, best):
        lines += sentence_flow("in doubt", doubt, width)
    costs = [f"{money(plan, best.cost)} {paid_for(plan)}", f"{money(plan, best.cost_per_1000)} for 1,000/min"]
    lines += flow("cost", costs, width)
    lines += _bill(best.bill, till.prices.currency, width)
    return lines


def _bill(bill: tuple[BillLine, ...], currency: str, width: int) -> list[str]:
    cells = [
        (
            each.part,
            f"{each.pieces:,} x {significant(each.units)}" if each.units != 1 else f"{each.pieces:,}",
            f"{price(each.price)} {each.unit}",
            count(each.amount),
            f"{each.price_list}, {each.date}",
        )
        for each in bill
    ]
    lines = aligned(cells, "<>>><", indent=4)
    if any(len(line) > width for line in lines):
        lines = [f"    {a}: {b} at {c}, {d} {currency} ({e})" for a, b, c, d, e in cells]
    for words in old_prices(bill):
        lines += flow("OLD PRICES", [words], width)
    return lines


def chance(probability: float) -> str:
    """A probability, which is never quite 0 or 1 where a model says it."""
    return "> 99.9 %" if probability > 0.999 else "< 0.1 %" if probability < 0.001 else share(probability)


def regret(plan: Plan, best: ShortListed) -> list[str]:
    """What happens if it doesn't hold, unless it almost surely does; without a regret it is the safe machine itself."""
    if best.chance >= 0.995:
        return []
    words = f"if not, {count(best.short_by_per_min)} are missing on average"
    return [words + (f" and the safe machine costs {money(plan, best.regret)} more" if best.regret > 0 else "")]


def paid_for(plan: Plan) -> str:
    """For how long and how many."""
    question = plan.question
    spare = f", {plural(question.spares, 'spare machine')} included" if question.spares else ""
    return f"over {question.years:g} year{'' if question.years == 1 else 's'}{spare}"


def old_prices(bill: tuple[BillLine, ...]) -> list[str]:
    """A sentence for each list of a bill that is too old to trust."""
    lists = sorted({(each.price_list, each.date) for each in bill if each.old})
    return [f"{name} is from {date}, more than a year ago: ask for today's" for name, date in lists]


def _listed(plan: Plan, listed: list[ShortListed], width: int) -> list[str]:
    target = plan.question.target_per_min is not None
    lines = ["next best" + (" (expected cost: with the regret, as probable as it is)" if target else "")]
    for each in listed:
        low, high = each.belief.interval
        words = [f"{money(plan, each.cost)}", f"{count(each.belief.value)}/min [{between(low, high)}]"]
        if target:
            words += [f"{chance(each.chance)} to hold the target", f"expected cost {money(plan, each.expected_cost)}"]
        else:
            words.append(f"{money(plan, each.cost_per_1000)} for 1,000/min")
        if each.number in plan.confirmed:
            words.append(f"simulated: {confirmation(plan, each.number)}")
        words += [f"in doubt: {doubt}" for doubt in unsettled_doubts(plan, each)]
        lines += flow("", [f"  {each.name}"], width, indent=2)
        lines += flow("", words, width, separator=" · ", indent=6)
    return lines


def unsettled_doubts(plan: Plan, each: ShortListed) -> tuple[str, ...]:
    """The analytic engine's doubts of a candidate, unless the kernel has simulated it."""
    confirmed = plan.confirmed.get(each.number)
    return each.doubts if confirmed is None or confirmed.fault else ()


def confirmation(plan: Plan, number: int) -> str:
    """What the kernel said of a candidate."""
    found = plan.confirmed[number]
    if found.fault:
        return f"could not be: {found.fault}"
    times = [
        f"p{100 * each.share:g} of {each.transaction} {1000 * time:,.3g} ms"
        for each, time in zip(plan.question.objectives, found.times_s, strict=True)
    ]
    verdict = "holds" if found.holds else "DOES NOT HOLD"
    words = [f"{verdict}: {count(found.rate_per_min)}/min", *times, f"limited by {found.bottleneck}"]
    return ", ".join([*words, *([f"{NOT_STEADY}: {found.unsteady}"] if found.unsteady else [])])


def _rejected(plan: Plan, width: int) -> list[str]:
    found = plan.screened
    total = len(found.verdict)
    fell = sum(plan.rejected.values())
    lines = [f"rejected: {fell:,} of {total:,}; every one with its reason by --output csv"]
    for verdict, many in sorted(plan.rejected.items(), key=lambda each: -each[1]):
        number = nearest(plan, verdict)
        words = [f"{many:,}, the nearest: {found.stock.candidates[number].name}: {rejection_reason(found, number)}"]
        lines += flow(VERDICTS[verdict], words, width)
    return lines


def nearest(plan: Plan, verdict: int) -> int:
    """Of the candidates that fell out for one reason the number of the one that was nearest to what is asked."""
    found = plan.screened
    numbers = np.flatnonzero(found.verdict == verdict)
    if verdict in {Verdict.PROCESSORS, Verdict.OVERLOAD}:
        by = found.judged.need[found.kind[numbers]]
    elif verdict == Verdict.LATENCY and plan.question.objectives:
        by = found.judged.time_s[found.kind[numbers]]
    else:
        by = -found.cost[numbers] if not np.isfinite(found.cost[numbers]).all() else found.cost[numbers]
    return int(numbers[int(np.argmin(np.nan_to_num(by, nan=np.inf)))])


def _frontier(plan: Plan, width: int) -> list[str]:
    sample = frontier_sample(plan)
    lines = [f"frontier of cost against rate: {len(sample)} of its {plural(len(plan.frontier), 'machine')}"]
    for each in sample:
        lines += flow(f"{money(plan, each.cost)}", [f"{count(each.per_min)}/min  {each.name}"], width)
    return lines


def frontier_sample(plan: Plan) -> list[FrontierPoint]:
    """A few points of the frontier, the first and the last among them; none if it is empty."""
    points = plan.frontier
    places = np.unique(np.linspace(0, max(len(points) - 1, 0), FRONTIER_SHOWN).round().astype(int))
    return [points[at] for at in places.tolist() if at < len(points)]


def _origin(plan: Plan, width: int) -> list[str]:
    question = plan.question
    load = "users of any warehouse" if question.target_per_min is not None else "as it stands"
    lists = ", ".join(f"{each.name} ({each.date}, {each.term})" for each in plan.till.prices.lists)
    words = [f"load: {plural(question.connections, 'connection')}, {load}", *origin(plan), f"prices: {lists}"]
    return [line for each in words for line in sentence_flow("", each, width, indent=0)]


def origin(plan: Plan) -> list[str]:
    """Which calibration the plan rests on, what the scenario leaves out, and what calculated it."""
    calibration = plan.left.calibration
    solved = f"{plan.screened.solved:,} machines calculated by the analytic engine, oltpsim {version('oltpsim')}"
    left_out = pages_not_logged(plan.question.base)
    if calibration is None:
        from_catalogue = "no calibration: path lengths are the catalogue's, as uncertain as before any run (--model)"
        return [from_catalogue, *left_out, solved]
    return [f"model: {calibration.base.name}, fit {calibration.task_hash}", *left_out, solved]


def nothing(plan: Plan) -> str:
    """Why there is no choice."""
    if not plan.listed:
        return "no candidate does what is asked"
    refuted = [number for number, each in plan.confirmed.items() if not each.holds]
    left = [each for each in plan.listed if each.number not in refuted]
    if not left:
        return f"the kernel refuted all {plural(len(refuted), 'machine')} that it simulated, and no other is left"
    best, asked = max(left, key=lambda each: each.chance), share(plan.question.sure)
    return f"no candidate is sure enough ({asked}); the surest is {best.name}, {chance(best.chance)}"


def money(plan: Plan, cost: float) -> str:
    """An amount with its currency."""
    return f"{amount(cost)} {plan.till.prices.currency}"


def price(cost: float) -> str:
    """The price of one unit, finer below 1."""
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4g}"


def plan_json(plan: Plan) -> str:
    """The whole plan but for the rejected candidates' names, which the CSV has, as canonical JSON."""
    question, found = plan.question, plan.screened
    content = {
        "scenario": question.base.model_dump(mode="json", exclude={"measured"}),
        "scenario_hash": scenario_hash(question.base),
        "target_per_min": question.target_per_min,
        "objectives": [objective_words(each) for each in question.objectives],
        "budget": question.budget,
        "years": question.years,
        "spares": question.spares,
        "sure": question.sure,
        "data_gib": question.data_gib,
        "currency": plan.till.prices.currency,
        "candidates": len(found.verdict),
        "solved": found.solved,
        "rejected": {VERDICTS[verdict]: many for verdict, many in plan.rejected.items()},
        "choice": None if plan.choice is None else plan.choice.name,
        "listed": [_entry(plan, each) for each in plan.listed],
        "frontier": [{"name": each.name, "cost": each.cost, "per_min": each.per_min} for each in plan.frontier],
        "versions": {"oltpsim": version("oltpsim")},
    }
    return document_text(FORMAT, content)


def _entry(plan: Plan, each: ShortListed) -> dict[str, Any]:
    belief = each.belief
    low, high = belief.interval
    confirmed = plan.confirmed.get(each.number)
    return {
        "name": each.name,
        "cost": each.cost,
        "per_min": belief.value,
        "low_per_min": low,
        "high_per_min": high,
        "sd": {
            "parameters": belief.sd_of(CALIBRATED),
            "parts": belief.sd_of(PARTS),
            "run to run": belief.sd_of(ONE_RUN),
            "model": belief.sd_of(MISSED),
        },
        "chance": each.chance,
        "short_by_per_min": each.short_by_per_min,
        "regret": each.regret,
        "expected_cost": each.expected_cost,
        "notes": list(each.notes),
        "doubts": list(each.doubts),
        "bill": [{name: getattr(line, name) for name in BILL_FIELDS} for line in each.bill],
        "confirmed": None
        if confirmed is None
        else {name: getattr(confirmed, name) for name in CONFIRMED_FIELDS} | {"times_s": list(confirmed.times_s)},
    }


def plan_csv(plan: Plan) -> str:
    """Every candidate, a line each: its cost, its verdict, why, about the most that it could do, what was believed."""
    return csv_text(CSV_COLUMNS, _rows(plan))


def _rows(plan: Plan) -> Iterator[list[object]]:
    found, currency = plan.screened, plan.till.prices.currency
    close = {each.number: each for each in plan.listed}
    reach = found.reach_per_min.tolist()
    for number, (candidate, cost) in enumerate(zip(found.stock.candidates, found.cost.tolist(), strict=True)):
        each = close.get(number)
        yield [
            candidate.name,
            "" if np.isnan(cost) else round(cost, 2),
            currency,
            VERDICTS[int(found.verdict[number])],
            rejection_reason(found, number),
            "" if np.isnan(reach[number]) else round(reach[number]),
            "" if each is None else round(each.belief.value),
            "" if each is None else round(each.chance, 4),
        ]
