"""The page of a plan: its numbers are the plan's, its names are text, and in Chromium it is whole."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oltpsim.models.catalogue import PriceList, PriceRow, Prices, chassis_specs
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.plan import (
    VERDICTS,
    ParameterUncertainty,
    Plan,
    PlanQuestion,
    ResponseObjective,
    Stock,
    add_chassis,
    make_plan,
    under_load,
)
from oltpsim.scenarios.questions.plan.candidates import GOES_AWAY
from oltpsim.scenarios.questions.plan.confirm import SimulatedCandidate
from oltpsim.scenarios.questions.plan.plan import with_simulations
from oltpsim.scenarios.show import plan_page as plan_pages
from oltpsim.scenarios.show.plan_page import plan_page, write_plan_page
from oltpsim.scenarios.show.plan_reasons import rejection_reason
from tests.scenarios.show.test_report_browser import COLOURS, CUT_TEXTS, OVERFLOWING, READABLE, contrast, show

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ColorScheme, Page

TODAY = dt.date(2026, 11, 22)
TARGET = 6_000.0
P95 = ResponseObjective("new order", 0.95, 0.05)
EVIL = "<script>alert(1)</script> & sons"
NOT_HELD = (25_111.0, 25_000.0, 25_222.0, (0.0777,), "disk 1", False, 1.0)
COMMAND = "oltpsim plan postgresql-15 --target 6000 --report plan.html"


@cache
def a_plan(target: float | None = TARGET, *, date: dt.date = TODAY, name: str = "made up", **changes: Any) -> Plan:
    """Parts of 2006 under the load of a calibrated library scenario, at made-up prices."""
    base = under_load(load_scenario_file(library_files()["postgresql-15"]), target, 4.0, 100, None)
    question = replace(PlanQuestion(base, target, (P95,) if target is not None else ()), **changes)
    stock = Stock(question)
    add_chassis(stock, "opteron-server-2006", chassis_specs()["opteron-server-2006"])
    parts = sorted({item.part for each in stock.candidates for item in each.items})
    rows = tuple(PriceRow(part=part, amount=100.0 + 37.0 * number) for number, part in enumerate(parts))
    made = PriceList(name=name, date=date, currency="USD", term="purchase", rows=rows, source="this test")
    return make_plan(
        stock,
        Prices((made,)),
        ParameterUncertainty.after(load_scenario_file(library_files()["postgresql-15"]), None),
        TODAY,
    )


@pytest.fixture(scope="module")
def plan() -> Plan:
    """One whose first choice the kernel refutes; it confirms the second."""
    found = a_plan(sure=0.5)
    assert found.choice is not None
    without = with_simulations(found, {found.choice.number: SimulatedCandidate(found.choice.number, *NOT_HELD)})
    assert without.choice is not None
    other = without.choice
    said = [
        SimulatedCandidate(found.choice.number, *NOT_HELD),
        SimulatedCandidate(
            other.number, 30_003.0, 29_900.0, 30_100.0, (0.0123,), "cpu", holds=True, sampling_fraction=1.0
        ),
    ]
    return with_simulations(found, {each.number: each for each in said})


def words_of(page: str) -> str:
    """What a reader reads, before the figures' data."""
    shown = page.split('<script id="figures"', maxsplit=1)[0].partition("</style>")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", shown)).replace("\u00a0", " "))


