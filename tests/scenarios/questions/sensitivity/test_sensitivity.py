"""Sensitivities: the same code on functions whose answers are known, then on machines."""

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import sobol_indices

from oltpsim.calibration.fit import calibration_path, read_calibration
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.questions.sensitivity import (
    ParameterRange,
    RateFunction,
    SobolIndices,
    SobolSamples,
    calibrated_ranges,
    default_ranges,
    tornado,
)
from oltpsim.scenarios.questions.sensitivity.ranges import parse_range, prior_range
from oltpsim.scenarios.show.sensitivity import sensitivity_chart
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray
from tests.scenarios.explained import TINY, scenario

Capture = pytest.CaptureFixture[str]
A, B = 7.0, 0.1
"""of Ishigami's function"""
NO_SWAP = "operating_system.swap.size_gib=0"


def ends(key: str, low: float = -math.pi, high: float = math.pi) -> ParameterRange:
    return ParameterRange(key, low, (low + high) / 2.0, high, False, False, "test")


def ishigami(x: FloatArray) -> FloatArray:
    """Exponentiated, since indices are of logarithms. Ishigami and Homma, ISUMA 1990."""
    log = np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])
    return np.exp(log)


def indices_of(
    function: Callable[[FloatArray], FloatArray], ranges: list[ParameterRange], points: int = 2048
) -> SobolIndices:
    samples = SobolSamples.planned(ranges, points, 1)
    samples.evaluate(function, lambda _: None)
    return samples.indices()


# Sobol's indices


def test_ishigamis_function_has_its_indices() -> None:
    found = {one.key: one for one in indices_of(ishigami, [ends(key) for key in "abc"]).indices}
    variance = A**2 / 8 + B * math.pi**4 / 5 + B**2 * math.pi**8 / 18 + 0.5
    alone = {"a": 0.5 * (1 + B * math.pi**4 / 5) ** 2 / variance, "b": A**2 / 8 / variance, "c": 0.0}
    together = 8 * B**2 * math.pi**8 / 225 / variance
    total = {"a": alone["a"] + together, "b": alone["b"], "c": together}
    for key, one in found.items():
        assert one.first == pytest.approx(alone[key], abs=0.03)
        assert one.total == pytest.approx(total[key], abs=0.03)
        assert one.first_low <= one.first <= one.first_high
        assert one.total_low <= total[key] <= one.total_high
    assert found["c"].total > 0.2  # alone it does nothing: a tornado would leave it out


def test_shares_of_a_sum_are_those_of_its_parts() -> None:
    weights = np.array([1.0, 2.0, 0.0])
    found = {one.key: one for one in indices_of(lambda x: np.exp(x @ weights), [ends(key) for key in "abc"]).indices}
    for key, share in (("a", 0.2), ("b", 0.8), ("c", 0.0)):
        assert found[key].first == pytest.approx(share, abs=0.03)
        assert found[key].total == pytest.approx(share, abs=0.03)


def test_the_estimators_are_scipys() -> None:
    samples = SobolSamples.planned([ends(key) for key in "abc"], 256, 3)
    samples.evaluate(ishigami, lambda _: None)
    oracle = sobol_indices(func={"f_A": samples.a[None], "f_B": samples.b[None], "f_AB": samples.ab[:, None]}, n=256)
    found = {one.key: one for one in samples.indices().indices}
    assert [found[key].first for key in "abc"] == pytest.approx(np.ravel(oracle.first_order).tolist())
    assert [found[key].total for key in "abc"] == pytest.approx(np.ravel(oracle.total_order).tolist())


def test_points_that_cant_be_are_counted_and_left_out() -> None:
    def some(x: FloatArray) -> FloatArray:
        return np.where(x[:, 0] > 3.0, np.nan, np.exp(x[:, 0] + x[:, 1]))

    found = indices_of(some, [ends("a"), ends("b")])
    assert found.points == 2048
    share = (math.pi - 3.0) / (2.0 * math.pi)
    assert found.left_out / 2048 == pytest.approx(1 - (1 - share) ** 2, abs=0.01)
    assert all(one.first == pytest.approx(0.5, abs=0.05) for one in found.indices)
    with pytest.raises(InputError, match="make the ranges narrower"):
        indices_of(lambda x: np.full(len(x), np.nan), [ends("a")], 16)
    with pytest.raises(InputError, match="none of these numbers changes the rate"):
        indices_of(lambda x: np.ones(len(x)), [ends("a")], 16)


def test_an_interrupted_sample_has_indices_of_what_is_done() -> None:
    samples = SobolSamples.planned([ends(key) for key in "abc"], 256, 1)

    def stop(done: int) -> None:
        if done == 128:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        samples.evaluate(ishigami, stop)
    found = samples.indices()
    assert found.points == 128
    whole = SobolSamples.planned([ends(key) for key in "abc"], 128, 1)
    whole.evaluate(ishigami, lambda _: None)
    assert found == whole.indices()


# Tornado


def test_bars_are_in_the_order_of_their_widths() -> None:
    weights = np.array([1.0, -5.0, 2.0, 0.0])

    def line(x: FloatArray) -> FloatArray:
        return 100.0 + x @ weights

    found = tornado(line, [ends(key, 0.0, 2.0) for key in "abcd"], dict, "new order")
    assert [bar.range.key for bar in found.bars] == ["b", "c", "a", "d"]
    assert found.rate_per_min == 98.0
    assert (found.bars[0].low_per_min, found.bars[0].high_per_min) == (103.0, 93.0)
    assert found.bars[0].swing(found.rate_per_min) == 10.0
    assert found.bars[-1].swing(found.rate_per_min) == 0.0


