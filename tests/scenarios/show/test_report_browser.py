"""The report as a person sees it: in Chromium, wide and narrow, light and dark, on paper."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oltpsim.scenarios.questions.explain import advise
from oltpsim.scenarios.show.report import write_report
from oltpsim.simulator.results import Result, Series
from tests.accessibility import axe_violations
from tests.scenarios.example_result import broken_result, example_result, example_scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ColorScheme, Page, ViewportSize

FIGURES = 11
PHONE: ViewportSize = {"width": 390, "height": 844}
EVERY_IMPACT = {"minor", "moderate", "serious", "critical"}
READABLE = 4.5
"""Contrast that WCAG 2.2 asks for text."""
ONE_WIDTH = pytest.mark.parametrize("browser_page", ["desktop"], indirect=True)
COLOURS = """() => {
    const shown = (element) => element.getClientRects().length > 0;
    const texts = [...document.querySelectorAll(".plot text")].filter(shown);
    const tags = "p, li, dt, dd, td, th, h1, h2, h3, figcaption, caption";
    const words = [...document.querySelectorAll(tags)].filter(shown);
    return {
        paper: getComputedStyle(document.body).backgroundColor,
        drawn: [...new Set(texts.map((text) => getComputedStyle(text).fill))],
        written: [...new Set(words.map((word) => getComputedStyle(word).color))],
        texts: texts.length,
    };
}"""
OVERFLOWING = """() => [...document.querySelectorAll("main *")]
    .filter((element) => !element.closest(".wide, svg"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.outerHTML.slice(0, 80))"""
CUT_TEXTS = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
    const place = plot.getBoundingClientRect();
    return [...plot.querySelectorAll("text")]
        .filter((text) => text.getClientRects().length > 0 && text.textContent)
        .filter((text) => {
            const box = text.getBoundingClientRect();
            return box.left < place.left - 1 || box.right > place.right + 1 || box.top < place.top - 1;
        })
        .map((text) => `${plot.id}: ${text.textContent}`);
})"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    results = {"sound": example_result(), "broken": broken_result(), "fast": fast_result()}
    for name, result in results.items():
        path, command = folder / f"{name}.html", "oltpsim run example.yaml --seed 1"
        write_report(result, example_scenario(), path, command, "", advise(example_scenario(), {}))
    return {name: folder / f"{name}.html" for name in results}


def fast_result() -> Result:
    """A rate and response times with labels of many digits."""
    result = example_result()
    rates = {key: [value * 3456.0 for value in result.series.values[key]] for key in ("new_orders_per_min",)}
    rates["reads_pending"] = [0.0] * len(rates["new_orders_per_min"])
    return replace(
        result,
        rate_per_min=replace(result.rate_per_min, mean=4_033_152.0, low=3_926_016.0, high=4_140_288.0),
        series=replace(result.series, values=result.series.values | rates),
    )


def show(page: Page, report: Path, unfolded: bool = True) -> None:
    """Open a report, and all of its sections unless they stay folded; wait until its figures are drawn."""
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-drawn]")
    if unfolded:
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.wait_for_function("() => document.querySelectorAll('.instead').length === 0")


@pytest.fixture(params=["light", "dark"])
def themed_page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    scheme: ColorScheme = request.param
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    yield context.new_page()
    context.close()


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`, as WCAG 2.2 defines it."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours: 1 (the same) to 21 (black on white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_right() -> None:
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21.0)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") < READABLE


def test_figures_are_drawn_without_a_request_or_a_complaint(browser_page: Page, reports: dict[str, Path]) -> None:
    asked: list[str] = []
    said: list[str] = []
    browser_page.on("request", lambda request: asked.append(request.url))
    browser_page.on("console", lambda message: said.append(message.text))
    show(browser_page, reports["sound"])
    browser_page.wait_for_timeout(200)
    assert asked == [reports["sound"].as_uri()]
    assert said == []
    assert browser_page.locator(".plot > .plot-container").count() == FIGURES
    assert browser_page.locator(".plot .main-svg").count() >= FIGURES
    assert browser_page.locator(".instead").count() == 0
    rate = f"{example_result().rate_per_min.mean:,.0f}"
    assert browser_page.locator(".number").inner_text().split() == [rate, "new", "orders", "per", "minute"]


def test_nothing_overflows_and_no_label_is_cut(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["broken"])
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate(OVERFLOWING) == []
    assert browser_page.evaluate(CUT_TEXTS) == []


def test_long_labels_have_room(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["fast"])
    assert "4,000,000" in (browser_page.locator("#plot-throughput").text_content() or "")
    assert browser_page.evaluate(CUT_TEXTS) == []
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@ONE_WIDTH
def test_labels_of_ticks_that_would_meet_are_every_second_one(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["sound"], unfolded=False)
    axis = {"tickvals": [3e3, 1e4, 3e4, 1e5, 3e5], "ticktext": ["3,000", "10,000", "30,000", "100,000", "300,000"]}
    wide, narrow = browser_page.evaluate("axis => [spacedTicks(axis, 600), spacedTicks(axis, 250)]", axis)
    assert wide == axis
    assert narrow == {"tickvals": [3e3, 3e4, 3e5], "ticktext": ["3,000", "30,000", "300,000"]}
    assert browser_page.evaluate("spacedTicks({ visible: false }, 100)") == {"visible": False}


def test_a_cut_label_is_noticed(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["fast"])
    browser_page.add_style_tag(content="#plot-throughput .main-svg { margin-left: -30px }")
    assert any("4,000,000" in text for text in browser_page.evaluate(CUT_TEXTS))


def test_on_a_phone_what_would_help_is_on_the_first_screen(browser_page: Page, reports: dict[str, Path]) -> None:
    """Every step of the advice, and nothing to be moved sideways; contents come below it. Twin: as on a wide screen."""
    browser_page.set_viewport_size(PHONE)
    show(browser_page, reports["sound"], unfolded=False)
    end = "Math.max(...[...document.querySelectorAll('.step')].map((step) => step.getBoundingClientRect().bottom))"
    assert browser_page.locator(".step").count() >= 2
    assert browser_page.evaluate(end) <= PHONE["height"]
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate(OVERFLOWING) == []
    browser_page.add_style_tag(
        content=".cards { grid-template-columns: 1fr !important } main { display: block !important }"
    )
    assert browser_page.evaluate(end) > PHONE["height"]


def test_overflow_is_noticed(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["sound"])
    browser_page.add_style_tag(content="h1 { width: 2000px }")
    assert not browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate(OVERFLOWING) != []


def test_figures_follow_the_width_of_the_window(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["sound"])
    browser_page.set_viewport_size({"width": 700, "height": 800})
    browser_page.wait_for_function(
        "() => { const plot = document.querySelector('.plot');"
        " return Math.abs(plot.querySelector('.main-svg').clientWidth - plot.clientWidth) < 2; }"
    )
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_broken_law_is_visible_and_a_sound_result_has_no_box(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["broken"])
    assert browser_page.locator(".problems").is_visible()
    assert "flow balance: disk 1" in browser_page.locator(".problems").inner_text()
    show(browser_page, reports["sound"])
    assert browser_page.locator(".problems").count() == 0


def test_text_and_figures_are_readable_in_both_themes(themed_page: Page, reports: dict[str, Path]) -> None:
    show(themed_page, reports["broken"])
    found = themed_page.evaluate(COLOURS)
    assert found["texts"] > 100
    for colour in found["drawn"] + found["written"]:
        assert contrast(colour, found["paper"]) >= READABLE, colour


@pytest.mark.parametrize("report", ["sound", "broken"])
def test_axe_finds_nothing(browser: Browser, reports: dict[str, Path], report: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    show(page, reports[report])
    schemes: tuple[ColorScheme, ...] = ("light", "dark")
    for size in (page.viewport_size, PHONE):
        assert size is not None
        page.set_viewport_size(size)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            assert axe_violations(page, EVERY_IMPACT) == [], (size, scheme)
    page.add_style_tag(content="main p { color: #bbbbbb !important; background: #ffffff !important }")
    assert any(each.startswith("color-contrast") for each in axe_violations(page))
    page.close()


def test_figures_change_with_the_theme(browser: Browser, reports: dict[str, Path]) -> None:
    page = browser.new_page(color_scheme="light")
    show(page, reports["sound"])
    before = page.evaluate(COLOURS)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => ({COLOURS})().drawn[0] !== {before['drawn'][0]!r}")
    after = page.evaluate(COLOURS)
    page.close()
    assert luminance(before["paper"]) > 0.8
    assert luminance(after["paper"]) < 0.05


def test_paper_is_white_even_from_a_dark_screen(browser: Browser, reports: dict[str, Path]) -> None:
    page = browser.new_page(color_scheme="dark")
    show(page, reports["sound"])
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    found = page.evaluate(COLOURS)
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('.main-svg')].map((s) => s.clientWidth))")
    page.close()
    assert min(contrast(colour, "rgb(255, 255, 255)") for colour in found["drawn"]) >= READABLE
    assert widest <= 680


def test_without_scripts_each_figure_is_told_in_words(browser: Browser, reports: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["sound"].as_uri())
    assert page.locator(".instead").count() == FIGURES
    page.locator("summary", has=page.locator("#responses")).click()
    assert "new order median 230 ms" in page.locator("#plot-responses").inner_text().replace("\u00a0", " ")
    context.close()


def test_a_folded_section_is_drawn_when_its_link_is_followed(browser_page: Page, reports: dict[str, Path]) -> None:
    show(browser_page, reports["sound"], unfolded=False)
    assert browser_page.locator("#plot-throughput .main-svg").count() > 0
    assert browser_page.locator("#plot-utilisation .main-svg").count() == 0
    assert not browser_page.locator("#utilisation-content").is_visible()
    browser_page.locator(".contents a[href='#utilisation-content']").click()
    browser_page.wait_for_selector("#plot-utilisation .main-svg")
    assert browser_page.locator("#utilisation-content").is_visible()
    assert not browser_page.locator("#caches-content").is_visible()
    assert browser_page.evaluate(OVERFLOWING) == []


def test_sections_fold_by_the_keyboard_and_without_scripts(browser: Browser, reports: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["sound"].as_uri())
    assert not page.locator("#caches-content").is_visible()
    page.locator("summary", has=page.locator("#caches")).press("Enter")
    assert page.locator("#caches-content").is_visible()
    context.close()


def test_paper_has_every_section_and_the_screen_folds_them_again(browser: Browser, reports: dict[str, Path]) -> None:
    page = browser.new_page()
    show(page, reports["sound"], unfolded=False)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".instead").count() == 0
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".fold[open]").count() == 1
    page.close()


def test_paper_has_every_section_without_scripts_too(browser: Browser, reports: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["sound"].as_uri())
    assert not page.locator("#reproduce-content").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#reproduce-content").is_visible()
    assert not page.locator(".contents").is_visible()
    context.close()


def test_answer_limit_and_advice_are_on_the_first_screen_of_a_desk(browser: Browser, reports: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    show(page, reports["sound"], unfolded=False)
    for place in (".number", ".interval", ".limit", ".advice", ".contents"):
        box = page.locator(place).first.bounding_box()
        assert box is not None, place
        assert box["y"] + box["height"] <= 900, place
    below = page.locator("#reproduce").bounding_box()
    assert below is not None
    assert below["y"] > 900
    page.close()


def test_a_printed_report_has_its_charts(browser: Browser, tmp_path: Path) -> None:
    assert browser.is_connected()
    sizes = {}
    for name, result in (("all", example_result()), ("none", replace(example_result(), series=Series(10.0, {})))):
        write_report(result, example_scenario(), tmp_path / f"{name}.pdf", "oltpsim run example.yaml")
        paper = (tmp_path / f"{name}.pdf").read_bytes()
        assert paper.startswith(b"%PDF")
        sizes[name] = sum(map(drawn_lines, re.findall(rb"stream\r?\n(.*?)\r?\nendstream", paper, re.DOTALL)))
    assert sizes["all"] > sizes["none"] + 200


def drawn_lines(stream: bytes) -> int:
    """How many lines a stream of a PDF draws; none if it is no drawing."""
    try:
        return len(re.findall(rb"^[-\d. ]+ l$", zlib.decompress(stream), re.MULTILINE))
    except zlib.error:
        return 0
