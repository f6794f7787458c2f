"""Bulk load: one thread inserts rows, and their pages are written in the background, as the machine's parts do it.

Page after page in load order is new in the buffer pool and dirty there. Background writer, victims, checkpoints and
write-back bring it to the devices; the thread waits where it finds no clean buffer, or too much dirt in the page cache.
"""

from dataclasses import replace

import numpy as np

from oltpsim.models.jobs.result import JobResult
from oltpsim.models.jobs.simulated import LONGEST, ONE_TRANSACTION_EACH, simulate_work
from oltpsim.models.machine import speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import folded, machine_model
from oltpsim.models.workloads import UnitSample
from oltpsim.simulator.form import NS_PER_S, NS_PER_US, Assembler, Program, System
from oltpsim.simulator.results import Activity

MOST_PAGES = 100_000
"""pages that are simulated; a larger load is folded (models/wiring/sampling.py) to whole units of about so many"""
WRITE = 1


def load(scenario: ScenarioSpec, seed: int) -> JobResult:
    """Seconds from the first row to the last; what is dirty then is written afterwards.

    `database.path.load_row_us` must be there.
    """
    units, unit_words = scenario.workload.loaded, scenario.workload.unit_words
    sample = load_sample(scenario)
    model = load_model(scenario, sample)
    done = simulate_work(model, seed)
    times = {activity: spent_ns / NS_PER_S / sample.share for activity, spent_ns in done.spent_ns.items()}
    total_s, pages = done.seconds / sample.share, int(model.program.load_order[:, 3].sum())
    rows_s = pages * _page_ns(scenario, sample, pages) / NS_PER_S / sample.share
    waits = (Activity.WRITE_THROTTLE, Activity.PAGE_WAIT, Activity.DISK_READ)
    for_writes_s, for_swap_s = sum(times[each] for each in waits), times[Activity.SWAP]
    limits = {
        "processor: one thread inserts all rows": total_s - for_writes_s - for_swap_s,
        "disks: writing the pages": for_writes_s,
        "memory: buffers that are swapped out": for_swap_s,
    }
    basis = f"simulated, seed {seed}: {pages:,} pages"
    if sample.share < 1.0:
        held = f"{sample.units:,} of {units:,} {unit_words} with that share of memory and intervals"
        basis = f"{basis}, those of {held}; times {1 / sample.share:.4g}"
    return JobResult(
        kind="load",
        figure="seconds of the load",
        value=total_s,
        unit="s",
        cpu_cores_busy=done.cores_busy,
        seconds=total_s,
        limited_by=max(limits, key=lambda part: limits[part]),
        parts_of="the load",
        parts_s={
            "inserting rows": min(rows_s, times[Activity.CPU]),
            "system calls and buffers": max(times[Activity.CPU] - rows_s, 0.0),
            "waiting for a processor": times[Activity.CPU_QUEUE],
            "waiting for writes": for_writes_s,
            "waiting for swapped memory": for_swap_s,
        },
        also={f"{unit_words} per minute": 60.0 * units / total_s},
        basis=basis,
    )


def load_sample(scenario: ScenarioSpec) -> UnitSample:
    """Units that are simulated and stand for all."""
    units = scenario.workload.loaded
    most = MOST_PAGES * units // scenario.workload.loaded_pages
    return UnitSample(min(max(most, 1), units), units)


def load_model(scenario: ScenarioSpec, sample: UnitSample) -> System:
    """The scenario's machine with one client that inserts all rows."""
    program = _program(scenario, sample)
    registers = np.zeros((1, len(program.registers)), dtype=np.int64)
    model = machine_model(_as_pressed(scenario), program, registers, LONGEST)
    in_key_order = program.regions.copy()
    in_key_order[:, 4] = -1  # nobody looks into an index page on the way to the next new page
    program = replace(program, regions=in_key_order)
    return folded(replace(model, program=program, work=ONE_TRANSACTION_EACH), sample)


def _as_pressed(scenario: ScenarioSpec) -> ScenarioSpec:
    """With the memory that a load's files ask for: it reads none, and free-behind takes those it has written first."""
    system = scenario.operating_system
    if not system.page_cache.free_behind:
        return scenario
    no_floor = system.page_cache.model_copy(update={"floor_fraction": 0.0})
    return scenario.model_copy(update={"operating_system": system.model_copy(update={"page_cache": no_floor})})


def _page_ns(scenario: ScenarioSpec, sample: UnitSample, pages: int) -> int:
    """User time of the rows of one page, spread evenly over all pages; what a new buffer takes is a part of it."""
    path, rows = scenario.database.path, scenario.job_tables.rows * sample.share
    assert path.load_row_us is not None
    return round(rows / pages * path.load_row_us * NS_PER_US / speed_of(scenario.machine))


def _program(scenario: ScenarioSpec, sample: UnitSample) -> Program:
    """One transaction: every page of every table in load order, each handed over to the background writer at once."""
    asm = Assembler()
    tables = scenario.job_tables.lay_out(asm, sample)
    pages = sum(table.groups * table.pages for table in tables)
    new_buffer_ns = round(scenario.database.path.page_miss_us * NS_PER_US / speed_of(scenario.machine))
    page_ns = max(_page_ns(scenario, sample, pages) - new_buffer_ns, 0)
    group, groups_left, row, pages_left = map(asm.register, ("group", "groups left", "row", "pages left"))
    asm.emit("think", asm.distribution("constant", 0), asm.stream("none"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("none"))
    asm.begin_class("load")
    for table in tables:
        insert = asm.reference("insert", "append", table.region, group, row=row, appended_pages=0)
        next_group, next_page = asm.label(), asm.label()
        asm.emit("set", group, 0)
        asm.emit("set", groups_left, table.groups)
        asm.place(next_group)
        asm.emit("set", row, 0)
        asm.emit("set", pages_left, table.pages)
        asm.place(next_page)
        asm.emit("touch", insert, WRITE, page_ns)
        asm.emit("commit")
        asm.emit("affine", row, row, 1, table.rows_per_page, 0)
        asm.emit("loop", pages_left, next_page)
        asm.emit("affine", group, group, 1, 1, 0)
        asm.emit("loop", groups_left, next_group)
    asm.emit("end")
    return asm.finish("load")
