"""From a scenario to a system: specs in, stations and program out.

workload ──> tables and transactions ──> program ─┐
machine, operating system, database ──> stations ─┴──> System (simulator.form) ──> any engine
                                                         └─ folded, if pages are sampled (models/wiring/sampling.py)
"""

from dataclasses import replace

from oltpsim.models.database import (
    DatabaseSpec,
    PageCleanerSpec,
    buffer_pool_of,
    checkpointer_of,
    flushing_of,
    log_of,
    logged_program,
    merger_of,
    page_cleaners_of,
    sweeper_of,
    writer_of,
    writing_of,
)
from oltpsim.models.machine import (
    controllers_of,
    data_devices,
    log_device,
    processors_of,
    rate_limit_of,
    sharing_of,
    speed_of,
)
from oltpsim.models.operating_system import fair_queueing_of, flusher_of, page_cache_of, write_back_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring.cluster import cluster_paths
from oltpsim.models.wiring.file_layout import by_table, files_of
from oltpsim.models.wiring.memory import memory_plan, reclaim_of
from oltpsim.models.wiring.paths import costs_of, interrupts_of, line_share_of, paths_of, sessions_of, statement_ns
from oltpsim.models.wiring.sampling import folded, sample_of
from oltpsim.models.wiring.start import interval_of
from oltpsim.models.workloads import INTERRUPTS, InterruptTimes, OpenArrivalsSpec
from oltpsim.simulator import form
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB, MOST_FILES, NS_PER_US, IntArray

LOG_AREA_BYTES = 1 * GIB
"""assumption: the log is a file of 1 GiB that is used round and round"""


def build(scenario: ScenarioSpec) -> form.System:
    """The model of a scenario that `models.reading` has checked. Raises InputError if it has a job."""
    if scenario.job is not None:
        raise InputError(f"{scenario.name}: job: {scenario.job.kind!r} runs no transactions; 'oltpsim run' answers it")
    machine, system, database = scenario.machine, scenario.operating_system, scenario.database
    workload, sample = scenario.workload, sample_of(scenario)
    arrivals, interval = workload.arrivals, scenario.interval
    if database.log.flushed_at_once and not workload.is_by_statement:
        raise InputError(
            f"{scenario.name}: database.log.flushed_at_once: got true; only row workloads log by statement, TPC-C's "
            "transactions log once, before they commit: take it out"
        )
    paths = paths_of(machine, system, database)
    work = workload.work(paths, sample, cluster_paths(scenario), logs_at_once=database.log.flushed_at_once)
    program = logged_program(work.program, database.log)
    whole = machine_model(scenario, program, work.registers, interval_of(scenario, program, work.registers))
    statement = round(statement_ns(paths, workload.rows_per_statement))
    slices = [each for each in (whole.cpu.slice_ns, statement) if each]
    whole = replace(
        whole,
        cpu=replace(whole.cpu, slice_ns=min(slices, default=0)),
        arrivals_per_s=arrivals.transactions_per_s if isinstance(arrivals, OpenArrivalsSpec) else 0.0,
        work=form.Work(orders) if (orders := interval.new_orders_per_client) else None,
        terminals=work.terminals,
    )
    return folded(whole, sample)


