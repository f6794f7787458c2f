"""What every plan must keep, whatever the candidates and their prices."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oltpsim.calibration.fit import AnalyticReader
from oltpsim.models.catalogue import PriceList, PriceRow, Prices, chassis_specs
from oltpsim.models.wiring import memory_plan
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.plan import (
    VERDICTS,
    PlanQuestion,
    ResponseObjective,
    Stock,
    Verdict,
    add_chassis,
    under_load,
)
from oltpsim.scenarios.questions.plan.bill import Till
from oltpsim.scenarios.questions.plan.loads import Assembly, capacities, capacities_of
from oltpsim.scenarios.questions.plan.screening import ScreenedStock, screened
from oltpsim.scenarios.show.plan_reasons import rejection_reason
from oltpsim.simulator.form import GIB

TODAY = dt.date(2026, 11, 22)
READER = AnalyticReader()
"""of all assemblies: reading a program is most of their work, and the programs are the same"""
TARGET = 20_000.0
P95 = ResponseObjective("new order", 0.95, 0.05)
SETTINGS = settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def stock() -> Stock:
    """Machines of 2006 under today's load, most of which are too small for it."""
    return stock_of(
        PlanQuestion(
            under_load(load_scenario_file(library_files()["postgresql-15"]), TARGET, 40.0, 100, None), TARGET, (P95,)
        )
    )


def stock_of(question: PlanQuestion) -> Stock:
    found = Stock(question)
    for name in ("opteron-server-2006", "epyc-server-1u"):
        add_chassis(found, name, chassis_specs()[name])
    return found


def assembly_of(stock: Stock) -> Assembly:
    made = Assembly(stock)
    made.reader = READER
    return made


def parts(stock: Stock) -> list[str]:
    return sorted({item.part for each in stock.candidates for item in each.items})


def till(prices: dict[str, float]) -> Till:
    rows = tuple(PriceRow(part=part, amount=amount) for part, amount in prices.items())
    made = PriceList(name="made up", date=TODAY, currency="USD", term="purchase", rows=rows, source="this test")
    return Till(Prices((made,)), 3.0, 0, TODAY)


def prices_of(stock: Stock, seed: int) -> dict[str, float]:
    draw = np.random.default_rng(seed)
    return {part: float(round(draw.uniform(20.0, 3000.0), 2)) for part in parts(stock)}


def least(found: ScreenedStock) -> float:
    return float(found.cost[found.meets[0]])


@SETTINGS
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 1.0), data=st.data())
def test_a_cheaper_price_never_raises_the_cost(stock: Stock, seed: int, share: float, data: st.DataObject) -> None:
    prices, assembly = prices_of(stock, seed), assembly_of(stock)
    part = data.draw(st.sampled_from(parts(stock)))
    before = least(screened(assembly, till(prices)))
    assert least(screened(assembly, till(prices | {part: prices[part] * share}))) <= before
    assert least(screened(assembly, till({each: 2.0 * price for each, price in prices.items()}))) == 2.0 * before


@SETTINGS
@given(seed=st.integers(0, 10**6), budgets=st.tuples(st.floats(500, 9000), st.floats(500, 9000)))
def test_more_budget_never_lowers_the_rate(stock: Stock, seed: int, budgets: tuple[float, float]) -> None:
    prices = prices_of(stock, seed)
    base = under_load(load_scenario_file(library_files()["v20z"]), None, None, 100, None)

    def rate(budget: float) -> float:
        small = stock_of(PlanQuestion(base, None, budget=budget))
        found = screened(assembly_of(small), till(prices))
        return max((float(found.reach_per_min[each]) for each in found.meets[:1]), default=0.0)

    assert rate(min(budgets)) <= rate(max(budgets))


@SETTINGS
@given(seed=st.integers(0, 10**6), kept=st.integers(5, 60))
def test_another_candidate_never_worsens_the_optimum(stock: Stock, seed: int, kept: int) -> None:
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(stock.candidates))
    prices = prices_of(stock, seed)
    costs = []
    for count in (kept, kept + 20):
        some = replace(stock, candidates=[stock.candidates[each] for each in order[:count].tolist()])
        found = screened(assembly_of(some), till(prices))
        costs.append(least(found) if len(found.meets) else np.inf)
    assert costs[1] <= costs[0]


@SETTINGS
@given(seed=st.integers(0, 10**6), budget=st.floats(100.0, 10_000.0))
def test_every_candidate_meets_or_says_why_not(stock: Stock, seed: int, budget: float) -> None:
    prices = prices_of(stock, seed)
    prices.pop(sorted(prices)[seed % len(prices)])
    limited = replace(stock, question=replace(stock.question, budget=budget))
    found = screened(assembly_of(limited), till(prices))
    listed = set(found.meets.tolist())
    for number in range(len(stock.candidates)):
        reason = rejection_reason(found, number)
        assert (number in listed) == (reason == "") == (found.verdict[number] == Verdict.MEETS)
        assert not reason or any(letter.isdigit() for letter in reason), f"{reason}: no number"
    assert len(VERDICTS) > found.verdict.max()


@SETTINGS
@given(share=st.floats(0.01, 1.0), gib=st.floats(0.05, 2000.0))
def test_memory_never_exceeds_what_there_is(stock: Stock, share: float, gib: float) -> None:
    asking = replace(stock, question=replace(stock.question, pool_shares=(share,)), memory=[])
    number = asking.new_memory(gib)[0]
    room = asking.memory[number]
    scenario = asking.put_together((0, number, 0), "machine")
    plan = memory_plan(scenario)
    assert room.buffers == 0 or plan.pool_bytes <= plan.free_bytes
    assert room.buffers in {0, plan.resident_buffers}, "nothing is swapped out"
    assert plan.pool_bytes <= gib * GIB


def test_a_machine_put_together_is_the_machine(stock: Stock) -> None:
    assembly = Assembly(stock)
    some = [3, 40, 77, len(stock.candidates) - 1]
    found = np.zeros(len(some))
    for mine, machines in assembly.candidates(some):
        found[mine] = capacities(machines, (P95,))
    whole = [stock.scenario(stock.candidates[each]) for each in some]
    alone = [float(capacities_of([each], (P95,), assembly.reader)[0]) for each in whole]
    assert found.tolist() == pytest.approx(alone, rel=2e-3)
    assert len(set(alone)) > 1, "different machines"


def test_too_much_data_and_too_little_memory_are_said(stock: Stock) -> None:
    large = stock_of(replace(stock.question, base=under_load(stock.question.base, TARGET, 900.0, 100, None)))
    found = screened(assembly_of(large), till(prices_of(large, 1)))
    assert (found.verdict == Verdict.ROOM).any()
    assert "GiB" in rejection_reason(found, int(np.flatnonzero(found.verdict == Verdict.ROOM)[0]))
    little = stock_of(replace(stock.question, pool_shares=(0.00001,)))
    found = screened(assembly_of(little), till(prices_of(little, 1)))
    assert (found.verdict == Verdict.MEMORY).any()
