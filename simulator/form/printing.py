"""A system as people read it: its parts, then its program: tables first, each operation with its operands by name."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from oltpsim.simulator.form.daemon import DAEMON_OPERATIONS, DaemonStep
from oltpsim.simulator.form.program import DISTRIBUTION_KINDS, OPERATIONS, REFERENCE_KINDS, Program
from oltpsim.simulator.form.samplers import CUT_ONE
from oltpsim.simulator.form.system import System

CODE_NAMES = tuple(OPERATIONS)
TIMES = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000))


def listing(system: System) -> str:
    """A whole system as text: a line for each part, table of the program, and operation."""
    program = system.program
    return "\n".join([*_parts(system), "", *_tables(program), "", *_operations(program)]) + "\n"


def time_text(time_ns: int) -> str:
    """A time in the largest unit that leaves it at least 1."""
    for unit, size_ns in TIMES:
        if time_ns >= size_ns:
            return f"{time_ns / size_ns:g} {unit}"
    return f"{time_ns} ns"


def _parts(system: System) -> Iterator[str]:
    """All fields of a system but the program, those of parts in a line each; parts that are alike once."""
    yield f"{system.name}: {len(system.client_registers):,} clients"
    for field in fields(system):
        value = getattr(system, field.name)
        if field.name not in ("name", "storage", "daemons", "program", "client_registers") and value is not None:
            yield from _lines(field.name, value)
    for daemon in system.daemons:
        steps = ", then ".join(_step(system.program, step) for step in daemon.steps)
        yield f"  daemon {daemon.name}: {steps}"
    storage = system.storage
    yield from _lines("device", storage.devices)
    yield from _lines("storage", replace(storage, devices=()))


def _lines(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, tuple):
        yield f"  {name}: {_words(value)}"
        return
    for words, alike in groupby(value, key=lambda part: _words(part, unnamed=True)):
        named = [getattr(part, "name", "") for part in alike]
        names = named[0] if len(named) == 1 else f"{len(named):,} alike, {named[0]} to {named[-1]}"
        yield f"  {name} {names}: {words}".replace(" :", ":")


def _step(program: Program, step: DaemonStep) -> str:
    named = zip(DAEMON_OPERATIONS[step.operation], step.operands, strict=True)
    return f"{step.operation} {', '.join(_operand(program, kind, value) for kind, value in named)}".rstrip()


def _words(value: Any, unnamed: bool = False) -> str:
    """Fields of a part with their values; times in their largest unit."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_words, value))})"
    if not is_dataclass(value):
        return f"{value:,}" if isinstance(value, int | np.integer) and not isinstance(value, bool) else str(value)
    words = []
    for field in fields(value):
        found = getattr(value, field.name)
        if (field.name == "name" and unnamed) or found == ():
            continue
        if field.name.endswith("_ns") and isinstance(found, int):
            words.append(f"{field.name.removesuffix('_ns')} {time_text(found)}")
        else:
            words.append(f"{field.name} {_words(found)}")
    return ", ".join(words)


def _tables(program: Program) -> list[str]:
    lines = [f"{program.pages:,} pages in {len(program.regions)} regions"]
    for name, (base, groups, pages, rows, *_) in zip(program.region_names, program.regions.tolist(), strict=True):
        lines.append(f"  region {name}: from page {base:,}, {groups:,} groups of {pages:,} pages, {rows} rows a page")
    for name, (kind, region, *_) in zip(program.reference_names, program.references.tolist(), strict=True):
        lines.append(f"  reference {name}: {REFERENCE_KINDS[kind]} in {program.region_names[region]}")
    for name, (_, length) in zip(program.table_names, program.tables.tolist(), strict=True):
        lines.append(f"  sampler {name}: alias table of {length:,}")
    for name, (_, length) in zip(program.counter_names, program.counter_tables.tolist(), strict=True):
        lines.append(f"  counter {name}: {length:,} groups")
    for name, (_, rows) in zip(program.lock_names, program.lock_tables.tolist(), strict=True):
        lines.append(f"  lock {name}: {rows:,} rows")
    lines += [f"  critical section {name}" for name in program.sections]
    lines += [f"  station {name}" for name in program.stations]
    return lines


def _operations(program: Program) -> list[str]:
    entries = {entry: name for name, entry in zip(program.classes, program.entries.tolist(), strict=True)}
    lines = []
    for number, (code, *operands) in enumerate(program.operations.tolist()):
        if number in entries:
            lines += ["", f"{entries[number]}:"]
        name = CODE_NAMES[code]
        words = [_operand(program, kind, value) for kind, value in zip(OPERATIONS[name], operands, strict=False)]
        lines.append(f"{number:5d}  {name:9s} {', '.join(words)}".rstrip())
    return lines


def _operand(program: Program, kind: str, value: int) -> str:
    named = {
        "reference": program.reference_names,
        "lock": program.lock_names,
        "section": program.sections,
        "station": program.stations,
        "table": program.table_names,
        "counter": program.counter_names,
        "limit": program.counter_names,
        "until": program.counter_names,
        "s": program.streams,
    }
    if kind in named:
        return named[kind][value]
    if kind == "r" or kind.startswith("r_"):
        return f"[{program.registers[value]}]"
    if kind == "distribution":
        shape, a, b = program.distributions[value].tolist()
        return f"{DISTRIBUTION_KINDS[shape]} {time_text(a)}" + (f" {b}" if b else "")
    if kind.endswith("_ns"):
        return f"{kind.removesuffix('_ns')} {time_text(value)}"
    if kind == "cut":
        return f"{100 * value / CUT_ONE:.3g} %"
    if kind == "target":
        return f"to {value}"
    if kind == "write":
        return "write" if value else "read"
    return f"{kind} {value}"
