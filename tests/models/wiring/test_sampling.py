"""Sampling by folding: what it leaves alone, what it scales, and how far it is from page level.

The table of errors is in docs/sampling.md; here it is one system, shorter, with tolerances that the noise asks for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, sample_of
from oltpsim.models.wiring.sampling import folded, sampling_remarks
from oltpsim.models.workloads import UnitSample
from oltpsim.models.workloads.folding import merged_pages
from oltpsim.models.workloads.tpcc.program import LOCKED_HOME
from oltpsim.models.workloads.tpcc.rows import DISTRICTS
from oltpsim.scenarios.library import library_files
from oltpsim.simulator import kernel
from oltpsim.simulator.form import RotatingDevice, System
from oltpsim.simulator.results import Result
from tests.scenarios.example_result import example_result
from tests.simulator.memory import kernel_bytes

FOLDER = Path(__file__).parents[2] / "scenarios"
Change = Callable[..., dict[str, Any]]
Write = Callable[..., str]
Refused = Callable[..., list[str]]
Accepted = Callable[..., None]


def scenario(*settings: str, name: str = "sampled") -> ScenarioSpec:
    return load_scenario(FOLDER / f"{name}.yaml", settings)


def model_of(fraction: float, *settings: str) -> System:
    return build(scenario(f"sampling_fraction={fraction}", *settings))


@cache
def page_level() -> System:
    return model_of(1)


# What stays


def test_a_share_of_one_is_page_level() -> None:
    """No other register, lock, size or time: the very object passes through, and the hash is that without the key."""
    model = page_level()
    assert folded(model, UnitSample(40, 40)) is model
    assert model.digest() == build(scenario()).digest()
    assert LOCKED_HOME not in model.program.registers
    assert sampling_remarks(scenario(), None) == []  # type: ignore[arg-type]


def test_a_sample_keeps_clients_locks_processors_and_speeds() -> None:
    whole, sampled = page_level(), model_of(0.1)
    assert len(sampled.client_registers) == len(whole.client_registers)
    assert sampled.program.lock_tables.tolist() == whole.program.lock_tables.tolist()
    for part in ("cpu", "sections", "log", "costs", "interval", "arrivals_per_s"):
        assert getattr(sampled, part) == getattr(whole, part)
    assert sampled.storage.devices == whole.storage.devices, "flash has no way to shorten"
    locked = sampled.client_registers[:, sampled.program.registers.index(LOCKED_HOME)]
    assert locked.tolist() == whole.client_registers[:, whole.program.registers.index("home")].tolist()


def test_warehouses_fold_evenly() -> None:
    sampled = model_of(0.1)
    homes = sampled.client_registers[:, sampled.program.registers.index("home")]
    assert np.bincount(homes).tolist() == [20, 20, 20, 20]
    districts = [table[1] for table in sampled.program.counter_tables.tolist()]
    assert districts == [4 * DISTRICTS] * 4 + [4]


# What is scaled


def test_pages_caches_marks_and_times_are_the_sampled_share() -> None:
    whole, sampled = page_level(), model_of(0.1)
    assert sampled.program.pages == pytest.approx(0.1 * whole.program.pages, rel=0.002)
    for part, keys in (
        ("pool", ("pages", "resident_pages", "old_ms")),
        ("page_cache", ("pages", "dirty_limit_pages", "paced_pages")),
        ("storage", ("data_start_bytes", "log_start_bytes", "log_bytes")),
    ):
        for key in keys:
            before, after = (getattr(getattr(model, part), key) for model in (whole, sampled))
            assert after == pytest.approx(0.1 * before, abs=0.5), key
    assert sampled.page_cache.in_flight_pages == whole.page_cache.in_flight_pages  # requests are whole
    before_steps, after_steps = ([each for one in model.daemons for each in one.steps] for model in (whole, sampled))
    assert [each.operation for each in after_steps] == [each.operation for each in before_steps]
    assert {"sleep", "write_expired", "await_dirty", "write_dirty", "every"} <= {each.operation for each in after_steps}
    for before_step, after_step in zip(before_steps, after_steps, strict=True):
        scaled = [0.1 * operand for operand in before_step.operands]
        assert list(after_step.operands) == pytest.approx(scaled, abs=0.5), after_step.operation


def test_an_arm_travels_the_same_share_of_its_stroke() -> None:
    """The disk shrinks with what lies on it; a log disk of its own, whose log stays whole, does not."""
    model = model_of(0.1, "machine.disks.disk=scsi-10k-73", "machine.log_disk=scsi-10k-73")
    data, _, log = model.storage.devices
    assert isinstance(data, RotatingDevice)
    assert isinstance(log, RotatingDevice)
    assert data.capacity_bytes == pytest.approx(0.1 * log.capacity_bytes)
    assert dataclasses.replace(data, capacity_bytes=0, name="") == dataclasses.replace(log, capacity_bytes=0, name="")
    assert model.storage.log_bytes == page_level().storage.log_bytes


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=300), st.data())
def test_merged_popularity_sums_to_the_whole(weights: list[float], data: st.DataObject) -> None:
    """Nothing of the popularity is lost, and no merged page stands for more than one page more than another."""
    popularity = np.array(weights) / np.sum(weights)
    pages = data.draw(st.integers(1, len(weights)))
    merged = merged_pages(popularity, pages)
    assert len(merged) == pages
    assert merged.sum() == pytest.approx(1.0)
    if pages == len(weights):
        assert merged is popularity
    assert merged.max() <= -(-len(weights) // pages) * popularity.max() + 1e-12


@given(whole=st.integers(1, 100_000), fraction=st.floats(1e-6, 1.0), amount=st.integers(0, 10**15))
def test_a_share_is_a_share(whole: int, fraction: float, amount: int) -> None:
    sample = UnitSample(max(1, round(fraction * whole)), whole)
    assert 0 < sample.share <= 1
    assert abs(sample.scaled(amount) - amount * sample.share) <= max(1, 1e-12 * amount)
    assert (sample.scaled(amount) == 0) == (amount == 0)


def che_hit_ratio(popularity: np.ndarray[Any, np.dtype[np.float64]], pages: float) -> float:
    """Che's approximation: T from sum(1 - exp(-p T)) = pages, by bisection."""
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - np.exp(-popularity * middle)).sum() < pages else (low, middle)
    return float((popularity * (1 - np.exp(-popularity * low))).sum())


