"""Replications pooled: their t interval, and a word where most of them aren't steady."""

import os
import re
from dataclasses import replace

import pytest

from oltpsim.scenarios.run import default_workers, pool_rates, pool_replications
from oltpsim.scenarios.show.summary import summary_row, summary_text
from oltpsim.scenarios.show.words import interval_kind, rate_interval
from oltpsim.simulator.results import Estimate, Result, read_result, result_json
from tests.scenarios.example_result import example_result, example_scenario

REASON = "dirty pages grow by 2,433 within what is counted"
METHOD = f"not steady: {REASON}"
ONE_SEED = "only the rate is of seeds 0..2: all else, percentiles with their intervals too, is of seed 0"


def unsteady() -> Result:
    rate = Estimate(1200.0, None, None, 0.9, METHOD)
    return replace(example_result(), rate_per_min=rate, steady_rate_per_min=rate, steady_from_s=None, warnings=[METHOD])


@pytest.mark.parametrize(("without", "said"), [(0, False), (1, False), (2, True), (3, True)])
def test_most_of_the_replications_decide(without: int, said: bool) -> None:
    runs = [unsteady()] * without + [example_result()] * (3 - without)
    results = [replace(run, seed=seed) for seed, run in enumerate(runs)]
    pooled, rates = pool_replications(results), pool_rates(results)
    assert pooled.rate_per_min.is_steady, "the t interval over seeds"
    assert rates.warnings == ([f"{METHOD}; the interval is one of runs of this length"] if said else [])
    assert pooled.warnings == [*rates.warnings, ONE_SEED]
    assert (pooled.rate_per_min, pooled.classes) == (rates.rate_per_min, results[0].classes)
    assert pool_replications(results[:1]) == results[0], "one run says nothing of others"


def test_a_run_that_is_not_steady_says_so_in_text_and_files() -> None:
    result = unsteady()
    text = summary_text(result, example_scenario(), 200)
    assert re.search(r"1,200 new orders/min +not steady", text)
    assert "steady after" not in text
    assert f"  warning not-steady: {METHOD}" in text
    assert "steady after" in summary_text(example_result(), example_scenario(), 200)
    row = summary_row(result)
    assert (row["rate_low_per_min"], row["rate_high_per_min"], row["steady_from_s"]) == ("", "", "")
    assert read_result(result_json(result)) == result
    assert (rate_interval(result.rate_per_min), interval_kind(result.rate_per_min)) == (
        "not steady",
        f"no interval: {REASON}",
    )


def test_workers_are_the_cores_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """All cores where the system doesn't say which, as macOS."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert default_workers() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert default_workers() == 7
