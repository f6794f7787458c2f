"""The page of a plan: one HTML file that needs no network, in the order of an executive summary.

What to buy and its bill come first, then the short list, pictures, why the others fell out, what the plan rests on.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from calibration.fit import scenario_hash
from models.catalogue import is_old
from models.input import write_whole
from models.workloads import OpenArrivalsSpec, TerminalsSpec
from scenarios.questions.plan import (
    BUDGET,
    CONFIDENCE,
    DISK_SD,
    LATENCY,
    MEMORY,
    NO_PRICE,
    OVERLOAD,
    PERIODS_A_YEAR,
    PROCESSORS,
    ROOM,
    SMALLEST_POOL,
    SPEED_SD,
    VERDICTS,
    Plan,
)
from scenarios.show import plan as text
from scenarios.show.charts import plan as figures
from scenarios.show.numbers import plural, share
from scenarios.show.page import render
from scenarios.show.plan_reasons import rejection_reason

MEANINGS = {
    NO_PRICE: "no price list that was given has a price of one of its parts",
    BUDGET: "it costs more over the years than may be spent",
    ROOM: "data with room to grow, and the log, don't fit on its disks or volumes",
    MEMORY: f"what system, server and clients leave of its memory is a buffer pool below {SMALLEST_POOL:,} buffers",
    PROCESSORS: "its processors can't do the work even if nothing were ever read, written or waited for",
    OVERLOAD: "a part would be busy all the time, or more connections would wait than there are",
    LATENCY: "it takes the load, but answers take longer than they may",
}


def write_page(plan: Plan, path: Path, command: str) -> None:
    """Write the page whole or not at all. Raises InputError if the place can't be written."""
    write_whole(path, page_html(plan, command))


def page_html(plan: Plan, command: str) -> str:
    """The page: same plan, same command, same bytes."""
    pictures = {
        "cost": figures.cost_and_rate(plan),
        "short_list": figures.short_list(plan),
        "rejected": figures.rejected(plan),
    }
    question, best = plan.question, plan.choice
    context: dict[str, Any] = {
        "question": question,
        "line": text.question_words(plan),
        "best": best,
        "nothing": text.nothing(plan),
        "paid_for": text.paid_for(plan),
        "confidence": CONFIDENCE,
        "problems": _problems(plan),
        "rented": PERIODS_A_YEAR if best is not None and any(each.per != "piece" for each in best.bill) else None,
        "regret": [] if best is None else text.regret(plan, best),
        "currency": plan.till.prices.currency,
        "shown": figures.shown_of(plan),
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
        "lists": [(each, is_old(each, plan.till.today)) for each in plan.till.prices.lists],
        "pictures": pictures,
        "figures": {each.key: each.figure for each in pictures.values() if each is not None},
        "command": command,
        "hash": scenario_hash(question.base),
        "version": version("oltpsim"),
    }
    return render("plan.html.j2", context)


def _problems(plan: Plan) -> list[str]:
    """What to know before anything is bought: why it couldn't be simulated, what it brings with it, old prices."""
    best = plan.choice
    if best is None:
        return []
    confirmed = plan.confirmed.get(best.number)
    doubt = [] if confirmed is None or confirmed.holds else [f"simulated, it {text.confirmation(plan, best.number)}"]
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
        words.append("transactions arrive by themselves, whatever the machine does, from users of any warehouse; "
                     f"at most {plural(question.connections, 'connection')} serve them, the rest waits")  # fmt: skip
    elif isinstance(workload.arrivals, TerminalsSpec):
        words.append(f"users at terminals, as in the scenario, whom {plural(question.connections, 'connection')} serve")
    else:
        words.append(f"{plural(question.connections, 'client')} wait for their answers, as in the scenario")
    if question.growth != 1.0:
        words.append(f"load and data are those after {question.months:g} months of "
                     f"{share(question.growth_per_month)} growth, {question.growth:.3g} times today's")  # fmt: skip
    pools = " or ".join(share(each) for each in question.shares)
    words.append(f"the buffer pool has {pools} of memory, less where system, server and clients leave less")
    words.append(f"volumes are bought so large that data takes at most {share(question.fill)} of them")
    if workload.active_warehouses is not None and workload.active_warehouses < workload.warehouses:
        words.append(f"{workload.active_warehouses:,} of {workload.warehouses:,} warehouses are in use")
    active, fraction = workload.active_warehouses or workload.warehouses, question.base.sampling_fraction
    sampled = f"; {round(fraction * active):,} of {active:,} warehouses stand for all" if fraction < 1.0 else ""
    words.append(f"what a machine holds is calculated from mean values by the analytic engine{sampled}")
    words.append(f"the catalogue leaves a processor's speed open by about {share(SPEED_SD)} and a disk's times by "
                 f"{share(DISK_SD)} (assumption); nothing of parts that were calibrated")  # fmt: skip
    words.append("what the bill lists is paid for, and no power, rooms, staff or licences")
    return words
