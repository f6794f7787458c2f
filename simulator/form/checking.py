"""Whether the numbers of a system's program point to what is there: tables, labels, parts."""

from collections.abc import Iterator, Mapping

from oltpsim.simulator.form.arrays import IntArray
from oltpsim.simulator.form.program import (
    DISTRIBUTION_KINDS,
    OPERATION_WIDTH,
    OPERATIONS,
    REFERENCE_KINDS,
    WITH_INDEX_PAGE,
    Program,
)
from oltpsim.simulator.form.system import MOST_FILES, MOST_PAGES_A_PAUSE, REPLACEMENTS, STARTS, System

NOTHING, MOST = -1, 1 << 31


def faults(system: System) -> Iterator[str]:
    """What is wrong, a sentence each. Raises ValueError if an array has another shape than its columns say.

    Not seen here: what a run makes of the numbers, as a register that holds a group or a row which there isn't when it
    is used, or windows and locks that share places.
    """
    program = system.program
    _check_shapes(program, system.client_registers)
    names = tuple(OPERATIONS)
    there = _counts(program)
    for number, (code, *operands) in enumerate(program.operations.tolist()):
        if not 0 <= code < len(names):
            yield f"operation {number}: there is no code {code}; codes are 0 to {len(names) - 1}"
            continue
        for operand, value in zip(OPERATIONS[names[code]], operands, strict=False):
            most = there.get("r" if operand.startswith("r_") else operand)
            if most is not None and not 0 <= value < most:
                yield f"operation {number}, {names[code]}: {operand} is {value}; there are {most:,}"
    for name, columns in _columns(program).items():
        for column, (values, most, least) in columns.items():
            if len(values) and not least <= int(values.min()) <= int(values.max()) < most:
                found = f"{int(values.min())} to {int(values.max())}"
                yield f"{name}: {column} is {found}; allowed: {least} to {most - 1:,}"
    for start, length in program.tables.tolist():
        if (
            not 0
            <= int(program.alias[start : start + length, 1].min())
            <= program.alias[start : start + length, 1].max()
            < length
        ):
            yield f"alias: the table at {start} points to values that it doesn't have; it has {length:,}"
    yield from _daemon_faults(system)
    yield from _part_faults(system)
    yield from _file_faults(system)


def _daemon_faults(system: System) -> Iterator[str]:
    """Steps that can't be taken, by themselves or in this system."""
    for daemon in system.daemons:
        yield from daemon.faults()
        if any(daemon.operands("write_aged")) and not (system.flushing and (system.direct_io or system.writing.synced)):
            yield f"daemon {daemon.name}: write_aged needs rules of flushing, and direct I/O or synced writing"
        if any(daemon.operands("write_tail")) and system.pool.replacement == "clock":
            yield f"daemon {daemon.name}: write_tail is of a list; the pool's replacement is {system.pool.replacement}"
        if any(daemon.operands("write_unused")) and system.pool.replacement != "clock":
            yield f"daemon {daemon.name}: write_unused is of CLOCK; the pool's replacement is {system.pool.replacement}"
        if any(daemon.operands("merge")) and not system.direct_io:
            yield f"daemon {daemon.name}: merge needs direct I/O"


def _file_faults(system: System) -> Iterator[str]:
    begins = [first for first, _ in system.writing.files]
    if begins and (begins[0] != 0 or begins != sorted(set(begins))):
        yield f"writing.files begin at pages {begins[:5]}; allowed: from 0 on, in order"


def _part_faults(system: System) -> Iterator[str]:
    """Parts that the program, or another part, names by number or by word."""
    program, storage = system.program, system.storage
    numbers = {
        "storage.data_devices": (storage.data_devices, 1, len(storage.devices) + 1),
        "storage.log_device": (storage.log_device, 0, len(storage.devices)),
        "program.main_class": (program.main_class, 0, len(program.classes)),
        "sections": (len(system.sections), len(program.sections), len(program.sections) + 1),
        "stations": (len(system.stations), len(program.stations), MOST),
        "clients": (len(system.client_registers), 1, MOST),
    }
    if system.interrupts:
        numbers["interrupts.station"] = system.interrupts.station, NOTHING, len(system.stations)
    if system.terminals:
        numbers["terminals.mix"] = system.terminals.mix, 0, len(program.tables)
        for number, (register, _, divisor) in enumerate(system.terminals.registers):
            numbers[f"terminals.registers.{number}"] = register, 0, len(program.registers)
            numbers[f"terminals.registers.{number}.divisor"] = divisor, 1, MOST
    for number, region in enumerate(system.interval.prewarm_regions):
        numbers[f"interval.prewarm_regions.{number}"] = region, 0, len(program.regions)
    for name in ("lead_in_transactions", "lead_in_ns", "prewarm_pages"):
        numbers[f"interval.{name}"] = getattr(system.interval, name), 0, MOST
    numbers["page_cache.pages_a_pause"] = system.page_cache.pages_a_pause, 0, MOST_PAGES_A_PAUSE + 1
    if system.page_cache.pages_a_pause:
        numbers["regions, as files that writers lock"] = len(program.regions), 0, MOST_FILES + 1
    for number, extent in enumerate(system.placement):
        numbers[f"extents.{number}.devices"] = extent.devices, 1, storage.data_devices - extent.first_device + 1
        numbers[f"extents.{number}.first_device"] = extent.first_device, 0, storage.data_devices
    for name, (value, least, most) in numbers.items():
        if not least <= value < most:
            yield f"{name} is {value}; allowed: {least} to {most - 1:,}"
    for name, word, words in (
        ("pool.replacement", system.pool.replacement, REPLACEMENTS),
        ("interval.start", system.interval.start, STARTS),
    ):
        if word not in words:
            yield f"{name} is {word!r}; allowed: {', '.join(words)}"


