"""Systems beyond the data that the model error was fitted to, in one sentence.

The fit's random systems have no part of the list below, or too few to say how far the formulas are off with it.
"""

from collections.abc import Iterator

from oltpsim.simulator.analytic.answer.figures import Case
from oltpsim.simulator.analytic.answer.model_error import error_model, sizes_of
from oltpsim.simulator.analytic.equations import counted_s
from oltpsim.simulator.analytic.reading import disk_of, places_of
from oltpsim.simulator.form import CODES, NS_PER_MS, CachingDevice, System

CONFIRM = "Confirm with --engine kernel"
READS_TO_MERGE = 0.01
"""reads per transaction below which the pool has all leaves, and a change buffer nothing to keep"""
LOADED_WINDOWS = 0.1
"""share of the counted interval"""


def doubts(case: Case) -> list[str]:
    """One sentence that names all parts beyond the data; no sentence without any."""
    parts = [*_unfitted_parts(case), *_unfitted_sizes(case)]
    return [f"model error not fitted to {'; '.join(parts)}. {CONFIRM}"] if parts else []


def _unfitted_sizes(case: Case) -> Iterator[str]:
    """Sizes of the machine outside the range of the fit."""
    for name, values in sizes_of(case.parameters).items():
        low, high = error_model().sizes[name]
        size = float(values[0])
        if not low <= size <= high:
            yield f"{size:,.6g} {name} (fitted: {low:,.6g} to {high:,.6g})"


def _unfitted_parts(case: Case) -> Iterator[str]:
    """Mechanisms that no system of the fit has."""
    system = case.system
    if (system.program.operations[:, 0] == CODES["put_aside"]).any() and case.solution.pool.reads[0] >= READS_TO_MERGE:
        yield "a change buffer"
    loaded = _loaded_share(case)
    if loaded > LOADED_WINDOWS:
        yield f"newest orders still on disk from the load for {100 * loaded:.0f} % of the interval"
    yield from _pool_parts(system)
    yield from _machine_parts(system)


def _loaded_share(case: Case) -> float:
    """Share of the counted interval in which some of the newest rows are those of the load, which no cache holds."""
    if case.warming is None or not len(case.system.program.loaded_windows) or not case.workload.groups.offspring > 0:
        return 0.0
    begin, end = (case.warming.done_by(time_s) for time_s in counted_s(case.system))
    return min(float((case.workload.groups.window - begin) / max(end - begin, 1.0)), 1.0)


def _pool_parts(system: System) -> Iterator[str]:
    """Mechanisms of buffer pool and page cache."""
    if system.pool.replacement == "midpoint" and not system.flushing:
        yield "database.pool.replacement: midpoint without page cleaners"
    if any(True for daemon in system.daemons for _ in daemon.operands("write_unused")):
        yield "database.writer.sweep"
    if system.writing.pushed and not system.direct_io:
        yield "database.writer.flush_after"
    if system.flushing and system.writing.synced:
        yield "page cleaners with buffered I/O"
    if system.flushing and system.writing.coalesced_pages > 1:
        yield "page cleaners that write dirty neighbours along (neighbour_pages)"
    if system.page_cache.in_file_order and not system.writes_victims:
        yield "operating_system.page_cache.in_file_order"
    if system.page_cache.pages_a_pause and not system.writes_victims:
        yield "operating_system.page_cache.locks_files"


def _machine_parts(system: System) -> Iterator[str]:
    """Mechanisms of processors, disks and volumes."""
    cpu, data = system.cpu, disk_of(system.storage.devices[0])
    if system.interrupts and system.interrupts.station >= 0:
        yield "processors set aside for interrupts"
    if cpu.allowed_servers < system.processors:
        yield f"a CPU quota of {cpu.quota_ns / NS_PER_MS:g} ms in each {cpu.quota_period_ns / NS_PER_MS:g}"
    if any(limit.direction != "both" for limits in places_of(system) for limit in limits):
        yield "limits for reads or writes alone"
    if isinstance(data, CachingDevice) and data.by_controller:
        yield "a controller's write cache"
    if system.extents:
        yield "each table on disks of its own"
    if system.fair_queueing and system.scheduled_devices:
        yield "an I/O scheduler that serves one process at a time"
    if system.controllers:
        yield "disks that share controllers"