@given(st.lists(st.floats(1e-4, 1.0), min_size=5, max_size=40), st.integers(2, 50), st.floats(0.1, 0.8))
def test_folding_keeps_the_hit_ratio_in_closed_form(weights: list[float], fold: int, filled: float) -> None:
    """`fold` equal warehouses on one: the same hit ratio from a pool of the share, another one from more."""
    one = np.array(weights) / np.sum(weights)
    whole, pages = np.tile(one / fold, fold), filled * len(one) * fold
    expected = che_hit_ratio(whole, pages)
    assert che_hit_ratio(one, pages / fold) == pytest.approx(expected, abs=1e-9)
    assert 1 - che_hit_ratio(one, 1.2 * pages / fold) < 0.99 * (1 - expected)


# What is refused


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (0, "got 0; must be greater than 0"),
        (-0.5, "got -0.5; must be greater than 0"),
        (2, "2 looks like a percentage: write '2 %' or 0.02"),
        ("half", "got 'half'; is not a number"),
        (True, "got true; must be a number"),
        (None, "got nothing; must be a number"),
    ],
)
def test_a_wrong_fraction_is_one_line(
    value: Any, sentence: str, changed: Change, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(changed("sampling_fraction", value)))
    assert line.startswith("error: scenario.yaml: sampling_fraction: ")
    assert sentence in line


@pytest.mark.parametrize("start", ["cold", "after_load"])
def test_a_sample_starts_warm(start: str, changed: Change, scenario_file: Write, refused: Refused) -> None:
    keys = changed("sampling_fraction", 0.1) | {"interval": {"start": start, "duration_s": 10}}
    keys["workload"] |= {"warehouses": 20, "arrivals": {"kind": "closed", "clients": 20}}
    (line,) = refused("run", scenario_file(keys))
    assert (
        f"scenario.yaml: sampling_fraction: got 0.1 with interval.start: {start}; a sampled pool fills 10 times" in line
    )
    assert "set interval.start: warm, or sampling_fraction: 1" in line


def test_an_uneven_fold_is_refused(changed: Change, scenario_file: Write, refused: Refused, accepted: Accepted) -> None:
    """Three quarters of 20: some pages would be used twice as often as others. A tenth is even."""
    keys = changed("workload.warehouses", 20)
    keys["workload"]["arrivals"]["clients"] = 20
    (line,) = refused("run", scenario_file(keys | {"sampling_fraction": 0.75}))
    assert "sampling_fraction: got 0.75; of the 20 warehouses in use 2 would share the pages of one and 1 those" in line
    accepted("run", scenario_file(keys | {"sampling_fraction": "10 %"}), "--quiet")


# What it costs


def figures(model: System) -> tuple[Result, dict[str, float]]:
    """A run's hit ratios by tier, dirty share, reads for each transaction and rate."""
    result = kernel.simulate(model, 1)
    pool, lower = result.caches
    reads = sum(table.disk_reads for table in result.tables) / (result.transactions_per_s * result.duration_s)
    return result, {
        "pool hits": pool.hit_ratio,
        "page cache hits": lower.hit_ratio,
        "dirty": pool.dirty_fraction,
        "reads": reads,
        "rate": result.rate_per_min.mean,
    }


