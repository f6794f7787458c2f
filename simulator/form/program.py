"""The intermediate form: what a client does, as data that any engine can execute.

A program is a list of operations with integer operands over numbered tables: registers, counters, random
streams, samplers (alias tables), regions of pages, references into them, locks, critical sections. Nothing in
it is a Python callable. Time is in nanoseconds, probabilities are 32-bit cuts (simulator/form/samplers.py).

A client starts at operation 0 and never stops: wait (think or next arrival), choose a transaction class, jump to
its entry, run it, end, and start again at 0.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from oltpsim.simulator.form.arrays import IntArray

# Operations: code, then up to five operands as named here. r: register, s: stream purpose.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "think": ("distribution", "s"),  # wait a drawn time before the next transaction
    "arrive": (),  # wait for the next open arrival
    "choose": ("table", "s"),  # draw a class, go to its entry
    "end": (),  # the transaction is complete: back to 0
    "uniform": ("r", "bound", "add", "s"),  # r = add + 0..bound-1
    "sample": ("r", "table", "add", "s"),  # r = add + draw from alias table
    "other": ("r", "bound", "r_not", "s"),  # r = uniform over 0..bound-1 without the value of r_not
    "set": ("r", "value"),
    "combine": ("r", "r_high", "factor", "r_low"),  # r = r_high * factor + r_low
    "affine": (
        "r",
        "r_from",
        "factor",
        "add",
        "modulus",
    ),  # r = (r_from * factor + add) mod modulus; 0: no mod
    "maybe": ("cut", "s", "target"),  # jump with probability cut / 2**32
    "jump": ("target",),
    "loop": ("r", "target"),  # r -= 1; jump while r > 0
    "take": ("r", "counter", "r_group", "amount"),  # r = counter[group]; counter[group] += amount
    "claim": (
        "r",
        "counter",
        "r_group",
        "limit",
        "target",
    ),  # as take 1 while below counter `limit`, else jump
    "peek": ("r", "counter", "r_group", "back"),  # r = max(0, counter[group] - back)
    "cpu": ("user_ns", "system_ns", "client_ns"),  # CPU demand, paid before the next wait
    "work": ("distribution", "s"),  # CPU demand in user mode of a drawn length, paid before the next wait
    "visit": ("station", "distribution", "s"),  # queue at a station and be served for a drawn time
    "touch": ("reference", "write", "user_ns"),  # refer to a page: 0 read, 1 write, 2 write it and its index page
    "lock": ("lock", "r"),  # exclusive lock on row r, held to the end of the transaction
    "section": ("section", "hold_ns"),  # a critical section
    "log": ("bytes",),  # add to the transaction's log
    "commit": (),  # write the log as the engine's rule says, release locks
    "rollback": (),  # release locks, nothing logged
    "network": ("delay_ns",),  # a delay that occupies nobody
    "enter": (),  # go to the entry of the class that a terminal has chosen
    "visit_one": ("station", "r", "distribution", "s"),  # as visit, at the station that is r behind this one
    "gate": ("station", "counter", "r_group", "distribution", "s"),  # pass a gate that closes by itself
    "put": ("counter", "r_group", "r"),  # counter[group] = r
    "note": ("counter", "r_group"),  # counter[group] = the present instant
    "sleep_until": ("counter", "r_group"),  # wait until the instant in counter[group], if it is still to come
    "if_between": ("counter", "until", "r_group", "target"),  # jump if counter[group] <= now < until[group]
    "flush": (),  # wait for the log as a commit does, but keep the locks
    "if_equal": ("counter", "r_group", "r", "target"),  # jump if counter[group] = r
    "put_aside": ("reference", "write", "user_ns"),  # as touch, but where the pool lacks the page the change waits
}
WITH_INDEX_PAGE = 2
"""`write` of a touch that changes the page and the index page above it"""
CODES = {name: code for code, name in enumerate(OPERATIONS)}
OPERATION_WIDTH = 6
Code = Annotated[int, OPERATIONS]


class OperationRow(NamedTuple):
    """Operation with its operands, as OPERATIONS names them."""

    code: Code
    a: int
    b: int
    c: int
    d: int
    e: int


# Gates: three places of a counter for each group: passages left, closed until, passages between. A passage counts one
# off those left; the one that finds the last closes the gate for a drawn time. Who comes while it is closed waits at
# the station until it opens.

# Distributions of times: kind, then two operands in ns (a count, for erlang's second).
DISTRIBUTION_KINDS = ("constant", "exponential", "uniform", "erlang")
DistributionKind = Annotated[int, DISTRIBUTION_KINDS]


class Distribution(NamedTuple):
    """Times: a constant a; exponential of mean a; uniform in a..b; erlang of mean a, the sum of b equal phases; ns."""

    kind: DistributionKind
    a: int
    b: int


# References: how an operation finds its page in a region. r_group chooses the group.
#   popular: offset drawn from alias `table`; the page is also remembered in window `window` of group `r` (if >= 0)
#   row: the page of the row in register r
#   append: as row, but a page that no row of the group has reached yet is created, not read
#   recent: a page drawn evenly from what window `window` of group `r` remembers
REFERENCE_KINDS = ("popular", "row", "append", "recent")
ReferenceKind = Annotated[int, REFERENCE_KINDS]


class ReferenceRow(NamedTuple):
    """Way to find a page in a region; operands by their numbers, -1 for none."""

    kind: ReferenceKind
    region: int
    group_register: int
    row_register: int
    sampler: int
    window: int
    stream: int
    high: int


class AliasEntry(NamedTuple):
    """Value of an alias table: below the cut it is drawn, else `other`."""

    cut: int
    other: int


class TableSpan(NamedTuple):
    """Part of an array whose parts are laid end to end."""

    start: int
    length: int


class WindowRow(NamedTuple):
    """Rings that remember the last pages of each group; `seen`: the first counter of what each ring has taken in."""

    start: int
    length: int
    groups: int
    seen: int


class LoadRow(NamedTuple):
    """Pages of a group of a region, in the order of a load."""

    region: int
    group: int
    first_page: int
    pages: int


class RegionRow(NamedTuple):
    """Pages of a table or index, in `groups` of `group_pages` each, from page `base` on: a row of a program's regions.

    Rows fill pages in order; a group is a ring. `interior` is the region of index pages above it (or -1), one per
    `fanout` pages.
    """

    base: int
    groups: int
    group_pages: int
    rows_per_page: int
    interior: int
    fanout: int

    @property
    def end_page(self) -> int:
        """The first page behind it."""
        return self.base + self.groups * self.group_pages


@dataclass(frozen=True)
class Program:
    """See the module's text. All arrays are int64; tables are (rows, columns)."""

    classes: tuple[str, ...]
    main_class: int
    entries: IntArray
    operations: Annotated[IntArray, OperationRow]
    registers: tuple[str, ...]
    streams: tuple[str, ...]
    alias: Annotated[IntArray, AliasEntry]
    tables: Annotated[IntArray, TableSpan]
    """(start, length) of each alias table"""
    table_names: tuple[str, ...]
    distributions: Annotated[IntArray, Distribution]
    counters: IntArray
    """initial values, tables laid end to end"""
    counter_tables: Annotated[IntArray, TableSpan]
    counter_names: tuple[str, ...]
    regions: Annotated[IntArray, RegionRow]
    region_names: tuple[str, ...]
    references: Annotated[IntArray, ReferenceRow]
    reference_names: tuple[str, ...]
    initial_high: IntArray
    """highest page that appends have reached at the start, by `high` of the reference + group"""
    windows: Annotated[IntArray, WindowRow]
    """(start, length, groups, first counter) of each window of recent pages"""
    loaded_windows: IntArray
    """(window, region, table): a load fills the rings with pages of the region, offsets drawn from the alias table"""
    lock_tables: Annotated[IntArray, TableSpan]
    """(start, rows) of each kind of lock"""
    lock_names: tuple[str, ...]
    sections: tuple[str, ...]
    stations: tuple[str, ...]
    load_order: Annotated[IntArray, LoadRow]
    """(region, group, first_page, pages): what a bulk load writes, in order"""

    def region(self, number: int) -> RegionRow:
        """A region by its number."""
        return RegionRow(*self.regions[number].tolist())

    @property
    def pages(self) -> int:
        """Pages of the whole database."""
        return int((self.regions[:, 0] + self.regions[:, 1] * self.regions[:, 2]).max(initial=1))