def _check_shapes(program: Program, registers: IntArray) -> None:
    wanted = {
        "operations": (program.operations, (None, OPERATION_WIDTH)),
        "entries": (program.entries, (len(program.classes),)), "alias": (program.alias, (None, 2)),
        "tables": (program.tables, (len(program.table_names), 2)),
        "distributions": (program.distributions, (None, 3)), "counters": (program.counters, (None,)),
        "counter_tables": (program.counter_tables, (len(program.counter_names), 2)),
        "regions": (program.regions, (len(program.region_names), 6)),
        "references": (program.references, (len(program.reference_names), 8)),
        "windows": (program.windows, (None, 4)), "loaded_windows": (program.loaded_windows, (None, 3)),
        "lock_tables": (program.lock_tables, (len(program.lock_names), 2)),
        "load_order": (program.load_order, (None, 4)), "initial_high": (program.initial_high, (None,)),
        "client_registers": (registers, (None, len(program.registers))),
    }  # fmt: skip
    for name, (array, shape) in wanted.items():
        fits = array.ndim == len(shape) and all(
            wide is None or wide == found for wide, found in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype != "int64":
            words = " x ".join("any" if wide is None else str(wide) for wide in shape)
            raise ValueError(f"{name} has shape {array.shape} of {array.dtype}; needed: {words} of int64")


def _counts(program: Program) -> Mapping[str, int]:
    """How many there are of what an operand of an operation points to, by its name."""
    counters = len(program.counter_tables)
    return {
        "r": len(program.registers), "s": len(program.streams), "table": len(program.tables),
        "distribution": len(program.distributions), "target": len(program.operations), "counter": counters,
        "limit": counters, "until": counters, "reference": len(program.references), "lock": len(program.lock_tables),
        "section": len(program.sections), "station": len(program.stations), "write": WITH_INDEX_PAGE + 1,
    }  # fmt: skip


def _columns(program: Program) -> Mapping[str, Mapping[str, tuple[IntArray, int, int]]]:
    """Columns of tables that point to rows of others: their values, how many rows there are, and the least value."""
    regions, references = program.regions, program.references
    tables, registers = len(program.tables), len(program.registers)
    return {
        "entries": {"operation": (program.entries, len(program.operations), 0)},
        "tables": {"end": (program.tables.sum(axis=1), len(program.alias) + 1, 1)},
        "counter_tables": {"end": (program.counter_tables.sum(axis=1), len(program.counters) + 1, 0)},
        "distributions": {"kind": (program.distributions[:, 0], len(DISTRIBUTION_KINDS), 0)},
        "regions": {"interior": (regions[:, 4], len(regions), NOTHING)},
        "references": {
            "kind": (references[:, 0], len(REFERENCE_KINDS), 0), "region": (references[:, 1], len(regions), 0),
            "r_group": (references[:, 2], registers, 0), "r": (references[:, 3], registers, 0),
            "table": (references[:, 4], tables, NOTHING), "window": (references[:, 5], len(program.windows), NOTHING),
            "s": (references[:, 6], len(program.streams), 0),
            "high": (references[:, 7], len(program.initial_high), NOTHING),
        },
        "load_order": {"region": (program.load_order[:, 0], len(regions), 0)},
        "loaded_windows": {
            "window": (program.loaded_windows[:, 0], len(program.windows), 0),
            "region": (program.loaded_windows[:, 1], len(regions), 0),
            "table": (program.loaded_windows[:, 2], tables, 0),
        },
    }  # fmt: skip
