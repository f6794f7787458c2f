"""A system as tables of whole numbers under names of columns: what a compiled engine takes.

Floating-point constants have become whole numbers here, or are handed on bit by bit, so that every engine computes with
the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oltpsim.simulator.form.arrays import IntArray
from oltpsim.simulator.form.clock import NS_PER_S
from oltpsim.simulator.form.daemon import DAEMON_OPERATIONS, check_daemons, lead_in_marks
from oltpsim.simulator.form.devices import DEVICES
from oltpsim.simulator.form.io_wait import io_wait_shares
from oltpsim.simulator.form.program import DISTRIBUTION_COLUMNS, REFERENCE_COLUMNS, RegionRow
from oltpsim.simulator.form.raid import RaidSet
from oltpsim.simulator.form.start_state import POOL_COLUMNS, StartState
from oltpsim.simulator.form.streams import ZIGGURAT_DENSITIES, ZIGGURAT_EDGES, seed_streams
from oltpsim.simulator.form.system import REPLACEMENTS, STARTS, System, Terminals
from oltpsim.simulator.form.units import PPM

NOWHERE = -1
COMMON_COLUMNS = ("kind", "calls", "is_scheduled", "first_limit", "end_limit", "first_shared_limit", "end_shared_limit")


class Table(NamedTuple):
    """Rows of whole numbers; `columns` are empty if each row is an array of things of one kind."""

    columns: tuple[str, ...]
    rows: IntArray


def tables_of(system: System, seed: int, start: StartState) -> dict[str, Table]:
    """The tables of a system, of its random streams for a seed, and of the state that it starts from.

    Raises InputError for a daemon that never waits.
    """
    check_daemons(system.daemons)
    program = system.program
    purposes = [seed_streams(seed, purpose, len(system.client_registers)) for purpose in program.streams]
    return {
        "system": _one_row(_facts(system, seed)),
        "operations": _plain(program.operations),
        "entries": _plain(program.entries),
        "alias": _plain(program.alias),
        "samplers": _plain(program.tables),
        "distributions": _table(DISTRIBUTION_COLUMNS, program.distributions),
        "counters": _plain(start.counters),
        "counter_tables": _plain(program.counter_tables),
        "regions": _table(RegionRow._fields, program.regions),
        "references": _table(REFERENCE_COLUMNS, program.references),
        "initial_high": _plain(start.high),
        "windows": _plain(program.windows),
        "lock_tables": _plain(program.lock_tables),
        "load_order": _table(("region", "group", "first_page", "pages"), program.load_order),
        "prewarm_order": _table(("region", "group", "first_page", "pages"), system.prewarm_order),
        "registers": _plain(system.client_registers),
        "streams": _plain(np.column_stack(purposes).view(np.int64)),
        "ziggurat": _plain(np.stack([ZIGGURAT_EDGES, ZIGGURAT_DENSITIES]).view(np.int64)),
        "stations": _table(("servers",), [[system.processors], *([each.servers] for each in system.stations)]),
        "slowdowns": _table(("ppm",), _slowdowns_ppm(system)),
        "sections": _table(("handover_ns",), [[each.handover_ns] for each in system.sections]),
        "io_wait_shares": _table(("share",), io_wait_shares(system.processors).reshape(-1, 1)),
        "daemons": _daemons(system),
        **_flushing(system),
        "devices": _devices(system),
        "limits": _limits(system),
        "fair_queueing": _fair_queueing(system),
        "extents": _table(
            ("first_page", "end_page", "first_device", "devices", "start_bytes"),
            [
                [each.first_page, each.end_page, each.first_device, each.devices, each.start_bytes]
                for each in system.placement
            ],
        ),
        "files": _table(("first_page", "file"), system.writing.files),
        **_terminals(system, seed),
        "warm_pool": Table(POOL_COLUMNS, start.pool),
        "warm_page_cache": _plain(start.page_cache),
        "remembered": _plain(start.windows),
        "remembered_counts": _plain(start.seen),
    }


def _facts(system: System, seed: int) -> dict[str, int]:
    """Numbers that a system has one of."""
    storage, pool, cache, costs = system.storage, system.pool, system.page_cache, system.costs
    writing, interrupts = system.writing, system.interrupts
    has_station = interrupts is not None and interrupts.station >= 0
    return {
        "start": STARTS.index(system.interval.start),
        "prewarms_pool": int(system.interval.prewarms_pool),
        "lead_in_transactions": system.interval.lead_in_transactions,
        "lead_in_ns": system.interval.lead_in_ns,
        **{f"lead_in_{name}": value for name, value in lead_in_marks(system.daemons, pool.pages)._asdict().items()},
        "pages": system.program.pages,
        "pool_pages": pool.pages,
        "pool_replacement": REPLACEMENTS.index(pool.replacement),
        "resident_pages": pool.resident_pages,
        "page_cache_pages": cache.pages,
        "dirty_limit_pages": cache.dirty_limit_pages,
        "paced_pages": cache.paced_pages,
        "free_behind": int(cache.free_behind),
        "log_pages": 0 if system.direct_io else cache.log_pages,
        "log_page_bytes": cache.log_page_bytes,
        "in_flight_pages": cache.in_flight_pages,
        "in_file_order": int(cache.in_file_order),
        "pages_a_pause": cache.pages_a_pause,
        "slice_ns": system.cpu.slice_ns,
        "quota_ns": system.cpu.quota_ns,
        "quota_period_ns": system.cpu.quota_period_ns,
        "read_ns": costs.read_ns,
        "write_ns": costs.write_ns,
        "miss_ns": costs.miss_ns,
        "request_ns": costs.request_ns,
        "direct_io": int(system.direct_io),
        "page_bytes": storage.page_bytes,
        "data_start_bytes": storage.data_start_bytes,
        "log_device": storage.log_device,
        "log_start_bytes": storage.log_start_bytes,
        "log_bytes": storage.log_bytes,
        "swap_start_bytes": storage.swap_start_bytes,
        "swap_cluster_pages": storage.swap_cluster_pages,
        "merged_pages": storage.merged_pages,
        "clean_search_pages": pool.clean_search_pages,
        "free_wait_ns": pool.free_wait_ns,
        "old_ms": pool.old_ms,
        "durable": int(system.log.durable),
        "log_writes_per_group": system.log.writes_per_group,
        "log_journal_writes": system.log.journal_writes,
        "log_at_once": int(system.log.at_once),
        "flush_overhead_ns": system.log.flush_overhead_ns,
        "full_page_bytes": system.log.full_page_bytes,
        "batch_pages": writing.batch_pages,
        "coalesced_pages": writing.coalesced_pages,
        "doubled": int(writing.doubled),
        "pushed": int((writing.pushed or writing.synced) and not system.direct_io),
        "synced": int(writing.synced and not system.direct_io),
        "count_from_ns": system.interval.warm_up_ns,
        "main_class": system.program.main_class,
        "main_per_client": system.work.main_per_client if system.work else 0,
        "interrupt_station": 1 + interrupts.station if interrupts and has_station else NOWHERE,
        "interrupt_ns": interrupts.served_ns if interrupts else 0,
        "arrival_mean_ns": round(NS_PER_S / system.arrivals_per_s) if system.arrivals_per_s else 0,
        "arrival_stream": int(seed_streams(seed, "arrivals", 1).view(np.int64)[0]),
        "merge_stream": int(seed_streams(seed, "merges", 1).view(np.int64)[0]),
    }


def _slowdowns_ppm(system: System) -> list[list[int]]:
    """By number of busy processors: what a burst takes that starts then, in millionths of its time alone."""
    return [[PPM], *([ppm] for ppm in (system.sharing.ppm if system.sharing else [PPM] * system.processors))]


def _daemons(system: System) -> Table:
    """A row for each step; 0 in place of operands that it doesn't have."""
    codes = list(DAEMON_OPERATIONS)
    rows = [
        [number, codes.index(step.operation), *step.operands, *(2 - len(step.operands)) * [0]]
        for number, daemon in enumerate(system.daemons)
        for step in daemon.steps
    ]
    return _table(("daemon", "code", "a", "b"), rows)


