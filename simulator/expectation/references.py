"""Which pages a program refers to, how and how often: read once, for warm starts and formulas alike.

Time is counted in transactions of the whole mix.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation.values import Frontier, Numbers, effective, shares_of
from oltpsim.simulator.expectation.visits import ROWS, ProgramReader, Touches
from oltpsim.simulator.form import REFERENCE_KINDS, FloatArray, IntArray, ranks

POPULAR, ROW, APPEND, RECENT = (REFERENCE_KINDS.index(kind) for kind in ("popular", "row", "append", "recent"))
SHARE_STEPS = 1000
"""groups whose shares differ by less than this part of the largest one are alike"""


@dataclass(frozen=True, eq=False)
class Use:
    """References of one operation of one class whose row is one part of what its register may hold."""

    key: tuple[int, int, int]
    """its place among the touches of its class"""
    touches: Touches
    kind: int
    region: int
    table: int
    window: int
    per_transaction: float
    """references in a transaction of the mix"""
    fresh: float
    """references in a transaction of the mix, without those to the page just referred to"""
    groups: FloatArray
    """share of each group of the region"""
    along: FloatArray
    """chance of each page of a group; empty where a window or a moving counter decides on the page"""
    frontier: Frontier | None
    """moving counter that the row follows"""

    @property
    def new_share(self) -> float:
        """Share of references that are not to the page just referred to."""
        return 1.0 - self.touches.repeats / self.touches.visits

    @property
    def written(self) -> float:
        """References that write, in a transaction of the mix."""
        return self.per_transaction * self.touches.write


class RecentWindow:
    """Entries that the rings of a window remember, and draws from them, in a transaction of the mix."""

    def __init__(self, number: int, reader: ProgramReader, uses: Sequence[Use]) -> None:
        """`uses`: the entries and draws of this window."""
        self.number = number
        _, self.length, owners, _ = reader.program.windows[number].tolist()
        self.entries = [use for use in uses if use.kind == POPULAR]
        self.entries_per_transaction = sum(use.per_transaction for use in self.entries)
        shares = np.zeros(owners)
        for use in self.entries:
            shares += use.per_transaction * shares_of(use.touches.row, owners)
        self.owners = shares / max(float(shares.sum()), 1e-300)
        """share of the entries, by owner of a ring"""
        self.owners_in_use = effective(shares)
        self.span = self.length * self.owners_in_use / max(self.entries_per_transaction, 1e-300)
        """transactions for which a page is remembered, on average over the owners"""
        self.draws: dict[int, float] = defaultdict(float)
        """draws in a transaction of each class that draws"""
        for use in uses:
            if use.kind == RECENT:
                self.draws[use.touches.transaction_class] += use.touches.visits
        looking = sum(float(reader.mix[each]) for each in self.draws)
        hitting = sum(float(reader.mix[each]) * self.hit(each) for each in self.draws)
        self.follow_rate = hitting / self.owners_in_use
        """transactions that draw a remembered entry, once or more often, per transaction"""
        self.looks = self.span * looking / self.owners_in_use
        """transactions that draw from a ring while it remembers an entry"""
        self.hit_share = hitting / max(looking, 1e-300)
        """share of these that draw the entry, once or more often"""
        self.drawn = -math.log1p(-min(self.hit_share, 1.0 - 1e-9))
        """mean of a Poisson number of draws with that share of one or more"""

    def hit(self, transaction_class: int) -> float:
        """Chance that a transaction of a class draws one entry of its ring, once or more often."""
        return 1.0 - (1.0 - 1.0 / self.length) ** self.draws[transaction_class]

    def first_share(self, transaction_class: int) -> float:
        """Share of a transaction's draws that are the first of their entry."""
        return min(1.0, self.length * self.hit(transaction_class) / self.draws[transaction_class])


