"""A workload as the analytic engine sees it: one program read once, for any number of machines."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypedDict

import numpy as np

from oltpsim.simulator.analytic.reading.page_groups import PageGroups
from oltpsim.simulator.analytic.reading.pages import PageReader
from oltpsim.simulator.analytic.reading.pool_table import PoolTable, pool_table
from oltpsim.simulator.expectation import (
    ProgramKey,
    ProgramReader,
    SpentTimes,
    effective,
    executions,
    shares_of,
    spent_times,
)
from oltpsim.simulator.form import CODES, NS_PER_S, FloatArray, Program, System, Terminals, weighted_sum

MOST_KEPT = 256
"""programs whose times a workload remembers"""


class ClassTimes(TypedDict):
    """Fields of a workload that are times, by class."""

    user_s: FloatArray
    drawn_s2: FloatArray
    system_s: FloatArray
    client_s: FloatArray
    network_s: FloatArray
    inside_s: FloatArray


@dataclass(frozen=True)
class LockUse:
    """Acquisitions of one kind of row lock by one class, in one transaction of it."""

    kind: int
    transaction_class: int
    acquisitions: float
    rows: float
    """rows in use, all alike"""
    apart: float
    """groups of clients that never ask for each other's rows"""
    cpu_s: float
    """user and system time of the transaction, page misses left out, before it asks for the lock"""


@dataclass(frozen=True, eq=False)
class Workload:
    """Expected work of each class; arrays of shape (classes,) or (classes, parts). Times in s on this machine."""

    classes: tuple[str, ...]
    main_class: int
    mix: FloatArray
    think_s: float
    awaited: FloatArray
    """`mix` without the class that terminals do not wait for"""
    away_s: float
    """mean of what a terminal keys and thinks, with the middle tier's time; 0 without terminals"""
    user_s: FloatArray
    drawn_s2: FloatArray
    """variance of the user time, as far as the program draws it"""
    system_s: FloatArray
    client_s: FloatArray
    network_s: FloatArray
    log_bytes: FloatArray
    commits: FloatArray
    logged: FloatArray
    """times that something is logged"""
    rollbacks: FloatArray
    entries: FloatArray
    """into critical sections, (classes, sections)"""
    inside_s: FloatArray
    visits: FloatArray
    """of plain stations, (classes, stations)"""
    served_s: FloatArray
    station_servers: tuple[int, ...]
    locks: tuple[LockUse, ...]
    groups: PageGroups
    files: FloatArray
    """(regions, 2): first of the files that are flushed and have pages of a region, and how many; no row if none is"""
    put_aside: FloatArray
    """(regions, 2): changes of a transaction of the mix that wait if the pool lacks their page, and the region's pages,
    over which they are taken to be spread evenly"""
    executed: FloatArray
    """(classes + locks, operations): executions in a transaction of each class, then until each lock is asked for"""

    @cached_property
    def timed(self) -> dict[int, tuple[Program, Self]]:
        """Programs by their identity, and this workload with their times: see `retimed`."""
        return {}

    def table(self, policy: str) -> PoolTable:
        """The pool table of a replacement policy."""
        return pool_table(self.groups, policy)

    def _put_aside_by_group(self) -> FloatArray:
        """Changes that may be put aside of each group's pages; last those of pages that no group has, and these."""
        changes, pages = self.put_aside.T
        found = (changes / np.maximum(pages, 1.0))[self.groups.region] * self.groups.pages
        grouped = float(self.groups.pages[changes[self.groups.region] > 0].sum())
        others = max(float(changes.sum() - found.sum()), 0.0), max(float(pages[changes > 0].sum()) - grouped, 0.0)
        return np.array([*found, *others])

    def tables(self, policy: str) -> dict[str, FloatArray]:
        """Arrays by their names in workload.hpp."""
        groups, table, frames = self.groups, self.table(policy), self.table("lru")
        row_of, rows = groups.rows
        columns = ("rate", "gap", "references", "pages", "gaps", "write", "read", "recent", "views", "beside")
        of_classes = ("mix", "awaited", "log_bytes", "commits", "logged", "visits", "served_s")
        uses = [[use.kind, use.transaction_class, use.acquisitions, use.rows, use.apart] for use in self.locks]
        return {
            **{name: getattr(groups, name) for name in columns},
            **{name: getattr(self, name) for name in of_classes},
            "entries": self.entries.sum(axis=1),
            "servers": np.array(self.station_servers, dtype=np.float64),
            "facts": np.array([self.think_s, groups.window, groups.offspring, policy == "clock"], dtype=np.float64),
            "locks": np.array(uses, dtype=np.float64),
            "put_aside": self._put_aside_by_group(),
            "files": self.files[groups.region] if len(self.files) else self.files,
            "rows": rows,
            "row_of": row_of.astype(np.float64),
            "times": table.times,
            "missing": table.missing,
            "filled": table.filled,
            "dirty": table.dirty,
            "old_share": table.old_share,
            "unused": frames.missing,
            "frames": frames.filled,
        }


def _away_s(terminals: Terminals, mix: FloatArray) -> float:
    """Mean time from an answer to the next; thinking is an exponential time cut off at a multiple of its mean."""
    thinking = np.array(terminals.thinking_ns) * -np.expm1(-float(terminals.longest_think))
    return float(weighted_sum(np.array(terminals.keying_ns) + thinking, mix) + terminals.middle_tier_ns) / NS_PER_S


