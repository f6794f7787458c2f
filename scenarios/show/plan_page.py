"""The page of a plan: one HTML file that needs no network, in the order of an executive summary.

What to buy and its bill come first, then the short list, charts, why the others fell out, what the plan rests on.
"""

from importlib.metadata import version
from pathlib import Path

import numpy as np

from oltpsim.calibration.fit import INTERVAL_CONFIDENCE, scenario_hash
from oltpsim.calibration.predict import part_factors
from oltpsim.models.catalogue import is_old
from oltpsim.models.input import write_whole
from oltpsim.models.workloads import OpenArrivalsSpec, TerminalsSpec
from oltpsim.scenarios.questions.plan import (
    PERIODS_A_YEAR,
    SMALLEST_POOL,
    VERDICTS,
    Plan,
    ShortListed,
    Verdict,
)
from oltpsim.scenarios.show import plan as text
from oltpsim.scenarios.show.chart import (
    LOG_FROM,
    BarSeries,
    Chart,
    Curve,
    Mark,
    Note,
    Points,
    Scale,
    Segment,
    row_labels,
    row_scale,
    rows_px,
    scale_over,
    wrapped,
)
from oltpsim.scenarios.show.numbers import between, count, plural, rounded, share
from oltpsim.scenarios.show.page import html_page
from oltpsim.scenarios.show.palette import BLUE, FAINT, GREEN, GREY, ORANGE, PINK, SLATE, VERMILION
from oltpsim.scenarios.show.plan_reasons import rejection_reason
from oltpsim.simulator.form import FloatArray, IntArray

MOST_POINTS = 4000
LIST_LENGTH = 10
"""of the short list are shown, beside those that were simulated"""
COLOURS = {Verdict.MEETS: GREEN, Verdict.OVERLOAD: GREY, Verdict.LATENCY: ORANGE}
"""verdicts that come with a rate"""
LABEL_LETTERS, LABEL_LINE_PX = 54, 18
"""of lines of names, so that they fit on a phone"""
MEANINGS = {
    Verdict.NO_PRICE: "no price list that was given has a price of one of its parts",
    Verdict.BUDGET: "it costs more over the years than may be spent",
    Verdict.ROOM: "data with room to grow, and the log, don't fit on its disks or volumes",
    Verdict.MEMORY: "what system, server and clients leave of its memory is a buffer pool below "
    f"{SMALLEST_POOL:,} buffers",
    Verdict.PROCESSORS: "its processors can't do the work even if nothing were ever read, written or waited for",
    Verdict.OVERLOAD: "a part would be busy all the time, or more connections would wait than there are",
    Verdict.LATENCY: "it takes the load, but answers take longer than they may",
}


def write_plan_page(plan: Plan, path: Path, command: str) -> None:
    """Write the page whole or not at all. Raises InputError if the place can't be written."""
    write_whole(path, plan_page(plan, command))


def plan_page(plan: Plan, command: str) -> str:
    """The page: same plan, same command, same bytes."""
    charts = {"cost": cost_and_rate(plan), "short_list": short_list(plan), "rejected": rejected(plan)}
    question, best = plan.question, plan.choice
    content = {
        "question": question,
        "line": text.question_words(plan),
        "best": best,
        "nothing": text.nothing(plan),
        "paid_for": text.paid_for(plan),
        "confidence": INTERVAL_CONFIDENCE,
        "problems": _problems(plan),
        "rented": PERIODS_A_YEAR if best is not None and any(each.per != "piece" for each in best.bill) else None,
        "regret": [] if best is None else text.regret(plan, best),
        "currency": plan.till.prices.currency,
        "shown": ranked_machines(plan),
        "listed": len(plan.listed),
        "confirmed": plan.confirmed,
        "simulated": {number: text.confirmation(plan, number) for number in plan.confirmed},
        "chance": text.chance,
        "money": lambda amount: text.money(plan, amount),
        "price": text.price,
        "reasons": _reasons(plan),
        "candidates": len(plan.screened.verdict),
        "frontier": plan.frontier,
        "assumptions": [*_load(plan), *text.origin(plan)],
        "lists": [(each, is_old(each.date, plan.till.today)) for each in plan.till.prices.lists],
        "pictures": charts,
        "command": command,
        "hash": scenario_hash(question.base),
        "version": version("oltpsim"),
    }
    return html_page("plan.html.j2", charts.values(), content)