def machine_model(
    scenario: ScenarioSpec, program: form.Program, registers: IntArray, interval: form.Interval
) -> form.System:
    """A scenario's machine, system and database under any program of closed clients with these registers."""
    machine, system, database = scenario.machine, scenario.operating_system, scenario.database
    plan, interrupts = memory_plan(scenario), interrupts_of(machine, system)
    bound = interrupts.bound if interrupts else 0
    direct_io, page_bytes = database.io == "direct", round(database.page_kib * KIB)
    cleaner = database.page_cleaner
    pool = buffer_pool_of(
        database.pool,
        database.held_buffers,
        plan.resident_buffers,
        cleaner.victim_search_pages if cleaner else 1,
        cleaner.free_page_wait_us if cleaner else 0.0,
    )
    stations = program.stations or ((INTERRUPTS,) if bound else ())
    handover_us = system.cpu.contended_handover_us * database.critical_section.entries_per_transaction
    handover_ns = round(handover_us * NS_PER_US / speed_of(machine))
    model = form.System(
        name=scenario.name,
        program=program,
        client_registers=registers,
        arrivals_per_s=0.0,
        cpu=processors_of(machine, bound, system.slice_ns(machine.cpu.threads - bound)),
        sections=tuple(form.Section(name, handover_ns) for name in program.sections),
        stations=tuple(form.Station(name, bound) for name in stations),
        pool=pool,
        page_cache=page_cache_of(
            system.page_cache,
            plan.page_cache_pages,
            page_bytes,
            LOG_AREA_BYTES if database.log.in_page_cache and not direct_io else 0,
        ),
        storage=_storage(scenario),
        log=log_of(database.log, page_bytes if (last := database.checkpoint) and last.full_page_writes else 0),
        costs=costs_of(machine, system, database),
        direct_io=direct_io,
        interval=interval,
        daemons=(
            *write_back_of(system.page_cache, leaves_log=database.log.commit == "buffered"),
            *(() if direct_io else flusher_of(system.page_cache, plan.page_cache_pages, page_bytes)),
            *_writers(database),
            *((merger_of(cleaner),) if direct_io and cleaner and _is_merged(cleaner, program) else ()),
        ),
        sharing=sharing_of(
            machine, line_share_of(machine, system, database), sessions_of(scenario, program, registers)
        ),
        volume_limits=tuple(map(rate_limit_of, machine.volume_limits)) or None,
        writing=writing_of(writer, machine.disks.disk.kind == "rotating", not direct_io)
        if (writer := cleaner or database.writer)
        else form.Writing(),
        flushing=flushing_of(cleaner) if cleaner else None,
        controllers=controllers_of(machine.disks),
        fair_queueing=fair_queueing_of(system.io_scheduler),
        interrupts=_interrupts(interrupts, scenario.workload.round_trips) if interrupts else None,
        reclaim=reclaim_of(scenario, pool.resident_pages, plan.page_cache_pages),
    )
    if model.page_cache.pages_a_pause and len(program.regions) > MOST_FILES:
        raise InputError(
            f"{scenario.name}: operating_system.page_cache.locks_files: got {len(program.regions):,} tables and "
            f"indexes; at most {MOST_FILES}: have fewer in the workload, or take it out"
        )
    if (model.writing.doubled if direct_io else model.writing.synced) and _flushes(model.storage):
        files = files_of(program.region_names, program.regions, scenario.workload.files_per_table)
        model = replace(model, writing=replace(model.writing, files=files))
    if database.file_layout == "by_table":
        return replace(model, extents=by_table(program.regions, model.storage.data_devices, model.storage.page_bytes))
    return model


def _writers(database: DatabaseSpec) -> tuple[form.Daemon, ...]:
    """What writes dirty buffers, in the order in which it begins."""
    if database.page_cleaner:
        return page_cleaners_of(database.page_cleaner)
    writer, checkpoint = database.writer, database.checkpoint
    return (
        *((writer_of(writer, database.pool.buffers),) if writer else ()),
        *((sweeper_of(writer.sweep, database.pool.buffers),) if writer and writer.sweep else ()),
        *((checkpointer_of(checkpoint, database.io == "direct"),) if checkpoint else ()),
    )


def _is_merged(cleaner: PageCleanerSpec, program: form.Program) -> bool:
    """Whether there are changes put aside, and somebody merges them in the background."""
    puts_aside = bool((program.operations[:, 0] == form.CODES["put_aside"]).any())
    return puts_aside and cleaner.background_merge_fraction > 0


def _flushes(storage: form.Storage) -> bool:
    """Whether a flush takes time on a device that has data."""
    disks = (disk for number in range(storage.data_devices) for disk in storage.disks_of(number))
    return any(isinstance(one := storage.with_disks[disk], form.SsdDevice) and one.needs_flush for disk in disks)


def _interrupts(interrupts: InterruptTimes, round_trips: int) -> form.Interrupts:
    per_transaction, bound = round_trips * interrupts.per_message, interrupts.bound
    return form.Interrupts(per_transaction, 0 if bound else -1, round(interrupts.served_ns) if bound else 0)


def _storage(scenario: ScenarioSpec) -> form.Storage:
    """Device 0 holds, in this order, swap (as large as RAM), the log unless it has its own device, and data."""
    machine, system, database = scenario.machine, scenario.operating_system, scenario.database
    data, swap_bytes, own_log = data_devices(machine.disks), int(machine.memory_gib * GIB), machine.log_disk is not None
    stripe_bytes = round(machine.disks.stripe_kib * KIB)
    log = (log_device(machine.log_disk, machine.log_disks, stripe_bytes),) if machine.log_disk else ()
    return form.Storage(
        devices=(*data, *log),
        data_devices=len(data),
        log_device=len(data) if own_log else 0,
        page_bytes=round(database.page_kib * KIB),
        data_start_bytes=swap_bytes + LOG_AREA_BYTES,
        log_start_bytes=0 if own_log else swap_bytes,
        log_bytes=LOG_AREA_BYTES,
        swap_start_bytes=0,
        swap_cluster_pages=system.swap.cluster_pages,
        merged_pages=max(1, round(system.page_cache.merged_write_kib / database.page_kib)),
        requests_per_device=database.requests_per_file,
        swap_request_bytes=round((system.swap.request_kib or 0) * KIB),
    )
