"""The report as text: what it says, in which order, and that it says the same again."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from oltpsim.models.catalogue import Prices
from oltpsim.models.machine import PriceSpec
from oltpsim.scenarios.questions.explain import DISK_STEP, advise, unit_prices
from oltpsim.scenarios.show import chromium, run_charts
from oltpsim.scenarios.show.configuration import assumptions, configuration_groups
from oltpsim.scenarios.show.numbers import signed_count, significant
from oltpsim.scenarios.show.report import check_report, report_html, write_report
from oltpsim.scenarios.show.summary import cost_words
from oltpsim.scenarios.show.words import against_measured, loads
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import (
    Bottleneck,
    DeviceResult,
    PercentileInterval,
    Result,
    Series,
    read_result,
    result_json,
    utilisation_key,
)
from oltpsim.simulator.results.result import PercentileIntervals
from tests.scenarios.example_result import broken_result, example_result, example_scenario

COMMAND = "oltpsim run example.yaml --seed 1"
UNSAFE = '<script>alert("x")</script>'


class Text(HTMLParser):
    """The words of a page without scripts and styles, and the tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, _tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.words.append(data)

    def __str__(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(result: Result) -> Text:
    return Text(report_html(result, example_scenario(), COMMAND))


def figures_of(result: Result) -> dict[str, dict[str, object]]:
    page = report_html(result, example_scenario(), COMMAND)
    found = re.search(r'<script id="figures" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    figures: dict[str, dict[str, object]] = json.loads(found.group(1))
    return figures


@pytest.fixture(scope="module")
def text() -> Text:
    return page_of(example_result())


def test_the_example_is_consistent() -> None:
    result = example_result()
    cpu = result.cpu
    assert cpu.user + cpu.system + cpu.iowait + cpu.idle == pytest.approx(1.0)
    assert sum(cpu.by_activity.values()) == pytest.approx(cpu.utilisation)
    for one in result.classes:
        assert sum(one.time_by_s.values()) == pytest.approx(one.mean_s)
    for table in result.tables:
        answered = table.pool_hits + table.page_cache_hits + table.disk_reads + table.created
        assert answered == table.references
    assert all(abs(law.left - law.right) <= law.tolerance or "<=" in law.name for law in result.laws)


def test_same_arguments_same_bytes_in_another_process_too() -> None:
    code = (
        "import hashlib, sys\n"
        "from oltpsim.scenarios.show.report import check_report, report_html\n"
        "from tests.scenarios.example_result import example_result, example_scenario\n"
        f"page = report_html(example_result(), example_scenario(), {COMMAND!r})\n"
        "print(hashlib.sha256(page.encode()).hexdigest())"
    )
    hashes = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(hashes) == 1
    other = report_html(replace(example_result(), seed=2), example_scenario(), COMMAND)
    assert other != report_html(example_result(), example_scenario(), COMMAND)


def test_a_result_read_back_gives_the_same_bytes() -> None:
    result, scenario = example_result(), example_scenario()
    read = read_result(result_json(result))
    assert list(read.classes[0].time_by_s) != list(result.classes[0].time_by_s)
    assert report_html(read, scenario, COMMAND) == report_html(result, scenario, COMMAND)


def test_lines_are_in_the_order_of_their_numbers() -> None:
    result = example_result()
    devices = [replace(result.devices[0], name=f"disk {n}") for n in (10, 2, 1)]
    series = Series(10.0, {utilisation_key(device.name): [0.5] for device in devices})
    panels = run_charts.series_groups(replace(result, devices=devices, series=series))
    assert [list(panel.lines) for panel in panels if panel.key == "disks"] == [["disk 1", "disk 2", "disk 10"]]


def test_an_idle_machine_is_not_said_to_be_limited() -> None:
    limit = Bottleneck("disk 1", 0.23, "cpu", 0.1)
    result = example_result()
    devices = [replace(result.devices[0], utilisation=0.23)]
    words = str(page_of(replace(result, bottleneck=limit, devices=devices)))
    assert "nothing is near its limit" in words
    assert "nothing is near its limit" not in str(page_of(result))


def test_headline_says_rate_interval_error_and_bottleneck(text: Text) -> None:
    words = str(text)
    rate = example_result().rate_per_min
    assert f"{rate.mean:,.0f} new orders per minute [{rate.low:,.0f} .. {rate.high:,.0f}]" in words
    assert "90 % interval, batch means" in words
    assert re.search(r"Measured by others 1,180 error [+−]\d+\.\d %", words)
    assert "predicted: no fit has seen this figure" in words
    assert "Bottleneck disk 1 96.8 % busy" in words
    assert "Next after it cpu 34 % of all cores" in words
    assert "tpmC" not in words


def test_a_scenario_without_a_measured_figure_names_none() -> None:
    scenario = example_scenario().model_copy(update={"measured": None})
    assert "Measured by others" not in str(Text(report_html(example_result(), scenario, COMMAND)))
    assert against_measured(example_result(), scenario) is None


def test_order_is_that_of_an_executive_summary(text: Text) -> None:
    headings = [tag.get("aria-labelledby") or tag.get("aria-label") for name, tag in text.tags if name == "section"]
    assert headings == [
        "Headline",
        "throughput",
        "responses",
        "utilisation",
        "time",
        "caches",
        "over-time",
        "configuration",
        "assumptions",
        "reproduce",
    ]


def test_warnings_and_a_broken_law_are_shown_on_top() -> None:
    words = str(page_of(broken_result()))
    assert "Do not use this result: it breaks 1 of" in words
    assert "flow balance: disk 1 : 131.00 against 140.50, tolerance 1.4" in words
    assert "the machine swaps: 12.4 buffers/s" in words
    assert "✗ no" in words
    assert words.index("Do not use") < words.index("Bottleneck") < words.index("over time")


def test_a_sound_result_says_so_and_shows_no_box(text: Text) -> None:
    words = str(text)
    assert "No warnings; all 10 laws hold." in words
    assert "Do not use" not in words
    assert "✗" not in words


def test_a_warning_alone_is_no_broken_law() -> None:
    words = str(page_of(replace(example_result(), warnings=["only 12 transactions were counted"])))
    assert "Read this before using the result" in words
    assert "only 12 transactions were counted" in words
    assert "Do not use" not in words


def test_reproduction_names_command_seed_engine_versions_and_hash(text: Text) -> None:
    words = str(text)
    for part in (COMMAND, "0123456789abcdef", "reference", "0.1.0"):
        assert part in words


def test_tables_have_captions_and_headers_with_scope(text: Text) -> None:
    assert all(tag.get("scope") in ("col", "row") for name, tag in text.tags if name == "th")
    assert [name for name, _ in text.tags].count("table") <= [n for n, _ in text.tags].count("caption") + 1
    levels = [int(name[1]) for name, _ in text.tags if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_figure_has_an_alternative_in_numbers(text: Text) -> None:
    places = [tag for _, tag in text.tags if "data-figure" in tag]
    assert len(places) == 11
    for place in places:
        assert place["role"] == "img"
        assert re.search(r"\d", place["aria-label"] or ""), place["id"]
    assert {str(place["data-figure"]) for place in places} == set(figures_of(example_result()))


def test_page_names_nothing_outside_itself(text: Text) -> None:
    for name, tag in text.tags:
        for key in ("src", "href"):
            assert (tag.get(key) or "data:").startswith(("data:", "#")), f"{name} {key}"


def test_contents_lead_to_every_section_and_only_the_first_is_open(text: Text) -> None:
    links = [str(tag["href"])[1:] for name, tag in text.tags if name == "a"]
    places = [tag["id"] for _, tag in text.tags if tag.get("class") == "folded"]
    assert links == places
    folds = [tag for name, tag in text.tags if name == "details" and tag.get("class") == "fold"]
    assert len(folds) == len(places)
    assert ["open" in tag for tag in folds] == [True] + [False] * (len(folds) - 1)


def test_a_section_that_is_missing_has_no_link() -> None:
    page = page_of(replace(example_result(), series=Series(10.0, {})))
    links = [tag["href"] for name, tag in page.tags if name == "a"]
    assert "#over-time-content" not in links
    assert "#responses-content" in links
    assert [tag["id"] for _, tag in page.tags if tag.get("class") == "folded"] == [str(link)[1:] for link in links]


def test_advice_is_in_the_headline_and_says_that_it_is_calculated() -> None:
    prices = unit_prices(example_scenario(), Prices(()), {DISK_STEP: 250.0})
    dated = {name: replace(price, source="a list: disks/x", date="2006-06-01") for name, price in prices.items()}
    advice = advise(example_scenario(), dated)
    words = str(Text(report_html(example_result(), example_scenario(), COMMAND, "", advice)))
    assert "If you could buy one thing" in words
    assert f"calculated for the warm machine, {advice.rate_per_min:,.0f}/min, not simulated; prices: a list" in words
    disk = next(step for step in advice.steps if step.name == DISK_STEP)
    assert disk.gain_per_min is not None
    assert f"1 disk {signed_count(disk.gain_per_min)}/min" in words.replace("\u00a0", " ")
    assert "250 USD in 2006" in words
    assert f"Best buffer pool {significant(advice.buffers.best.gib)} GiB" in words
    assert words.index("If you could buy") < words.index("No warnings; all")


def test_without_advice_the_page_gives_none_and_a_refusal_says_why(text: Text) -> None:
    assert "If you could buy" not in str(text)
    words = str(Text(report_html(example_result(), example_scenario(), COMMAND, "", "it has two heads")))
    assert "what would help can't be calculated: it has two heads" in words
    assert "Best buffer pool" not in words


def test_a_step_that_is_not_possible_has_its_reason() -> None:
    advice = advise(example_scenario(), {})
    steps = tuple(replace(step, gain_per_min=None, reason="no slot is free") for step in advice.steps)
    page = Text(report_html(example_result(), example_scenario(), COMMAND, "", replace(advice, steps=steps)))
    assert "1 core not possible no slot is free" in str(page).replace("\u00a0", " ")
    assert "prices:" not in str(page)


def test_a_machine_with_a_price_says_what_throughput_costs(text: Text) -> None:
    scenario = example_scenario()
    priced = PriceSpec(usd=5000.0, year=2006, source="assumption: made up")
    scenario = scenario.model_copy(update={"machine": scenario.machine.model_copy(update={"price": priced})})
    assert cost_words(priced, example_result().rate_per_min.mean) in str(
        Text(report_html(example_result(), scenario, COMMAND))
    )
    assert "USD" not in str(text)


def test_names_cannot_run_as_script() -> None:
    scenario = example_scenario().model_copy(update={"name": UNSAFE, "notes": (UNSAFE,)})
    page = report_html(replace(example_result(), warnings=[UNSAFE]), scenario, UNSAFE)
    assert UNSAFE not in page
    assert page.count("&lt;script&gt;alert") >= 4


def test_unknown_series_get_a_panel_of_their_own() -> None:
    result = example_result()
    odd = {"frobs_per_s": [1.0, 2.0], "cpu": [0.5, 0.6], "new_orders_per_min": [900.0, 950.0]}
    result = replace(result, series=Series(10.0, odd))
    titles = [picture.title for picture in run_charts.over_time(result)]
    assert titles == ["CPU", "Frobs per second"]


@pytest.mark.parametrize("values", [{}, {"cpu_user": []}])
def test_no_series_no_picture(values: dict[str, list[float]]) -> None:
    result = replace(example_result(), series=Series(10.0, values))
    assert run_charts.over_time(result) == []
    assert "Over time" not in str(page_of(result))


def test_many_disks_are_cut_to_the_busiest() -> None:
    result = example_result()
    disk = result.devices[0]
    disks = [replace(disk, name=f"disk {n}", utilisation=n / 40) for n in range(1, 41)]
    result = replace(result, devices=disks, bottleneck=Bottleneck("disk 40", 1.0, "disk 39", 0.975))
    assert [device.name for device in run_charts.busiest(disks)] == [f"disk {n}" for n in range(33, 41)]
    picture = run_charts.utilisation(result)
    assert "disk 40: bottleneck" in json.dumps(picture.figure)
    assert "32 others are not shown" in picture.caption
    assert "the 8 busiest of 40" in str(page_of(result))


def test_only_the_bottleneck_is_framed() -> None:
    picture = run_charts.utilisation(example_result())
    assert len(picture.figure["layout"]["shapes"]) == 1
    by_cpu = replace(example_result(), bottleneck=Bottleneck("cpu", 0.99, "disk 1", 0.5))
    marked = [load.name for load in loads(by_cpu) if load.is_bottleneck]
    assert marked == ["cpu"]
    assert "bottleneck" not in {entry.label for entry in run_charts.utilisation(by_cpu).legend}


def test_a_class_without_completions_has_no_times() -> None:
    result = example_result()
    nobody = replace(result.classes[4], completed=0, mean_s=0.0, p50_s=0.0, time_by_s={})
    result = replace(result, classes=[*result.classes[:4], nobody])
    picture = run_charts.responses(result)
    assert picture is not None
    assert "stock level" not in picture.alternative
    assert "stock level" in str(page_of(result))


def test_percentiles_have_their_intervals_as_whiskers_and_those_without_are_counted() -> None:
    result = example_result()
    main, *others = result.classes
    known, few = PercentileInterval(0.21, 0.25, ""), PercentileInterval(None, None, "too few ended: 90, where 299 ...")
    intervals = PercentileIntervals(known, known, PercentileInterval(0.8, 1.02, ""), few, few)
    picture = run_charts.responses(replace(result, classes=[replace(main, intervals=intervals), *others]))
    assert picture is not None
    median, *_, last = [trace for trace in picture.figure["data"] if "error_x" in trace]
    assert median["error_x"]["array"][0] == pytest.approx(0.25 - median["x"][0])
    assert median["error_x"]["arrayminus"][0] == pytest.approx(median["x"][0] - 0.21)
    assert last["error_x"]["array"] == [0.0] * len(result.classes)
    assert "new order median 230 ms [210 ms .. 250 ms]" in picture.alternative.replace("\u00a0", " ")
    assert picture.caption.endswith(
        "Whiskers: 90 % intervals of chance alone. 2 of 5 percentiles have none: too few ended."
    )
    without = run_charts.responses(result)
    assert without is not None
    assert "Whiskers" not in without.caption
    assert not [trace for trace in without.figure["data"] if "error_x" in trace]


def test_nothing_completed_is_a_report_without_times() -> None:
    result = example_result()
    empty = [replace(one, completed=0, mean_s=0.0, p50_s=0.0) for one in result.classes]
    assert "none completed" in str(page_of(replace(result, classes=empty, tables=[])))


def test_times_of_a_class_add_up_in_the_picture() -> None:
    picture = run_charts.time_by_activity(example_result())
    assert picture is not None
    for number, one in enumerate(example_result().classes):
        drawn = sum(bar["x"][number] for bar in picture.figure["data"])
        assert drawn == pytest.approx(one.mean_s * 1e3)


def test_configuration_has_units_sources_and_no_raw_names(text: Text) -> None:
    groups = configuration_groups(example_scenario())
    items = {
        (section.title, item.label): item.value
        for group in groups
        for section in group.sections
        for item in section.items
    }
    assert items["Machine: Example Server", "Memory"] == "2 GiB"
    assert items["Disk: example disk 10k", "Seek average"] == "4.7 ms"
    assert items["Writer", "Dirty high"] == "60 %"
    assert items["Mix", "New order"] == "45 %"
    assert items["Checkpoint", "Interval"] == "20 min"
    assert items["Pool", "Buffers"] == "120,000"
    assert not [label for _, label in items if "_" in label]
    assert "Source: assumption: made up for tests" in str(text)
    assumed = dict(assumptions(example_scenario()))
    assert "CPU: Example 1.8 GHz" in assumed["made up for tests"]
    assert assumed["clients run on the server"] == "Network"


def test_moving_mean_keeps_length_and_a_constant() -> None:
    assert run_charts.moving_mean([3.0] * 7, 5) == pytest.approx([3.0] * 7)
    assert run_charts.moving_mean([0.0, 3.0, 0.0], 3) == pytest.approx([1.5, 1.0, 1.5])


def test_write_report_makes_one_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_report(example_result(), example_scenario(), path, COMMAND)
    assert path.read_text(encoding="utf-8") == report_html(example_result(), example_scenario(), COMMAND)
    assert path.stat().st_size < 2_500_000
    assert list(path.parent.iterdir()) == [path]


def test_a_flash_log_disk_has_its_row() -> None:
    log = DeviceResult("log disk", "flash", 0.0, 22.5, 0.03, 0.03, 0.0001, 0.0001, {"log": 22.5})
    result = replace(example_result(), devices=[*example_result().devices, log])
    assert "log disk flash 3.0 % 0 22.5" in str(page_of(result))


@pytest.mark.parametrize("name", ["r.txt", "r", "r.png"])
def test_a_report_of_another_kind_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"--report r.*: a report is a page or its print: .* \.html or \.pdf"):
        check_report(Path(name), "--report")
    check_report(Path("r.html"), "--report")
    check_report(None, "--report")


def test_a_report_on_paper_without_chromium_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "BROWSERS", ("no-such-browser",))
    with pytest.raises(InputError, match=r"--report r\.pdf: PDF is drawn by Chromium, .* or name a \.html file"):
        check_report(Path("r.pdf"), "--report")
