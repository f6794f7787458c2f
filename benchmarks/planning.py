"""Benchmark 12: a plan over 50,000 candidates, its ten best by the kernel, and the same as a script with SimPy."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from time import perf_counter

from benchmarks.checkout import Options
from benchmarks.page import Section, at_most, figure, table
from benchmarks.peers import simpy_plan
from oltpsim.models.catalogue import ChassisSpec, PriceList, PriceRow, Prices
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.plan import (
    ParameterUncertainty,
    Plan,
    PlanQuestion,
    ResponseObjective,
    Simulations,
    Stock,
    add_chassis,
    make_plan,
    under_load,
)
from oltpsim.scenarios.run import Silent, Store, default_workers

TARGET, DATA_GIB, SEED = 60_000.0, 500.0, 1
BEST, SAMPLE, TRANSACTIONS = 10, 10, 3_000
MOST_PLAN_S, MOST_CONFIRM_S = 10.0, 60.0
CPUS, DISKS = ("server-2020s", "xeon-5520", "opteron-244"), ("nvme", "sata-ssd", "intel-dc-p4510-2000", "sas-15k")
PAGES = 60
"""that a transaction looks at, for the script: about as many as the model's"""


@dataclass(frozen=True)
class Timed:
    """What the plan took, by part."""

    plan: Plan
    candidates: int
    plan_s: float
    confirm_s: float


def chassis() -> ChassisSpec:
    """One with so many choices that there are more than 50,000 machines."""
    return ChassisSpec.model_validate({
        "name": "box", "source": "assumption: a benchmark's",
        "processors": [{"cpu": cpu, "cores_each": 8, "pieces": [1, 2, 3, 4, 6, 8]} for cpu in CPUS],
        "memory": [{"module": "16gib", "gib_each": 16, "pieces": list(range(1, 37))}],
        "disks": [{"disk": disk, "pieces": list(range(1, 11))} for disk in DISKS],
        "log_disks": ["nvme"],
    })  # fmt: skip


def prices() -> Prices:
    """Made up."""
    amounts = {"chassis/box": 1500.0, "memory/16gib": 60.0}
    amounts |= {f"cpus/{cpu}": 900.0 - 250.0 * place for place, cpu in enumerate(CPUS)}
    amounts |= {f"disks/{disk}": 120.0 + 90.0 * place for place, disk in enumerate(DISKS)}
    rows = tuple(PriceRow(part=part, amount=amount) for part, amount in amounts.items())
    made = PriceList(name="made up", date=dt.date(2026, 1, 1), currency="USD", term="purchase", rows=rows,
                     source="assumption: a benchmark's")  # fmt: skip
    return Prices((made,))


def timed() -> Timed:
    """The plan, and the ten best of it simulated."""
    began = perf_counter()
    base = load_scenario_file(library_files()["postgresql-15"])
    question = PlanQuestion(
        under_load(base, TARGET, DATA_GIB, 100, None), TARGET, (ResponseObjective("new order", 0.95, 0.05),)
    )
    stock = Stock(question)
    add_chassis(stock, "box", chassis())
    plan = make_plan(stock, prices(), ParameterUncertainty.after(base, None), dt.date(2026, 6, 1))
    planned_at = perf_counter()
    best = [(each.number, stock.scenario(stock.candidates[each.number]), TARGET) for each in plan.listed[:BEST]]
    with Store() as store:
        simulations = Simulations(best, question, SEED, store)
        simulations.runner.run(default_workers(), Silent())
        found = list(simulations.finished())
    assert len(found) == len(best)
    return Timed(plan, len(stock.candidates), planned_at - began, perf_counter() - planned_at)


def script_s(plan: Plan) -> float:
    """Mean time of one machine by the script, on a sample of the candidates that were calculated."""
    stock, took = plan.screened.stock, []
    calculated = [number for number, kind in enumerate(plan.screened.kind.tolist()) if kind >= 0]
    for place in range(SAMPLE):
        candidate = stock.candidates[calculated[place * len(calculated) // SAMPLE]]
        machine = stock.scenario(candidate).machine
        took.append(simpy_plan.run({
            "seed": SEED, "processors": machine.cpu.threads, "disks": machine.disks.count, "parallel": 1,
            "per_s": TARGET / 60.0 / plan.question.base.workload.main_share, "pages": PAGES, "missing": 0.02,
            "cpu_s": 0.005 / machine.cpu.relative_speed, "read_s": 0.0001, "log_s": 0.00005,
            "transactions": TRANSACTIONS,
        })["seconds"])  # fmt: skip
    return sum(took) / len(took)


def section(options: Options) -> Section:
    del options
    found = timed()
    each_s = script_s(found.plan)
    whole_s = each_s * found.candidates
    rows = [
        ["candidates", f"{found.candidates:,}"],
        ["of them solved by the analytic engine", f"{found.plan.screened.solved:,}"],
        ["plan, seconds", figure(found.plan_s)],
        [f"the {BEST} best by the kernel, seconds more", figure(found.confirm_s)],
        [f"script with SimPy, one machine of {TRANSACTIONS:,} transactions, seconds", f"{each_s:.3f}"],
        ["script, all candidates, hours, extrapolated", figure(whole_s / 3600.0)],
        ["script / plan", figure(whole_s / found.plan_s)],
    ]
    text = (
        f"PostgreSQL, {DATA_GIB:,.0f} GiB, {TARGET:,.0f} new orders/min with 95 % of them within 50 ms, on every "
        "machine that one chassis has room for: with prices, verdicts, probabilities and the frontier. The script has "
        f"processors, disks and a log for {TRANSACTIONS:,} transactions, no cache, no locks and no group commit; its "
        f"time is the mean of {SAMPLE} machines, on one core, times all candidates."
    )
    goals = [
        at_most("seconds to plan 50,000 candidates:", MOST_PLAN_S, found.plan_s),
        at_most(f"seconds more for the {BEST} best by the kernel:", MOST_CONFIRM_S, found.confirm_s),
    ]
    return Section("Plans", [text, table(["what", "figure"], rows)], goals)
