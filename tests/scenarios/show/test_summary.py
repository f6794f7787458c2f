"""The answer in the terminal and as rows of a table."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from models.machine import PriceSpec
from scenarios.show.summary import cost_words, summary_csv, summary_text
from simulator.results import DeviceResult
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
        r"new orders per minute +[\d,]+  \[[\d,]+ \.\. [\d,]+\]   measured by others: 1,180 \([+−]1\.\d %",
        r"bottleneck +disk 1: 96\.8 % busy   queue 14\.8   7\.5 reads pending   57 % of pool misses",
        r"next +cpu: 34 % of all cores",
        r"response \(new order\) +p50 230 ms   p95 869 ms   p99 1\.61 s",
        r"cpu ▇▇▇▁▁▁▁▁▁▁ 34 %   disk ▇{10} 97 %   log wait ▇▁{9} 10 %   locks ▇▁{9} 14 %",
        r"hit ratio +pool 95\.5 %   page cache 43 %   dirty 44 %   steady after 20 min",
    ):
        assert re.search(pattern, text), pattern
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "tpmC" not in text


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
