"""The what-if panel of a report: its words and its page, opened from disk in Chromium and printed."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oltpsim.scenarios.questions.what_if import BUFFERS, CLIENTS, DISKS, RAM, MachineAnswer, VariedSetting, WhatIf
from oltpsim.scenarios.show.chromium import printed
from oltpsim.scenarios.show.page import plotly_js
from oltpsim.scenarios.show.report import report_html, write_report
from oltpsim.scenarios.show.what_if import what_if_panel
from tests.scenarios.example_result import example_result, example_scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_BYTES = 6_000_000
UNSAFE = '</script><img src=x onerror="alert(1)">'
COMMAND = "oltpsim run example.yaml"


@cache
def made_up_grid() -> WhatIf:
    """Two values of each setting around the example's; the larger pool doesn't fit into the smaller memory."""
    axes = (
        VariedSetting(RAM, (1.0, 2.0), 1),
        VariedSetting(BUFFERS, (120_000, 240_000), 0),
        VariedSetting(CLIENTS, (80, 160), 0),
        VariedSetting(DISKS, (1, 2), 0),
    )
    cells: list[MachineAnswer | str] = []
    for number in range(16):
        ram, pool, clients, disks = (number >> 3) & 1, (number >> 2) & 1, (number >> 1) & 1, number & 1
        if pool and not ram:
            cells.append("database.pool.buffers: 240000 buffers take 1.9 GiB")
            continue
        rate = 1_000.0 * (1 + disks) * (1.0 + 0.5 * pool) * (1.0 + 0.1 * clients)
        doubts = (f"the machine swaps {UNSAFE}",) if pool else ()
        cells.append(MachineAnswer(rate, 0.9 * rate, 1.2 * rate, "disk 1", 0.97, 0.25, None if pool else 0.8, doubts))
    return WhatIf("new order", axes, tuple(cells))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("what_if") / "report.html"
    write_report(example_result(), example_scenario(), path, COMMAND, grid=made_up_grid())
    return path


def test_tables_vary_one_setting_with_the_others_as_they_are() -> None:
    panel = what_if_panel(made_up_grid(), example_scenario())
    tables = {slider.label: rows for slider, rows in panel.tables}
    assert [row.rate for row in tables["Disks"]] == ["1,000", "2,000"]
    assert [row.rate for row in tables["Buffer pool"]] == ["1,000", "1,500"]
    assert [row.is_now for row in tables["RAM"]] == [False, True]
    assert tables["Buffer pool"][1].doubts == (1,)
    assert panel.doubts == (f"the machine swaps {UNSAFE}",)
    assert tables["Buffer pool"][0].value == "120,000 (0.984 GiB)"
    assert tables["Disks"][1].interval == "[1,800 .. 2,400]"


def test_cells_keep_the_order_of_the_grid_and_say_why_one_cannot_run() -> None:
    cells = what_if_panel(made_up_grid(), example_scenario()).cells["cells"]
    assert [cell.get("rate") for cell in cells[:2]] == ["1,000", "2,000"]
    assert cells[4] == {"refused": "database.pool.buffers: 240000 buffers take 1.9 GiB"}
    assert cells[1]["change"] == "+100 %"


def test_a_report_without_a_grid_has_no_sliders_or_says_why() -> None:
    none = report_html(example_result(), example_scenario(), COMMAND)
    assert 'type="range"' not in none
    assert 'id="what-if"' not in none
    refused = report_html(example_result(), example_scenario(), COMMAND, grid="it has two heads")
    assert "Other settings can't be calculated: it has two heads" in refused
    assert 'type="range"' not in refused


def test_size_and_licence_of_the_file(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    assert len(page.encode()) <= MOST_BYTES
    notice = re.findall(r"plotly\.js v[\d.]+|Copyright \d+-\d+, Plotly, Inc\.|Licensed under the MIT license", page)
    head = plotly_js()[:400]
    assert len(notice) == 3
    assert all(words in head for words in notice)


def test_same_arguments_same_bytes(report: Path) -> None:
    again = report_html(example_result(), example_scenario(), COMMAND, grid=made_up_grid())
    assert again == report.read_text(encoding="utf-8")


def test_words_of_others_end_no_script(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    assert UNSAFE not in page
    found = re.search(r'<script id="what-if-cells" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    cells: dict[str, Any] = json.loads(found[1])
    assert cells["notes"] == [f"the machine swaps {UNSAFE}"]


def show(page: Page, report: Path) -> None:
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-drawn]")


def shown(page: Page, name: str) -> str:
    return page.locator(f"#what-if-{name}").inner_text()


def curve(page: Page) -> list[float]:
    """What is drawn: rates of the curve's points."""
    found: list[float] = page.evaluate("document.getElementById('plot-what-if').data[1].y")
    return found


