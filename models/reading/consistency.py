"""Consistency of a scenario: whether its parts fit together, which no single key can say."""

from collections.abc import Iterator

from oltpsim.models.database import OLD_BLOCKS_TIME_MS, DatabaseSpec
from oltpsim.models.jobs import job_faults
from oltpsim.models.machine import FlashDiskSpec, RotatingDiskSpec, SsdSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import (
    LOG_AREA_BYTES,
    by_table,
    cluster_faults,
    memory_plan,
    most_pages,
    sampling_faults,
    start_faults,
)
from oltpsim.models.workloads import ClosedClientsSpec, pages_of
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.form import GIB, KIB

PAGE_SIZES_KIB = (2, 4, 8, 16, 32, 64)
MOST_THINK_TIME_S = 3600
SPARE_BUFFERS = 10


def check_consistency(scenario: ScenarioSpec, where: str) -> None:
    """Raises InputError with a line for each contradiction, or Infeasible if the machine can't run the workload."""
    wrong = [f"{where}: {line}" for part in PARTS for line in part(scenario)]
    if wrong:
        raise InputError("\n".join(wrong))
    impossible = [f"{where}: {line}" for part in (_memory, room_faults) for line in part(scenario)]
    if impossible:
        raise Infeasible("\n".join(impossible))


def _workload(scenario: ScenarioSpec) -> Iterator[str]:
    workload = scenario.workload
    yield from workload.faults()
    arrivals = workload.arrivals
    if isinstance(arrivals, ClosedClientsSpec) and arrivals.think_time_s > MOST_THINK_TIME_S:
        hours = arrivals.think_time_s / 3600
        hint = "more than 1 h looks like a wrong unit (a bare number is seconds)"
        yield f"workload.arrivals.think_time_s: got {hours:.3g} h; {hint}"
    interval = scenario.interval
    if interval.duration_s is not None and interval.duration_s < 1:
        yield f"interval.duration_s: got {interval.duration_s:g} s; at least 1 s"
    if interval.new_orders_per_client is not None and not isinstance(arrivals, ClosedClientsSpec):
        yield (
            f"interval.new_orders_per_client: transactions arrive by themselves here (workload.arrivals.kind: "
            f"{arrivals.kind}), so that no client has work of its own; give duration_s, or closed clients"
        )
    if interval.new_orders_per_client is not None and (
        workload.measured_key != "new_orders_per_minute" or workload.main_share <= 0
    ):
        yield "interval.new_orders_per_client: the mix has no new orders; give duration_s"


def _interrupts(scenario: ScenarioSpec) -> Iterator[str]:
    interrupts, cpu = scenario.operating_system.interrupts, scenario.machine.cpu
    if interrupts is None or not interrupts.bound_processors:
        return
    key = "operating_system.interrupts.bound_processors"
    if interrupts.bound_processors >= cpu.cores:
        yield f"{key}: got {interrupts.bound_processors}; fewer than the machine's {cpu.cores} cores"
    lines, clock = scenario.database.path.shared_lines, cpu.all_core_clock_fraction
    path = scenario.database.path
    takes_turns = cpu.thread_placement == "kept" or cpu.wake_us or path.refill_fraction or path.session_fraction
    if cpu.threads_per_core > 1 or cpu.memory_bus_share > 0 or lines > 0 or clock < 1 or takes_turns:
        causes = (
            "threads_per_core, memory_bus_share, all_core_clock_fraction, shared_lines, thread_placement: kept, "
            "wake_us, refill_fraction, session_fraction"
        )
        yield f"{key}: processors that slow each other down ({causes}) can't be set aside"


