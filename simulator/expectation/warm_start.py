"""The state of a machine that has run for long, drawn from the popularity of its pages (popularity.py).

A page's age is the time since its last reference, in transactions. Each page draws one; index pages are as old as the
youngest page below them, and what windows remember is drawn entry by entry. All else follows from ages:

- LRU: the pool holds the youngest pages, in the order of their ages. The age that just fits is its characteristic
  time (Che, Tung, Wang, "Hierarchical Web caching systems", IEEE JSAC 20, 2002).
- A list with a midpoint: at its last reference a page was out, so that it is an old one that stays for the time of the
  old part, or in, so that it is young and stays for that of both. These times are so long that the pages that are left
  fill the pool, and the old ones their share of it. Pages are in the order in which they will go.
- CLOCK: at its last reference a page was out, or in with a usage count, by the chain that `UsageCounts` solves, whose
  unit is a revolution of the hand; since then the hand has taken off what its age says. A revolution is so long that
  the pages that are left fill the pool.
- A page is dirty if one of the references since it came in was a write; the background writer has written those that
  are replaced first, down to its low mark. Where pages are flushed by their age in the log, those are clean that were
  first changed before half of the age at which all flushing is asked for, and those that cleaners keep clean.
- The page cache holds what was read or written last, among all that the pool missed or wrote. All of it is clean.

Where pages that are referred to leave buffers empty, what the load has left is in them. Counters have moved on from
where a load leaves them all alike; registers and locks are as after a load. Numbers are drawn by page, so that engines
find the same state wherever it is drawn.
"""

import math
from collections import defaultdict
from functools import cached_property
from itertools import product

import numpy as np

from oltpsim.simulator.expectation.popularity import APPEND, Popularity
from oltpsim.simulator.expectation.use_counting import UsageCounts, usage_counts
from oltpsim.simulator.form import (
    CUT_ONE,
    MOST_USAGE,
    OLD_PERCENT,
    POOL_COLUMNS,
    BoolArray,
    FloatArray,
    Flushing,
    IntArray,
    Program,
    StartState,
    System,
    clean_tail_pages,
    kept_dirty_pages,
    uniforms,
)

CHUNK = 1 << 16
"""pages that are drawn at a time, as many as stay in a processor's cache"""
STEPS = 14
"""halvings in a search"""
SLACK, INDEX_SHARE = 0.01, 0.97
"""how much longer than needed ages are drawn, as a logarithm; share of the expected index pages that is counted on"""
SAMPLE = 1 << 14
"""pages among which a revolution's length is sought"""
LEAST_OLD_SHARE = 1e-3
"""where the search for an old part's time begins"""
STAY = 4.0
"""revolutions that a page stays in a CLOCK, about, with some references"""
ROUNDS = 2
"""searches, each with the rates that the last one's length gives to pages whose rates change"""


def warm_state(system: System, seed: int) -> StartState:
    """Draw the state. Raises InputError for a program whose loops have no bound."""
    return _Draw(system, seed).state()


