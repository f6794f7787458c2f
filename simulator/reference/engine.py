"""The reference engine: SimPy processes that read like the story of a transaction. It defines the semantics.

Events at the same nanosecond happen in the order in which they were scheduled. What happens at one instant
(references, caches, samplers) is `simulator.kernel.interpreter.advance`; here is what takes time.

    clients ──> cpu ── critical sections ── row locks ── commit log
       │ miss                                               │
       └──> file descriptors ──> device (data, log, swap) <─┴── write-back, background writer, checkpoint
"""

import simpy

from simulator.errors import InternalError
from simulator.form import Model, OnProgress, extent_of, limiters_of
from simulator.kernel import interpreter as waits
from simulator.kernel.caches import DIRTY, DIRTY_COUNT, FLAGS, PAGE, POOL, SWAP_INS, SWAP_OUTS, clear_dirty
from simulator.kernel.interpreter import advance, own_lock
from simulator.kernel.memory import finish_fault, finish_read, finish_write_back
from simulator.kernel.rate_limits import limiter_rows
from simulator.kernel.start import prepare
from simulator.kernel.state import FIRST_LOCK, LOCK_OWNERS, LOCKS_HELD, MOST_LOCKS, PLACES, USER_NS, new_state
from simulator.kernel.terminals import new_terminals
from simulator.reference.daemons import Arrivals, CommitLog, background_writer, checkpoints, flush_dirt, flusher
from simulator.reference.raid import new_devices
from simulator.reference.record import ReferenceRecorder
from simulator.reference.scheduler import FairQueue
from simulator.reference.stations import Environment, RowLocks, SectionStation, Servers, Story
from simulator.reference.terminals import TerminalQueue
from simulator.results import ACTIVITIES, Activity, Gauge, Population, Result

THROTTLED_BATCH_PAGES = 64


def simulate(model: Model, seed: int, on_progress: OnProgress | None = None) -> Result:
    """Run a model to the end of its interval. The same model and seed give the same result, byte for byte."""
    engine = ReferenceEngine(model, seed)
    engine.run(on_progress)
    return engine.record.result()


