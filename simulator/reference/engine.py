"""The reference engine: SimPy processes that read like the story of a transaction. It defines the semantics.

Events at the same nanosecond happen in the order in which they were scheduled. What clients do at one instant is in
interpreter.py; what they wait for is passed here, part by part.

    arrivals, terminals ──> clients ──> interpreter ──> buffer pool ──> page cache      (start: fills them at time 0)
                               │                            │ miss          │ dirty
          ┌──────────┬─────────┼──────────┐                 │               │
          v          v         v          v                 v               v
      sections   stations  row locks  commit log        buffer io       write-back <── daemons, page writes
          │                               │                 │               │
          v                               v                 v               v
         cpu                      ┌── devices: disk, flash, raid  <── data files, swap area
                                  └── before them: fair queueing, I/O scheduler, rate limits
"""

from collections.abc import Generator
from typing import Any

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import OnProgress, System, check_daemons
from oltpsim.simulator.reference import waits
from oltpsim.simulator.reference.arrivals import ArrivalQueue, PoissonArrivals
from oltpsim.simulator.reference.buffer_io import BufferIo
from oltpsim.simulator.reference.buffer_pool import BufferPool
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.cpu import Processors
from oltpsim.simulator.reference.daemons import Daemons
from oltpsim.simulator.reference.fair_queueing import FairQueue
from oltpsim.simulator.reference.interpreter import Interpreter
from oltpsim.simulator.reference.io_wait import IoWait
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.locks import RowLocks
from oltpsim.simulator.reference.log import CommitLog
from oltpsim.simulator.reference.merges import Merges
from oltpsim.simulator.reference.page_cache import OsPageCache
from oltpsim.simulator.reference.page_writes import PageWriter
from oltpsim.simulator.reference.record import ReferenceRecorder
from oltpsim.simulator.reference.start import Start
from oltpsim.simulator.reference.stations import Environment, SectionStation, Servers, Story
from oltpsim.simulator.reference.storage import DataFiles, new_devices
from oltpsim.simulator.reference.swap import SwapArea
from oltpsim.simulator.reference.terminals import TerminalQueue, TerminalUsers
from oltpsim.simulator.reference.waits import Wait
from oltpsim.simulator.reference.write_back import WriteBack
from oltpsim.simulator.results import ACTIVITIES, Activity, Population, Result

THROTTLED_BATCH_PAGES = 64


def simulate(system: System, seed: int, on_progress: OnProgress | None = None) -> Result:
    """Run a system to the end of its interval. The same system and seed give the same result, byte for byte."""
    engine = ReferenceEngine(system, seed)
    engine.run(on_progress)
    return engine.record.result()


