"""Candidates: every machine that shapes and parts of the catalogue make, put together from few distinct parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from models.build import memory_plan
from models.catalogue import Per
from models.machine import CpuSpec, DiskArraySpec, DiskSpec, MachineSpec, RateLimitSpec
from models.scenario import ScenarioSpec
from scenarios.questions.plan.question import PlanQuestion
from simulator.form import GIB, KIB


@dataclass(frozen=True)
class BillItem:
    """So many pieces of a part, each of so many units of what its price is for."""

    part: str
    per: Per
    pieces: int
    units: float = 1.0


@dataclass(frozen=True)
class CandidateProcessors:
    """What a candidate computes with."""

    cpu: CpuSpec
    hardware_share_lost: float = 0.0


@dataclass(frozen=True)
class CandidateMemory:
    """Memory, and how much of it the buffer pool gets."""

    gib: float
    buffers: int
    pool_share: float


@dataclass(frozen=True)
class CandidateStorage:
    """Where data and log lie. `limits`: of all of a machine's volumes together. `fault`: why there is no such thing."""

    disks: DiskArraySpec
    log_disk: DiskSpec | None = None
    limits: tuple[RateLimitSpec, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    """One machine: numbers of its parts in the stock, and what is to be paid. `notes`: what to know before buying."""

    name: str
    processors: int
    memory: int
    storage: int
    items: tuple[BillItem, ...]
    notes: tuple[str, ...] = ()


@dataclass
class Stock:
    """All candidates and the parts that they are made of."""

    question: PlanQuestion
    processors: list[CandidateProcessors] = field(default_factory=list)
    memory: list[CandidateMemory] = field(default_factory=list)
    storage: list[CandidateStorage] = field(default_factory=list)
    candidates: list[PlanCandidate] = field(default_factory=list)

    def new_processors(self, processors: CandidateProcessors) -> int:
        """Its number."""
        self.processors.append(processors)
        return len(self.processors) - 1

    def new_memory(self, gib: float) -> list[int]:
        """The numbers of one for each share that the buffer pool may have."""
        begin = len(self.memory)
        self.memory += [self._memory(gib, share) for share in self.question.shares]
        return list(range(begin, len(self.memory)))

    def new_storage(self, storage: CandidateStorage) -> int:
        """Its number."""
        self.storage.append(storage)
        return len(self.storage) - 1

    def add(
        self,
        name: str,
        processors: int,
        memory: Sequence[int],
        storage: int,
        items: Sequence[BillItem],
        notes: Sequence[str] = (),
    ) -> None:
        """A machine, once for each of the numbers of its memory."""
        for number in memory:
            pool = f", pool {self.memory[number].pool_share:.0%} of memory" if len(memory) > 1 else ""
            self.candidates.append(PlanCandidate(name + pool, processors, number, storage, tuple(items), tuple(notes)))

    def scenario(self, candidate: PlanCandidate) -> ScenarioSpec:
        """The question's scenario on a candidate. Not checked."""
        return self.put_together((candidate.processors, candidate.memory, candidate.storage), candidate.name)

    def put_together(self, parts: tuple[int, int, int], name: str) -> ScenarioSpec:
        """The question's scenario on processors, memory and storage of these numbers. Not checked."""
        base = self.question.base.machine
        what, room, where = self.processors[parts[0]], self.memory[parts[1]], self.storage[parts[2]]
        machine = base.model_copy(
            update={
                "name": name,
                "cpu": what.cpu,
                "hardware_share_lost": what.hardware_share_lost,
                "memory_gib": room.gib,
                "disks": where.disks,
                "log_disk": where.log_disk,
                "price": None,
                "source": "a candidate",
                "volume_limits": where.limits,
            }
        )
        return with_machine(self.question.base, machine, room.buffers)

    def _memory(self, gib: float, share: float) -> CandidateMemory:
        """The pool that a share gives, never more than the rest of the system leaves: 0 buffers if it is nothing."""
        base = self.question.base
        plan = memory_plan(with_machine(base, base.machine.model_copy(update={"memory_gib": gib}), 1))
        floor = base.operating_system.page_cache.floor_fraction * gib * GIB if base.database.io == "buffered" else 0.0
        room = min(share * gib * GIB, plan.free_bytes - floor)
        return CandidateMemory(gib, max(int(room / (base.database.pool.memory_per_buffer_kib * KIB)), 0), share)


def with_machine(base: ScenarioSpec, machine: MachineSpec, buffers: int) -> ScenarioSpec:
    """The scenario on another machine with another pool. Not checked."""
    pool = base.database.pool.model_copy(update={"buffers": buffers})
    database = base.database.model_copy(update={"pool": pool})
    return base.model_copy(update={"machine": machine, "database": database, "name": machine.name})