def _flushing(system: System) -> dict[str, Table]:
    """The rules of flushing by age, and its per cents; no row without."""
    rules = system.flushing
    columns = ("whole_age_bytes", "full_bytes", "cleaners", "milli_pages", "most_milli_pages", "rounds")
    return {
        "flushing": _table(columns, [[getattr(rules, column) for column in columns]] if rules else []),
        "percent_by_age": _plain(np.array(rules.percent_by_age if rules else [], dtype=np.int64)),
        "percent_by_dirty": _plain(np.array(rules.percent_by_dirty if rules else [], dtype=np.int64)),
    }


def _devices(system: System) -> Table:
    """Devices, and behind them the disks of RAID sets; 0 in the columns that a device of its kind doesn't have."""
    storage, scheduled, rows = system.storage, set(system.scheduled_devices), []
    for number, (device, passed) in enumerate(zip(storage.with_disks, system.limiters.stages, strict=True)):
        row = dict.fromkeys(COMMON_COLUMNS, 0) | device.numbers()
        row["kind"] = DEVICES.index(type(device))
        row["calls"] = storage.requests_per_device
        row["is_scheduled"] = int(number in scheduled)
        for kind, stage in zip(("limit", "shared_limit"), passed, strict=False):
            row[f"first_{kind}"], row[f"end_{kind}"] = stage.start, stage.stop
        if isinstance(device, RaidSet):
            row["first_disk"] = storage.disks_of(number).start
        rows.append(row)
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    return _table(columns, [[row.get(column, 0) for column in columns] for row in rows])


