"""The answer in the terminal and as rows of a table."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import pytest

from oltpsim.calibration.predict import MISSED, Component, MeasurementInterval, UncertainValue
from oltpsim.models.machine import PriceSpec
from oltpsim.scenarios.show.numbers import known_digits
from oltpsim.scenarios.show.summary import answer_json, cost_words, summary_csv, summary_text
from oltpsim.scenarios.show.warnings import WARNING_KINDS, explained_warning
from oltpsim.simulator.results import DeviceResult, PercentileInterval
from oltpsim.simulator.results.result import PercentileIntervals
from tests.scenarios.example_result import broken_result, example_result, example_scenario


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    lines = summary_text(broken_result(), example_scenario(), width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_answer_says_what_first_minutes_need() -> None:
    text = summary_text(example_result(), example_scenario(), 200)
    assert text.startswith("Example Server · 2 × Example 1.8 GHz · 2 GiB · 1 × example disk 10k · Example DB")
    for pattern in (
        r"[\d,]+ new orders/min +between [\d,]+ and [\d,]+ \(90%, chance alone\)   p95 869 ms",
        r"measured by others +1,180 \([+−]1\.\d %, predicted\)",
        r"limited by +disk 1, 96\.8 % busy   next: cpu, 34 % of all cores",
        r"answered by +simulation \(reference\)",
        r"response \(new order\) +p50 230 ms   p95 869 ms   p99 1\.61 s",
        r"cpu ▇▇▇▁▁▁▁▁▁▁ 34 %   disk ▇{10} 97 %   log wait ▇▁{9} 10 %   locks ▇▁{9} 14 %",
        r"hit ratio +pool 95\.5 %   page cache 43 %   dirty 44 %   steady after 20 min",
    ):
        assert re.search(pattern, text), pattern
    assert "uncertain by" not in text
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "tpmC" not in text


PARTS = (Component("row_operation_us", 0.1), Component("chance", 0.02))
EXPECTED = MeasurementInterval(UncertainValue(1_200.0, PARTS))
LOW, HIGH = (1_200.0 * math.exp(sign * 1.6449 * math.hypot(0.1, 0.02)) for sign in (-1.0, 1.0))


def test_an_interval_says_where_a_measurement_would_fall_and_why() -> None:
    text = summary_text(example_result(), example_scenario(), 200, expected=EXPECTED)
    assert re.search(r"  1,\d\d0 new orders/min +between 1,010 and 1,420 \(90%, predicted\)", text)
    assert re.search(r"uncertain by +row_operation_us ±11 %   chance ±2\.0 %   in all ±11 %, one standard", text)
    assert "chance alone" not in text
    ramping = replace(example_result(), rate_per_min=replace(example_result().rate_per_min, low=None, high=None))
    assert "predicted)   not steady" in summary_text(ramping, example_scenario(), 200, expected=EXPECTED)


def test_why_there_is_no_such_interval_is_said() -> None:
    text = summary_text(example_result(), example_scenario(), 200, expected="nobody can say: a cluster")
    assert re.search(r"no interval +nobody can say: a cluster", text)
    assert "(90%, chance alone)" in text


def test_forms_for_programs_have_both_intervals() -> None:
    result = example_result()
    data = json.loads(answer_json(result, EXPECTED))
    assert data["rate_per_min"]["high"] == result.rate_per_min.high
    assert data["measurement"]["low_per_min"] == pytest.approx(LOW, rel=1e-4)
    assert [part["what"] for part in data["measurement"]["parts"]] == ["row_operation_us", "chance"]
    assert json.loads(answer_json(result, ""))["measurement"] is None
    [row] = csv.DictReader(io.StringIO(summary_csv(result, example_scenario(), EXPECTED)))
    assert float(row["measurement_high_per_min"]) == pytest.approx(HIGH, rel=1e-4)
    assert "measurement_high_per_min" not in summary_csv(result, example_scenario())


def test_percentiles_have_intervals_or_say_why_not() -> None:
    result = example_result()
    known, few = PercentileInterval(0.21, 0.25, ""), PercentileInterval(None, None, "too few ended: 90, where 299 ...")
    intervals = PercentileIntervals(known, known, PercentileInterval(0.8, 1.02, ""), few, few)
    main, *others = result.classes
    text = summary_text(replace(result, classes=[replace(main, intervals=intervals), *others]), example_scenario(), 200)
    for found in (
        r"p50 230 ms \[210 ms \.\. 250 ms\]   p95 869 ms \[800 ms \.\. 1\.02 s\]",
        r"p99 1\.61 s \[too few ended\]   90% intervals of chance alone",
    ):
        assert re.search(found, text)
    assert not re.search(r"p50 230 ms \[", summary_text(result, example_scenario(), 200))


def test_a_run_that_gets_warm_says_how_fast() -> None:
    """Rate and hit ratios of the first minute and of longer times, from its series; of a warm start nothing."""
    found = example_result()
    text = summary_text(found, example_scenario(), 200)
    first = text.partition("getting warm")[2].split("(")[0].split()
    rates = found.series.values[found.series.rate_key]
    steps = max(round(60.0 / found.series.step_s), 1)
    assert first[0] == "to"
    assert first[-1] == f"{sum(rates[:steps]) / steps:,.0f}"
    assert "getting warm" not in summary_text(replace(found, start="warm"), example_scenario(), 200)


def test_a_large_part_is_a_factor_and_knowing_it_narrows_the_interval() -> None:
    parts = (Component("processor's speed", 0.7), Component("clients", 0.1), Component(MISSED, 0.3))
    wide = MeasurementInterval(UncertainValue(1_200.0, parts))
    text = summary_text(example_result(), example_scenario(), 200, expected=wide)
    assert "uncertain by            processor's speed x/÷2   what the model misses ±35 %   clients ±11 %" in text
    [line] = [line for line in text.splitlines() if line.startswith("  would narrow it most")]
    assert re.search(r"processor's speed \(x3\.54 -> x1\.68\)", line)
    assert MISSED not in line
    known = summary_text(
        example_result(), example_scenario(), 200, expected=MeasurementInterval(UncertainValue(1_200.0, parts[2:]))
    )
    assert "would narrow" not in known


@pytest.mark.parametrize(("value", "low", "high", "digits"), [
    (187_432.0, 139_800.0, 262_000.0, "190,000"),
    (8_093.0, 8_001.0, 8_190.0, "8,090"),
    (41.2, 30.0, 55.0, "41"),
    (8.31, 2.0, 30.0, "8.310"),
    (1_234.0, 1_234.0, 1_234.0, "1,234"),
    (74_400.0, 4_000.0, 1_400_000.0, "74,000"),
])  # fmt: skip
def test_a_figure_has_the_digits_that_its_interval_allows(value: float, low: float, high: float, digits: str) -> None:
    assert known_digits(value, low, high) == digits


def test_an_interval_too_wide_for_ends_is_a_factor() -> None:
    for sd, words in ((1.2, "x or / 7.2 (90%, predicted)"), (0.5, "between ")):
        wide = MeasurementInterval(UncertainValue(1_200.0, (Component(MISSED, sd),)))
        headline = summary_text(example_result(), example_scenario(), 200, expected=wide).splitlines()[1:4]
        assert any(words in line for line in headline)
        assert any("x or /" in line for line in headline) == ("x or /" in words)


def test_three_warnings_have_a_line_each_with_a_code_that_is_explained() -> None:
    sentences = [
        "not steady: dirty pages grow",
        "the machine swaps: 5.0 buffers/s are read back",
        "nobody knows this one",
        "overloaded: of 5",
    ]
    text = summary_text(replace(example_result(), warnings=sentences), example_scenario())
    codes = re.findall(r"^  warning ([a-z0-9-]+): ", text, re.MULTILINE)
    assert codes == ["not-steady", "swapping", "other"]
    assert "1 more: -o json" in text
    assert all(explained_warning(code, 80).startswith(f"{code}\n  ") for code in WARNING_KINDS)
    assert "more: -o json" not in summary_text(replace(example_result(), warnings=sentences[:1]), example_scenario())


def test_warnings_and_broken_laws_are_said_and_only_then() -> None:
    broken = summary_text(broken_result(), example_scenario())
    assert broken.count("warning") == 2
    assert "BROKEN LAW" in broken
    sound = summary_text(example_result(), example_scenario())
    assert "warning" not in sound
    assert "BROKEN" not in sound


def test_without_a_measured_figure_none_is_named() -> None:
    scenario = example_scenario().model_copy(update={"measured": None})
    assert "measured" not in summary_text(example_result(), scenario)
    assert "measured" not in summary_csv(example_result(), scenario)


def test_a_log_disk_is_shown_by_its_own_utilisation() -> None:
    log = DeviceResult("log disk", "flash", 0.0, 22.5, 0.52, 0.6, 0.02, 0.02, {"log": 22.5})
    result = replace(example_result(), devices=[*example_result().devices, log])
    text = summary_text(result, example_scenario(), 120)
    assert "log ▇▇▇▇▇▁▁▁▁▁ 52 %" in text
    assert "disk ▇▇▇▇▇▇▇▇▇▇ 97 %" in text
    assert "log wait" not in text


def test_csv_reads_back_with_units_in_its_names() -> None:
    rows = list(csv.DictReader(io.StringIO(summary_csv(example_result(), example_scenario()))))
    assert len(rows) == 1
    row, result = rows[0], example_result()
    assert float(row["rate_per_min"]) == result.rate_per_min.mean
    assert float(row["new_order_p95_s"]) == result.classes[0].p95_s
    assert float(row["disk_1_utilisation_fraction"]) == 0.968
    assert row["measured_role"] == "predicted"
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in row)


def test_rows_of_different_machines_have_the_same_columns() -> None:
    one = example_result()
    two = replace(one, devices=[*one.devices, replace(one.devices[0], name="disk 2")])
    rows = list(csv.DictReader(io.StringIO(summary_csv([one, two]))))
    assert list(rows[0]) == list(rows[1])
    assert rows[0]["disk_2_queue"] == ""
    assert float(rows[1]["disk_2_queue"]) == one.devices[0].mean_queue
    assert len(summary_csv([one, two]).splitlines()) == 3


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ({"usd": 550}, "2.75 USD for 1,000/min at the price of 2009"),
        ({"usd": 2000, "usd_at_most": 2500}, "10.0 to 12.5 USD for 1,000/min at the price of 2009"),
        ({"usd": 0.2, "per": "hour"}, "0.0167 USD for a million at the price of 2009"),
    ],
)
def test_cost(price: dict[str, object], words: str) -> None:
    spec = PriceSpec.model_validate({**price, "year": 2009, "source": "a test"})
    assert cost_words(spec, 200_000.0) == words