def test_keys_move_the_sliders_and_the_answer_with_them(browser_page: Page, report: Path) -> None:
    asked: list[str] = []
    browser_page.on("request", lambda request: asked.append(request.url))
    show(browser_page, report)
    assert shown(browser_page, "rate") == "1,000"
    assert curve(browser_page) == [1000, 1500]
    disks = browser_page.get_by_label("Disks", exact=True)
    disks.focus()
    disks.press("ArrowRight")
    assert shown(browser_page, "rate") == "2,000"
    assert shown(browser_page, "unit") == "new orders per minute [1,800 .. 2,400]"
    assert shown(browser_page, "change") == "+100 % against the machine as it is"
    assert "95 % within 800 ms" in shown(browser_page, "response")
    assert disks.get_attribute("aria-valuetext") == "2"
    assert curve(browser_page) == [1000, 2000]
    browser_page.get_by_label("Buffer pool", exact=True).press("End")
    assert shown(browser_page, "rate") == "3,000"
    assert shown(browser_page, "notes") == f"the machine swaps {UNSAFE}"
    assert curve(browser_page) == [2000, 3000]
    browser_page.get_by_role("button", name="As it is").press("Enter")
    assert shown(browser_page, "rate") == "1,000"
    assert asked == [report.as_uri()]


def test_a_machine_that_cannot_run_says_why(browser_page: Page, report: Path) -> None:
    show(browser_page, report)
    browser_page.get_by_label("RAM", exact=True).press("Home")
    assert shown(browser_page, "rate") == "1,000"
    browser_page.get_by_label("Buffer pool", exact=True).press("End")
    assert shown(browser_page, "rate") == "can't run"
    assert shown(browser_page, "notes") == "database.pool.buffers: 240000 buffers take 1.9 GiB"
    assert curve(browser_page) == [1000]
    label = browser_page.locator("#plot-what-if").get_attribute("aria-label") or ""
    assert "240,000 (1.97 GiB) can't run" in label


def test_sliders_have_labels_and_nothing_is_wider_than_the_window(browser_page: Page, report: Path) -> None:
    show(browser_page, report)
    assert browser_page.locator("#what-if-panel input").count() == 4
    unlabelled = (
        "() => [...document.querySelectorAll('#what-if-panel input')].filter((each) => !each.labels.length).length"
    )
    assert browser_page.evaluate(unlabelled) == 0
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    browser_page.add_style_tag(content=".slider { width: 2000px }")
    assert not browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_without_scripts_the_tables_stand_for_the_sliders(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert not page.locator("#what-if-panel").is_visible()
    page.get_by_text("One setting at a time, as tables").click()
    assert page.get_by_role("row", name="240,000").first.is_visible()
    context.close()


def test_paper_has_tables_and_no_sliders(browser: Browser, report: Path) -> None:
    page = browser.new_page()
    show(page, report)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator(".sliders").is_visible()
    assert page.locator(".tables table").first.is_visible()
    assert page.locator("#what-if-answer").is_visible()
    page.close()
    assert printed(report.read_text(encoding="utf-8")).startswith(b"%PDF")