def _database(scenario: ScenarioSpec) -> Iterator[str]:
    database = scenario.database
    if database.page_kib not in PAGE_SIZES_KIB:
        yield f"database.page_kib: got {database.page_kib:g}; allowed: {', '.join(map(str, PAGE_SIZES_KIB))}"
    elif scenario.workload.page_kib != database.page_kib:
        yield (
            f"{scenario.workload.page_key}: got {scenario.workload.page_kib:g}; the database's pages are of "
            f"{database.page_kib:g} KiB (database.page_kib): give {scenario.workload.page_words} with the rows that "
            "fit into one of those"
        )
    if database.pool.memory_per_buffer_kib < database.page_kib:
        per_buffer = database.pool.memory_per_buffer_kib
        yield f"database.pool.memory_per_buffer_kib: got {per_buffer:g}; at least the page of {database.page_kib:g} KiB"
    writer = database.writer
    if database.pool.old_blocks_time_ms != OLD_BLOCKS_TIME_MS and database.pool.replacement != "midpoint":
        yield (
            f"database.pool.old_blocks_time_ms: with pool.replacement: {database.pool.replacement}, which has no old "
            "part: take it out, or set pool.replacement: midpoint"
        )
    yield from _writers(database)
    if writer and writer.dirty_low_fraction > writer.dirty_high_fraction:
        low, high = writer.dirty_low_fraction, writer.dirty_high_fraction
        yield f"database.writer.dirty_low_fraction: got {low:g}; at most dirty_high_fraction, {high:g}"
    if writer and writer.sweep and database.pool.replacement != "clock":
        yield (
            f"database.writer.sweep: with pool.replacement: {database.pool.replacement}, which counts no uses down; it "
            "needs clock: take it out, or set pool.replacement: clock"
        )
    if writer and writer.coalesced_pages > 1 and database.io == "buffered":
        yield (
            f"database.writer.coalesced_pages: got {writer.coalesced_pages} with database.io: buffered, where the "
            "operating system joins neighbours (page_cache.merged_write_kib): take it out, or set io: direct"
        )
    if writer and writer.flush_after and database.io == "direct":
        yield (
            "database.writer.flush_after: with database.io: direct, which has no page cache to push pages from: take "
            "it out, or set io: buffered"
        )
    least = scenario.workload.clients + SPARE_BUFFERS
    if database.held_buffers < least:
        free_pages = database.pool.buffers - database.held_buffers
        reason = f"every client may hold one, and {SPARE_BUFFERS} to spare"
        reason += f"; {free_pages} are free (page_cleaner.lru_scan_depth_pages)" if free_pages else ""
        yield f"database.pool.buffers: got {database.pool.buffers}; at least {least} with pages: {reason}"


def _writers(database: DatabaseSpec) -> Iterator[str]:
    """Who writes dirty buffers: writer and checkpoint, or page cleaners, which need a list of use."""
    cleaner = database.page_cleaner
    if cleaner is None:
        for key in ("writer", "checkpoint"):
            if getattr(database, key) is None:
                yield f"database.{key}: missing; give it, or a page_cleaner in the place of writer and checkpoint"
        return
    if database.writer or database.checkpoint:
        yield "database.page_cleaner: together with writer or checkpoint, whose place it takes; set those to null"
    if database.pool.replacement == "clock":
        yield f"database.page_cleaner: got pool.replacement: {database.pool.replacement}; it needs lru or midpoint"
    if not cleaner.async_fraction <= cleaner.sync_fraction <= cleaner.wait_fraction:
        yield "database.page_cleaner: async_fraction, sync_fraction and wait_fraction must not fall, in this order"