class ReferenceEngine:
    """One run. `env` is SimPy's; everything else is a station, a daemon or the shared state."""

    def __init__(self, model: Model, seed: int) -> None:
        self.model, self.placement = model, model.placement
        self.env = Environment()
        self.state = new_state(model, seed)
        prepare(self.state, model, seed)
        env, storage = self.env, model.storage
        self.cpu = Servers(env, model.processors, model.sharing)
        self.sections = [SectionStation(env, section, self.cpu) for section in model.sections]
        self.stations = [Servers(env, station.servers) for station in model.stations]
        self.locks = RowLocks(env)
        limiters = limiters_of(storage, model.volume_limits, model.controllers)
        self.limits = limiter_rows(limiters.limits)
        self.devices = new_devices(env, storage, limiters, self.limits)
        for scheduled in (self.devices[number] for number in model.scheduled_devices):
            assert model.fair_queueing is not None
            scheduled.take_in = FairQueue(env, model.fair_queueing, scheduled.take_in).add
        self.log = CommitLog(self)
        self.page_arrivals: dict[int, simpy.Event] = {}
        self.written_event: simpy.Event | None = None
        self.pages_written = 0
        self.reads_pending, self.in_system = Gauge(), Population()
        self.arrivals = Arrivals(self, seed) if model.arrivals_per_s else None
        self.terminals = TerminalQueue(self, new_terminals(model, seed))
        self.swap_outs_issued = 0
        self.writer_wakes: simpy.Event | None = None
        self.checkpoint_times_ns: list[tuple[int, int]] = []
        self.at_work, self.main_done = len(model.client_registers), [0] * len(model.client_registers)
        self.record = ReferenceRecorder(self, seed)
        for number in range(len(model.client_registers)):
            env.process(self.client(number))
        env.process(flusher(self))
        env.process(background_writer(self))
        env.process(checkpoints(self))

    def run(self, on_progress: OnProgress | None) -> None:
        """Let time pass until the end of the interval, noting the series and reporting progress on the way."""
        self.record.note(0)
        for stop_ns in self.record.stops_ns():
            self.env.run(until=stop_ns)
            self.record.note(self.env.now)
            if on_progress is not None:
                on_progress(self.record.progress(self.env.now))

    def client(self, number: int) -> Story:  # noqa: C901, PLR0912 - one branch per kind of wait, in one story
        """A client's life: wait for the next transaction, run it, and again."""
        env, state, record = self.env, self.state, self.record
        spent = [0] * len(ACTIVITIES)
        began = env.now
        inside = False
        while True:
            if not inside:
                began = yield from self.next_transaction(number)
                spent[Activity.CONNECTION] += env.now - began - self.terminals.tier_ns
                spent[Activity.NETWORK] += self.terminals.tier_ns
                inside = True
            wait, a, b = advance(state, number, env.now)
            if state.outbox[0]:
                self.write_evicted()
            asked = env.now
            if wait == waits.WAIT_CPU:
                queued = yield from self.cpu.run(a)
                spent[Activity.CPU] += env.now - asked - queued
                spent[Activity.CPU_QUEUE] += queued
            elif wait == waits.WAIT_READ:
                yield from self.read_page(a)
                spent[Activity.DISK_READ] += env.now - asked
            elif wait == waits.WAIT_LOCK:
                yield from self.locks.wait(a, number)
                spent[Activity.ROW_LOCKS] += env.now - asked
            elif wait == waits.WAIT_SECTION:
                inside_ns = yield from self.sections[a].run(b)
                spent[Activity.CRITICAL_SECTION] += env.now - asked - inside_ns
                spent[Activity.CPU] += inside_ns
                state.usage[USER_NS] += b
            elif wait == waits.WAIT_COMMIT:
                yield from self.log.commit(a)
                spent[Activity.LOG] += env.now - asked
                if not b:
                    self.release_locks(number)
            elif wait == waits.WAIT_RELEASE:
                self.release_locks(number)
            elif wait == waits.WAIT_END:
                record.end(a, env.now - began, spent, b)
                self.in_system.leave(env.now, began)
                if self.model.terminals:
                    self.terminals.end(number, a)
                spent = [0] * len(ACTIVITIES)
                inside = False
                if self.has_done_its_work(number, a):
                    return
            elif wait == waits.WAIT_VISIT:
                yield from self.stations[a].run(b)
                spent[Activity.STATIONS] += env.now - asked
            elif wait == waits.WAIT_NETWORK:
                yield env.timeout(a)
                spent[Activity.NETWORK] += env.now - asked
            else:
                yield from self.wait_for_memory(wait, a, spent)

    def has_done_its_work(self, number: int, transaction_class: int) -> bool:
        """Whether a client, at the end of a transaction, has none left to do. The run ends when the last one has."""
        work = self.model.work
        if work is None or transaction_class != self.record.main_class:
            return False
        self.main_done[number] += 1
        if self.main_done[number] < work.main_per_client:
            return False
        self.at_work -= 1
        if not self.at_work:
            self.env.end_run()
        return True

    def next_transaction(self, number: int) -> Story:
        """Think, or wait for an arrival; returns the time from which the response is counted."""
        wait, think_ns, _ = advance(self.state, number, self.env.now)
        if wait == waits.WAIT_THINK:
            if think_ns:
                yield self.env.timeout(think_ns)
            began = self.env.now
            self.in_system.enter(began)
        elif wait == waits.WAIT_ARRIVAL and self.arrivals is not None:
            began = yield from self.arrivals.take()
        elif wait == waits.WAIT_ARRIVAL:
            began = yield from self.terminals.take(number)
        else:
            raise InternalError(f"a client's program must begin with think or arrive, not with wait {wait}")
        return began

    def wait_for_memory(self, wait: int, a: int, spent: list[int]) -> Story:
        """The rarer waits of a page reference."""
        asked = self.env.now
        if wait == waits.WAIT_PAGE:
            yield self.page_arrivals.setdefault(a, self.env.event())
            spent[Activity.PAGE_WAIT] += self.env.now - asked
        elif wait == waits.WAIT_FAULT:
            yield from self.swap_in(a)
            spent[Activity.SWAP] += self.env.now - asked
        elif wait == waits.WAIT_THROTTLE:
            flush_dirt(self, self.env.now, THROTTLED_BATCH_PAGES)
            yield self.written()
            spent[Activity.WRITE_THROTTLE] += self.env.now - asked
        elif wait == waits.WAIT_VICTIM:
            yield from self.write_victim(a)
            spent[Activity.WRITE_THROTTLE] += self.env.now - asked
        elif wait == waits.WAIT_BUFFER:
            yield self.page_arrivals.setdefault(-1, self.env.event())
            spent[Activity.PAGE_WAIT] += self.env.now - asked
        else:
            raise InternalError(f"unknown wait {wait}")

    def place(self, page: int) -> tuple[int, int]:
        """The device and the byte where a page lies."""
        storage, extent = self.model.storage, extent_of(self.placement, page)
        return extent.device_of(page), storage.data_start_bytes + extent.bytes_before(page, storage.page_bytes)

    def read_page(self, page: int) -> Story:
        """Read a page from its device into the slot that is kept for it."""
        device, byte = self.place(page)
        self.reads_pending.change(self.env.now, 1)
        self.record.io_wait.change(1)
        yield from self.devices[device].call(byte, self.model.storage.page_bytes, False, "data read")
        if self.model.interrupts and self.model.interrupts.station >= 0:
            yield from self.stations[self.model.interrupts.station].run(self.model.interrupts.served_ns)
        self.reads_pending.change(self.env.now, -1)
        self.record.io_wait.change(-1)
        finish_read(self.state, page, not self.model.direct_io)
        if self.state.outbox[0]:
            self.write_evicted()
        self.announce(page)

    def announce(self, page: int) -> None:
        """Wake whoever waits for this page, and whoever waits for any buffer."""
        for key in (page, -1):
            arrival = self.page_arrivals.pop(key, None)
            if arrival is not None:
                arrival.succeed()

    def write_victim(self, slot: int) -> Story:
        """Direct I/O: a dirty victim is written before its slot is used again."""
        tiers = self.state.tiers
        page = int(tiers.slots[slot, PAGE])
        clear_dirty(tiers, POOL, slot)
        device, byte = self.place(page)
        self.record.io_wait.change(1)
        yield from self.devices[device].call(byte, self.model.storage.page_bytes, True, "eviction write")
        self.record.io_wait.change(-1)
        tiers.slots[slot, FLAGS] &= DIRTY
        self.announce(page)

    def swap_in(self, slot: int) -> Story:
        """A buffer whose memory the operating system has taken: read it back from swap."""
        storage = self.model.storage
        byte = storage.swap_start_bytes + slot * storage.page_bytes
        self.record.io_wait.change(1)
        yield self.devices[0].submit(byte, storage.page_bytes, False, "swap in")
        self.record.io_wait.change(-1)
        self.state.tiers.head[POOL, SWAP_INS] += 1
        finish_fault(self.state, slot)
        self.swap_out()
        self.announce(int(self.state.tiers.slots[slot, PAGE]))

    def swap_out(self) -> None:
        """Write out, a cluster at a time, the buffers that lost their memory."""
        storage = self.model.storage
        size = storage.swap_cluster_pages * storage.page_bytes
        while self.state.tiers.head[POOL, SWAP_OUTS] - self.swap_outs_issued >= storage.swap_cluster_pages:
            self.swap_outs_issued += storage.swap_cluster_pages
            place = self.swap_outs_issued % max(self.model.pool.pages - storage.swap_cluster_pages, 1)
            self.devices[0].submit(storage.swap_start_bytes + place * storage.page_bytes, size, True, "swap out")

    def write_evicted(self) -> None:
        """The page cache had to give up dirty pages: their writes start now."""
        outbox = self.state.outbox
        pages = outbox[1 : outbox[0] + 1].tolist()
        outbox[0] = 0
        for page in pages:
            self.write_back(range(page, page + 1))

    def write_back(self, run: range) -> None:
        """Queue one write of neighbouring pages that the page cache has handed to the disks."""
        device, byte = self.place(run.start)
        done = self.devices[device].submit(byte, len(run) * self.model.storage.page_bytes, True, "write-back")
        done.callbacks.append(lambda _: self._written_back(run))

    def _written_back(self, run: range) -> None:
        for page in run:
            finish_write_back(self.state, page)
        self.pages_written += len(run)
        if self.written_event is not None:
            self.written_event.succeed()
            self.written_event = None

    def written(self) -> simpy.Event:
        """The next completion of a page's write-back."""
        if self.written_event is None:
            self.written_event = self.env.event()
        return self.written_event

    def release_locks(self, number: int) -> None:
        """The transaction is over: every lock goes to the one who has waited longest for it."""
        row = self.state.client[number]
        held = int(row[LOCKS_HELD])
        if held > MOST_LOCKS:
            raise InternalError(f"client {number} holds {held} locks, room for {MOST_LOCKS}")
        for i in range(held):
            lock = int(row[FIRST_LOCK + i])
            waiter = self.locks.next_owner(lock)
            if waiter is None:
                self.state.numbers[self.state.tables[PLACES, LOCK_OWNERS] + lock] = -1
            else:
                own_lock(self.state, waiter.client, lock)
                waiter.turn.succeed()
        row[LOCKS_HELD] = 0
        self.locks.acquired += held
        if (
            self.writer_wakes is not None
            and self.state.tiers.head[POOL, DIRTY_COUNT] > self.model.pool.writer_high_pages
        ):
            self.writer_wakes.succeed()
            self.writer_wakes = None
