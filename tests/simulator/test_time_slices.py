"""Bursts served a time slice at a time, and processors that may run for a part of each period only."""

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import Assembler, Cpu, Sharing, System
from oltpsim.simulator.reference import ReferenceEngine
from tests.simulator.conftest import make_model
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, TIED
from tests.simulator.reference.test_event_log import completions, loop
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, any_systems
from tests.simulator.twins import differences, of_few_events, shortened, with_value

MS = 1_000_000
PERIOD_MS = 100


def with_cpu(model: System, **numbers: int) -> System:
    return dataclasses.replace(model, cpu=dataclasses.replace(model.cpu, **numbers))


def test_slices_take_turns(model_of: Any) -> None:
    """Three bursts of 3 ms in slices of 1 ms on one core end one after the other in the last round."""
    model = model_of(loop(("cpu", 3 * MS, 0, 0), think_ms=100), clients=3, duration_s=0.15)
    assert [at / MS for at, _ in completions(model)] == [103, 106, 109]
    assert [at / MS for at, _ in completions(with_cpu(model, slice_ns=MS))] == [107, 108, 109]


def test_a_slice_is_as_slow_as_others_are_busy_when_it_begins(model_of: Any) -> None:
    """Two bursts of 2 ms on two threads of a core, twice as long together: the second slice of each is, too."""
    model = model_of(loop(("cpu", 2 * MS, 0, 0), think_ms=100), clients=2, duration_s=0.15)
    model = dataclasses.replace(with_cpu(model, slice_ns=MS), sharing=Sharing((1_000_000, 2_000_000)))
    # the first is alone for its first slice's start: 1 ms, then 2 ms; the second 2 ms twice, of which the last alone
    assert [at / MS for at, _ in completions(model)] == [103, 104]


def test_half_a_core_runs_for_half_of_each_period(model_of: Any) -> None:
    """A client of 20-ms bursts: 50 ms of each 100 are run; what has begun is finished, and owed to the next period."""
    model = model_of(loop(("cpu", 20 * MS, 0, 0)), clients=1, duration_s=0.45)
    half = with_cpu(model, quota_ns=50 * MS, quota_period_ns=PERIOD_MS * MS)
    ends = [at // MS for at, _ in completions(half)]
    assert ends == [20, 40, 60, 120, 140, 220, 240, 260, 320, 340, 420, 440]
    assert len(completions(model)) == 22


def test_a_quota_that_is_never_used_up_changes_nothing(model_of: Any) -> None:
    model = model_of(loop(("cpu", 3 * MS, 0, 0), think_ms=100), clients=3, cores=2, duration_s=0.5)
    assert completions(with_cpu(model, quota_ns=60 * MS)) == completions(model)
    assert completions(with_cpu(model, quota_ns=4 * MS)) != completions(model)


cpus = st.builds(
    lambda slice_ns, quota: {"slice_ns": slice_ns} | quota,
    st.sampled_from([0, 1_375_013, MS, 3 * MS]),
    st.sampled_from([{}, {}, {"quota_ns": 5 * MS, "quota_period_ns": 10 * MS}, {"quota_ns": 40 * MS}]),
)


@EXAMPLES
@given(system=any_systems(), cpu=cpus, seed=SEEDS)
def test_both_engines_agree_on_any_system(system: DrawnSystem, cpu: dict[str, int], seed: int) -> None:
    model = with_cpu(model_of_system(system), **cpu)
    assert differences(of_few_events(model, seed, MOST_EVENTS), seed) == []


@pytest.mark.parametrize("column", ["slice_ns", "quota_ns", "quota_period_ns"])
def test_a_nanosecond_more_is_noticed(column: str) -> None:
    """On one core, where whoever is ready waits for the end of another's slice."""
    one_core = dataclasses.replace(TIED, cores=1)
    model = shortened(with_cpu(model_of_system(one_core), slice_ns=MS, quota_ns=30 * MS), 3_000 * MS)
    assert differences(model, 1) == []

    assert differences(model, 1, with_value(f"system.cpu.{column}")) != []


def mixed(clients: int, short_ms: float, long_ms: float, **parts: Any) -> System:
    """Clients without think time, half of whose transactions are short ones."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", 0), asm.stream("think"))
    asm.register("zero")
    asm.emit("choose", asm.table("mix", [0.5, 0.5]), asm.stream("mix"))
    for name, burst_ms in (("short", short_ms), ("long", long_ms)):
        asm.begin_class(name)
        asm.emit("work", asm.distribution("erlang", round(burst_ms * MS), 4), asm.stream("work"))
        asm.emit("end")
    return make_model(asm, clients=clients, duration_s=200, warm_up_s=5, main_class="short", **parts)


def test_slices_without_end_are_processor_sharing() -> None:
    """Of n clients each has an n-th of the core: a transaction takes n times its own demand (Kleinrock 1976)."""
    result = kernel.simulate(with_cpu(mixed(8, 1, 5), slice_ns=MS // 20), 1)
    for each, demand_s in zip(result.classes, (0.001, 0.005), strict=True):
        assert each.mean_s == pytest.approx(8 * demand_s, rel=0.04)
    whole = kernel.simulate(mixed(8, 1, 5), 1)
    assert whole.classes[0].mean_s > 2.0 * 8 * 0.001
    assert result.broken_laws == whole.broken_laws == []


@pytest.mark.parametrize("slice_ms", [0.05, 0.5, 1.0, 3.0, 100.0])
def test_the_analytic_engine_knows_who_waits(slice_ms: float) -> None:
    model = with_cpu(mixed(8, 1, 5), slice_ns=round(slice_ms * MS))
    simulated, calculated = kernel.simulate(model, 1), analytic.simulate(model, 1)
    assert calculated.transactions_per_s == pytest.approx(simulated.transactions_per_s, rel=0.03)
    for mine, exact in zip(calculated.classes, simulated.classes, strict=True):
        assert mine.mean_s == pytest.approx(exact.mean_s, rel=0.15)


@pytest.mark.parametrize(("cores", "quota"), [(1, 0.5), (4, 1.5), (4, 4.0)])
def test_a_quota_bounds_the_rate_in_every_engine(cores: int, quota: float) -> None:
    model = with_cpu(mixed(16, 1, 5, cores=cores), slice_ns=MS, quota_ns=round(quota * 100 * MS))
    for engine in (kernel, analytic):
        assert engine.simulate(model, 1).transactions_per_s == pytest.approx(quota / 0.003, rel=0.02)


@pytest.mark.parametrize(("quota_ms", "doubted"), [(50, True), (1000, False)])
def test_mean_values_do_not_know_when_processors_stand_still(quota_ms: int, doubted: bool) -> None:
    result = analytic.simulate(with_cpu(mixed(8, 1, 5), slice_ns=MS, quota_ns=quota_ms * MS), 1)
    assert any("a CPU quota of 50 ms in each 100" in each for each in result.warnings) == doubted


def test_the_reference_engine_keeps_its_laws() -> None:
    model = dataclasses.replace(
        mixed(4, 1, 5), interval=dataclasses.replace(mixed(4, 1, 5).interval, duration_ns=10**9)
    )
    engine = ReferenceEngine(with_cpu(model, slice_ns=MS, quota_ns=50 * MS), 1)
    engine.run(None)
    assert engine.record.result().broken_laws == []
    assert Cpu(4, quota_ns=50 * MS).allowed_servers == 0.5
    assert Cpu(4).allowed_servers == math.inf