def _problems(plan: Plan) -> list[str]:
    """What to know before anything is bought: why it couldn't be simulated, what it brings with it, old prices."""
    best = plan.choice
    if best is None:
        return []
    confirmed = plan.confirmed.get(best.number)
    doubt = [] if confirmed is None or confirmed.holds else [f"simulated, it {text.confirmation(plan, best.number)}"]
    doubt += [f"in doubt: {each}" for each in text.unsettled_doubts(plan, best)]
    return [*doubt, *best.notes, *(f"old prices: {each}" for each in text.old_prices(best.bill))]


def _reasons(plan: Plan) -> list[tuple[str, str, int, str, str]]:
    """Name, meaning, count of each reason, the most frequent first; the nearest miss and its numbers."""
    found = []
    for verdict, many in sorted(plan.rejected.items(), key=lambda each: -each[1]):
        number = text.nearest(plan, verdict)
        name = plan.screened.stock.candidates[number].name
        found.append((VERDICTS[verdict], MEANINGS[verdict], many, name, rejection_reason(plan.screened, number)))
    return found


def _load(plan: Plan) -> list[str]:
    """What is assumed of the load, the database and the machines."""
    question, workload = plan.question, plan.question.base.workload
    words = []
    if isinstance(workload.arrivals, OpenArrivalsSpec):
        words.append(
            "transactions arrive by themselves, whatever the machine does, from users of any warehouse; "
            f"at most {plural(question.connections, 'connection')} serve them, the rest waits"
        )
    elif isinstance(workload.arrivals, TerminalsSpec):
        words.append(f"users at terminals, as in the scenario, whom {plural(question.connections, 'connection')} serve")
    else:
        words.append(f"{plural(question.connections, 'client')} wait for their answers, as in the scenario")
    if question.growth != 1.0:
        words.append(
            f"load and data are those after {question.months:g} months of "
            f"{share(question.growth_per_month)} growth, {question.growth:.3g} times today's"
        )
    pools = " or ".join(share(each) for each in question.shares)
    words.append(f"the buffer pool has {pools} of memory, less where system, server and clients leave less")
    words.append(f"volumes are bought so large that data takes at most {share(question.fill)} of them")
    active, units, fraction = workload.size, workload.unit_words, question.base.sampling_fraction
    if active < workload.loaded:
        words.append(f"{active:,} of {workload.loaded:,} {units} are in use")
    sampled = f"; {round(fraction * active):,} of {active:,} {units} stand for all" if fraction < 1.0 else ""
    known = part_factors()
    words.append(f"what a machine holds is calculated from mean values by the analytic engine{sampled}")
    words.append(
        f"the catalogue leaves a processor's speed and a disk's times open by {share(known['data_sheet'] - 1.0)}, or "
        f"{share(known['assumption'] - 1.0)} where it calls them an assumption; nothing of parts that were calibrated"
    )
    words.append("what the bill lists is paid for, and no power, rooms, staff or licences")
    return words


def cost_and_rate(plan: Plan) -> Chart | None:
    """Every candidate that was calculated, the frontier, the target and the choice; None if there is none."""
    found = plan.screened
    cost, reach = found.cost, found.reach_per_min
    calculated = np.flatnonzero(np.isfinite(cost) & np.isfinite(reach) & (reach > 0.0))
    if not len(calculated):
        return None
    drawn = _sample(calculated, found.verdict, cost, reach)
    target, best = plan.question.target_per_min, plan.choice
    rates = [*reach[drawn].tolist(), *(each.per_min for each in plan.frontier)]
    rates += [] if target is None else [target]
    rates += [] if best is None else [best.belief.value]
    costs = [*cost[drawn].tolist(), *(each.cost for each in plan.frontier)]
    marks = _candidates(plan, drawn)
    if plan.frontier:
        hover = [
            wrapped(f"{each.name}: {count(each.per_min)}/min for {text.money(plan, each.cost)}")
            for each in plan.frontier
        ]
        marks.append(
            Curve(
                x=[each.cost for each in plan.frontier],
                y=[each.per_min for each in plan.frontier],
                steps=True,
                symbols=["circle"] * len(plan.frontier),
                colour=BLUE,
                label="frontier: no more for less",
                hover=hover,
            )
        )
    if target is not None:
        label = f"target, {count(target)}/min"
        marks.append(Segment(y=(target, target), colour=VERMILION, dash="dash", label=label))
    if best is not None:
        words = f"the choice: {best.name}: {_rate(best)} for {text.money(plan, best.cost)}"
        marks.append(
            Points(
                x=[best.cost],
                y=[best.belief.value],
                size=17,
                symbol="star",
                colour=PINK,
                outline="#ffffff",
                label="the choice",
                hover=[wrapped(words)],
            )
        )
    caption = f"Upwards: new orders per minute, a logarithmic scale. {_drawn(plan, len(calculated), len(drawn))}"
    currency = plan.till.prices.currency
    return Chart(
        key="cost-and-rate",
        title="Cost against rate",
        alternative=_cost_and_rate_in_words(plan, caption),
        marks=marks,
        x=scale_over(costs, title=f"{currency} over {plan.question.years:g} years"),
        y=scale_over(rates, log=True),
        height_px=440,
        caption=caption,
    )


