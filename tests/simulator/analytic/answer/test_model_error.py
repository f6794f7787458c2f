"""Model error: its intervals hold what the kernel says of systems that the fit hasn't seen."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.error_fit import SIGMAS_OF_CONFIDENCE
from benchmarks.random_runs import SETS
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic
from oltpsim.simulator.analytic import (
    PERCENTILES,
    Case,
    doubts,
    error_model,
    percentile_half_widths,
    rate_half_widths,
    solve,
    solved_case,
)
from oltpsim.simulator.analytic.answer import model_error
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import Result, main_class_of
from tests.calibration.synthetic import TINY

HELD_OUT = Path(__file__).with_name("held_out.json")
FEWEST_HELD, MOST_HELD = 0.80, 0.98
"""shares of some fifty systems, 90 % of whose figures lie in their intervals"""
P95_GIVEN = 0.75
"""share of some fifty systems with a 95th percentile; of all they are 84 %"""


def case_of(*settings: str) -> Case:
    return solved_case(build(load_scenario(TINY, list(settings))))


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, Any], Result]]:
    """Held-out systems, as the kernel ran them, with the analytic engine's results."""
    found = []
    for saved in json.loads(HELD_OUT.read_text(encoding="utf-8")):
        _, scenario = SETS[saved["set"]][1](saved["number"])
        times = {"warm_up_s": saved["warm_up_s"], "duration_s": saved["duration_s"]}
        scenario = scenario.model_copy(update={"interval": scenario.interval.model_copy(update=times)})
        found.append((saved, analytic.simulate(build(scenario), 1)))
    return found


def held(simulated: float, chance: float, low: float, high: float, narrowed: float = 1.0) -> bool:
    """Whether an interval, narrowed to a part of itself, holds a simulated figure, but for this figure's chance."""
    half_width = narrowed * math.log(high / low) / 2.0
    return abs(math.log(simulated / math.sqrt(low * high))) <= math.hypot(half_width, SIGMAS_OF_CONFIDENCE * chance)


def shares_held(answers: list[tuple[dict[str, Any], Result]], narrowed: float) -> tuple[float, float]:
    """Shares of rates, and of 95th percentiles that are given, within their intervals."""
    rates, percentiles = [], []
    for saved, result in answers:
        rate, main = result.rate_per_min, main_class_of(result)
        assert rate.low is not None
        assert rate.high is not None
        rates.append(held(*saved["rate"], rate.low, rate.high, narrowed))
        if main.p95_s is not None:
            assert main.intervals is not None
            low_s, high_s = main.intervals.p95.low_s, main.intervals.p95.high_s
            assert low_s is not None
            assert high_s is not None
            percentiles.append(held(*saved["p95"], low_s, high_s, narrowed))
    return float(np.mean(rates)), float(np.mean(percentiles))


def test_intervals_hold_systems_that_the_fit_has_not_seen(answers: list[tuple[dict[str, Any], Result]]) -> None:
    """The twin has intervals of a third of the width."""
    assert len(answers) >= 40
    assert all(FEWEST_HELD <= share <= MOST_HELD for share in shares_held(answers, 1.0))
    assert all(share < FEWEST_HELD for share in shares_held(answers, 1.0 / 3.0))


def test_most_systems_have_a_percentile(answers: list[tuple[dict[str, Any], Result]]) -> None:
    given = [main_class_of(result).p95_s is not None for _, result in answers]
    assert np.mean(given) >= P95_GIVEN


def test_an_interval_is_symmetric_in_logarithms() -> None:
    found = error_model().interval(100.0, math.log(1.25))
    assert (found.mean, found.low, found.high) == pytest.approx((100.0, 80.0, 125.0))
    assert found.confidence == 0.9
    assert found.log_sd == pytest.approx(math.log(1.25) / 1.6449, rel=1e-4)


def test_widths_of_many_machines_are_those_of_each() -> None:
    slow, fast = case_of("database.pool.buffers=2000"), case_of("database.pool.buffers=20000")
    w, policy = slow.workload, slow.system.pool.replacement
    together = analytic.stacked([slow.parameters, fast.parameters])
    widths = rate_half_widths(w, together, solve(w, together, policy))
    alone = [float(rate_half_widths(w, one.parameters, one.solution)[0]) for one in (slow, fast)]
    np.testing.assert_allclose(widths, alone, rtol=1e-6)
    assert alone[0] > alone[1] > 0.0


def test_widths_of_percentiles_grow_with_the_share_and_lie_between_those_of_the_model() -> None:
    case = case_of()
    shares = np.array([0.1, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999, 0.9999])
    machine = case.workload, case.parameters, case.solution
    widths = percentile_half_widths(*machine, np.arange(2), shares, rate_half_widths(*machine))
    assert widths.shape == (1, 2, len(shares))
    assert (np.diff(widths, axis=-1) >= 0.0).all()
    low, inside, high = widths[0, 0, 3:6].tolist()
    assert low <= inside <= high
    np.testing.assert_array_equal(widths[..., 0], widths[..., 1])
    np.testing.assert_array_equal(widths[..., -1], widths[..., -2])


@pytest.mark.parametrize(
    "change",
    [
        {"systems": "many"},
        {"figures": {}},
        {"figures": {key: {"base": 0.1, "weights": {"row locks": -0.1}} for key in ("rate", *PERCENTILES)}},
        {"figures": {key: {"base": 0.0, "weights": {}} for key in ("rate", *PERCENTILES)}},
    ],
)
def test_a_model_that_makes_no_sense_is_refused(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.loads(model_error.ERROR_MODEL_FILE.read_text(encoding="utf-8"))
    file = tmp_path / "model_error.json"
    monkeypatch.setattr(model_error, "ERROR_MODEL_FILE", file)
    file.write_text(json.dumps(content), encoding="utf-8")
    assert error_model.__wrapped__() == error_model()
    file.write_text(json.dumps(content | change), encoding="utf-8")
    with pytest.raises(InternalError, match=r"model_error\.json: "):
        error_model.__wrapped__()


def test_the_model_says_where_it_is_from() -> None:
    content = json.loads(model_error.ERROR_MODEL_FILE.read_text(encoding="utf-8"))
    assert content["source"]
    assert content["date"]
    assert 0.88 <= content["coverage"]["rate"]["all"] <= 0.92
    assert all(share >= 0.8 for kind, share in content["coverage"]["rate"].items() if kind != "anything")


def test_one_sentence_says_what_the_fit_has_not_seen() -> None:
    """All in one, with the size and its range; the twin is within the data."""
    case = case_of()
    assert doubts(case) == []
    clients = replace(case.parameters.clients, number=np.array([1e5]))
    large = replace(case, parameters=replace(case.parameters, clients=clients))
    [sentence] = doubts(large)
    assert "100,000 clients (fitted: 1 to 1," in sentence
    assert sentence.endswith("Confirm with --engine kernel")
    [both] = doubts(replace(large, system=case_of("operating_system.page_cache.in_file_order=true").system))
    assert "in_file_order; 100,000 clients" in both