def figures_of(page: str) -> dict[str, Any]:
    """Plotly's JSON of every picture."""
    found = re.search(r'<script id="figures" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_choice_and_bill_are_the_plans(plan: Plan) -> None:
    words, best = words_of(plan_page(plan, COMMAND)), plan.choice
    assert best is not None
    low, high = best.belief.interval
    assert f"{best.cost:,.0f} USD over 3 years" in words
    assert f"{best.belief.value:,.0f} new orders per minute {low:,.0f} .. {high:,.0f}" in words
    assert f"{100 * best.chance:.0f} % if not, {best.short_by_per_min:,.0f} are missing" in words
    for line in best.bill:
        assert f"{line.part} {line.pieces} – {line.price:,.2f} each {line.amount:,.0f} made up {TODAY}" in words
    assert sum(line.amount for line in best.bill) == pytest.approx(best.cost)
    assert COMMAND in words


def test_what_the_kernel_said_is_told(plan: Plan) -> None:
    page = plan_page(plan, COMMAND)
    words = words_of(page)
    assert "DOES NOT HOLD: 25,111/min, p95 of new order 77.7 ms, limited by disk 1" in words
    assert "holds: 30,003/min, p95 of new order 12.3 ms, limited by cpu" in words
    assert "Before you buy" not in words
    assert plan.choice is not None
    fault = SimulatedCandidate(
        plan.choice.number, 0.0, 0.0, 0.0, (), "", holds=False, sampling_fraction=1.0, fault="no room"
    )
    doubted = replace(plan, confirmed={plan.choice.number: fault})
    assert "Before you buy Simulated, it could not be: no room." in words_of(plan_page(doubted, COMMAND))
    symbols = {trace["marker"]["symbol"] for trace in figures_of(page)["short-list"]["data"] if "marker" in trace}
    assert symbols == {"circle", "circle-open", "x-thin-open"}


def test_short_list_is_the_plans(plan: Plan) -> None:
    page = plan_page(plan, COMMAND)
    words, data = words_of(page), figures_of(page)["short-list"]["data"]
    shown = [each for _, each in plan_pages.ranked_machines(plan)]
    assert len(shown) >= min(10, len(plan.listed))
    assert plan.choice in shown
    bars = [trace["x"] for trace in data if trace["mode"] == "lines"]
    dots = [trace["x"] for trace in data if trace["mode"] == "markers"]
    assert bars == [list(each.belief.interval) for each in shown]
    assert dots == [[each.belief.value] for each in shown]
    for each in shown:
        assert each.name in words
        assert f"{each.belief.interval[0]:,.0f} .. {each.belief.interval[1]:,.0f}" in words


def test_every_rate_is_a_point_and_the_frontier_a_line(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def points(figure: dict[str, Any]) -> int:
        return sum(len(trace["x"]) for trace in figure["data"] if trace["marker"].get("opacity") == 0.45)

    page = plan_page(plan, COMMAND)
    figure = figures_of(page)["cost-and-rate"]
    figure["data"] = [trace | {"marker": trace.get("marker", {})} for trace in figure["data"]]
    reach = plan.screened.reach_per_min
    assert points(figure) == np.count_nonzero(reach > 0.0) > 30
    frontier = next(trace for trace in figure["data"] if trace["mode"] == "lines+markers")
    assert frontier["x"] == [each.cost for each in plan.frontier]
    assert frontier["y"] == [each.per_min for each in plan.frontier]
    star = next(trace for trace in figure["data"] if trace["marker"].get("symbol") == "star")
    assert plan.choice is not None
    assert (star["x"], star["y"]) == ([plan.choice.cost], [plan.choice.belief.value])
    monkeypatch.setattr(plan_pages, "MOST_POINTS", 20)
    picture = plan_pages.cost_and_rate(plan)
    assert picture is not None
    figure = picture.figure
    figure["data"] = [trace | {"marker": trace.get("marker", {})} for trace in figure["data"]]
    assert points(figure) == 20
    assert "20 of them are drawn" in picture.caption


def test_every_reason_has_its_count_and_its_nearest_miss(plan: Plan) -> None:
    words = words_of(plan_page(plan, COMMAND))
    picture = plan_pages.rejected(plan)
    assert picture is not None
    assert picture.figure["data"][0]["x"] == sorted(plan.rejected.values(), reverse=True)
    for verdict, many in plan.rejected.items():
        assert f"{VERDICTS[verdict]} {many:,} " in words
        numbers = np.flatnonzero(plan.screened.verdict == verdict)
        reasons = {rejection_reason(plan.screened, int(number)) for number in numbers}
        assert any(reason in words for reason in reasons)
    assert sum(plan.rejected.values()) + len(plan.screened.meets) == len(plan.screened.verdict)


def test_a_plan_without_a_choice_says_so() -> None:
    words = words_of(plan_page(a_plan(budget=5.0), COMMAND))
    assert "Plan: nothing to buy No candidate does what is asked" in words
    assert "Bill" not in words
    assert "over the budget" in words
    unsure = a_plan(sure=1.0)
    words = words_of(plan_page(unsure, COMMAND))
    assert "No candidate is sure enough (100 %); the surest is" in words
    assert unsure.listed[0].name in words
    refuted = {each.number: SimulatedCandidate(each.number, *NOT_HELD) for each in unsure.listed}
    words = words_of(plan_page(with_simulations(unsure, refuted), COMMAND))
    assert f"The kernel refuted all {len(refuted)} machines" in words


def test_without_a_target_it_is_the_cost_for_a_rate() -> None:
    found = a_plan(None)
    assert found.choice is not None
    words = words_of(plan_page(found, COMMAND))
    assert f"{found.choice.cost_per_1000:.3g} USD for 1,000 new orders per minute" in words
    assert "Probability" not in words
    assert "clients wait for their answers" in words


def test_old_prices_are_flagged_and_new_ones_are_not() -> None:
    old = plan_page(a_plan(date=dt.date(2024, 1, 31), sure=0.5), COMMAND)
    assert "Old prices: made up is from 2024-01-31, more than a year ago" in words_of(old)
    assert 'class="old"' in old
    assert 'class="old"' not in plan_page(a_plan(sure=0.5), COMMAND)


def test_notes_of_the_choice_are_told_before_buying(plan: Plan) -> None:
    assert plan.choice is not None
    noted = replace(plan, choice=replace(plan.choice, notes=(GOES_AWAY,)))
    assert GOES_AWAY[1:] in words_of(plan_page(noted, COMMAND))
    assert GOES_AWAY[1:] not in words_of(plan_page(plan, COMMAND))


def test_rent_says_how_many_hours_a_year_has(plan: Plan) -> None:
    assert plan.choice is not None
    rented = replace(plan.choice, bill=(replace(plan.choice.bill[0], per="hour"),))
    assert "8,760 of them a year" in words_of(plan_page(replace(plan, choice=rented), COMMAND))
    assert "8,760" not in words_of(plan_page(plan, COMMAND))


def test_names_are_text_and_not_markup() -> None:
    page = plan_page(a_plan(name=EVIL), f"oltpsim plan x --prices '{EVIL}'")
    assert page.count("<script>alert(1)") == 0
    assert "&lt;script&gt;alert(1)" in page
    assert EVIL in words_of(page)
    assert plan_page(a_plan(), "<script>alert(1)").count("<script>alert(1)") == 0


def test_the_same_plan_gives_the_same_page(plan: Plan) -> None:
    assert plan_page(plan, COMMAND) == plan_page(plan, COMMAND)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plans")
    plans = {"whole": long_names(plan), "nothing": a_plan(budget=5.0), "no target": a_plan(None)}
    for name, each in plans.items():
        write_plan_page(each, folder / f"{name}.html", COMMAND)
    return {name: folder / f"{name}.html" for name in plans}


def long_names(plan: Plan) -> Plan:
    """With names that no phone has room for."""

    def longer(name: str) -> str:
        return f"{name}, 4 x io2-with-a-{'very-' * 12}long-name of 16,384 GiB with 256,000 requests/s, log on its own"

    assert plan.choice is not None
    best = replace(plan.choice, name=longer(plan.choice.name))
    listed = tuple(best if each is plan.choice else replace(each, name=longer(each.name)) for each in plan.listed)
    points = tuple(replace(each, name=longer(each.name)) for each in plan.frontier)
    return replace(plan, choice=best, listed=listed, frontier=points)


@pytest.mark.parametrize(("name", "figures"), [("whole", 3), ("nothing", 1), ("no target", 2)])
def test_all_is_drawn_and_nothing_overflows(
    browser_page: Page, pages: dict[str, Path], name: str, figures: int
) -> None:
    asked_for: list[str] = []
    said: list[str] = []
    browser_page.on("request", lambda request: asked_for.append(request.url))
    browser_page.on("console", lambda message: said.append(message.text))
    show(browser_page, pages[name])
    browser_page.wait_for_timeout(200)
    assert asked_for == [pages[name].as_uri()]
    assert said == []
    assert browser_page.locator(".plot > .plot-container").count() == figures
    assert browser_page.locator(".instead").count() == 0
    for details in browser_page.locator("summary").all():
        details.click()
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate(OVERFLOWING) == []
    assert browser_page.evaluate(CUT_TEXTS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_pictures_are_readable_in_both_themes(
    browser: Browser, pages: dict[str, Path], scheme: ColorScheme
) -> None:
    page = browser.new_page(color_scheme=scheme)
    show(page, pages["whole"])
    found = page.evaluate(COLOURS)
    page.close()
    assert found["texts"] > 20
    for colour in found["drawn"] + found["written"]:
        assert contrast(colour, found["paper"]) >= READABLE, colour
