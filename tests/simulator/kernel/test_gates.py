"""Gates that close by themselves, stations chosen by a register, instants in counters: by hand, and in both engines."""

import math

import numpy as np
import pytest

from oltpsim.simulator.form import Assembler, System, listing
from oltpsim.simulator.results import histogram_share_below
from oltpsim.simulator.results.recorder import histogram_bucket
from tests.simulator.conftest import make_model
from tests.simulator.twins import differences, run_reference, with_counter

MS = 1_000_000
NEVER = 10**15


def passing(between: int, pause: tuple[str, int, int], clients: int = 1, groups: int = 1) -> System:
    """Clients that work for 1 ms and pass a gate of their group, which closes after so many passages."""
    asm = Assembler()
    group, core = asm.register("group"), asm.register("core")
    gate = asm.station("gate"), asm.counter("gates", 3 * groups, [between, 0, between] * groups)
    asm.emit("think", asm.distribution("constant", 0), asm.stream("times"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("pass")
    asm.emit("uniform", group, groups, 0, asm.stream("mix"))
    asm.emit("uniform", core, 2, 0, asm.stream("mix"))
    first, _ = asm.station("core 1"), asm.station("core 2")
    asm.emit("visit_one", first, core, asm.distribution("constant", MS), asm.stream("times"))
    asm.emit("gate", gate[0], gate[1], group, asm.distribution(*pause), asm.stream("pauses"))
    asm.emit("end")
    return make_model(asm, clients=clients, servers={"gate": clients}, duration_s=1)


def test_every_fourth_passage_closes_the_gate_for_ten_milliseconds() -> None:
    ends = run_reference(passing(4, ("constant", 10 * MS, 0)), 1).ends
    assert [end[0] // MS for end in ends[:9]] == [1, 2, 3, 14, 15, 16, 17, 28, 29]
    assert [end[3] // MS for end in ends[:5]] == [1, 1, 1, 11, 1]


def test_who_comes_while_it_is_closed_waits_until_it_opens() -> None:
    model = passing(2, ("constant", 10 * MS, 0), clients=2)
    ends = run_reference(model, 3).ends
    closed = [end for end in ends if end[3] > 5 * MS]
    assert len(closed) > 50
    together = [end[0] for end in closed]
    assert len(set(together)) < len(together), "both leave a closed gate at the same instant"


@pytest.mark.parametrize("clients", [1, 5])
@pytest.mark.parametrize("groups", [1, 3])
def test_gates_give_one_trajectory(clients: int, groups: int) -> None:
    assert differences(passing(3, ("erlang", 5 * MS, 4), clients, groups), 7) == []


@pytest.mark.parametrize("place", [0, 2], ids=["passages left", "passages between"])
def test_a_gate_that_closes_later_is_noticed(place: int) -> None:
    assert differences(passing(3, ("erlang", 5 * MS, 4)), 7, with_counter(place)) != []


def switching() -> System:
    """One client whose way depends on the time: a detour from 10 to 30 ms, at the end of which it notes the instant."""
    asm = Assembler()
    zero, count, thousand = asm.register("zero"), asm.register("count"), asm.register("thousand")
    begins, ends = asm.counter("begins", 1, 10 * MS), asm.counter("ends", 1, 30 * MS)
    noted, seen, met = asm.counter("noted", 1, 0), asm.counter("seen", 1, 0), asm.counter("met", 1, 0)
    detour, known, out = asm.label(), asm.label(), asm.label()
    asm.emit("think", asm.distribution("constant", 0), asm.stream("times"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("look")
    asm.emit("set", thousand, 1000)
    asm.emit("if_between", begins, ends, zero, detour)
    asm.emit("network", 4 * MS)
    asm.emit("end")
    asm.place(detour)
    asm.emit("if_equal", seen, zero, thousand, known)
    asm.emit("put", seen, zero, thousand)
    asm.emit("network", MS)
    asm.emit("jump", out)
    asm.place(known)
    asm.emit("take", count, met, zero, 1)
    asm.emit("sleep_until", ends, zero)
    asm.emit("note", noted, zero)
    asm.place(out)
    asm.emit("end")
    return make_model(asm, duration_s=1)


def test_the_way_depends_on_the_time_and_on_what_was_put() -> None:
    """0, 4, 8 ms outside; at 12 the detour, put; at 13 known: asleep until 30, which is noted; then outside again."""
    model = switching()
    engine = run_reference(model, 1)
    assert [end[0] // MS for end in engine.ends[:9]] == [4, 8, 12, 13, 30, 34, 38, 42, 46]
    assert engine.interpreter.counters[2:5] == [30 * MS, 1000, 1]
    assert differences(model, 1) == []
    assert differences(model, 1, with_counter(1)) != [], "1 ns later"
    assert "if_between begins, ends, [zero], to 6" in listing(model)


@pytest.mark.parametrize("limit_ns", [100, 127, 128, 1_000_003, 7_777_777])
def test_shares_below_a_time_are_those_of_the_times(limit_ns: int) -> None:
    """Within the width of a bucket, 1.6 %; that of a time 10 % longer is refused."""
    times = np.random.default_rng(1).exponential(limit_ns, 20_000).astype(np.int64)
    histogram = np.zeros(64 * 48, dtype=np.int64)
    np.add.at(histogram, [histogram_bucket(int(time)) for time in times], 1)

    def share(time: float) -> float:
        return float((times < time).mean())

    assert math.isclose(histogram_share_below(histogram, limit_ns), share(limit_ns), abs_tol=0.005)
    assert not math.isclose(histogram_share_below(histogram, 1.1 * limit_ns), share(limit_ns), abs_tol=0.005)


def test_no_times_have_no_share() -> None:
    assert histogram_share_below(np.zeros(64 * 48, dtype=np.int64), 1e6) == 0.0