class ReferenceEngine:
    """One run: the parts, in the order in which they begin at time 0."""

    def __init__(self, system: System, seed: int) -> None:
        check_daemons(system.daemons)
        self.system = system
        self.env = env = Environment()
        # What happens at one instant
        self.page_cache = OsPageCache(system.page_cache, system.program.pages, system.program.regions[:, 0].tolist())
        self.pool = BufferPool(env, system, self.page_cache)
        self.locks = RowLocks(env)
        self.interpreter = Interpreter(env, system, seed, self.pool, self.locks)
        Start(system, seed, self.interpreter).prepare()
        # Where one waits
        self.cpu = Processors(env, system)
        self.io_wait = IoWait(env, system, self.cpu)
        self.sections = [SectionStation(env, section, self.cpu) for section in system.sections]
        self.stations = [Servers(env, station.servers) for station in system.stations]
        self.limiters = [RateLimiter(limit) for limit in system.limiters.limits]
        self.devices = new_devices(env, system.storage, self.limiters, system.limiters.stages)
        for scheduled in (self.devices[number] for number in system.scheduled_devices):
            assert system.fair_queueing is not None
            scheduled.take_in = FairQueue(env, system.fair_queueing, scheduled.take_in).add
        # What is written and read
        files = DataFiles(system, self.devices)
        self.log = CommitLog(env, system, self.devices[system.storage.log_device], self.io_wait, self.page_cache)
        self.buffer_io = BufferIo(env, self.pool, files, self.io_wait, system.interrupts, self.stations)
        self.swap = SwapArea(system, self.devices[0], self.pool.memory, self.io_wait)
        self.write_back = WriteBack(env, system, self.page_cache, files)
        writer = PageWriter(env, system, self.pool, self.cpu, files, self.write_back)
        self.merges = Merges(system, seed, self.buffer_io)
        self.daemons = Daemons(env, system, self.pool, self.cpu, self.log, writer, self.write_back, self.merges)
        # Who begins
        self.in_system = Population()
        self.arrivals = self._new_arrivals(seed)
        self.at_work = len(self.interpreter.clients)
        self.main_done = [0] * self.at_work
        self.record = ReferenceRecorder(self, seed)
        for client in self.interpreter.clients:
            env.process(self.client(client))
        self.daemons.begin()

    def _new_arrivals(self, seed: int) -> ArrivalQueue:
        system = self.system
        if system.arrivals_per_s:
            return PoissonArrivals(self.env, self.in_system, system.arrivals_per_s, seed)
        if system.terminals:
            return TerminalQueue(self.env, self.in_system, TerminalUsers(system, system.terminals, seed))
        return ArrivalQueue(self.env, self.in_system)

    def run(self, on_progress: OnProgress | None) -> None:
        """Let time pass until the end of the interval, noting the series and reporting progress on the way."""
        self.record.take_snapshot(0)
        for stop_ns in self.record.stops_ns():
            self.env.run_until(stop_ns, lambda: self.at_work > 0)
            self.record.take_snapshot(self.env.now)
            if on_progress is not None:
                on_progress(self.record.progress(self.env.now))

    def client(self, client: Client) -> Story:
        """A client's life, one transaction after the other. `spent`: its response time so far, by activity, ns."""
        env = self.env
        began = env.now
        spent = [0] * len(ACTIVITIES)
        for wait in self.interpreter.waits_of(client):
            wait_began = env.now
            match wait:
                case waits.Thinking(time_ns):
                    if time_ns:
                        yield env.timeout(time_ns)
                    began = env.now
                    self.in_system.enter(began)
                case waits.NextArrival():
                    began = yield from self.arrivals.take(client)
                    spent[Activity.CONNECTION] += env.now - began - self.arrivals.tier_ns
                    spent[Activity.NETWORK] += self.arrivals.tier_ns
                case waits.CpuBurst():
                    self.cpu.account(wait)
                    queued = yield from self.cpu.run_burst(wait)
                    spent[Activity.CPU] += env.now - wait_began - queued
                    spent[Activity.CPU_QUEUE] += queued
                case waits.SectionStay(section, hold_ns):
                    inside_ns = yield from self.sections[section].run(hold_ns)
                    spent[Activity.CRITICAL_SECTION] += env.now - wait_began - inside_ns
                    spent[Activity.CPU] += inside_ns
                    self.cpu.transaction_ns += hold_ns
                case waits.TransactionEnd(transaction_class, rolled_back):
                    self.record.end(transaction_class, env.now - began, spent, rolled_back)
                    self.in_system.leave(env.now, began)
                    self.arrivals.end(client)
                    spent = [0] * len(ACTIVITIES)
                    if self._has_done_its_work(client):
                        return
                case waits.Rollback():
                    self._release_locks(client)
                case waits.LogHandover(size_bytes):
                    self.log.hand_over(size_bytes)
                case _:
                    activity = yield from self._pass(client, wait)
                    spent[activity] += env.now - wait_began

    def _pass(self, client: Client, wait: Wait) -> Generator[Any, Any, Activity]:  # noqa: C901, PLR0912 - a case per wait
        """Let a wait of one activity pass; returns which."""
        match wait:
            case waits.RowLock(lock):
                yield from self.locks.wait(lock, client)
                return Activity.ROW_LOCKS
            case waits.PageRead(frame):
                yield from self.buffer_io.read(frame)
                return Activity.DISK_READ
            case waits.PageInTransit(page):
                yield self.buffer_io.page_arrival(page)
                return Activity.PAGE_WAIT
            case waits.AnyBuffer():
                yield self.buffer_io.next_arrival()
                return Activity.PAGE_WAIT
            case waits.FreeBuffer(time_ns):
                yield self.env.timeout(time_ns)
                return Activity.PAGE_WAIT
            case waits.SwapIn(frame):
                yield from self.swap.swap_in(frame)
                self.buffer_io.announce(frame.page)
                return Activity.SWAP
            case waits.VictimWrite(frame):
                yield from self.buffer_io.write_victim(frame)
                return Activity.WRITE_THROTTLE
            case waits.Throttled():
                self.write_back.flush(self.env.now, THROTTLED_BATCH_PAGES)
                yield self.write_back.written()
                return Activity.WRITE_THROTTLE
            case waits.Paused(pages, file):
                if pages == 0:
                    self.write_back.flush(self.env.now, THROTTLED_BATCH_PAGES)
                yield self.write_back.pause_locking(pages, file)
                return Activity.WRITE_THROTTLE
            case waits.LockedFile(time_ns):
                yield self.env.timeout(time_ns)
                return Activity.WRITE_THROTTLE
            case waits.Commit(size_bytes, keeps_locks):
                self.pool.log_end_bytes += size_bytes
                yield from self.log.commit(size_bytes)
                yield from self.daemons.await_log_space(size_bytes)
                if not keeps_locks:
                    self._release_locks(client)
                return Activity.LOG
            case waits.StationVisit(station, service_ns):
                yield from self.stations[station].run(service_ns)
                return Activity.STATIONS
            case waits.NetworkDelay(time_ns):
                yield self.env.timeout(time_ns)
                return Activity.NETWORK
        raise InternalError(f"unknown wait {wait}")

    def _release_locks(self, client: Client) -> None:
        """A transaction is over for everybody else."""
        self.locks.release_all(client)
        self.daemons.look()

    def _has_done_its_work(self, client: Client) -> bool:
        """Whether a client, at the end of a transaction, has none left to do. The run ends when the last one has."""
        work = self.system.work
        if work is None or client.transaction_class != self.system.program.main_class:
            return False
        self.main_done[client.number] += 1
        if self.main_done[client.number] < work.main_per_client:
            return False
        self.at_work -= 1
        return True
