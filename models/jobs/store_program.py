"""What the threads of a partitioned store's clients do, as a program.

 thread ──> client's network ─> backplane ─> server: pause? ─> a core ──────────────> and back ─> pause? ─> a core
                                              └ update: ─> the copy's server, and back ┘

A core is drawn for each burst: every core has a queue of its own, and what runs where is chance. A thread takes in an
answer and asks the next question in one burst, since it doesn't wait in between.

With a loss, keys of the dead server's share go to their copies once it has been noticed; who sent to it sends again.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oltpsim.models.workloads import CollectorSpec, NodeLossSpec, PartitionedStoreSpec, StorePathSpec, UpdatePathSpec
from oltpsim.simulator.form import NEVER_NS, NS_PER_MS, NS_PER_US, Assembler, Label, Program, from_s

KIB, GBIT = 1024, 1e9
CHUNK_KIB = 64
PAUSE_PHASES = 4
"""of the Erlang distribution of pauses: they differ by half of their mean (assumption)"""
QUERY, UPDATE, RESTORING = "query", "update", "restoring"
DEAD = 0
"""the server that dies"""


@dataclass(frozen=True)
class Speeds:
    """Cores and their speeds relative to the reference core."""

    server_cores: int
    server_speed: float
    client_cores: int
    client_speed: float


class StoreWriter:
    """Writes the program; afterwards `registers` has those of all clients, and `servers` those of the gates."""

    def __init__(self, job: PartitionedStoreSpec, speeds: Speeds, round_trip_us: float) -> None:
        self.job, self.speeds, self.asm = job, speeds, Assembler()
        asm = self.asm
        self.half_ns = round(round_trip_us * NS_PER_US / 2)
        self.machine, self.jvm, self.thread = map(asm.register, ("machine", "jvm", "thread"))
        self.share, self.server, self.copy = map(asm.register, ("share", "server", "copy"))
        self.number, self.is_open, self.core = map(asm.register, ("number", "open", "core"))
        self.role, self.zero, self.one = map(asm.register, ("role", "zero", "one"))
        self.seen, self.chunk = map(asm.register, ("seen", "chunk"))
        self.keys, self.cores, self.times, self.pauses = map(asm.stream, ("keys", "cores", "times", "pauses"))
        self.server_cores = self._stations("server", job.servers, speeds.server_cores)
        self.client_cores = self._stations("client", job.clients, speeds.client_cores)
        self.server_network = self._stations("server", job.servers)
        self.client_network = self._stations("client", job.clients)
        self.servers: dict[str, int] = {}
        self.server_gate = self._gate("server pauses", job.servers, job.server_collector)
        jvms = job.clients * job.jvms_per_client_machine
        self.client_gate = self._gate("client pauses", jvms, job.client_collector)
        self._counters()

    def _stations(self, side: str, nodes: int, cores: int = 0) -> int:
        """The first of the stations of all machines of a side: their cores, or without any their networks."""
        parts = [f"core {core + 1}" for core in range(cores)] or ["network"]
        names = [f"{side} {node + 1} {part}" for node in range(nodes) for part in parts]
        return min(self.asm.station(name) for name in names)

    def _gate(self, name: str, groups: int, collector: CollectorSpec | None) -> tuple[int, int, int] | None:
        """Station, counter and distribution of gates; their first pauses are spread evenly over a period."""
        if collector is None:
            return None
        between = collector.requests_between
        left = np.maximum(between * (np.arange(groups) + 1) // groups, 1)
        columns = np.stack([left, np.zeros_like(left), np.full_like(left, between)], axis=1)
        self.servers[name] = self.job.threads
        pause = self.asm.distribution("erlang", round(collector.pause_ms * NS_PER_MS), PAUSE_PHASES)
        return self.asm.station(name), self.asm.counter(name, columns.size, columns.ravel()), pause

    def _counters(self) -> None:
        """Books, and the instants of a loss: of each server, or of each share of the keys."""
        asm, servers, loss = self.asm, self.job.servers, self.job.loss
        self.sent, self.sent_again = asm.counter("sent", 1, 0), asm.counter("sent again", 1, 0)
        self.answered = asm.counter("answered", 2, 0)
        if loss is None:
            return
        instants = np.full((3, servers), NEVER_NS)
        instants[0, DEAD], instants[1, DEAD] = from_s(loss.at_s), from_s(loss.at_s + loss.detection_s)
        self.down, self.noticed, self.restored = (
            asm.counter(name, servers, row) for name, row in zip(("down", "noticed", "restored"), instants, strict=True)
        )
        self.never = asm.counter("never", servers, NEVER_NS)
        self.updates = asm.counter("updates answered", servers, 0)
        self.first, self.second = asm.counter("first copy", servers, 0), asm.counter("second copy", servers, 0)
        self.left_out = asm.counter("second copy left out", servers, 0)
        self.taken_over, self.known_again = asm.counter("taken over", 1, 0), asm.counter("known again", 1, 0)
        self.seen_first, self.seen_second = (
            asm.counter(f"seen by {which}", self.job.threads, 0) for which in ("first copy", "second copy")
        )
        self.due = asm.counter("next chunk due", servers, from_s(loss.at_s + loss.detection_s))
        chunks = round(loss.server_gib * (1 << 20) / CHUNK_KIB)
        self.begun, self.done = asm.counter("chunks begun", 1, 0), asm.counter("chunks done", 1, 0)
        self.chunks, self.chunks_but_one = asm.counter("chunks", 1, chunks), asm.counter("but one", 1, chunks - 1)

    def write(self) -> Program:
        """The client's loop, then a query, an update, and the copying after a loss."""
        asm, share = self.asm, self.job.update_fraction
        restorer = asm.label()
        if self.job.loss:
            asm.emit("loop", self.role, restorer)
        none = asm.distribution("constant", 0)
        asm.emit("think", none, self.times)
        asm.emit("choose", asm.table("mix", [1.0 - share, share, 0.0]), self.keys)
        asm.place(restorer)
        asm.emit("think", none, self.times)
        asm.emit("choose", asm.table("copying", [0.0, 0.0, 1.0]), self.keys)
        self._request(QUERY, self.job.query, self.job.key_kib, self.job.row_kib)
        self._request(UPDATE, self.job.update_path, self.job.update_kib, self.job.acknowledgement_kib)
        asm.begin_class(RESTORING)
        if self.job.loss:
            self._restore(self.job.loss)
        else:
            asm.emit("end")
        return asm.finish(UPDATE if share > 0.5 else QUERY)

    def registers(self, program: Program) -> npt.NDArray[np.int64]:
        """(clients, registers): the threads, then one that copies for each server that survives a loss."""
        job = self.job
        threads, restorers = np.arange(job.threads), job.servers - 1 if job.loss else 0
        rows = np.zeros((job.threads + restorers, len(program.registers)), dtype=np.int64)
        rows[: job.threads, self.thread] = threads
        rows[: job.threads, self.jvm] = threads // job.threads_per_jvm
        rows[: job.threads, self.machine] = threads // (job.threads_per_jvm * job.jvms_per_client_machine)
        rows[:, self.one] = 1
        rows[job.threads :, self.role] = NEVER_NS
        rows[job.threads :, self.server] = 1 + np.arange(restorers)
        return rows

    def _request(self, name: str, path: StorePathSpec, there_kib: float, back_kib: float) -> None:
        asm, job = self.asm, self.job
        retry, lost = asm.label(), asm.label()
        asm.begin_class(name)
        asm.emit("uniform", self.share, job.servers, 0, self.keys)
        asm.emit("affine", self.number, self.number, 1, 1, 0)
        asm.emit("set", self.is_open, 1)
        asm.place(retry)
        asm.emit("take", self.seen, self.sent, self.zero, 1)
        self._route()
        self._send(self.client_network, self.machine, there_kib)
        self._serve(self.server, path.server_us, lost)
        if isinstance(path, UpdatePathSpec):
            self._update(path, there_kib, back_kib, lost)
        self._send(self.server_network, self.server, back_kib)
        self._pass(self.client_gate, self.jvm)
        self._burst(
            self.client_cores, self.speeds.client_cores, self.machine, path.client_us / self.speeds.client_speed
        )
        asm.emit("take", self.seen, self.answered, self.one if name == UPDATE else self.zero, 1)
        if name == UPDATE and job.loss:
            asm.emit("take", self.seen, self.updates, self.share, 1)
        asm.emit("set", self.is_open, 0)
        asm.emit("end")
        if job.loss:
            asm.place(lost)
            asm.emit("sleep_until", self.noticed, self.server)
            asm.emit("take", self.seen, self.sent_again, self.zero, 1)
            asm.emit("jump", retry)

    def _route(self) -> None:
        """The server that has the key: its share's, or once a loss is noticed the one that has the copy."""
        asm, moved, routed = self.asm, self.asm.label(), self.asm.label()
        asm.emit("affine", self.server, self.share, 1, 0, 0)
        if self.job.loss:
            asm.emit("if_between", self.noticed, self.never, self.share, moved)
            asm.emit("jump", routed)
            asm.place(moved)
            asm.emit("other", self.server, self.job.servers, self.share, self.keys)
            asm.place(routed)

    def _update(self, path: UpdatePathSpec, there_kib: float, back_kib: float, lost: Label) -> None:
        """Change the row at its server, then at the server of its copy, and only then answer."""
        asm, job = self.asm, self.job
        done, choose, dead = asm.label(), asm.label(), asm.label()
        if job.loss:
            self._note_first(done)
        if job.copies == 0:
            asm.place(done)
            return
        asm.place(choose)
        asm.emit("other", self.copy, job.servers, self.server, self.keys)
        if job.loss:
            asm.emit("if_between", self.noticed, self.never, self.copy, dead)
        self._send(self.server_network, self.server, there_kib)
        self._serve(self.copy, path.copy_us, dead)
        if job.loss:
            moved = asm.label()
            asm.emit("if_between", self.noticed, self.never, self.share, moved)
            asm.emit("put", self.seen_second, self.thread, self.number)
            asm.emit("take", self.seen, self.second, self.share, 1)
            asm.place(moved)
        self._send(self.server_network, self.copy, back_kib)
        if job.loss:
            asm.emit("if_between", self.down, self.never, self.server, lost)
            asm.emit("jump", done)
            asm.place(dead)
            asm.emit("sleep_until", self.noticed, self.copy)
            asm.emit("if_between", self.restored, self.never, self.zero, choose)
            asm.emit("put", self.seen_second, self.thread, self.number)
            asm.emit("take", self.seen, self.left_out, self.share, 1)
        asm.place(done)

    def _note_first(self, done: Label) -> None:
        """The first copy takes an update in; where that was the second before, it may know its number already."""
        asm, loss = self.asm, self.job.loss
        moved, copied, known = asm.label(), asm.label(), asm.label()
        asm.emit("if_between", self.noticed, self.never, self.share, moved)
        asm.emit("put", self.seen_first, self.thread, self.number)
        asm.emit("take", self.seen, self.first, self.share, 1)
        asm.emit("jump", copied)
        asm.place(known)
        asm.emit("take", self.seen, self.known_again, self.zero, 1)
        asm.emit("jump", done)
        asm.place(moved)
        if loss and loss.numbered:
            asm.emit("if_equal", self.seen_second, self.thread, self.number, known)
        asm.emit("put", self.seen_second, self.thread, self.number)
        asm.emit("take", self.seen, self.taken_over, self.zero, 1)
        asm.emit("if_between", self.noticed, self.restored, self.share, done)
        asm.place(copied)

    def _restore(self, loss: NodeLossSpec) -> None:
        """One server's part in copying what the dead one had: a chunk after the other, each to another server."""
        asm, job = self.asm, self.job
        chunk, aim, last, idle = asm.label(), asm.label(), asm.label(), asm.label()
        mib = CHUNK_KIB / 1024
        asm.emit("sleep_until", self.noticed, self.zero)
        asm.place(chunk)
        asm.emit("claim", self.chunk, self.begun, self.zero, self.chunks, idle)
        asm.emit("take", self.seen, self.due, self.server, from_s(mib / loss.restore_mib_per_s))
        asm.emit("sleep_until", self.due, self.server)
        asm.place(aim)
        asm.emit("other", self.copy, job.servers, self.server, self.keys)
        asm.emit("if_between", self.down, self.never, self.copy, aim)
        burst_us = loss.restore_us_per_mib * mib / self.speeds.server_speed
        self._burst(self.server_cores, self.speeds.server_cores, self.server, burst_us)
        self._send(self.server_network, self.server, CHUNK_KIB)
        self._burst(self.server_cores, self.speeds.server_cores, self.copy, burst_us)
        asm.emit("claim", self.chunk, self.done, self.zero, self.chunks_but_one, last)
        asm.emit("jump", chunk)
        asm.place(last)
        asm.emit("note", self.restored, self.zero)
        asm.place(idle)
        asm.emit("sleep_until", self.never, self.zero)
        asm.emit("end")

    def _serve(self, server: int, path_us: float, lost: Label) -> None:
        """A server carries a message out, unless it is dead before or after."""
        if self.job.loss:
            self.asm.emit("if_between", self.down, self.never, server, lost)
        self._pass(self.server_gate, server)
        self._burst(self.server_cores, self.speeds.server_cores, server, path_us / self.speeds.server_speed)
        if self.job.loss:
            self.asm.emit("if_between", self.down, self.never, server, lost)

    def _burst(self, first: int, cores: int, node: int, mean_us: float) -> None:
        """CPU time on one of a machine's cores."""
        asm = self.asm
        asm.emit("uniform", self.core, cores, 0, self.cores)
        asm.emit("combine", self.core, node, cores, self.core)
        asm.emit("visit_one", first, self.core, asm.distribution("exponential", round(mean_us * NS_PER_US)), self.times)

    def _send(self, network: int, node: int, size_kib: float) -> None:
        """A message leaves a machine, crosses the backplane, and arrives."""
        asm, job, bits = self.asm, self.job, size_kib * KIB * 8
        own_ns = round(bits / (job.node_gbit_per_s * GBIT) * 1e9)
        asm.emit("visit_one", network, node, asm.distribution("constant", own_ns), self.times)
        if job.backplane_gbit_per_s is not None:
            shared_ns = round(bits / (job.backplane_gbit_per_s * GBIT) * 1e9)
            asm.emit("visit", asm.station("backplane"), asm.distribution("constant", shared_ns), self.times)
        if self.half_ns:
            asm.emit("network", self.half_ns)

    def _pass(self, gate: tuple[int, int, int] | None, group: int) -> None:
        if gate is not None:
            self.asm.emit("gate", gate[0], gate[1], group, gate[2], self.pauses)