class PageUses:
    """All uses of a program in the order of its classes, and its windows."""

    def __init__(self, reader: ProgramReader) -> None:
        """Raises InputError for a table of popularity that is longer than a group of its region."""
        self.reader, self.program = reader, reader.program
        self._by_table: dict[tuple[int, int], FloatArray] = {}
        self._along: dict[tuple[int, int, int, int], FloatArray] = {}
        self.uses = [
            self._use(key, touches, float(share))
            for share, work in zip(reader.mix, reader.works, strict=True)
            for key, touches in work.touches.items()
        ]
        self.windows = [
            RecentWindow(number, reader, [use for use in self.uses if use.window == number])
            for number in range(len(self.program.windows))
        ]

    def by_region(self, *, put_aside: bool = False) -> dict[int, list[Use]]:
        """Uses of each region; or, with `put_aside`, changes that refer to a page only if the pool has it."""
        found: dict[int, list[Use]] = defaultdict(list)
        for use in self.uses:
            if use.touches.put_aside == put_aside:
                found[use.region].append(use)
        return found

    def by_group(self, counters: IntArray, counter: int, region: int) -> IntArray:
        """A counter by group of a region; `counters` of the whole program."""
        start, length = self.program.counter_tables[counter].tolist()
        groups = self.program.region(region).groups
        return np.asarray(counters[start + np.arange(groups) * length // groups], dtype=np.int64)

    def _use(self, key: tuple[int, int, int], touches: Touches, share: float) -> Use:
        kind, region, _, _, table, window, *_ = self.program.references[touches.reference].tolist()
        _, groups, group_pages, rows_per_page, *_ = self.program.region(region)
        along, frontier = np.zeros(0), None
        if kind == POPULAR:
            along = self._popularity(table, region)
        elif kind in ROWS:
            ((_, part),) = touches.row
            low, numbers = 0, part
            if isinstance(part, Frontier):
                low, numbers = part.factor * round(float(self.reader.initial(part.counter).mean())), part.offset
                frontier = part if part.factor and self.reader.moves_per_transaction[part.counter] > 0 else None
            if frontier is None:
                assert isinstance(numbers, Numbers)
                along = self._pages_of(numbers.share, low + numbers.low, rows_per_page, group_pages)
        return Use(
            key,
            touches,
            kind,
            region,
            table,
            window,
            share * touches.visits,
            share * (touches.visits - touches.repeats),
            shares_of(touches.group, groups),
            along,
            frontier,
        )

    def _pages_of(self, rows: FloatArray, low: int, rows_per_page: int, group_pages: int) -> FloatArray:
        """Chance of each page of a group by that of rows from `low` on; draws alike have one array of rows."""
        key = id(rows), low, rows_per_page, group_pages
        if key not in self._along:
            first, last = low // rows_per_page, (low + len(rows) - 1) // rows_per_page
            rows_of = np.full(last - first + 1, rows_per_page)
            rows_of[0] -= low - first * rows_per_page
            rows_of[-1] -= (last + 1) * rows_per_page - low - len(rows)
            # so many rows of each page, the first and the last one cut
            offsets = np.repeat(np.arange(first, last + 1) % group_pages, rows_of)
            self._along[key] = np.bincount(offsets, weights=rows, minlength=group_pages).astype(np.float64)
        return self._along[key]

    def _popularity(self, table: int, region: int) -> FloatArray:
        """Chance of each page of a group by an alias table, which has a row for each or for the first ones."""
        found = self._by_table.get((table, region))
        if found is None:
            found = np.zeros(self.program.region(region).group_pages)
            pmf = self.reader.pmf(table)
            if len(pmf) > len(found):
                raise InputError(
                    f"table {self.program.table_names[table]!r} draws from {len(pmf):,} pages; a group of region "
                    f"{self.program.region_names[region]!r} has {len(found):,}: draw from so many at most"
                )
            found[: len(pmf)] = pmf
            self._by_table[table, region] = found
        return found


class AlikeGroups:
    """Kinds of groups that have about the same of each of the `shares` and are at the same `places`; both by group."""

    def __init__(self, shares: Sequence[FloatArray], places: Sequence[IntArray] = ()) -> None:
        marks = [np.round(share / max(float(np.abs(share).max()), 1e-300) * SHARE_STEPS) for share in shares]
        self.kinds = np.zeros(len([*marks, *places][0]), dtype=np.int64)
        """kind of each group"""
        for mark in (*marks, *places):
            steps = ranks(mark.astype(np.int64))
            if steps.any():
                self.kinds = ranks(self.kinds * (int(steps.max()) + 1) + steps)
        _, first, counts = np.unique(self.kinds, return_index=True, return_counts=True)
        self.first, self.counts = first.astype(np.int64), counts.astype(np.float64)
        """first group of each kind, and how many there are of it"""

    def mean(self, share: FloatArray) -> FloatArray:
        """Mean share of a kind's groups, by kind: together they have what they have one by one."""
        apart = np.bincount(self.kinds, share - share[self.first][self.kinds])
        return np.asarray(share[self.first] + apart / self.counts)
