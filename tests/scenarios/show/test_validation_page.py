"""The page of a validation in Chromium, wide and narrow: whole, beaten by a baseline, and with nothing left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oltpsim.calibration.fit import (
    Baseline,
    BaselineRow,
    Calibration,
    Certificate,
    Gap,
    GapPart,
    JudgedRun,
    LeaveOut,
    RegimeErrors,
    error_summary,
    judged_rate,
)
from oltpsim.calibration.judge.validation import coverage
from oltpsim.scenarios.show.validation import validation_lines
from oltpsim.scenarios.show.validation_page import validation_page, write_validation_page
from oltpsim.simulator.analytic import CPU_PART, DEVICE_PART, READS_PART
from tests.calibration.synthetic import base
from tests.scenarios.show.test_report_browser import CUT_TEXTS, OVERFLOWING, show

if TYPE_CHECKING:
    from playwright.sync_api import Page

RATES = {"a-long-name-of-a-run-with-43000-buffers": 3872.0, "run <b>2</b>": 8137.0, "run 3": 427_480.0}
ERRORS = (-0.108, 0.02, 0.9)


def certificate(*, left_out: bool = True) -> Certificate:
    """Three runs, the last one far outside; one baseline is better than the model."""
    rows = [
        judged_rate(name, rate, (rate * (1 + error), rate * (1 + error) * 0.8, rate * (1 + error) * 1.2))
        for (name, rate), error in zip(RATES.items(), ERRORS, strict=True)
    ]
    runs = tuple(
        JudgedRun(**row.model_dump(), source="made up", scenario_hash="abc", role="predicted", regime="disk",
                  bottleneck="disk 1", outside=("four times the clients of any run you gave",))
        for row in rows
    )  # fmt: skip
    errors = error_summary([(row.name, row.error) for row in rows])
    assert errors is not None
    told = error_summary([(row.name, 0.01) for row in rows])
    better = Baseline(
        name="memory doesn't matter", errors=told, model=errors, nearer=1,
        rows=tuple(BaselineRow(name=row.name, rate=row.measured * 1.01, error=0.01, why="the others") for row in rows),
    )  # fmt: skip
    none = Baseline(
        name="universal scalability law", rows=tuple(BaselineRow(name=name, why="too few") for name in RATES)
    )
    parts = (
        GapPart(name=READS_PART, log=-0.2, measured=4.0, model=4.9, note="with the pool's misses"),
        GapPart(name=CPU_PART, log=0.35, measured=0.0012, model=0.0009),
        GapPart(name=DEVICE_PART, log=0.3, measured=0.0052, model=0.0041),
    )
    gap = Gap(name="run 3", measured=1.0, model=1.9, log=0.64, parts=parts, not_told_log=0.19, not_told=("contention",))
    one = LeaveOut(kind="run", rows=tuple(rows) if left_out else (), errors=errors if left_out else None,
                   not_done=() if left_out else ("there is one run",))  # fmt: skip
    others = tuple(LeaveOut(kind=kind, not_done=("all runs are of one",)) for kind in ("machine", "device"))
    return Certificate(
        task_hash="task", calibration_hash="content", versions={"oltpsim": "1"}, confidence=0.9, runs=runs,
        regimes=(RegimeErrors(**errors.model_dump(), role="predicted", regime="disk"),), left_out=(one, *others),
        coverage=coverage(rows, 0.9) if left_out else None, baselines=(better, none) if left_out else (),
        gaps=(gap,) if left_out else (), calibrated_range={"clients": (20.0, 80.0)},
    )  # fmt: skip


def calibration() -> Calibration:
    """As much of one as a page shows."""
    return Calibration.model_construct(base=base(), seed=1, runs=())


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    places = {"whole": folder / "whole.html", "alone": folder / "alone.html"}
    for name, path in places.items():
        write_validation_page(
            path, calibration(), certificate(left_out=name == "whole"), "oltpsim validate model.json runs/"
        )
    return places


@pytest.mark.parametrize(("name", "figures"), [("whole", 4), ("alone", 2)])
def test_all_is_drawn_and_nothing_overflows(
    browser_page: Page, pages: dict[str, Path], name: str, figures: int
) -> None:
    show(browser_page, pages[name])
    assert browser_page.locator(".plot > .plot-container").count() == figures
    assert browser_page.locator(".instead").count() == 0
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate(OVERFLOWING) == []
    assert browser_page.evaluate(CUT_TEXTS) == []


def test_a_baseline_that_is_better_is_named(browser_page: Page, pages: dict[str, Path]) -> None:
    show(browser_page, pages["whole"])
    assert "the model doesn't beat it" in browser_page.locator(".cards .limit").inner_text()
    assert "THE MODEL DOESN'T BEAT IT" in "\n".join(validation_lines(calibration(), certificate()))


def test_names_are_text_and_not_markup() -> None:
    page = validation_page(calibration(), certificate(), "oltpsim validate")
    assert "run &lt;b&gt;2" in page
    before, figures = page.split('<script id="figures"')
    assert "<b>2</b>" not in before
    assert "\\u003cb\\u003e2" not in figures, "plotly draws some tags, links among them"
    assert "\\u0026lt;b\\u0026gt;2" in figures


def test_the_same_certificate_gives_the_same_page() -> None:
    assert validation_page(calibration(), certificate(), "x") == validation_page(calibration(), certificate(), "x")
