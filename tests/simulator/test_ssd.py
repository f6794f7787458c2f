"""SSDs: times of single requests, full buffers, flushes, closed networks of dies, one trajectory in both engines."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from oltpsim.simulator.form import MIB, SsdDevice
from oltpsim.simulator.reference.device import FLUSH, READ, REWRITE, WRITE
from oltpsim.simulator.reference.ssd import SsdStation
from oltpsim.simulator.reference.stations import Environment, Story
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, SOAK, TIED
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, ssd_systems
from tests.simulator.twins import differences, of_few_events, shortened, with_value

US, MS = 1_000, 1_000_000
SECTOR, PAGE = 4096, 16_384
SSD = SsdDevice(
    name="ssd", read_ns=20 * US, write_ns=10 * US, command_read_ns=2 * US, command_write_ns=US,
    read_mib_ns=256 * US, write_mib_ns=512 * US, dies=16, die_ns=40 * US, channel_mib_ns=1024 * US,
    program_ns=600 * US, drain_mib_ns=2560 * US, append_mib_ns=512 * US, buffer_bytes=MIB, flush_ns=MS, is_volatile=0,
)  # fmt: skip
"""4 KiB: a read 2 + 1 + 20 + 40 us, a write 1 + 2 + 10, programmed in 10"""
READ_US, WRITE_US = 63, 13


def ends_us(ssd: SsdDevice, requests: list[tuple[int, int, int, bool]], apart_us: int = 0) -> list[float]:
    """When requests (byte, size, kind, synced), so far apart, are done."""
    env = Environment()
    station = SsdStation(env, ssd, 1000)
    ends = [0.0] * len(requests)

    def submit() -> Story:
        for number, (byte, size, kind, synced) in enumerate(requests):
            done = station.submit(byte, size, kind, "test", synced)
            done.callbacks.append(lambda _, number=number: ends.__setitem__(number, env.now / US))
            if apart_us:
                yield env.timeout(apart_us * US)
        yield env.timeout(0)

    env.process(submit())
    env.run(until=10_000 * MS)
    return ends


def at(die: int, size: int = SECTOR, kind: int = READ, synced: bool = False) -> tuple[int, int, int, bool]:
    return die * PAGE, size, kind, synced


def test_lone_requests_take_what_their_parts_take() -> None:
    assert ends_us(SSD, [at(0)]) == [READ_US]
    assert ends_us(SSD, [at(0, kind=WRITE)]) == [WRITE_US]
    assert ends_us(SSD, [at(0, PAGE)]) == [2 + 4 + 20 + 40 + 12], "more on the interface and on the channel"
    assert ends_us(SSD, [at(0, 2 * PAGE)]) == [2 + 8 + 20 + 40 + 12], "its pages lie on several dies"
    read_then_written = ends_us(SSD, [at(0, kind=REWRITE)])
    assert read_then_written == [READ_US + WRITE_US]


def test_reads_wait_for_the_interface_and_for_their_die() -> None:
    assert ends_us(SSD, [at(0), at(1), at(2)]) == [63, 66, 69], "the interface is the only thing that they share"
    assert ends_us(SSD, [at(0), at(16), at(1)]) == [63, 103, 69], "the second is on the first one's die"


def test_a_full_buffer_lets_writes_in_as_it_drains() -> None:
    """256 writes of 4 KiB fit; each takes 3 us of the interface and 10 us of the dies."""
    ends = ends_us(SSD, [at(number, kind=WRITE) for number in range(2, 2 * 600, 2)])
    assert ends[0] == WRITE_US
    assert ends[99] - ends[98] == 3, "into the buffer"
    assert ends[-1] - ends[-2] == 10, "at the program rate"
    first_late = next(number for number, end in enumerate(ends) if end > 3 * (number + 1) + 10)
    assert 10 * (first_late + 1) - 3 * first_late > 2560, "which is when the buffer has no room"
    appended = ends_us(SSD, [(number * SECTOR, SECTOR, WRITE, False) for number in range(600)])
    assert appended[-1] - appended[-2] == 3, "writes in a row need no cleaning: 2 us of the dies"


def test_a_read_waits_for_the_rest_of_a_program_and_takes_time_from_programs() -> None:
    writes = [at(number, kind=WRITE) for number in range(2, 402, 2)]
    among = ends_us(SSD, [*writes, at(5)])[-1] - ends_us(SSD, writes)[-1]
    alone = READ_US - 10
    assert alone < among <= alone + 600
    assert ends_us(SSD, [at(5), *writes])[0] == READ_US, "the negative twin: nothing is being programmed yet"
    many = [at(number, kind=WRITE) for number in range(2, 2 * 600, 2)]
    reads = [at(number) for number in range(16)]
    late = ends_us(SSD, [*many, *reads, at(2001, kind=WRITE)])[-1]
    assert late - ends_us(SSD, [*many, at(2001, kind=WRITE)])[-1] == 16 * 40 / 16, (
        "a read takes a die's time of 16 dies"
    )
    stopped = dataclasses.replace(SSD, interrupted_ns=160 * US)
    late = ends_us(stopped, [*many, *reads, at(2001, kind=WRITE)])[-1]
    assert late - ends_us(stopped, [*many, at(2001, kind=WRITE)])[-1] == 16 * (40 + 160) / 16, "and what it stops"
    assert ends_us(stopped, reads) == ends_us(SSD, reads), "the negative twin: there is nothing to stop"


def test_a_flush_alone_programs_nothing_and_is_no_write() -> None:
    volatile = dataclasses.replace(SSD, is_volatile=1)
    flush = (0, 0, FLUSH, False)
    assert ends_us(volatile, [flush, flush]) == [1000, 2000]
    filled = [at(number, kind=WRITE) for number in range(2, 202, 2)]
    assert ends_us(volatile, [*filled, flush])[-1] == 3 + 100 * 10 + 1000, "behind what was written before"
    env = Environment()
    station = SsdStation(env, volatile, 10)
    station.submit(0, 0, FLUSH, "flush")
    station.submit(0, SECTOR, WRITE, "write", True)
    env.run(until=10 * MS)
    assert (station.writes, station.by_purpose) == (1, {"write": 1})


def test_flushes() -> None:
    """With power-loss protection a command; without, one at a time after the buffer is programmed."""
    synced = [at(number, kind=WRITE, synced=True) for number in (2, 4, 6)]
    assert ends_us(SSD, synced) == [WRITE_US + 1000, WRITE_US + 1003, WRITE_US + 1006]
    volatile = dataclasses.replace(SSD, is_volatile=1)
    assert ends_us(volatile, synced) == [3 + 10 + 1000, 2 * 1000 + 13, 3 * 1000 + 13]
    filled = [at(number, kind=WRITE) for number in range(2, 202, 2)]
    assert ends_us(volatile, [*filled, at(500, kind=WRITE, synced=True)])[-1] == 3 + 101 * 10 + 1000
    assert ends_us(volatile, [at(2, kind=WRITE)]) == [WRITE_US], "who doesn't ask doesn't wait"


def test_a_flush_that_is_done_alone_waits_for_all_and_all_wait_for_it() -> None:
    """A synced write begins its flush when the read before it is done; the read after it passes the interface then."""
    requests = [at(0), at(2, kind=WRITE, synced=True), at(4)]
    alone = dataclasses.replace(SSD, flushes_alone=1)
    flushed = READ_US + 1000
    assert ends_us(alone, requests) == [READ_US, flushed, flushed + READ_US]
    assert ends_us(SSD, requests) == [READ_US, 3 + WRITE_US + 1000, 6 + READ_US], "side by side"
    unsynced = [at(0), at(2, kind=WRITE), at(4)]
    assert ends_us(alone, unsynced) == ends_us(SSD, unsynced), "a write without a flush closes nothing"


def read_behind_us(ssd: SsdDevice, writes: int, purpose: str, kind: int = WRITE) -> float:
    """How long a read takes that comes behind so many writes of a purpose; all of them are done in the end."""
    env = Environment()
    station = SsdStation(env, ssd, 1000)
    ends = []
    for number in range(writes):
        station.submit(2 * number * PAGE, SECTOR, kind, purpose)
    station.submit(PAGE, SECTOR, READ, "data read").callbacks.append(lambda _: ends.append(env.now / US))
    env.run(until=1_000 * MS)
    assert station.writes == writes
    return float(ends[0])


@pytest.mark.parametrize(("kind", "most"), [(WRITE, 4), (REWRITE, 32)])
def test_a_sata_drive_has_few_requests_of_write_back_at_once(kind: int, most: int) -> None:
    """A read behind a heap of writes passes the interface after those that the drive has, not after all of them."""
    sata = dataclasses.replace(SSD, flushes_alone=1, program_ns=1)
    behind = {number: pytest.approx(number * 3 + READ_US, abs=0.01) for number in (3, most, 100)}
    assert read_behind_us(sata, 100, "write-back", kind) == behind[most]
    assert read_behind_us(sata, 3, "write-back", kind) == behind[3], "fewer are all in it"
    queued = dataclasses.replace(sata, flushes_alone=0)
    assert read_behind_us(queued, 100, "write-back", kind) == behind[100], "NVMe takes all"
    assert read_behind_us(sata, 100, "eviction write", kind) == behind[100], "of write-back only"


def reads_per_s(ssd: SsdDevice, depth: int, write: bool = False) -> float:
    """Of so many in flight at random places."""
    env = Environment()
    station = SsdStation(env, ssd, 1_000_000)
    places = np.random.default_rng(1).integers(0, 1 << 20, 1 << 14).tolist()
    turn = itertools.cycle(places)

    def client() -> Story:
        while True:
            yield station.submit(next(turn) * SECTOR, SECTOR, WRITE if write else READ, "test")

    for _ in range(depth):
        env.process(client())
    env.run(until=40 * MS)
    return (station.writes if write else station.reads) / 0.04


def test_closed_networks_of_dies() -> None:
    """One in flight: 1 / latency. Many: the interface or the dies. In between the knee is soft.

    Balanced queues (product form) do N D / (N + D - 1) of a die's rate; constant services do more, up to what no
    waiting at all would give.
    """
    dies = dataclasses.replace(SSD, read_ns=0, command_read_ns=0, read_mib_ns=0, dies=8)
    assert reads_per_s(SSD, 1) == pytest.approx(1e6 / READ_US, rel=0.01)
    assert reads_per_s(SSD, 256) == pytest.approx(1e6 / 3, rel=0.01)
    assert reads_per_s(dies, 512) == pytest.approx(8 * 25_000, rel=0.03)
    for depth in (2, 4, 8, 16, 32):
        balanced = depth * 8 / (depth + 7) * 25_000
        assert balanced < 1.02 * reads_per_s(dies, depth)
        assert reads_per_s(dies, depth) < min(depth, 8) * 25_000
    assert reads_per_s(dies, 8) < 0.75 * 8 * 25_000, "no sharp knee, where requests find their dies by chance"


def test_sustained_writes_are_as_many_as_dies_program() -> None:
    assert reads_per_s(SSD, 32, write=True) == pytest.approx(100_000, rel=0.08)
    quick = dataclasses.replace(SSD, drain_mib_ns=256 * US)
    assert reads_per_s(quick, 32, write=True) == pytest.approx(1e6 / 3, rel=0.01), "the interface then"


def test_it_is_busy_while_the_buffer_drains() -> None:
    env = Environment()
    station = SsdStation(env, SSD, 10)
    station.submit(0, SECTOR, WRITE, "test")
    env.run(until=5 * US)
    assert station.busy_ns(env.now) == 5 * US
    env.run(until=MS)
    assert station.busy_ns(env.now) == 13 * US, "3 us on the interface, then 10 of the dies, whoever waits"
    station.submit(0, SECTOR, READ, "test")
    env.run(until=2 * MS)
    assert station.busy_ns(env.now) == (13 + 3) * US, "a read keeps one of 16 dies busy, less than the interface"


@settings(EXAMPLES, max_examples=SOAK or 100)
@given(system=ssd_systems(), seed=SEEDS)
def test_both_engines_agree(system: DrawnSystem, seed: int) -> None:
    assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []


@pytest.mark.parametrize(
    "column",
    [
        field.name
        for field in dataclasses.fields(SSD)
        if field.name not in {"name", "dies", "buffer_bytes", "is_volatile", "flushes_alone"}
    ],
)
def test_each_time_makes_another_trajectory(column: str) -> None:
    """A nanosecond more in the kernel's table, or a few of those that are for a MiB."""
    slow = dataclasses.replace(SSD, is_volatile=1, buffer_bytes=1, program_ns=7 * MS)
    model = shortened(model_of_system(dataclasses.replace(TIED, devices=(slow,))), 4_000 * MS)
    assert differences(model, 1) == []

    longer = with_value(f"system.storage.devices.0.{column}", lambda time_ns: time_ns + MIB // SECTOR)
    assert differences(model, 1, longer) != []