def _raid(scenario: ScenarioSpec) -> Iterator[str]:
    disks, page_kib = scenario.machine.disks, scenario.database.page_kib
    layout = disks.layout
    if layout is None:
        if disks.sets > 1:
            yield f"machine.disks.sets: got {disks.sets}; independent disks make none: give a level, as raid0"
        return
    name, disks_of_set = disks.level_name, disks.count // disks.sets
    got = f"machine.disks.count: got {disks.count}" + (f" for {disks.sets} sets" if disks.sets > 1 else "")
    if disks.count % disks.sets:
        yield f"machine.disks.sets: got {disks.sets}; {disks.count} disks (machine.disks.count) don't make so many"
    elif disks_of_set < layout.least_disks:
        yield f"{got}; {name} takes at least {layout.least_disks} disks"
    elif disks_of_set % layout.copies:
        yield f"{got}; {name} takes pairs of disks: an even number"
    if disks.stripe_kib % page_kib:
        yield (
            f"machine.disks.stripe_kib: got {disks.stripe_kib:g}; must be a multiple of the database's page, "
            f"{page_kib:g} KiB (database.page_kib)"
        )


def _disks(scenario: ScenarioSpec) -> Iterator[str]:
    """Seek times of disks with an arm, and limits, which those don't have."""
    machine = scenario.machine
    data, log = machine.disks.disk, machine.log_disk
    if machine.volume_limits and isinstance(data, SsdSpec) and isinstance(log, SsdSpec | None):
        yield (
            f"machine.volume_limits: {data.name} is no volume, and limits hold for disks of kind flash alone: take "
            "them out, or give such a disk"
        )
    for key, disk in (("disks.disk", data), ("log_disk", log)):
        if not isinstance(disk, RotatingDiskSpec):
            continue
        track, average, full = disk.seek_track_to_track_ms, disk.seek_average_ms, disk.seek_full_stroke_ms
        if not track <= average <= full:
            yield (
                f"machine.{key}.seek_average_ms: got {average:g}; must lie between "
                f"track to track, {track:g}, and full stroke, {full:g}"
            )
        if machine.volume_limits:
            yield (
                f"machine.volume_limits: machine.{key} has an arm ({disk.name}), and limits hold for volumes of kind "
                "flash alone: take them out, or give a flash disk"
            )


def _controllers(scenario: ScenarioSpec) -> Iterator[str]:
    machine, disks = scenario.machine, scenario.machine.disks
    if disks.controller_cache is not None:
        if disks.layout is None:
            yield "machine.disks.controller_cache: got independent disks; a RAID set has one: give a level, as raid0"
        if not isinstance(disks.disk, RotatingDiskSpec):
            yield f"machine.disks.controller_cache: {disks.disk.name} has no arm, which alone it is modelled for"
        elif disks.disk.write_cache_mib:
            yield (
                f"machine.disks.disk.write_cache_mib: got {disks.disk.write_cache_mib:g} behind a controller's cache, "
                "which turns those of its drives off; set it to 0"
            )
    if bool(disks.controllers) != bool(disks.controller_limits):
        have, need = ("controllers", "controller_limits")[:: 1 if disks.controllers else -1]
        yield f"machine.disks.{have}: given without {need}, and so without effect; give both, or neither"
    elif disks.controllers and not isinstance(disks.disk, FlashDiskSpec):
        what = "has an arm" if isinstance(disks.disk, RotatingDiskSpec) else "is an SSD by its data sheet"
        yield f"machine.disks.controller_limits: {disks.disk.name} {what}, and limits hold for kind flash alone"
    elif disks.controllers and machine.volume_limits:
        yield "machine.disks.controllers: together with machine.volume_limits; give the one or the other"
    if disks.controllers and disks.files % disks.controllers:
        what = "sets (machine.disks.sets)" if disks.layout else "disks (machine.disks.count)"
        yield f"machine.disks.controllers: got {disks.controllers}; {disks.files} {what} can't be dealt to them evenly"
    if machine.log_disks > 1 and machine.log_disk is None:
        yield f"machine.log_disks: got {machine.log_disks} without a log_disk, which says what kind of disks they are"


def _measured(scenario: ScenarioSpec) -> Iterator[str]:
    wanted, measured = scenario.measured_key, scenario.measured
    which = {"new_orders_per_minute": "without a job", "job_figure": "with a job", "transactions_per_s": "of rows"}
    if measured and getattr(measured, wanted) is None and not measured.figures:
        yield f"measured.{wanted}: missing; add '{wanted}: ...', which a scenario {which[wanted]} is measured by"
    for other in sorted(which.keys() - {wanted}):
        if measured and getattr(measured, other) is not None:
            yield f"measured.{other}: a scenario {which[wanted]} is measured by {wanted}; take this one out"