SHORTER = ("interval.warm_up_s=40", "interval.duration_s=10")
"""Loaded orders, whose customers are all alike popular, take page level 40 s to deliver; a sample has fewer of them."""


@cache
def page_level_figures() -> dict[str, float]:
    return figures(model_of(1, *SHORTER))[1]


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.5, 0.1])
def test_a_sample_agrees_with_page_level(fraction: float) -> None:
    expected = page_level_figures()
    result, got = figures(model_of(fraction, *SHORTER))
    assert not result.broken_laws
    assert got["pool hits"] == pytest.approx(expected["pool hits"], abs=0.001)
    assert got["page cache hits"] == pytest.approx(expected["page cache hits"], abs=0.005)
    assert got["dirty"] == pytest.approx(expected["dirty"], abs=0.01)
    assert got["reads"] == pytest.approx(expected["reads"], rel=0.01)
    assert got["rate"] == pytest.approx(expected["rate"], rel=0.01)


@pytest.mark.slow
def test_a_pool_that_is_not_scaled_is_noticed() -> None:
    """The negative twin: a tenth of the pages in a pool of a fifth."""
    model = model_of(0.1, *SHORTER)
    pool = dataclasses.replace(model.pool, pages=2 * model.pool.pages, resident_pages=2 * model.pool.resident_pages)
    got = figures(dataclasses.replace(model, pool=pool))[1]
    expected = page_level_figures()
    assert got["pool hits"] > expected["pool hits"] + 0.005
    assert got["reads"] < 0.9 * expected["reads"]


@pytest.mark.slow
def test_a_sampled_result_says_so() -> None:
    thin = scenario("sampling_fraction=0.025", "interval.warm_up_s=1", "interval.duration_s=2")
    assert sample_of(thin) == UnitSample(1, 40)
    result = kernel.simulate(build(thin), 1)
    held, thinly = sampling_remarks(thin, result)
    assert held.startswith("pages sampled: 1 of 40 warehouses are held and stand for all")
    assert thinly.startswith("sampled too thinly: the pool held turns over in 0.0")
    rough = thin.model_copy(update={"sampling_fraction": 0.5})
    assert len(sampling_remarks(rough, dataclasses.replace(result, duration_s=100.0))) == 1


def test_a_sweep_that_cannot_write_as_little_says_so() -> None:
    """A fortieth of 10 pages in a round is less than one, which it writes; of 100 it isn't."""
    for most, said in ((10, True), (100, False)):
        sweep = f"database.writer.sweep={{whole_pool_s: 120, round_s: 0.2, round_pages: {most}}}"
        thin = scenario("sampling_fraction=0.025", "database.pool.replacement=clock", sweep)
        remarks = sampling_remarks(thin, dataclasses.replace(example_result(), engine="analytic"))
        assert any("a sampling_fraction of 0.1 would do" in line for line in remarks) == said


# What it is for


@pytest.mark.slow
def test_a_million_orders_a_minute_fit_into_memory() -> None:
    """857,000 terminals on 85,700 warehouses, of which 857 are held: far below the 8 GiB that it may take."""
    asked = load_scenario(library_files()["million-orders"])
    assert sample_of(asked) == UnitSample(857, 85_700)
    arrivals = asked.workload.arrivals
    assert arrivals.kind == "terminals"
    assert arrivals.terminals_per_warehouse * asked.workload.warehouses == 857_000
    assert asked.workload.clients == arrivals.connections
    (used,) = kernel_bytes(build(asked))
    assert 0.2e9 < used < 2e9


def test_rounds_of_page_cleaners_shorter_than_a_batch_say_so() -> None:
    """A round of 2,000 pages by two cleaners with batches of 128 needs 256: a tenth of it is too few, a fifth isn't.

    Nor is a round told that is shorter than its batches anyhow.
    """
    result = dataclasses.replace(example_result(), engine="analytic")
    for fraction, per_s, said in ((0.1, 20_000, True), (0.2, 20_000, False), (0.1, 2000, False)):
        cleaner = f"cleaners: 2, io_capacity_per_s: {per_s}, io_capacity_max_per_s: 40000, batch_pages: 128"
        engine = f"{{base: mysql-8-4, page_cleaner: {{{cleaner}, lru_scan_depth_pages: 100000}}"
        database = f"database={engine}, writer: null, checkpoint: null}}"
        thin = scenario(f"sampling_fraction={fraction}", database, "workload.layout=tpcc-innodb-16k")
        remarks = sampling_remarks(thin, result)
        assert any("io_capacity_per_s" in line and "of 0.13 would do" in line for line in remarks) == said, remarks
