"""Bulk load: one thread inserts rows, and their pages are written in the background, in order, on all disks."""

from models.build import memory_plan
from models.jobs.disks import turn_s
from models.jobs.processors import US
from models.jobs.result import JobResult
from models.machine import RotatingDiskSpec, speed_of
from models.scenario import ScenarioSpec
from models.workloads.tpcc import loaded_pages, loaded_rows
from simulator.form import KIB, MIB


def load(scenario: ScenarioSpec) -> JobResult:
    """Seconds from the first row to the last; what is dirty then is written afterwards.

    The thread makes pages evenly. They gather until the pool's high mark, then the disks write; the thread waits when
    pool and page cache may hold no more dirty ones. `database.path.load_row_us` must be there.
    """
    database, system = scenario.database, scenario.operating_system
    workload, speed = scenario.workload, speed_of(scenario.machine)
    pages = loaded_pages(workload.layout, workload.warehouses)
    # write-back merges neighbours, direct I/O writes page by page
    merged = system.page_cache.merged_write_kib / database.page_kib
    request_pages = max(merged, 1.0) if database.io == "buffered" else 1.0
    assert database.path.load_row_us is not None
    rows_s = loaded_rows(workload.warehouses) * database.path.load_row_us * US / speed
    calls_s = pages * (system.cpu.write_us + system.cpu.disk_request_us / request_pages) * US / speed
    thread_s = rows_s + calls_s

    plan = memory_plan(scenario)
    in_pool = database.writer.dirty_high_fraction * plan.resident_buffers
    in_cache = system.page_cache.dirty_limit_fraction * plan.page_cache_pages if database.io == "buffered" else 0.0
    behind = max(pages - in_pool - in_cache, 0.0)
    gathering_s = in_pool / pages * thread_s
    writing_s = gathering_s + behind / _pages_written_per_s(scenario, request_pages) if behind else 0.0
    total_s = max(thread_s, writing_s)
    return JobResult(
        kind="load",
        figure="seconds of the load",
        value=total_s,
        unit="s",
        cpu_cores_busy=thread_s / total_s,
        seconds=total_s,
        limited_by="disks: writing the pages" if writing_s > thread_s else "processor: one thread inserts all rows",
        parts_of="the load",
        parts_s={"inserting rows": rows_s, "system calls": calls_s, "waiting for writes": total_s - thread_s},
        also={"warehouses per minute": 60.0 * workload.warehouses / total_s},
    )


def _pages_written_per_s(scenario: ScenarioSpec, request_pages: float) -> float:
    """Pages that all disks write in order, by request: overhead and transfer, or flash's latency or limits."""
    disks, request_bytes = scenario.machine.disks, request_pages * scenario.database.page_kib * KIB
    if isinstance(disks.disk, RotatingDiskSpec):
        request_s = disks.disk.overhead_ms * 1e-3 + request_bytes / (disks.disk.transfer_mib_per_s * MIB)
    else:
        turn = turn_s(scenario.machine, request_bytes)
        request_s = max(disks.disk.write_latency_us * US / disks.disk.parallel_requests, turn)
    return disks.count * request_pages / request_s
