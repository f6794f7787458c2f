"""The page as a person uses it, in Chromium: by mouse and by keyboard, on a desktop and on a phone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from oltpsim.scenarios.page.drawing import Exhibit, write_exhibit
from oltpsim.scenarios.page.folder import PageFolder
from tests.accessibility import axe_violations
from tests.scenarios.page.conftest import ServedPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ColorScheme, Page

PATIENCE_MS = 900_000
"""only against hanging: a machine that is busy with other work takes its time"""
ONE_WIDTH = pytest.mark.parametrize("browser_page", ["desktop"], indirect=True)
"""of what is the same at every width"""
SAMPLES = Path(__file__).parents[2] / "samples" / "run_directories" / "postgres15_go-tpc_in_memory"
WHOLE = "() => document.querySelector('#interval-a')?.textContent.startsWith('[')"
FITS = "document.scrollingElement.scrollWidth <= innerWidth"


@pytest.fixture
def page(browser_page: Page) -> Iterator[Page]:
    """A page whose console must stay silent."""
    complaints: list[str] = []
    browser_page.on("console", lambda message: complaints.append(message.text))
    browser_page.set_default_timeout(PATIENCE_MS)
    yield browser_page
    assert complaints == []


def show(page: Page, url: str, *, curves: bool = False) -> None:
    """Open an address that names a machine, until rate and interval are there, and the curves if they are wanted."""
    page.goto(url)
    page.wait_for_function(WHOLE)
    if curves:
        page.wait_for_selector("#curves-a:not(.stale) .plot[data-drawn]")


def rate(page: Page, side: str = "a") -> str:
    return page.locator(f"#rate-{side} strong").inner_text()


def move(page: Page, slider: int, key: str) -> str:
    """Move a slider by a key, until the answer of where it stands is whole; gives the rate."""
    before = page.url
    page.locator("#sliders-a input[type=range]").nth(slider).press(key)
    page.wait_for_function("before => location.href !== before", arg=before)
    page.wait_for_function(WHOLE)
    return rate(page)


def test_a_first_visit_ends_with_a_confirmed_answer(page: Page, served: ServedPage) -> None:
    page.goto(served.url)
    page.get_by_label("Describe a machine, or name a scenario of the library").first.fill("postgresql-15")
    page.locator("#ask-a").click()
    page.wait_for_function(WHOLE)
    assert re.fullmatch(r"26,8\d\d NOPM", rate(page))
    page.locator("#confirm-a").click()
    page.wait_for_selector("#confirmed-a strong")
    assert "NOPM" in page.locator("#confirmed-a strong").inner_text()
    assert "The calculated 26,8" in page.locator("#confirmed-a").inner_text()
    page.wait_for_selector("#series-a .plot[data-drawn]")
    assert page.evaluate(FITS)


@ONE_WIDTH
def test_a_slider_redraws_the_answer_and_never_shows_another_ones_interval(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=v20z")
    page.evaluate("""() => {
        window.seen = [];
        const look = () => window.seen.push([
            document.querySelector('#rate-a strong')?.textContent, document.querySelector('#interval-a').textContent]);
        new MutationObserver(look).observe(document.querySelector('#answer-a'),
            {subtree: true, childList: true, characterData: true});
    }""")
    first = rate(page)
    rates = {first, *(move(page, 0, "ArrowRight") for _ in range(2)), move(page, 1, "ArrowLeft")}
    assert len(rates) == 4
    shown: dict[str, set[str]] = {}
    for number, interval in page.evaluate("window.seen"):
        if number and interval.startswith("["):
            shown.setdefault(number, set()).add(interval)
    assert all(len(intervals) == 1 for intervals in shown.values())
    assert "4.00 GiB" in page.locator("#sliders-a .slider").first.inner_text()
    page.wait_for_selector("#curves-a:not(.stale) .plot[data-drawn]")
    assert "cliff" in (page.locator("#plot-a-buffers").get_attribute("aria-label") or "")


def test_two_machines_stand_side_by_side(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=postgresql-15")
    page.get_by_role("button", name="Compare with a second machine").click()
    page.wait_for_function("() => document.querySelector('#machine-b')?.value === 'postgresql-15'")
    page.locator("#machine-b").fill("8 cores, 32 GB, SSD, PostgreSQL 16")
    page.locator("#machine-b").press("Enter")
    page.wait_for_selector("#rate-b strong")
    page.wait_for_function("() => document.querySelector('#difference')?.textContent.includes('against')")
    assert parse_qs(urlsplit(page.url).query)["b"] == ["8 cores, 32 GB, SSD, PostgreSQL 16"]
    assert page.evaluate(FITS)
    page.get_by_role("button", name="Close the second machine").click()
    page.wait_for_function("() => !location.search.includes('b=')")


@ONE_WIDTH
def test_an_address_brings_everything_back(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=v20z&a.machine.memory_gib=4&a.machine.disks.count=3&b=postgresql-15")
    page.wait_for_selector("#rate-b strong")
    values = page.locator("#sliders-a .slider-value").all_inner_texts()
    assert values[0] == "4.00 GiB"
    assert values[2] == "3"
    address, before = page.url, rate(page)
    page.goto("about:blank")
    show(page, address)
    assert rate(page) == before
    assert page.locator("#sliders-a .slider-value").all_inner_texts() == values


@ONE_WIDTH
def test_what_is_taken_away_is_of_the_question(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=postgresql-15&a.machine.memory_gib=12")
    page.wait_for_selector("#plot-a-utilisation[data-drawn]")
    for words, beginning in (("Scenario", b"format"), ("Figures", b"scenario,engine,seed"), ("Report", b"<!")):
        with page.expect_download() as waiting:
            page.locator("#downloads-a").get_by_role("link", name=words).click()
        content = Path(waiting.value.path()).read_bytes()
        assert content.lower().startswith(beginning) or b"machine:" in content
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download How busy everything is as PNG").click()
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


@ONE_WIDTH
def test_what_is_not_understood_is_said_and_the_page_goes_on(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}?a=" + "<script>alert(1)</script>")
    page.wait_for_function("() => document.querySelector('#problem-a')?.textContent.length > 0")
    page.locator("#machine-a").fill("8 cores, 32 GB, SSD, Foo 99")
    page.locator("#ask-a").click()
    page.wait_for_function("() => document.querySelector('#problem-a')?.textContent.includes('Foo')")
    page.locator("#machine-a").fill("postgresql-15")
    page.locator("#machine-a").press("Enter")
    page.wait_for_function(WHOLE)
    assert page.locator("#problem-a").inner_text() == ""


@ONE_WIDTH
def test_a_bad_upload_is_said(page: Page, served: ServedPage, tmp_path: Path) -> None:
    page.goto(served.url)
    bad = tmp_path / "<img src=x onerror=alert(1)>.yaml"
    bad.write_text("a: &a [1]\nb: [*a, *a]\n", encoding="utf-8")
    page.set_input_files("#upload-files", bad)
    page.wait_for_function("() => document.querySelector('#upload-problem')?.textContent.includes('aliases')")
    page.locator("#calibrate-begin").click()
    page.wait_for_function("() => document.querySelector('#calibrate-problem')?.textContent.length > 0")


@ONE_WIDTH
def test_a_model_answers_with_its_interval_and_how_far_it_is_from_its_runs(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=postgresql-15")
    without, interval = rate(page), page.locator("#interval-a").inner_text()
    assert page.locator("#by-a").inner_text() == ""
    page.get_by_label("Answered by a calibrated model").first.fill("postgresql")
    page.locator("#model-a").press("Enter")
    page.wait_for_selector("#by-a dl")
    assert "a.model=postgresql" in page.url
    assert rate(page) != without
    assert "by the model of PostgreSQL 15" in page.locator("#rate-a").inner_text()
    assert page.locator("#interval-a").inner_text() != interval
    assert "fitted to 13 runs" in page.locator("#by-a").inner_text()
    assert "beyond the runs" not in page.locator("#by-a").inner_text()
    page.locator("#machine-a").fill("v20z")
    page.locator("#machine-a").press("Enter")
    page.wait_for_function("() => document.querySelector('#by-a').textContent.includes('beyond the runs')")
    assert "a database that no run of the model had" in page.locator("#by-a").inner_text()
    page.locator("#model-a").fill("postgres")
    page.locator("#model-a").press("Enter")
    page.wait_for_function(
        "() => document.querySelector('#problem-a').textContent.includes(\"did you mean 'postgresql'\")"
    )


@ONE_WIDTH
def test_rates_of_other_transactions_are_not_called_new_orders(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=pgbench/select-only-250&b=postgresql-15")
    page.wait_for_selector("#rate-b strong")
    assert "NOPM" in rate(page, "b")
    assert "NOPM" not in rate(page)
    assert "transactions per minute" in page.locator("#rate-a").inner_text()
    page.wait_for_function("() => document.querySelector('#difference')?.textContent.startsWith('Not comparable')")


@pytest.mark.slow
@ONE_WIDTH
def test_runs_are_uploaded_recognised_and_calibrate_a_model_that_answers(page: Page, served: ServedPage) -> None:
    page.goto(served.url)
    page.set_input_files("#upload-folder", SAMPLES)
    page.wait_for_selector("#recognised pre")
    assert "go-tpc" in page.locator("#recognised pre").inner_text()
    page.get_by_label("What was measured").fill("postgresql-15")
    page.locator("#calibrate-begin").click()
    page.wait_for_selector("#calibrate-progress progress")
    page.wait_for_selector("#calibration pre")
    assert "Model against measured" in page.locator("#calibration").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Model for --model").click()
    assert "certificate" in json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    kept = [each.name for each in (served.folder / "calibrations").iterdir()]
    name = served.server.folder.calibrations()[0]
    assert sorted(kept) == [f"{name}.json", f"{name}.model.json"]
    exhibit = served.server.callbacks.calibration(name)
    assert exhibit is not None
    assert exhibit.drawings[0].key == "agreement"
    page.get_by_role("button", name="Let this model answer").click()
    page.wait_for_selector("#by-a dl")
    assert f"a.model={name}" in page.url
    assert page.locator("#machine-a").input_value() == "postgresql-15"
    assert "fitted to 1 run" in page.locator("#by-a").inner_text()
    assert axe_violations(page) == []
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate(FITS)
    page.add_style_tag(content="#page .panel { grid-template-columns: auto }")  # as it was: as wide as its tables
    assert not page.evaluate(FITS)


@ONE_WIDTH
def test_the_keyboard_alone_is_enough(page: Page, served: ServedPage) -> None:
    page.goto(served.url)
    page.wait_for_selector("#machine-a")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"

    def tab_to(place: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("place => document.activeElement.matches(place)", place):
                return
        pytest.fail(f"{place} isn't reached by Tab")

    tab_to("#machine-a")
    page.keyboard.type("postgresql-15")
    page.keyboard.press("Enter")
    page.wait_for_function(WHOLE)
    before = rate(page)
    tab_to("#sliders-a input[type=range]")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('memory_gib')")
    page.wait_for_function(WHOLE)
    focused = page.evaluate("[document.activeElement.ariaLabel, document.activeElement.getAttribute('aria-valuetext')]")
    assert focused == ["RAM", "6.00 GiB"]
    assert before
    tab_to("#confirm-a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#confirmed-a strong")


def test_axe_finds_nothing_serious(browser: Browser, served: ServedPage) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(served.url)
    page.wait_for_selector("#machine-a")
    assert axe_violations(page) == []
    show(page, f"{served.url}?a=v20z&a.model=published&b=postgresql-15", curves=True)
    page.wait_for_selector("#curves-b:not(.stale) .plot[data-drawn]")
    schemes: tuple[ColorScheme, ...] = ("light", "dark")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            assert axe_violations(page) == [], (width, scheme)
        assert page.evaluate(FITS)
    page.close()


def test_axe_would_find_something(browser: Browser, served: ServedPage) -> None:
    page = browser.new_page()
    page.goto(served.url)
    page.wait_for_selector("#machine-a")
    page.add_style_tag(content="label { color: #cccccc !important }")
    assert any(each.startswith("color-contrast") for each in axe_violations(page))
    page.close()


def begun(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """`oltpsim serve` in a process of its own, and its address."""
    command = [sys.executable, "-m", "oltpsim.scenarios.commands.cli", "serve", "--port", "0", "--folder", str(folder)]
    code = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *command[3:]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    return process, process.stdout.readline().split()[0]


@ONE_WIDTH
def test_a_killed_server_loses_no_finished_calibration(page: Page, tmp_path: Path) -> None:
    path = PageFolder(tmp_path).calibration_path("c" * 16)
    write_exhibit(path, Exhibit("a model of ours", "fitted"))
    path.with_suffix(".model.json").write_text("{}", encoding="utf-8")
    process, _ = begun(tmp_path)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    process, url = begun(tmp_path)
    try:
        page.goto(url)
        page.get_by_role("button", name="a model of ours").click()
        page.wait_for_selector("#calibration pre")
        assert page.locator("#calibration pre").inner_text() == "fitted"
        page.goto("about:blank")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait() in {0, 130}
        assert process.stdout is not None
        process.stdout.close()


@ONE_WIDTH
def test_a_slider_is_called_by_its_name_and_value(page: Page, served: ServedPage) -> None:
    show(page, f"{served.url}?a=v20z")
    found: list[Any] = page.evaluate(
        "[...document.querySelectorAll('#sliders-a input[type=range]')]"
        ".map((each) => [each.ariaLabel, each.getAttribute('aria-valuetext')])"
    )
    assert found == [["RAM", "2.00 GiB"], ["Buffers", "120,000"], ["Disks", "1"], ["Clients", "80"], ["Cores", "2"]]