def test_an_end_that_cant_be_has_its_reason() -> None:
    """A pool that is larger than the memory can be swapped, but not where there is no swap."""
    machine = scenario("v20z", NO_SWAP)
    ranges = [parse_range("machine.memory_gib=1..3", machine), parse_range("database.pool.buffers=50000..120000", machine)]  # fmt: skip # noqa: E501
    rates = RateFunction(machine, ranges)
    found = tornado(rates, ranges, lambda: rates.reasons, "new order")
    memory = next(bar for bar in found.bars if bar.range.key == "machine.memory_gib")
    assert memory.low_per_min is None
    assert memory.reason is not None
    assert "are free" in memory.reason
    assert memory.high_per_min is not None
    assert found.bars[1 - found.bars.index(memory)].reason is None
    assert "one end is not possible" in json.dumps(sensitivity_chart(found).figure)


def test_a_pool_that_swaps_is_a_machine_that_can_be() -> None:
    machine = scenario("v20z")
    ranges = [parse_range("machine.memory_gib=1..3", machine)]
    rates = RateFunction(machine, ranges)
    [memory] = tornado(rates, ranges, lambda: rates.reasons, "new order").bars
    assert memory.reason is None
    assert memory.low_per_min is not None
    assert memory.high_per_min is not None
    assert memory.low_per_min < 0.5 * memory.high_per_min


def test_what_limits_has_the_widest_bar() -> None:
    widest = {}
    for name in ("v20z", "postgresql-15"):
        machine = scenario(name)
        ranges = default_ranges(machine)
        rates = RateFunction(machine, ranges)
        widest[name] = [bar.range.key for bar in tornado(rates, ranges, lambda of=rates: of.reasons, "new order").bars]  # type: ignore[misc]
    assert not {key.split(".")[0] for key in widest["v20z"][:3]} & {"database"}
    assert set(widest["postgresql-15"][:3]) == {
        "database.path.row_operation_us", "database.path.transaction_us", "machine.cpu.relative_speed"
    }  # fmt: skip
    assert widest["v20z"].index("machine.cpu.relative_speed") > 5


# Ranges


def test_default_ends_are_machines_that_can_be() -> None:
    machine = scenario("v20z", NO_SWAP)
    ranges = default_ranges(machine)
    assert len({each.key for each in ranges}) == len(ranges)
    rates = RateFunction(machine, ranges)
    assert all(bar.reason is None for bar in tornado(rates, ranges, lambda: rates.reasons, "new order").bars)
    memory = next(each for each in ranges if each.key == "machine.memory_gib")
    assert 1.5 < memory.low < memory.middle < memory.high == 2.5
    assert "as far as there is such a machine" in memory.source
    buffers = next(each for each in ranges if each.key == "database.pool.buffers")
    assert (buffers.low, buffers.high, buffers.at(0.3) % 1) == (90_000, 150_000, 0)
    memory = next(each for each in default_ranges(scenario("v20z")) if each.key == "machine.memory_gib")
    assert (memory.low, memory.high, memory.source) == (1.5, 2.5, "± 25%")  # it swaps


def test_a_calibrations_intervals_are_narrower_than_its_priors() -> None:
    calibration = read_calibration(calibration_path(Path("published")))
    machine, ranges = calibrated_ranges(calibration, scenario("v20z"))
    by_key = {each.key: each for each in ranges}
    part = "Virtuoso, before the 5.0 overhaul"
    told, untold = f"database.path.load_row_us@{part}", f"database.path.row_operation_us@{part}"
    fitted = {each.key: each for each in calibration.parameters}
    assert (by_key[told].low, by_key[told].high) == (fitted[told].low, fitted[told].high)
    prior = prior_range(fitted[told].parameter)
    assert by_key[told].high / by_key[told].low < 0.5 * prior.high / prior.low
    assert by_key[untold].source == "90 % of the prior"  # the runs don't tell it
    assert by_key[untold].middle == machine.database.path.row_operation_us


# The command


def test_table_json_and_csv_say_the_same(tmp_path: Path, capsys: Capture) -> None:
    place = tmp_path / "tornado.html"
    words = ["sensitivity", TINY, "--sobol", "16", "--quiet", "--vary", "machine.cpu.relative_speed=0.5..2", "--vary",
             "database.pool.buffers=1000..4000"]  # fmt: skip
    assert main([*words, "--picture", str(place)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.index("machine.cpu.relative_speed") < out.index("database.pool.buffers")
    assert 'data-figure="tornado"' in place.read_text()
    assert main([*words, "--output", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert main([*words, "--output", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    numbers = data["tables"]["numbers"]
    assert [number["key"] for number in numbers] == [row["key"] for row in rows]
    assert float(rows[0]["total"]) == numbers[0]["total"] > 0.9
    assert main([*words, "--output", "json", "--seed", "2"]) == 0
    other = json.loads(capsys.readouterr().out)
    for mine, theirs in zip(numbers, other["tables"]["numbers"], strict=True):
        assert mine["swing_per_min"] == theirs["swing_per_min"]
        assert mine["total"] != theirs["total"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sobol", "100"], "--sobol 100: must be a power of 2"),
        (["--vary", "machine.memory=1..2"], "has no such number (did you mean 'machine.memory_gib'"),
        (["--vary", "machine.memory_gib=2..1"], "expected KEY=LOW..HIGH"),
        (["--vary", "machine.memory_gib=2"], "expected KEY=LOW..HIGH"),
        (["--vary", "machine.memory_gib=1..2", "--vary", "machine.memory_gib=1..3"], "stands twice"),
        (["--picture", "x.gif"], "must end in .svg, .png, .pdf or .html"),
        (["--model", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["sensitivity", TINY, *words]) == 2
    assert said in capsys.readouterr().err
