"""Serial read of fragmented tables: ordered read-ahead by a thread for each disk, and one that takes the rows in.

 index page ─> sorted runs ─┬─> a disk's thread: next place ─> read ─┬─> the scanning thread: its rows
                            └─> ...  (up to READ_AHEAD runs ahead)  ─┘

A run of neighbouring pages is one request: it is a page of the model.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from oltpsim.models.jobs.result import JobResult
from oltpsim.models.jobs.simulated import LONGEST, ONE_TRANSACTION_EACH, FinishedJob, simulate_work
from oltpsim.models.machine import RotatingDiskSpec, speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import machine_model
from oltpsim.models.workloads import ScanSpec
from oltpsim.simulator.form import KIB, MIB, NS_PER_S, NS_PER_US, UNPACED, Assembler, Program, System
from oltpsim.simulator.results import Activity

MB = 1e6
MOST_RUNS = 20_000
"""runs that are simulated, of all disks together; a longer scan goes on at their rate"""
READ_AHEAD = 4
"""runs that a disk's thread has read or is reading while the scanning thread hasn't taken them in"""
LEAST_RUNS, LEAST_PLACES = 64, 1024
"""of each disk: a rate is one of many runs, of which none is met twice"""
CELLS_PER_GAP = 64
"""of the table that ways to the next run are drawn from"""
READ = 0


@dataclass(frozen=True)
class ScanSize:
    """Pages of the tables, pages of a run, and runs by their places; `ahead`: runs that one index page names."""

    pages: int
    run_pages: float
    simulated_runs: int
    places: int
    ahead: float


def scan(scenario: ScenarioSpec, job: ScanSpec, seed: int) -> JobResult:
    """MB/s (10^6 bytes) of pages that the scanning thread gets, cold.

    An index page tells the read-ahead which pages come next; it sorts them by their places and deals them out to the
    disks' threads, each of which reads one run of neighbours after the other.
    """
    size, disks = scan_size(scenario, job), scenario.machine.disks
    model = scan_model(scenario, size)
    done = simulate_work(model, seed)
    runs = done.counters.tables[0].disk_reads
    rate_per_s = runs * size.run_pages / done.seconds
    total_s = size.pages / rate_per_s
    parts_s = _parts_of_disks(scenario, model, done)
    reading = done.spent_ns[Activity.DISK_READ] / (disks.count * done.ended_ns)
    limits = {
        "disks: one read after the other on each": reading,
        "processor: one thread takes in all rows": done.counters.sections[0].busy_ns / done.ended_ns,
        "processors": done.cores_busy / model.processors,
    }
    return JobResult(
        kind="scan",
        figure="MB read per second",
        value=rate_per_s * scenario.database.page_kib * KIB / MB,
        unit="MB/s",
        cpu_cores_busy=done.cores_busy,
        seconds=total_s,
        limited_by=max(limits, key=lambda part: limits[part]),
        parts_of="the scan, on each disk",
        parts_s={part: share * total_s for part, share in parts_s.items()},
        also={"pages per second": rate_per_s},
        basis=f"simulated, seed {seed}: {runs:,} runs of {size.run_pages:.4g} pages; the scan has "
        f"{math.ceil(size.pages / size.run_pages):,}",
    )


def scan_size(scenario: ScenarioSpec, job: ScanSpec) -> ScanSize:
    """Pages and runs of a scan; places and runs ahead are each disk's."""
    workload, disks = scenario.workload, scenario.machine.disks.count
    pages = workload.loaded_pages
    run_pages = min(job.fragment_kib / scenario.database.page_kib, max(pages / disks, 1.0))
    places = math.ceil(workload.file_pages / disks / run_pages)
    ahead = max(scenario.job_tables.index_entries_per_page / (run_pages * disks), 1.0)
    runs = min(max(math.ceil(pages / run_pages), LEAST_RUNS * disks), MOST_RUNS)
    return ScanSize(pages, run_pages, runs, max(places, LEAST_PLACES), min(ahead, places))


def scan_model(scenario: ScenarioSpec, size: ScanSize) -> System:
    """The scenario's machine with the read-ahead threads of all disks; a run is a page, and none is met twice."""
    threads = scenario.machine.disks.count
    program = _program(scenario, size)
    registers = np.zeros((READ_AHEAD * threads, len(program.registers)), dtype=np.int64)
    registers[:, program.registers.index("thread")] = np.arange(len(registers)) % threads
    model = machine_model(scenario, program, registers, LONGEST)
    buffers = len(registers) + 2
    run_bytes = round(size.run_pages * scenario.database.page_kib * KIB)
    read_ns = round(size.run_pages * model.costs.read_ns)
    return replace(
        model,
        work=ONE_TRANSACTION_EACH,
        pool=replace(model.pool, pages=buffers, resident_pages=buffers),
        daemons=(),
        page_cache=replace(model.page_cache, pages=1, dirty_limit_pages=1, paced_pages=UNPACED),
        storage=replace(model.storage, page_bytes=run_bytes),
        costs=replace(model.costs, read_ns=read_ns, miss_ns=0),
        sections=tuple(replace(section, handover_ns=0) for section in model.sections),
    )