class _Draw:
    """One draw. Arrays of ages have one number for each page of the database; others one for each page of `numbers`."""

    def __init__(self, system: System, seed: int) -> None:
        self.system, self.seed, self.program = system, seed, system.program
        self.popularity = Popularity(system, seed)
        self.is_clock = system.pool.replacement == "clock"
        self.needs_all = system.pool.replacement != "lru" or not system.direct_io
        self.old_share = 1.0
        """how long a page that was only read stays, by how long others do"""
        self.windows, self.seen = nothing_remembered(self.program)
        self.ages = np.full(self.program.pages, np.inf)

    def state(self) -> StartState:
        """Everything."""
        capacity, longest = self.system.pool.pages, self.popularity.longest
        self._draw_pages()
        self._draw_windows()
        self._draw_index()
        pages = _WarmPages(self, np.flatnonzero(np.isfinite(self.ages)))
        if self.is_clock:
            turn, lives = self._clock(pages)
            inside = _smallest(pages.ages / lives, capacity)
        elif self.system.pool.replacement == "midpoint":
            turn, lives = self._midpoint(pages)
            inside = _smallest(pages.ages - lives, capacity)
        else:
            inside = _smallest(pages.ages, capacity)
            turn = float(pages.ages[inside].max()) if len(pages.numbers) > capacity else longest
            lives = np.full(len(pages.numbers), turn)
        if not self.needs_all:
            pages, lives, inside = pages.part(inside), lives[inside], inside[inside]
        changed = pages.changed(turn)
        at = np.flatnonzero(inside)
        if self.is_clock:
            left = lives[at] - pages.ages[at]
            order = np.argsort(left % turn)
            usage = np.clip(np.floor(left / turn), 0, MOST_USAGE).astype(np.int64)[order]
        else:
            order = np.argsort(-pages.ages[at] if self.old_share == 1.0 else lives[at] - pages.ages[at])
            usage = np.ones(len(at), dtype=np.int64)
        order = at[order]
        dirty = changed[order]
        if self.system.flushing is not None:
            dirty &= pages.stay_dirty(turn, self._flushed_after(self.system.flushing))[order]
            dirty[: clean_tail_pages(self.system.daemons)] = False
        kept = kept_dirty_pages(self.system.daemons, self.system.pool.pages)
        cleaned = np.flatnonzero(dirty)[: max(np.count_nonzero(dirty) - kept, 0)]
        dirty[cleaned] = False
        page_cache = np.zeros(0, dtype=np.int64)
        if not self.system.direct_io:
            clean_from = float(pages.ages[order[cleaned]].min(initial=np.inf))
            page_cache = self._page_cache(pages, turn, np.minimum(lives, clean_from), changed)
        loaded = self._loaded(pages.numbers[order], capacity - len(order))
        pool = np.zeros((len(loaded) + len(order), len(POOL_COLUMNS)), dtype=np.int64)
        pool[: len(loaded), 0], pool[len(loaded) :, 0] = loaded, pages.numbers[order]
        pool[: len(loaded), 1], pool[len(loaded) :, 1] = int(not self.is_clock), usage
        pool[len(loaded) :, 2] = dirty
        pool[:, 3] = 1
        swapped = max(len(pool) - self.system.pool.resident_pages, 0)
        if swapped:
            oldest = np.argsort(np.concatenate([np.full(len(loaded), -np.inf), -pages.ages[order]]), kind="stable")
            pool[oldest[:swapped], 3] = 0
        return StartState(pool, page_cache, self.windows, self.seen, self.popularity.counters, self.popularity.high)

    def _flushed_after(self, flushing: Flushing) -> float:
        """Transactions after which a dirty page has been flushed: those that log half of the whole age (assumption)."""
        reader = self.popularity.reader
        log_bytes = sum(
            float(share) * work.log_bytes for share, work in zip(reader.mix, reader.works, strict=True) if share > 0
        )
        return flushing.whole_age_bytes / 2.0 / max(log_bytes, 1e-12)

    def _draw_pages(self) -> None:
        """Ages of all pages that rows describe; where no others matter, of those that may be young enough."""
        popularity, limits = self.popularity, self._limits()
        for region in popularity.uses:
            base, groups, group_pages, *_ = self.program.region(region)
            kinds, first_rows = popularity.kinds[region], popularity.first_rows[region]
            by_kind = limits[first_rows[0] : first_rows[-1] + group_pages].reshape(-1, group_pages)
            step, width = max(CHUNK // group_pages, 1), min(CHUNK, group_pages)
            for group, column in product(range(0, groups, step), range(0, group_pages, width)):
                here = kinds[group : group + step]
                limit = by_kind[here if len(by_kind) > 1 else slice(None), column : column + width]
                first = base + group * group_pages + column
                shape = len(here), limit.shape[1]
                numbers = first + np.arange(shape[0] * shape[1])  # either whole groups or a part of one
                chances = uniforms(self.seed, "warm start: ages", numbers)
                kept = np.flatnonzero(chances.reshape(shape) < limit)
                rows = first_rows[here[kept // shape[1]]] + column + kept % shape[1]
                self.ages[first + kept] = popularity.when(rows, -np.log1p(-chances[kept]))

    def _limits(self) -> FloatArray:
        """By row: the chance that a page is young enough for the pool, with some to spare."""
        popularity = self.popularity
        rows = np.arange(len(popularity.copies))
        if self.needs_all:
            return np.ones(len(rows))
        wanted = self.system.pool.pages
        wanted = wanted + 6.0 * wanted**0.5 + 50.0
        blocks = [
            (first, first + group_pages, fanout)
            for region in popularity.uses
            for _, _, group_pages, _, index, fanout in [self.program.region(region)]
            for first in popularity.first_rows[region].tolist()
            if index >= 0
        ]

        def young(time: float) -> tuple[FloatArray, float]:
            references = popularity.expected(rows, np.full(len(rows), time))
            count = float((popularity.copies * -np.expm1(-references)).sum())
            for first, end, fanout in blocks:
                above = np.add.reduceat(references[first:end], np.arange(0, end - first, fanout))
                share = min(fanout, end - first) / fanout
                count += INDEX_SHARE * share * float(popularity.copies[first] * -np.expm1(-above).sum())
            return np.asarray(-np.expm1(-references)), count

        low, high = math.log(float(popularity.times[1])), math.log(float(popularity.times[-1])) + 10.0
        if young(math.exp(high))[1] < wanted:
            return np.ones(len(rows))
        while high - low > SLACK:
            middle = (low + high) / 2.0
            low, high = (middle, high) if young(math.exp(middle))[1] < wanted else (low, middle)
        return young(math.exp(high))[0]

    def _draw_windows(self) -> None:
        """What each owner's ring remembers, and what that makes of the ages of these pages."""
        popularity = self.popularity
        for window in popularity.windows:
            start, length, owners, first_seen = self.program.windows[window.number].tolist()
            used = np.flatnonzero(window.owners > 0)
            total = window.entries_per_transaction
            if not len(used) or total <= 0:
                continue
            places = start + used[:, None] * length + np.arange(length)
            by_reference: dict[int, FloatArray] = defaultdict(lambda: np.zeros(1))
            for use in window.entries:
                number = use.touches.reference
                by_reference[number] = by_reference[number] + use.per_transaction * use.groups
            shares = np.cumsum([groups.sum() for groups in by_reference.values()]) / total
            chosen = np.zeros(places.shape, dtype=np.int64)
            if len(shares) > 1:
                drawn = self._uniforms_by_entry("entries", places)
                chosen = np.searchsorted(shares[:-1], drawn, side="right")
            pages = np.zeros(places.shape, dtype=np.int64)
            for number, (reference, groups) in enumerate(by_reference.items()):
                here = chosen == number
                owner = np.broadcast_to(used[:, None], places.shape)[here]
                pages[here] = self._pages_entered(reference, groups, owner, owners, places[here])
            self.windows[places] = pages
            self.seen[first_seen + used] = length
            since = (length - 1 - np.arange(length) + self._uniforms_by_entry("times", places)) / (
                window.owners[used, None] * total
            )
            follow = window.follow_rate
            if follow > 0:
                since = np.minimum(since, -np.log1p(-self._uniforms_by_entry("draws", places)) / follow)
            np.minimum.at(self.ages, pages.ravel(), since.ravel())

    def _uniforms_by_entry(self, purpose: str, places: IntArray) -> FloatArray:
        return uniforms(self.seed, f"warm start: windows, {purpose}", places)

    def _pages_entered(
        self, reference: int, groups: FloatArray, owner: IntArray, owners: int, places: IntArray
    ) -> IntArray:
        """Pages that popular references have entered; the group is the owner's if there are as many or some of each."""
        _, region, _, _, table, *_ = self.program.references[reference].tolist()
        base, _, group_pages, *_ = self.program.region(region)
        group = owner * len(groups) // owners
        if (groups[group] == 0).any():
            drawn = self._uniforms_by_entry("groups", places)
            group = np.searchsorted(np.cumsum(groups) / groups.sum(), drawn, side="right")
        columns, cuts = self._uniforms_by_entry("columns", places), self._uniforms_by_entry("cuts", places)
        return np.asarray(base + group * group_pages + pages_drawn(self.program, table, columns, cuts))

    def _draw_index(self) -> None:
        """An index page was referred to right before the youngest page below it."""
        for base, groups, group_pages, _, index, fanout in self.program.regions.tolist():
            if index >= 0:
                below = self.ages[base : base + groups * group_pages]
                youngest = np.nextafter(np.minimum.reduceat(below, np.arange(0, len(below), fanout)), np.inf)
                first = self.program.region(index).base
                above = self.ages[first : first + len(youngest)]
                np.minimum(above, youngest[: len(above)], out=above)

    def _clock(self, pages: "_WarmPages") -> tuple[float, FloatArray]:
        """A revolution of the hand, and for how long each page stays after its last reference; transactions."""
        capacity, longest = self.system.pool.pages, self.popularity.longest
        if len(pages.numbers) <= capacity:
            return longest, pages.clock_lives(longest, longest)
        stride = max(len(pages.numbers) // SAMPLE, 1)
        sample = pages.part(slice(None, None, stride))
        wanted = capacity * len(sample.numbers) / len(pages.numbers)
        turn = float(np.partition(pages.ages, capacity - 1)[capacity - 1]) / 2.0
        for _ in range(ROUNDS):
            rates = sample.rates(turn)
            low, high = math.log(turn) - 8.0, math.log(turn) + 8.0
            for _ in range(STEPS):
                middle = (low + high) / 2.0
                fits = np.count_nonzero(sample.ages < sample.clock_lives(math.exp(middle), turn, rates)) < wanted
                low, high = (middle, high) if fits else (low, middle)
            turn = math.exp(high)
        return turn, pages.clock_lives(turn, turn)

    def _midpoint(self, pages: "_WarmPages") -> tuple[float, FloatArray]:
        """How long a young page stays after its last reference, and how long each page does; transactions.

        Sets `old_share`.
        """
        capacity, longest = self.system.pool.pages, self.popularity.longest
        if len(pages.numbers) <= capacity:
            return longest, np.full(len(pages.numbers), longest)
        stride = max(len(pages.numbers) // SAMPLE, 1)
        sample = pages.part(slice(None, None, stride))
        wanted = capacity * len(sample.numbers) / len(pages.numbers)
        turn = full = float(np.partition(pages.ages, capacity - 1)[capacity - 1])
        for _ in range(ROUNDS):
            known = sample.rates(turn)
            least, most = math.log(LEAST_OLD_SHARE), 0.0
            for _ in range(STEPS):
                self.old_share = math.exp((least + most) / 2.0)
                low, high = math.log(turn) - 8.0, math.log(turn) + 8.0
                for _ in range(STEPS + 4):
                    middle = (low + high) / 2.0
                    fits = np.count_nonzero(sample.ages < sample.midpoint_lives(math.exp(middle), known)) < wanted
                    low, high = (middle, high) if fits else (low, middle)
                full = math.exp(high)
                left = sample.midpoint_lives(full, known) - sample.ages
                old = np.count_nonzero((left > 0.0) & (left < self.old_share * full))
                if 100 * old > wanted * OLD_PERCENT:
                    most = math.log(self.old_share)
                else:
                    least = math.log(self.old_share)
            turn = full
        return turn, pages.midpoint_lives(turn, pages.rates(turn))

    def _page_cache(self, pages: "_WarmPages", turn: float, lives: FloatArray, changed: BoolArray) -> IntArray:
        """Pages of the page cache, the one used longest ago first. `lives`: from last references to writes."""
        cache, ages = self.system.page_cache, pages.ages
        came_in = ages + pages.stays(turn, lives)
        made = pages.are_new_within(came_in)
        is_written = changed & (ages > lives)
        events = np.where(is_written, ages - lives, np.where(made, np.inf, came_in))
        if cache.free_behind:  # what has been written is replaced first
            events[is_written] += 2.0 * float(np.max(events, where=np.isfinite(events), initial=0.0))
        places = np.flatnonzero(np.isfinite(events))
        places = places[_smallest(events[places], cache.pages)]
        found = pages.numbers[places[np.argsort(-events[places])]]
        return np.concatenate([self._loaded(found, cache.pages - len(found)), found])

    def _loaded(self, held: IntArray, most: int) -> IntArray:
        """Up to `most` pages that a load writes last and that are not `held`, in load order."""
        if most <= 0:
            return np.zeros(0, dtype=np.int64)
        region, group, first, count = self.program.load_order.T
        start = self.program.regions[region, 0] + group * self.program.regions[region, 2] + first
        ends = np.cumsum(count)
        pages = np.arange(int(count.sum())) + np.repeat(start - (ends - count), count)
        others = np.ones(self.program.pages, dtype=np.bool_)
        others[held] = False
        pages = pages[others[pages]]
        _, at = np.unique(pages, return_index=True)
        return pages[np.sort(at)][-most:]


class _WarmPages:
    """Pages that have an age, and what follows from their rates; arrays of shape (pages,)."""

    def __init__(self, draw: _Draw, numbers: IntArray) -> None:
        self.draw, self.numbers, self.ages = draw, numbers, draw.ages[numbers]
        self.popularity, self.program = draw.popularity, draw.program
        self.known_rates: dict[float, FloatArray] = {}

    def part(self, which: slice | BoolArray) -> "_WarmPages":
        """Some of them."""
        return _WarmPages(self.draw, self.numbers[which])

    @cached_property
    def rows(self) -> IntArray:
        """Rows of pages, -1 for index pages."""
        rows = np.full(len(self.numbers), -1, dtype=np.int64)
        for region in self.popularity.uses:
            base, groups, group_pages, *_ = self.program.region(region)
            inside = slice(*np.searchsorted(self.numbers, [base, base + groups * group_pages]).tolist())
            rows[inside] = self.popularity.rows_of(self.numbers[inside] - base, region)
        return rows

    def rates(self, time: float) -> FloatArray:
        """References per transaction in the `time` before the last one; of index pages the sum over those below."""
        if time in self.known_rates:
            return self.known_rates[time]
        found = self.known_rates[time] = np.zeros(len(self.numbers))
        drawn = np.flatnonzero(self.rows >= 0)
        rows, ages = self.rows[drawn], self.ages[drawn]
        popularity = self.popularity
        found[drawn] = (popularity.expected(rows, ages + time) - popularity.expected(rows, ages)) / time
        if self.draw.needs_all:
            above = np.flatnonzero(self.rows < 0)
            found[above] = self._rates_above(time)[self.numbers[above]]
        return found

    def _rates_above(self, time: float) -> FloatArray:
        whole = np.zeros(self.program.pages)
        for region in self.popularity.uses:
            base, groups, group_pages, _, index, fanout = self.program.region(region)
            if index < 0:
                continue
            pages = np.arange(groups * group_pages)
            ages = self.draw.ages[base : base + len(pages)]
            rows = self.popularity.rows_of(pages, region)
            seen = np.isfinite(ages)
            rates = np.zeros(len(pages))
            rates[seen] = self.popularity.expected(rows[seen], ages[seen] + time)
            rates[seen] -= self.popularity.expected(rows[seen], ages[seen])
            first = self.program.region(index).base
            sums = np.add.reduceat(rates, np.arange(0, len(pages), fanout)) / time
            whole[first : first + len(sums)] += sums
        return whole

    def changed(self, turn: float) -> BoolArray:
        """Whether one of the references since a page came in was a write."""
        popularity = self.popularity
        always, never = popularity.writers
        most = np.ones(len(always))  # of references that writing entries draw after them few are writes
        for window in popularity.windows:
            at_once = min(1.0, STAY * turn / window.span)
            most[popularity.window == window.number] = max(at_once, 1.0 / (1.0 + window.looks * window.hit_share))
        always = always & (most == 1.0)
        drawn_pages = self.rows >= 0
        changed = drawn_pages & always[self.rows]
        mixed = np.flatnonzero(drawn_pages & ~always[self.rows] & ~never[self.rows])
        mixed_pages = _WarmPages(self.draw, self.numbers[mixed])
        rates = mixed_pages.rates(turn)
        missing = mixed_pages.missing(turn, rates)
        references = popularity.expected(mixed_pages.rows, mixed_pages.ages + turn)
        writes = popularity.expected(mixed_pages.rows, mixed_pages.ages + turn, writes=True)
        # a page that hasn't any has been entered by a window so recently, for which it was written
        share = np.where(references > 0, np.minimum(writes / np.maximum(references, 1e-300), 1.0), 1.0)
        reads = 1.0 - share * most[mixed_pages.rows]
        gone = np.exp(-rates * turn) if self.draw.old_share < 1.0 else missing
        clean = reads * gone / np.maximum(1.0 - (1.0 - gone) * reads, 1e-300)
        if self.draw.old_share < 1.0:  # one reference of a page that was only read, and one more of a young one
            clean = np.where(mixed_pages.are_read(missing), reads, reads * clean)
        changed[mixed] = uniforms(self.draw.seed, "warm start: writes", mixed_pages.numbers) >= clean
        return changed

    def stay_dirty(self, turn: float, flushed_after: float) -> BoolArray:
        """Whether changed pages are dirty still, if each is flushed so many transactions after it became dirty.

        A page that is changed c times in that time is dirty for c / (1 + c) of all time, and only if one of its changes
        was within it. One that has come in since then hasn't been flushed.
        """
        popularity, seed, rows = self.popularity, self.draw.seed, np.maximum(self.rows, 0)
        within = np.full(len(rows), flushed_after)
        references, writes = (popularity.expected(rows, within, writes=each) for each in (False, True))
        last_reads = 1.0 - np.minimum(writes / np.maximum(references, 1e-300), 1.0)
        before = writes - popularity.expected(rows, np.minimum(self.ages, within), writes=True)
        changed = uniforms(seed, "warm start: writes", self.numbers) >= last_reads * np.exp(-before)
        flushed = 1.0 - writes / (1.0 + writes) / np.maximum(-np.expm1(-writes), 1e-300)
        rates = self.rates(turn)
        flushed *= np.exp(-rates * self.missing(turn, rates) * flushed_after)
        return changed & (self.ages < within) & (uniforms(seed, "warm start: flushed", self.numbers) >= flushed)

    def missing(self, turn: float, rates: FloatArray) -> FloatArray:
        """Chance that a page's last reference missed; `turn`: how long a page stays, or a revolution."""
        load = rates * turn
        if not self.draw.is_clock:
            out = np.exp(-load)
            kept = -np.expm1(-load * self.draw.old_share)
            return out if self.draw.old_share == 1.0 else np.asarray(out / np.maximum(out + kept, 1e-300))
        chances = np.ones(len(load))
        for clock, here in self.clocks(turn):
            chances[here] = clock.missing(load[here])
        return chances

    def stays(self, turn: float, lives: FloatArray) -> FloatArray:
        """From a page's last miss to its last reference: 0, or an exponential time whose mean makes the cycle whole."""
        seed, numbers = self.draw.seed, self.numbers
        rates = np.maximum(self.rates(turn), 1e-300)
        missing = self.missing(turn, rates)
        cycle = 1.0 / np.maximum(rates * missing, 1e-300)
        mean = np.maximum(cycle - lives - 1.0 / rates, 0.0) / np.maximum(1.0 - missing, 1e-9)
        drawn = -np.log1p(-uniforms(seed, "warm start: stays", numbers)) * mean
        return np.where(uniforms(seed, "warm start: misses", numbers) < missing, 0.0, drawn)

    def are_new_within(self, times: FloatArray) -> BoolArray:
        """Whether pages were made, by appending, within these times."""
        references = self.program.references
        appended = np.zeros(len(self.program.regions), dtype=np.bool_)
        appended[references[references[:, 0] == APPEND, 1]] = True
        made = np.zeros(len(self.numbers), dtype=np.bool_)
        for region in np.flatnonzero(appended).tolist():
            base, groups, group_pages, *_ = self.program.region(region)
            here = np.flatnonzero(
                (self.numbers >= base) & (self.numbers < base + groups * group_pages) & (self.rows >= 0)
            )
            rows, end = self.rows[here], np.full(len(here), self.popularity.times[-1])
            whole = self.popularity.expected(rows, end)
            made[here] = self.popularity.expected(rows, np.minimum(times[here], end)) >= whole * (1.0 - 1e-9)
        return made

    def clock_lives(self, turn: float, seen_in: float, rates: FloatArray | None = None) -> FloatArray:
        """For how long pages stay in a CLOCK after their last reference, at a revolution of `turn` transactions.

        `seen_in`: about that revolution, which rates and what windows draw are taken from.
        """
        load = (self.rates(seen_in) if rates is None else rates) * turn
        left = np.zeros(len(load))
        for clock, here in self.clocks(seen_in):
            left[here] = clock.revolutions_left(load[here], [draws[here] for draws in self.clock_draws])
        return turn * left

    @cached_property
    def clock_draws(self) -> list[FloatArray]:
        """What `_Clock.revolutions_left` takes, the same in every step of a search."""
        return [uniforms(self.draw.seed, f"warm start: {purpose}", self.numbers) for purpose in _CLOCK_DRAWS]

    def midpoint_lives(self, turn: float, rates: FloatArray) -> FloatArray:
        """For how long pages stay in a list with a midpoint after their last reference."""
        return np.where(self.are_read(self.missing(turn, rates)), self.draw.old_share * turn, turn)

    def are_read(self, missing: FloatArray) -> BoolArray:
        """Whether pages' last references missed, in a list with a midpoint: nobody has made them young."""
        return np.asarray(uniforms(self.draw.seed, "warm start: misses", self.numbers) < missing)

    def clocks(self, turn: float) -> list[tuple[UsageCounts, IntArray]]:
        """Pages by the draws that follow their references by way of a window, which index pages above them have too.

        Only draws within the revolutions that a page stays anyhow are taken to follow at once.
        """
        popularity = self.popularity
        windows = np.where(self.rows >= 0, popularity.window[self.rows], -1.0)
        for region, flows in popularity.flows.items():
            index = self.program.region(region).interior
            if index >= 0:
                base, _, pages, *_ = self.program.region(index)
                windows[slice(*np.searchsorted(self.numbers, [base, base + pages]))] = max(
                    (flow.window for flow in flows), default=-1
                )
        clocks = {-1: usage_counts(0.0, 0.0)}
        for window in popularity.windows:
            looks = window.looks * min(1.0, STAY * turn / window.span)
            clocks[window.number] = usage_counts(looks, window.drawn)
        return [(clocks[int(each)], np.flatnonzero(windows == each)) for each in np.unique(windows).tolist()]


_CLOCK_DRAWS = ("misses", "usage", "hand", "hits", "followers")


def _smallest(values: FloatArray, count: int) -> BoolArray:
    """Which are the `count` smallest, or all if there are fewer; of equal ones the first."""
    if len(values) <= count:
        return np.ones(len(values), dtype=np.bool_)
    last = np.partition(values, count - 1)[count - 1]
    found = values <= last
    found[
        np.flatnonzero(values == last)[count - np.count_nonzero(found) :] if np.count_nonzero(found) > count else []
    ] = False
    return found


def nothing_remembered(program: Program) -> tuple[IntArray, IntArray]:
    """Windows and what they have taken in, as `StartState` has them, of empty rings."""
    rings = int((program.windows[:, 1] * program.windows[:, 2]).sum())
    return np.full(rings, -1, dtype=np.int64), np.zeros(int(program.windows[:, 2].sum()), dtype=np.int64)


def pages_drawn(program: Program, table: int, columns: FloatArray, cuts: FloatArray) -> IntArray:
    """Draws from an alias table by two numbers of [0, 1) each; any shape."""
    start, size = program.tables[table].tolist()
    alias = program.alias[start : start + size]
    column = (columns * size).astype(np.int64)
    return np.where(cuts * CUT_ONE < alias[column, 0], column, alias[column, 1]).astype(np.int64)
