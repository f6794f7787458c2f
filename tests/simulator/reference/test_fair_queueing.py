"""Fair queueing before a device (CFQ): whose turn it is, exactly, on one device."""

import dataclasses
from itertools import pairwise

from oltpsim.simulator.form import FairQueueing, FlashDevice
from oltpsim.simulator.reference.fair_queueing import FairQueue
from oltpsim.simulator.reference.stations import Environment
from oltpsim.simulator.reference.storage import new_device

MS = 1_000_000
CFQ = FairQueueing(quantum=4, slice_ns=100 * MS, background_slice_ns=40 * MS)


class Bench:
    """One device of 1 ms; what was submitted ends at `ends`, in ms."""

    def __init__(self, rules: FairQueueing | None, parallel: int) -> None:
        self.env = Environment()
        self.station = new_device(self.env, FlashDevice("flash", MS, MS, parallel), 100)
        if rules:
            self.station.take_in = FairQueue(self.env, rules, self.station.take_in).add
        self.ends: dict[str, list[float]] = {"data read": [], "writer": [], "log": [], "write-back": []}

    def submit(self, purpose: str, count: int = 1) -> None:
        for _ in range(count):
            done = self.station.submit(0, 8192, int(purpose != "data read"), purpose)
            done.callbacks.append(lambda _: self.ends[purpose].append(self.env.now / MS))


def burst(rules: FairQueueing | None, readers: int = 1, parallel: int = 4, writes: int = 400) -> Bench:
    """A burst of the writer, and half a millisecond later some reads."""
    bench = Bench(rules, parallel)
    bench.submit("writer", writes)
    bench.env.run(until=MS // 2)
    bench.submit("data read", readers)
    bench.env.run()
    return bench


def test_a_burst_keeps_the_device_until_its_slice_is_over() -> None:
    """Four a millisecond for 40 ms; a read that came at 0.5 ms is done at 41. Another slice, another wait."""
    bench = burst(CFQ)
    assert bench.ends["data read"] == [41.0]
    assert sum(end <= 40 for end in bench.ends["writer"]) == 160
    assert bench.ends["writer"][-1] == 101.0, "it goes on where it was, behind the read"
    assert burst(dataclasses.replace(CFQ, background_slice_ns=10 * MS)).ends["data read"] == [11.0]
    assert burst(CFQ, writes=20).ends["data read"] == [6.0], "the burst is over before its slice is"


def test_reads_of_several_clients_are_a_turn_each_and_a_burst_is_one() -> None:
    """Four reads take 4 ms, one by one, between two slices of the writer: then nobody waits but the writer."""
    bench = burst(CFQ, readers=4)
    assert bench.ends["data read"] == [41.0, 42.0, 43.0, 44.0]
    assert [b - a for a, b in pairwise(bench.ends["writer"]) if b - a > 1] == [5.0]


def test_the_device_holds_a_quantum_of_its_owner() -> None:
    """Of 32 places a quantum of 4 leaves 28 empty; one of 16 makes the burst four times as short; none has all 32."""
    for quantum, lasts_ms in ((4, 100.0), (16, 25.0)):
        rules = FairQueueing(quantum, 100 * MS, 1000 * MS)
        assert burst(rules, readers=0, parallel=32).ends["writer"][-1] == lasts_ms
    assert burst(None, readers=0, parallel=32).ends["writer"][-1] == 13.0


def test_owners_take_turns_in_the_order_in_which_they_came() -> None:
    """The log's slice is that of a client; the writer's requests that come later join those that wait."""
    bench = Bench(CFQ, 4)
    for purpose, count in (("write-back", 8), ("log", 1), ("writer", 4), ("data read", 1), ("writer", 4)):
        bench.submit(purpose, count)
    bench.env.run()
    assert bench.ends == {
        "write-back": [1.0] * 4 + [2.0] * 4, "log": [3.0], "writer": [4.0] * 4 + [5.0] * 4, "data read": [6.0],
    }  # fmt: skip