def _memory(scenario: ScenarioSpec) -> Iterator[str]:
    plan = memory_plan(scenario)
    per_buffer = scenario.database.pool.memory_per_buffer_kib * KIB
    least = min(scenario.workload.clients + SPARE_BUFFERS, scenario.database.pool.buffers)
    if plan.resident_buffers < least:
        missing = scenario.machine.memory_gib - plan.free_bytes / GIB
        total = scenario.machine.memory_gib
        yield (
            f"machine.memory_gib: {total:g} GiB; system, server, connections and clients alone take {missing:.3g} GiB, "
            f"so that fewer buffers than {least} have memory: give more, or a smaller page_cache.floor_fraction"
        )
    elif plan.pool_bytes > plan.free_bytes + plan.swap_bytes:
        most = int((plan.free_bytes + plan.swap_bytes) / per_buffer)
        yield (
            f"database.pool.buffers: {scenario.database.pool.buffers} buffers of {per_buffer / KIB:g} KiB take "
            f"{plan.pool_bytes / GIB:.3g} GiB; {plan.free_bytes / GIB:.3g} of {scenario.machine.memory_gib:g} GiB are "
            f"free and swap has {plan.swap_bytes / GIB:.3g}: at most {most} buffers"
        )


def room_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """Why the data has no room: `key: what is wrong`.

    The database's equal files begin behind swap and log on every device (models/wiring/system.py): each must have room.
    Flash is not asked for swap that nobody needs: there no place is nearer than another.
    """
    disks, page_bytes = scenario.machine.disks, scenario.database.page_kib * KIB
    device_gib = disks.disk.capacity_gib * disks.disks_per_file
    one = "each disk" if disks.layout is None else "the RAID set" if disks.sets == 1 else "each RAID set"
    swaps = memory_plan(scenario).resident_buffers < scenario.database.pool.buffers
    before, neighbours, take = LOG_AREA_BYTES + 0.0, "the log", "takes"
    if swaps or isinstance(disks.disk, RotatingDiskSpec):
        before += scenario.machine.memory_gib * GIB
        neighbours, take = "log and swap, as large as memory,", "take"
    free_bytes = device_gib * GIB - before
    workload = scenario.workload
    pages = workload.file_pages
    on_one = pages_of(pages, disks.files)
    if scenario.database.file_layout == "by_table":
        on_one = most_pages(by_table(workload.regions, disks.files, round(page_bytes)), round(page_bytes))
    if free_bytes <= 0:
        got = f"{disks.disk.capacity_gib:g} GiB"
        yield f"machine.disks.disk.capacity_gib: {got}; {neighbours} {take} {before / GIB:.4g} GiB of {one}"
    elif on_one * page_bytes > free_bytes:
        what = f"{disks.count} disks of {disks.disk.capacity_gib:g} GiB"
        sets = f"a {disks.level_name} set" if disks.sets == 1 else f"{disks.sets} {disks.level_name} sets"
        what += f", {sets} of {device_gib:g} GiB" if disks.layout else ""
        yield (
            f"{workload.loaded_key}: {workload.size_words} are {pages * page_bytes / GIB:.4g} GiB of "
            f"data with room to grow; {what}, of which {neighbours} {take} {before / GIB:.4g} GiB"
            f"{' each' if disks.files > 1 or not disks.layout else ''}, hold {disks.files * free_bytes / GIB:.4g} GiB"
        )


OF_SPECS = (_workload, _database, _interrupts, _disks, _raid, _controllers, _measured)
PARTS = (*OF_SPECS, start_faults, sampling_faults, job_faults, cluster_faults)