def _sample(numbers: IntArray, verdict: IntArray, cost: FloatArray, reach: FloatArray) -> IntArray:
    """At most `MOST_POINTS` of them, evenly from every verdict and cost."""
    order = numbers[np.lexsort((reach[numbers], cost[numbers], verdict[numbers]))]
    if len(order) <= MOST_POINTS:
        return order
    return order[np.linspace(0, len(order) - 1, MOST_POINTS).astype(np.int64)]


def _candidates(plan: Plan, drawn: IntArray) -> list[Mark]:
    """A faint point for each candidate; those that fell out lie below those that didn't."""
    found = plan.screened
    marks: list[Mark] = []
    for verdict in sorted(set(found.verdict[drawn].tolist()), reverse=True):
        numbers = drawn[found.verdict[drawn] == verdict].tolist()
        rates = found.reach_per_min[numbers].tolist()
        marks.append(
            Points(
                x=rounded(found.cost[numbers].tolist()),
                y=rounded(rates),
                size=6,
                opacity=0.45,
                colour=COLOURS[verdict],
                label=VERDICTS[verdict],
                hover=[
                    f"{wrapped(found.stock.candidates[number].name)}\n{count(rate)}/min, "
                    + wrapped(rejection_reason(found, number) or VERDICTS[verdict])
                    for number, rate in zip(numbers, rates, strict=True)
                ],
            )
        )
    return marks


def _drawn(plan: Plan, there: int, drawn: int) -> str:
    """Which candidates are points, and what their places are."""
    total = len(plan.screened.verdict)
    words = [f"{there:,} of {plural(total, 'candidate')} came so far that a rate was calculated"]
    if drawn < there:
        words[0] += f", {drawn:,} of them are drawn"
    if plan.question.target_per_min is not None:
        words += [
            "a point is about the most that a machine could do, by its busiest part",
            "frontier and choice are calculated exactly, with queues, connections and times of answers",
            "some fall out above the target for the want of connections or time",
        ]
    return ". ".join(each[:1].upper() + each[1:] for each in words) + "."


def _cost_and_rate_in_words(plan: Plan, caption: str) -> str:
    sentences = [f"Cost against rate. {caption}"]
    if plan.question.target_per_min is not None:
        sentences.append(f"Target {count(plan.question.target_per_min)}/min.")
    if plan.choice is not None:
        best = plan.choice
        sentences.append(f"The choice: {best.name}, {text.money(plan, best.cost)}, {count(best.belief.value)}/min.")
    points = "; ".join(
        f"{text.money(plan, each.cost)} {count(each.per_min)}/min" for each in text.frontier_sample(plan)
    )
    return " ".join([*sentences, f"Frontier: {points}."] if points else sentences)


def ranked_machines(plan: Plan) -> list[tuple[int, ShortListed]]:
    """The short list with ranks: the best, the choice, and whatever was simulated."""
    return [
        (rank, each)
        for rank, each in enumerate(plan.listed, 1)
        if rank <= LIST_LENGTH or each is plan.choice or each.number in plan.confirmed
    ]