def _files(system: System) -> FloatArray:
    """`Workload.files`, by the pages where regions and files begin."""
    parts = system.writing.files
    if not parts:
        return np.empty((0, 2))
    begins = np.array([first for first, _ in parts])
    ends = system.program.regions[:, 0] + system.program.regions[:, 1] * system.program.regions[:, 2]
    first = np.searchsorted(begins, system.program.regions[:, 0], side="right") - 1
    last = np.searchsorted(begins, ends - 1, side="right") - 1
    return np.stack([np.array([number for _, number in parts])[first], last - first + 1], axis=1).astype(np.float64)


def _put_aside(program: Program, executed: FloatArray) -> FloatArray:
    """`Workload.put_aside`; `executed`: executions of each operation in a transaction of the mix."""
    changes = np.zeros(len(program.regions))
    of_code = program.operations[:, 0] == CODES["put_aside"]
    np.add.at(changes, program.references[program.operations[of_code, 1], 1], executed[of_code])
    pages = (program.regions[:, 1] * program.regions[:, 2]).astype(np.float64)
    return np.stack([changes, pages], axis=1)


def read_workload(system: System) -> Workload:
    """Read a system's program. Raises InputError for a program whose loops have no bound."""
    program = system.program
    terminals = system.terminals
    reader = ProgramReader(program, system.homes, terminals.mix if terminals else None)
    works = reader.works
    pages = PageReader(reader, system.storage.data_devices)

    executed = np.array([work.executed for work in (*works, *(before for _, (_, _, _, before) in pages.locks))])
    by_class, before = executed[: len(works)], spent_times(program, executed[len(works) :])
    asked_s = (before.user_ns + before.system_ns + before.client_ns) / NS_PER_S
    locks = []
    for (number, (kind, acquisitions, row, _)), cpu_s in zip(pages.locks, asked_s.tolist(), strict=True):
        numbers = [part for _, part in row]
        shares = shares_of(row, int(program.lock_tables[kind, 1]))
        locks.append(
            LockUse(
                kind,
                number,
                acquisitions,
                effective(shares),
                max((getattr(part, "apart", 1.0) for part in numbers), default=1.0),
                cpu_s,
            )
        )
    spent = spent_times(program, by_class)
    return Workload(
        classes=program.classes,
        main_class=program.main_class,
        mix=reader.mix,
        think_s=reader.think_ns / NS_PER_S,
        awaited=np.where(np.arange(len(works)) == (terminals.deferred_class if terminals else -1), 0.0, reader.mix),
        away_s=_away_s(terminals, reader.mix) if terminals else 0.0,
        **by_class_s(spent),
        log_bytes=np.array([work.log_bytes for work in works]),
        commits=np.array([work.commits for work in works]),
        logged=executions(program, by_class, "log"),
        rollbacks=executions(program, by_class, "rollback"),
        entries=spent.entries,
        visits=spent.visits,
        served_s=spent.served_ns / NS_PER_S,
        station_servers=tuple(station.servers for station in system.stations),
        locks=tuple(locks),
        groups=pages.groups(),
        files=_files(system),
        put_aside=_put_aside(program, weighted_sum(by_class.T, reader.mix)),
        executed=executed,
    )


def by_class_s(spent: SpentTimes) -> ClassTimes:
    """Times in s of what the classes' operations take."""
    return {
        "user_s": spent.user_ns / NS_PER_S,
        "drawn_s2": spent.variance_ns2 / NS_PER_S**2,
        "system_s": spent.system_ns / NS_PER_S,
        "client_s": spent.client_ns / NS_PER_S,
        "network_s": spent.network_ns / NS_PER_S,
        "inside_s": spent.inside_ns / NS_PER_S,
    }


def transactions_key(system: System) -> Hashable:
    """A key that is equal for systems whose transactions differ in times at most, and clients in their number.

    However many there are, as many of them must begin with each value of a register. Such systems'
    transactions are read once; data devices are put in by `striped`.
    """
    key = ProgramKey(system.program, system.client_registers)
    stations = len(system.sections), system.stations
    return key, system.arrivals_per_s, system.terminals, *stations, system.writing.files


def striped(workload: Workload, devices: int) -> Workload:
    """`workload` on another number of data devices, over which its pages are striped."""
    return replace(workload, groups=workload.groups.striped(devices))


def retimed(workload: Workload, system: System) -> Workload:
    """`workload` with the times of `system`, which must be the same but for times."""
    known, program = workload.timed, system.program
    if not len(program.operations):
        return workload
    found = known.get(id(program))
    if found is None:
        if len(known) >= MOST_KEPT:
            known.clear()
        found = known[id(program)] = program, _with_times(workload, program)
    return found[1]


def _with_times(w: Workload, program: Program) -> Workload:
    classes = len(w.classes)
    before = spent_times(program, w.executed[classes:])
    asked_s = ((before.user_ns + before.system_ns + before.client_ns) / NS_PER_S).tolist()
    return replace(
        w,
        **by_class_s(spent_times(program, w.executed[:classes])),
        locks=tuple(replace(lock, cpu_s=time_s) for lock, time_s in zip(w.locks, asked_s, strict=True)),
    )