def _limits(system: System) -> Table:
    columns = ("bytes_per_credit", "sustained_fs", "burst_fs", "refill_ps", "full_at_ps", "slice_ps", "direction_code")
    return _table(columns, [[getattr(limit, column) for column in columns] for limit in system.limiters.limits])


def _fair_queueing(system: System) -> Table:
    rules = system.fair_queueing
    rows = [[rules.quantum, rules.slice_ns, rules.background_slice_ns]] if rules else []
    return _table(("quantum", "slice_ns", "background_slice_ns"), rows)


def _terminals(system: System, seed: int) -> dict[str, Table]:
    terminals = system.terminals or Terminals(0, 1, (), 0, (0,), (0,))
    facts = {
        "count": terminals.count,
        "homes": terminals.homes,
        "mix": terminals.mix,
        "longest_think": terminals.longest_think,
        "deferred_class": terminals.deferred_class,
        "middle_tier_ns": terminals.middle_tier_ns,
    }
    times = list(zip(terminals.keying_ns, terminals.thinking_ns, strict=True))
    streams = seed_streams(seed, "terminals", terminals.count).view(np.int64)
    return {
        "terminals": _one_row(facts),
        "terminal_classes": _table(("keying_ns", "thinking_ns"), times),
        "terminal_registers": _table(("register", "factor", "divisor"), terminals.registers),
        "terminal_streams": _plain(streams),
    }


def _one_row(values: dict[str, int]) -> Table:
    return _table(tuple(values), [list(values.values())])


def _table(columns: Sequence[str], rows: Sequence[Sequence[int]] | IntArray) -> Table:
    return Table(tuple(columns), np.array(rows, dtype=np.int64, order="C").reshape(len(rows), len(columns)))


def _plain(values: IntArray) -> Table:
    rows = np.ascontiguousarray(values, dtype=np.int64)
    return Table((), rows if rows.ndim == 2 else rows.reshape(len(rows), 1))