def short_list(plan: Plan) -> Chart | None:
    """The rate of each machine of the short list, with its interval, beside the target; None if the list is empty."""
    ranked = ranked_machines(plan)
    if not ranked:
        return None
    target = plan.question.target_per_min
    labels = []
    for rank, each in ranked:
        chosen = "the choice, " if each is plan.choice else ""
        labels.append(f"{wrapped(f'{rank}. {each.name}', LABEL_LETTERS)}\n{chosen}{text.money(plan, each.cost)}")
    tallest = max(label.count("\n") + 1 for label in labels)
    row_px = tallest * LABEL_LINE_PX + 30
    marks: list[Mark] = []
    for number, (label, (_, each)) in enumerate(zip(labels, ranked, strict=True)):
        words, colour, symbol = _confirmation_mark(plan, each)
        low, high = each.belief.interval
        place, rate = -float(number), each.belief.value
        marks += [
            Segment(y=(place, place), colour=FAINT, width=5, below=True),
            Note(
                text=label, y=place, above="bottom", shift_px=(0, 9), bold="the choice" if each is plan.choice else ""
            ),
            Curve(x=[low, high], y=[place, place], colour=colour, width=4),
            Points(
                x=[rate],
                y=[place],
                size=12,
                symbol=symbol,
                colour=colour,
                label=words,
                hover=[wrapped(f"{each.name}: {_rate(each)}")],
            ),
        ]
        if target is not None:
            tall = (place - 9 / row_px, place + 9 / row_px)
            words = f"target, {count(target)}/min"
            marks.append(Segment(x=(target, target), y=tall, colour=VERMILION, width=3, label=words))
    rates = [end for _, each in ranked for end in each.belief.interval]
    rows = "; ".join(
        f"{rank}. {each.name}, {text.money(plan, each.cost)}: {_rate(each)}, {_confirmation_mark(plan, each)[0]}"
        for rank, each in ranked
    )
    aim = "" if target is None else f" Target {count(target)}/min."
    low, high = 1 - len(ranked) - 18 / row_px, (tallest * LABEL_LINE_PX + 14) / row_px
    return Chart(
        key="short-list",
        title="What the short list holds",
        alternative=f"What the short list holds, 90 % intervals.{aim} {rows}.",
        marks=marks,
        x=scale_over([*rates, *([] if target is None else [target])], log=True),
        y=Scale(low=low, high=high, visible=False),
        height_px=row_px * len(ranked) + 42,
        caption="Most new orders per minute, a logarithmic scale; bars are 90 % intervals, predicted.",
    )


def _confirmation_mark(plan: Plan, each: ShortListed) -> tuple[str, str, str]:
    """Words, colour and symbol of what the kernel found of a machine, if it simulated it."""
    confirmed = plan.confirmed.get(each.number)
    if confirmed is None or confirmed.fault:
        return "calculated, not simulated", SLATE, "circle-open"
    if not confirmed.holds:
        return "simulated: doesn't hold", VERMILION, "x-thin-open"
    return "simulated: holds" if plan.question.target_per_min is not None else "simulated", GREEN, "circle"


def _rate(each: ShortListed) -> str:
    return f"{count(each.belief.value)}/min [{between(*each.belief.interval)}]"


def rejected(plan: Plan) -> Chart | None:
    """How many candidates fell out for which reason; None if none did."""
    kinds = sorted(plan.rejected.items(), key=lambda each: -each[1])
    if not kinds:
        return None
    total, most = len(plan.screened.verdict), kinds[0][1]
    log = most > LOG_FROM * kinds[-1][1]
    labels = [(VERDICTS[verdict], f"{many:,}, {share(many / total)}") for verdict, many in kinds]
    bars = BarSeries(
        places=[-float(number) for number in range(len(kinds))],
        values=[many for _, many in kinds],
        colour=SLATE,
        hover=[f"{VERDICTS[verdict]}: {many:,}" for verdict, many in kinds],
    )
    scale = " The scale is logarithmic." if log else ""
    counts = "; ".join(f"{VERDICTS[verdict]} {many:,}" for verdict, many in kinds)
    return Chart(
        key="rejected",
        title="Why the others fell out",
        alternative=f"Rejected: {counts}; of {total:,}.",
        marks=[*row_labels(labels, ruled=False), bars],
        x=Scale(low=0.7, high=most * 1.15, log=True) if log else Scale(low=0.0, high=most * 1.02),
        y=row_scale(len(kinds)),
        height_px=rows_px(len(kinds)),
        caption=f"Of {plural(total, 'candidate')}; each is counted once, by the first that it fails.{scale}",
    )
