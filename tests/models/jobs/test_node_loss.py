"""A server dies under load: what stops, what comes back, and books that balance, or don't where they mustn't."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.jobs.node_loss import Books, books_of
from oltpsim.models.jobs.store_model import store_model
from oltpsim.models.jobs.store_run import StoreState
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import PartitionedStoreSpec
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import Program
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.reference import ReferenceEngine
from tests.simulator.twins import differences, run_reference, with_counter

LOSS = Path(__file__).resolve().parents[3] / "scenarios" / "library" / "scaleout" / "node-loss.yaml"
SMALL = ("machine.cpu.cores=2", "machine.cpu.relative_speed=1", "machine.network.round_trip_us=1000",
         "job.jvms_per_client_machine=2", "job.threads_per_jvm=10", "job.servers=3", "job.update_fraction=0.7",
         "job.query={client_us: 300, server_us: 200}", "job.update={client_us: 300, server_us: 300, copy_us: 200}",
         "job.warm_up_s=0.1", "job.duration_s=1.4",
         "job.loss={at_s: 0.5, detection_s: 0.2, server_gib: 0.0025, restore_mib_per_s: 5}")  # fmt: skip
COPYING_S = 0.0025 * 1024 / 2 / 5
"""seconds that two servers take to copy what the third had, at their rate"""


def scenario(*settings: str) -> ScenarioSpec:
    return load_scenario(LOSS, [*SMALL, *settings])


def answer(*settings: str) -> JobResult:
    return run_job(scenario(*settings), 1)


def engine(*settings: str, seed: int = 1) -> KernelEngine:
    asked = scenario(*settings)
    assert isinstance(asked.job, PartitionedStoreSpec)
    found = KernelEngine(store_model(asked, asked.job), seed)
    found.run(None)
    return found


def books_after(found: KernelEngine | ReferenceEngine, one_more: int | None = None) -> Books:
    """Books of a finished run; `one_more`: the place of a counter that has counted one too many."""
    program = found.system.program
    if isinstance(found, KernelEngine):
        values = found.kernel.values()
        counters, registers = values.counters.copy(), values.registers.copy()
    else:
        counters = np.array(found.interpreter.counters)[:, np.newaxis]
        registers = np.array([client.registers for client in found.interpreter.clients])
    if one_more is not None:
        counters[one_more] += 1
    tables = zip(program.counter_names, program.counter_tables.tolist(), strict=True)
    return books_of(
        StoreState(
            program,
            {name: counters[start : start + length, 0] for name, (start, length) in tables},
            {name: registers[:, number] for number, name in enumerate(program.registers)},
        )
    )


def balance(found: Books) -> bool:
    return found.unaccounted == found.wrong_updates == 0


def books(*settings: str, seed: int = 1) -> Books:
    return books_after(engine(*settings, seed=seed))


def place_of(program: Program, name: str, group: int = 0) -> int:
    """Of a counter, among all counters."""
    return int(program.counter_tables[program.counter_names.index(name), 0]) + group


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_request_is_lost_or_counted_twice(seed: int) -> None:
    found = engine(seed=seed)
    kept = books_after(found)
    assert balance(kept)
    assert kept.answered == found.kernel.figures().counters.ended, "as the engine counted"
    assert 0 < kept.sent_again <= 60
    assert kept.in_flight == 60, "every thread always waits for an answer"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_numbers_updates_are_carried_out_twice_and_the_books_show_it(seed: int) -> None:
    assert books(seed=seed).known_again > 0
    twice = books("job.loss.numbered=false", seed=seed)
    assert twice.surviving_copies > 0
    assert not balance(twice)
    assert twice.known_again == twice.unaccounted == twice.first_copies == twice.second_copies == 0


@pytest.mark.parametrize(
    ("name", "group", "field"),
    [
        ("sent", 0, "unaccounted"), ("answered", 1, "unaccounted"), ("sent again", 0, "unaccounted"),
        ("first copy", 1, "first_copies"), ("second copy", 2, "second_copies"), ("second copy", 0, "surviving_copies"),
        ("second copy left out", 1, "second_copies"), ("taken over", 0, "surviving_copies"),
    ],
)  # fmt: skip
def test_one_too_many_anywhere_is_found(name: str, group: int, field: str) -> None:
    found = engine()
    wrong = books_after(found, place_of(found.system.program, name, group))
    assert abs(getattr(wrong, field)) == 1
    assert not balance(wrong)


@pytest.mark.uncounted
def test_both_engines_lose_the_same_requests() -> None:
    asked = scenario("job.duration_s=0.9", "job.warm_up_s=0.1")
    assert isinstance(asked.job, PartitionedStoreSpec)
    model = store_model(asked, asked.job)
    assert differences(model, 3) == []
    assert differences(model, 3, with_counter(place_of(model.program, "noticed"))) != [], "noticed 1 ns later"
    assert balance(books_after(run_reference(model, 3)))


def test_all_stands_still_until_the_loss_is_noticed_and_then_goes_on() -> None:
    found = answer().also
    before, during, after = (
        found[f"requests/s {when}"] for when in ("before the loss", "until it is noticed", "with all copies")
    )
    assert during < 0.1 * before
    assert after > 0.6 * before, "two of three servers are left"
    assert found["seconds until 90 % of the rate"] >= found["seconds until it is noticed"] == 0.2
    assert found["requests unaccounted for"] == found["updates too many or lost"] == 0


def test_who_notices_later_recovers_later() -> None:
    early, late = (answer(f"job.loss.detection_s={seconds}").also for seconds in (0.1, 0.4))
    key = "seconds until 90 % of the rate"
    assert late[key] - early[key] == pytest.approx(0.3, abs=0.05)
    assert early["requests/s until it is noticed"] < early["requests/s before the loss"]


def test_copying_again_takes_its_bytes_by_the_rate() -> None:
    """And longer by the time of the last chunk; a rate that servers cannot hold takes longer than its bytes."""
    key = "seconds until all rows have two copies"
    once, half, too_fast = (answer(f"job.loss.restore_mib_per_s={rate}").also[key] - 0.2 for rate in (5, 2.5, 250))
    assert COPYING_S <= once < 1.1 * COPYING_S
    assert half == pytest.approx(2 * COPYING_S, rel=0.1)
    assert once > too_fast > 2 * COPYING_S / 50


def test_what_had_not_come_about_is_not_told() -> None:
    found = answer("job.loss.server_gib=10").also
    assert "seconds until all rows have two copies" not in found
    assert "requests/s with all copies" not in found
    assert "requests/s while copying" in found


def test_a_loss_that_never_happens_changes_no_answer_before_it() -> None:
    """The same requests at the same instants until the server dies."""
    shorter = ("job.duration_s=0.3", "job.warm_up_s=0")
    with_loss = engine("job.warm_up_s=0").record
    without = engine(*shorter, "job.loss=null").record
    ended = {snapshot.at_ns: snapshot.counters.ended for snapshot in with_loss.snapshots}
    same = [snapshot for snapshot in without.snapshots if snapshot.at_ns in ended]
    assert len(same) > 10
    assert all(snapshot.counters.ended == ended[snapshot.at_ns] for snapshot in same)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("job.servers=2",), "job.loss: 2 servers with 1 further copies; .* at least 3 servers with 1"),
        (("job.copies=0",), "job.loss: 3 servers with 0 further copies"),
        (("job.loss.at_s=0.05",), "job.loss.at_s: got 0.05 s, noticed 0.2 s later; both must lie behind the warm-up"),
        (("job.loss.at_s=1.45",), "and before the end, 1.5 s"),
    ],
)
def test_losses_that_cannot_be_are_refused(settings: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        scenario(*settings)


def test_a_store_that_loses_nothing_has_no_such_books() -> None:
    found = engine("job.loss=null")
    with pytest.raises(InternalError, match="loses no server"):
        books_after(found)


def test_books_are_balanced_only_if_all_of_them_are() -> None:
    names = [each.name for each in dataclasses.fields(Books)]
    good = Books(**dict.fromkeys(names, 0))
    assert balance(good)
    for name in ("unaccounted", "first_copies", "second_copies", "surviving_copies"):
        assert not balance(dataclasses.replace(good, **{name: -1}))
