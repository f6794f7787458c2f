"""Candidates: every machine that shapes and parts of the catalogue make, put together from few distinct parts.

Shapes become candidates by every choice of parts that a chassis has room for, and by every volume.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from oltpsim.models.catalogue import ChassisSpec, InstanceSpec, PriceUnit, VolumeSpec, catalogue_entry
from oltpsim.models.machine import CpuSpec, DiskArraySpec, DiskSpec, MachineSpec, RateLimitSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import LOG_AREA_BYTES, most_buffers
from oltpsim.scenarios.questions.plan.question import PlanQuestion
from oltpsim.simulator.form import GIB, KIB

PartNumbers = tuple[int, int, int]
"""numbers of a stock's processors, memory and storage"""


@dataclass(frozen=True)
class BillItem:
    """Item of a bill: pieces of a part, each of so many units of what its price is for."""

    part: str
    per: PriceUnit
    pieces: int
    units: float = 1.0


@dataclass(frozen=True)
class CandidateProcessors:
    """Processors of a candidate."""

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
    """Storage of data and log. `limits`: of all of a machine's volumes together. `fault`: why it can't be had."""

    disks: DiskArraySpec
    log_disk: DiskSpec | None = None
    limits: tuple[RateLimitSpec, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    """Candidate machine: numbers of its parts in the stock, and its bill's items. `notes`: what a buyer must know."""

    name: str
    parts: PartNumbers
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
        """Add processors; returns their number."""
        self.processors.append(processors)
        return len(self.processors) - 1

    def new_memory(self, gib: float) -> list[int]:
        """Add memory, once for each share of it that the buffer pool may have; returns the numbers."""
        begin = len(self.memory)
        self.memory += [self._memory(gib, share) for share in self.question.shares]
        return list(range(begin, len(self.memory)))

    def new_storage(self, storage: CandidateStorage) -> int:
        """Add storage; returns its number."""
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
            self.candidates.append(
                PlanCandidate(name + pool, (processors, number, storage), tuple(items), tuple(notes))
            )

    def scenario(self, candidate: PlanCandidate) -> ScenarioSpec:
        """The question's scenario on a candidate. Not checked."""
        return self.put_together(candidate.parts, candidate.name)

    def put_together(self, parts: Sequence[int], name: str) -> ScenarioSpec:
        """The question's scenario on processors, memory and storage of these numbers. Not checked."""
        base = self.question.base.machine
        processors, memory, storage = self.processors[parts[0]], self.memory[parts[1]], self.storage[parts[2]]
        machine = base.model_copy(
            update={
                "name": name,
                "cpu": processors.cpu,
                "hardware_share_lost": processors.hardware_share_lost,
                "memory_gib": memory.gib,
                "disks": storage.disks,
                "log_disk": storage.log_disk,
                "price": None,
                "source": "a candidate",
                "volume_limits": storage.limits,
            }
        )
        return with_machine(self.question.base, machine, memory.buffers)

    def _memory(self, gib: float, share: float) -> CandidateMemory:
        """The pool that a share gives, never more than the rest of the system leaves: 0 buffers if it is nothing."""
        base = self.question.base
        most = most_buffers(with_machine(base, base.machine.model_copy(update={"memory_gib": gib}), 1))
        wanted = int(share * gib * GIB / (base.database.pool.memory_per_buffer_kib * KIB))
        return CandidateMemory(gib, min(wanted, most), share)


def with_machine(base: ScenarioSpec, machine: MachineSpec, buffers: int) -> ScenarioSpec:
    """The scenario on another machine with another pool. Not checked."""
    pool = base.database.pool.model_copy(update={"buffers": buffers})
    database = base.database.model_copy(update={"pool": pool})
    return base.model_copy(update={"machine": machine, "database": database, "name": machine.name})


VOLUMES = (1, 2, 4)
"""network volumes that data is striped over"""
BOUGHT = (1.0, 2.0, 4.0, 8.0)
"""requests per second that are bought, in multiples of those that a volume has without"""
LARGER = (1.0, 2.0, 4.0)
"""sizes of volumes that grow faster with their size, in multiples of what data needs"""
LOG_GIB = 64.0
"""assumption: size of a volume for the log alone"""
DISK = TypeAdapter[DiskSpec](DiskSpec)
GOES_AWAY = "its local disks lose their data when the instance stops: keep a standby or backups elsewhere"


def add_chassis(stock: Stock, name: str, chassis: ChassisSpec) -> None:
    """Every machine that the parts of a chassis make."""
    box = BillItem(f"chassis/{name}", "piece", 1)
    processors = []
    for sockets in chassis.processors:
        for count in sockets.pieces:
            entry = catalogue_entry("cpus", sockets.cpu) | {"cores": sockets.cores_each * count}
            number = stock.new_processors(CandidateProcessors(CpuSpec.model_validate(entry)))
            words = f"{name}: {count} x {sockets.cpu}"
            processors.append((number, BillItem(f"cpus/{sockets.cpu}", "piece", count), words))
    memory = [
        (
            stock.new_memory(choice.gib_each * count),
            BillItem(f"memory/{choice.module}", "piece", count),
            f"{choice.gib_each * count:g} GiB",
        )
        for choice in chassis.memory
        for count in choice.pieces
    ]
    storage = []
    for disks in chassis.disks:
        for count, log in itertools.product(disks.pieces, [None, *chassis.log_disks]):
            array, log_disk = DiskArraySpec(disk=_disk(disks.disk), count=count), None if log is None else _disk(log)
            items = [BillItem(f"disks/{disks.disk}", "piece", count)]
            words = f"{count} x {disks.disk}"
            if disks.controller is not None:
                items.append(BillItem(f"controllers/{disks.controller}", "piece", 1))
            if log is not None:
                items.append(BillItem(f"disks/{log}", "piece", 1))
                words += f", log on {log}"
            storage.append((stock.new_storage(CandidateStorage(array, log_disk)), items, words))
    for (a, cpu, cpus), (b, module, gib), (c, disk, where) in itertools.product(processors, memory, storage):
        stock.add(f"{cpus}, {gib}, {where}", a, b, c, [box, cpu, module, *disk])


def add_instance(stock: Stock, name: str, instance: InstanceSpec, volumes: dict[str, VolumeSpec]) -> None:
    """A cloud machine with the disks that come with it, and with each kind of volume of its provider."""
    processors = stock.new_processors(CandidateProcessors(instance.cpu, instance.hardware_share_lost))
    memory = stock.new_memory(instance.memory_gib)
    rent = BillItem(f"instances/{name}", "hour", 1)
    if instance.local_disks is not None:
        storage = stock.new_storage(CandidateStorage(instance.local_disks))
        stock.add(f"{name}, local disks", processors, memory, storage, [rent], [GOES_AWAY])
    limits = tuple(RateLimitSpec.model_validate(each) for each in instance.volume_limits())
    for volume_name, volume in volumes.items():
        if volume.provider != instance.provider:
            continue
        for words, where, items in _volumes(stock, volume_name, volume):
            number = stock.new_storage(replace(where, limits=limits))
            stock.add(f"{name}, {words}", processors, memory, number, [rent, *items])


def add_machine(stock: Stock, name: str, machine: MachineSpec) -> None:
    """A machine of the catalogue as it is."""
    processors = stock.new_processors(CandidateProcessors(machine.cpu, machine.hardware_share_lost))
    storage = stock.new_storage(CandidateStorage(machine.disks, machine.log_disk))
    item = BillItem(f"machines/{name}", "piece", 1)
    stock.add(name, processors, stock.new_memory(machine.memory_gib), storage, [item])


def _volumes(stock: Stock, name: str, volume: VolumeSpec) -> Iterator[tuple[str, CandidateStorage, list[BillItem]]]:
    """Volumes that hold the data: numbers of them, sizes, and what more of them can be bought."""
    needed = stock.question.room_gib
    for count in VOLUMES:
        each_gib = needed / count + LOG_AREA_BYTES / GIB + 1.0
        least = max(each_gib, volume.least_gib)
        by_size = volume.requests_per_s_per_gib > 0 and volume.bought_requests_per_s_per_gib is None
        for size in sorted({min(math.ceil(least * each), volume.most_gib) for each in (LARGER if by_size else (1.0,))}):
            for wanted in _levels(volume, size):
                disk = _volume(volume, size, wanted)
                log = _volume(volume, max(LOG_GIB, volume.least_gib), None)
                fault = ""
                if each_gib > volume.most_gib:
                    most = f"{volume.most_gib:,.0f} GiB"
                    fault = f"{each_gib:,.0f} GiB a volume with room to spare; one of {name} has at most {most}"
                array = DiskArraySpec(disk=disk, count=count)
                items = [BillItem(f"volumes/{name}", "gib_month", count, size)]
                if wanted is not None:
                    items.append(BillItem(f"volumes/{name}", "request_per_s_month", count, wanted))
                bought = "" if wanted is None else f" with {wanted:,.0f} requests/s"
                words = f"{count} x {name} of {size:,.0f} GiB{bought}"
                yield words, CandidateStorage(array, None, (), fault), items
                own = [*items, BillItem(f"volumes/{name}", "gib_month", 1, max(LOG_GIB, volume.least_gib))]
                if volume.requests_per_s + volume.least_requests_per_s > 0:
                    yield f"{words}, log on its own", CandidateStorage(array, log, (), fault), own


def _levels(volume: VolumeSpec, size_gib: float) -> Sequence[float | None]:
    """Requests per second that may be bought for a volume; None where nothing is."""
    if volume.bought_requests_per_s_per_gib is None:
        return [None]
    first, most = volume.requests_for_sale(size_gib)
    return sorted({min(first * each, most) for each in (*BOUGHT, math.inf)})


def _volume(volume: VolumeSpec, size_gib: float, requests_per_s: float | None) -> DiskSpec:
    return DISK.validate_python(volume.disk(size_gib, requests_per_s))


def _disk(name: str) -> DiskSpec:
    return DISK.validate_python(catalogue_entry("disks", name))