def _program(scenario: ScenarioSpec, size: ScanSize) -> Program:
    """Each client claims runs until there is none, reads them in its thread's turn, and has their rows taken in."""
    asm, threads, path = Assembler(), scenario.machine.disks.count, scenario.database.path
    rows = scenario.job_tables.rows / size.pages
    run_us = size.run_pages * (rows * path.scanned_row_us + path.page_miss_us)
    zero, thread, claimed, way, within, place, page = map(
        asm.register, ("zero", "thread", "claimed", "way", "within", "place", "page")
    )
    draws, next_run, done = asm.stream("places"), asm.label(), asm.label()
    begun, runs = asm.counter("runs begun", 1, 0), asm.counter("runs", 1, size.simulated_runs)
    places = asm.counter("places", threads, 0)
    ways, cell_places = _ways(asm, size.places / size.ahead)
    file = asm.region("tables", 1, size.places * threads, 1)
    run = asm.reference("run", "row", file, zero, row=page)
    asm.emit("think", asm.distribution("constant", 0), draws)
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    asm.begin_class("scan")
    asm.place(next_run)
    asm.emit("claim", claimed, begun, zero, runs, done)
    asm.emit("lock", asm.lock("disk's thread", threads), thread)
    asm.emit("sample", way, ways, 0, draws)
    asm.emit("uniform", within, cell_places, 1, draws)
    asm.emit("combine", way, way, cell_places, within)
    asm.emit("peek", place, places, thread, 0)
    asm.emit("combine", place, way, 1, place)
    asm.emit("affine", place, place, 1, 0, size.places)
    asm.emit("put", places, thread, place)
    asm.emit("combine", page, place, threads, thread)
    asm.emit("touch", run, READ, 0)
    asm.emit("commit")
    asm.emit("section", asm.section("scanning thread"), round(run_us * NS_PER_US / speed_of(scenario.machine)))
    asm.emit("jump", next_run)
    asm.place(done)
    asm.emit("end")
    return asm.finish("scan")


def _ways(asm: Assembler, mean_places: float) -> tuple[int, int]:
    """Sampler of ways between sorted places at random, which are exponential, in cells; and places of a cell."""
    cell_places = max(round(mean_places / CELLS_PER_GAP), 1)
    mean_cells = max((mean_places - (cell_places + 1) / 2) / cell_places, 0.0)
    farther = mean_cells / (1.0 + mean_cells)
    cells = math.ceil(12 * (1.0 + mean_cells))
    return asm.table("ways", farther ** np.arange(cells)), cell_places


def _parts_of_disks(scenario: ScenarioSpec, model: System, done: FinishedJob) -> dict[str, float]:
    """Shares of the time of a disk and of its thread on average."""
    storage, disk = model.storage, scenario.machine.disks.disk
    numbers = [number for device in range(storage.data_devices) for number in storage.disks_of(device)]
    counters = [done.counters.devices[number] for number in numbers]
    time_ns = len(numbers) * done.ended_ns
    served = sum(each.service_ns for each in counters) / time_ns
    calls_ns = done.counters.tables[0].disk_reads * (model.costs.read_ns + model.costs.request_ns)
    parts = {"transfer": served}
    if isinstance(disk, RotatingDiskSpec):
        size_bytes = done.counters.tables[0].disk_reads * storage.page_bytes
        transfer = size_bytes / (disk.transfer_mib_per_s * MIB) * NS_PER_S / time_ns
        overhead = sum(each.reads for each in counters) * disk.overhead_ms * 1e-3 * NS_PER_S / time_ns
        parts = {"seek and rotation": served - transfer - overhead, "overhead": overhead, "transfer": transfer}
    calls = min(calls_ns / time_ns, 1.0 - served)
    waits = min(max(done.spent_ns[Activity.DISK_READ] / time_ns - served, 0.0), 1.0 - served - calls)
    left = 1.0 - served - calls - waits
    return parts | {"system calls": calls, "queue and limits": waits, "waiting for the scanning thread": left}
