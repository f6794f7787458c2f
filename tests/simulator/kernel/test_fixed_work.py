"""Runs of a fixed amount of work: every client stops after its own, and the last end is the end."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import Assembler, System, Work
from oltpsim.simulator.results.recording import MOST_SERIES_STEPS
from tests.simulator import twins
from tests.simulator.twins import differences

MS = 1_000_000
ModelOf = Callable[..., System]


def burst_of_each(model_of: ModelOf, bursts_ms: list[int], work: int, **parts: Any) -> System:
    """Clients without think time whose transactions are all of one kind, each with bursts of its own length."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", 0), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    times = asm.register("times")
    again = asm.label()
    asm.emit("combine", asm.register("left"), times, 1, asm.register("zero"))
    asm.place(again)
    asm.emit("cpu", MS, 0, 0)
    asm.emit("loop", asm.register("left"), again)
    asm.emit("end")
    model = model_of(asm, clients=len(bursts_ms), **parts)
    registers = np.zeros_like(model.client_registers)
    registers[:, times] = bursts_ms
    return dataclasses.replace(model, client_registers=registers, work=Work(work))


@pytest.mark.parametrize("engine", [reference, kernel])
def test_the_run_ends_with_the_last_client(model_of: ModelOf, engine: Any) -> None:
    """Three clients of 2, 3 and 5 ms bursts, one processor each: 20 transactions of the slowest are 100 ms."""
    result = engine.simulate(burst_of_each(model_of, [2, 3, 5], 20, cores=3), 1)
    assert result.duration_s == 0.1
    assert result.classes[0].completed == 60
    assert result.rate_per_min.mean == pytest.approx(60 / 0.1 * 60)
    assert result.cpu.utilisation == pytest.approx((40 + 60 + 100) / 300)
    assert result.transactions_per_s == pytest.approx(600)
    assert result.broken_laws == []
    one_more = engine.simulate(burst_of_each(model_of, [2, 3, 5], 21, cores=3), 1)
    assert one_more.duration_s == 0.105


def test_those_left_have_the_processor_to_themselves(model_of: ModelOf) -> None:
    """One processor in turn: 10 transactions of 1 ms beside 10 of 4 ms are over after 50 ms, without a pause."""
    result = reference.simulate(burst_of_each(model_of, [1, 4], 10, cores=1), 1)
    assert result.duration_s == 0.05
    assert result.cpu.utilisation == pytest.approx(1.0)


def test_the_steady_rate_is_that_of_all_clients(model_of: ModelOf) -> None:
    """Of 1000 + 500 per second the slow half of the run has 500 alone."""
    result = kernel.simulate(burst_of_each(model_of, [1, 2], 3000, cores=2), 1)
    assert result.duration_s == 6.0
    assert result.rate_per_min.mean == pytest.approx(60_000)
    assert result.steady_rate_per_min.mean == pytest.approx(90_000, rel=1e-3)
    assert not [warning for warning in result.warnings if "at the end of the run" in warning]


def test_both_engines_stop_at_the_same_event(busy: Callable[..., System]) -> None:
    """A bit of everything, to the last counter; what happens beside the last end at its instant differs in neither."""
    for clients, work in ((1, 1), (4, 60), (7, 25)):
        model = dataclasses.replace(busy(clients=clients, duration_s=3600), work=Work(work))
        assert differences(model, 3) == []


def test_a_client_that_stops_too_soon_is_noticed(busy: Callable[..., System], monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction fewer of one client in one engine."""
    model = dataclasses.replace(busy(clients=4, duration_s=3600), work=Work(20))

    class Less(twins.TracedReference):
        def __init__(self, model: System, seed: int) -> None:
            super().__init__(model, seed)
            self.main_done[0] += 1

    assert differences(model, 3) == []
    monkeypatch.setattr(twins, "TracedReference", Less)
    assert differences(model, 3) != []


def test_the_series_of_a_run_of_unknown_length_is_bounded(model_of: ModelOf) -> None:
    """Steps double: 200 s come in steps of 1 s."""
    engine = kernel.KernelEngine(burst_of_each(model_of, [10], 20_000, duration_s=3600), 1)
    engine.run(None)
    result = engine.record.result()
    assert (result.duration_s, result.series.step_s) == (200.0, 1.0)
    assert len(result.series.values["transactions_per_s"]) == 200 <= MOST_SERIES_STEPS
    assert set(result.series.values["transactions_per_s"][1:-1]) == {100.0}


@pytest.mark.parametrize("engine", [reference, kernel])
def test_a_machine_that_hardly_moves_is_given_up(model_of: ModelOf, engine: Any) -> None:
    model = burst_of_each(model_of, [1, 400], 10, cores=2, duration_s=3)
    with pytest.raises(
        InputError,
        match=r"^work\.main_per_client: got 10; after 3 s .* 1 of 2 clients are not through: 17 of 20 are done",
    ):
        engine.simulate(model, 1)
    assert engine.simulate(dataclasses.replace(model, work=Work(7)), 1).duration_s == pytest.approx(2.8)


def test_a_run_shorter_than_a_step_has_no_rate(model_of: ModelOf) -> None:
    with pytest.raises(InputError, match=r"through after 0\.001 s, too short for a rate; ask for more"):
        kernel.simulate(burst_of_each(model_of, [1], 1), 1)


def test_progress_reaches_the_end(model_of: ModelOf) -> None:
    """The end is estimated from the work done, and right at last."""
    seen: list[tuple[float, float]] = []
    model = burst_of_each(model_of, [1, 2], 2000, cores=2)
    kernel.simulate(model, 1, lambda progress: seen.append((progress.simulated_s, progress.end_s)))
    assert seen[-1] == (4.0, 4.0)
    assert all(at <= end for at, end in seen)
    assert seen[100][1] == pytest.approx(4000 / 1500, rel=0.05)
