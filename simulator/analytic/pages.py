"""Which pages a mix of transactions refers to, and how long a page waits for its next reference.

Time is counted in transactions of the whole mix. References come in groups that share a distribution of the gap since
the page's last reference:

    drawn     pages chosen at random: gaps are exponential; pages of about one popularity are one group
    moving    pages that a frontier of inserts or of deliveries passes over: gaps are as long as the frontier's lag
    recent    pages chosen among the last that a group of clients has used (program.py: windows)

A page lives in an LRU cache as long as its gaps are shorter than the cache's characteristic time T, so the misses of a
group are its references times P(gap > T), and the pages that it keeps in the cache are its references times the mean
of min(gap, T), which is Little's law.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic.frontiers import Burst
from oltpsim.simulator.analytic.page_groups import Collector, LaidPages, PageGroups, alike
from oltpsim.simulator.expectation import SHARE_STEPS, Frontier, Numbers, ProgramReader, Touches, shares_of
from oltpsim.simulator.form import FloatArray, weighted_sum

POPULAR, ROW, APPEND, RECENT = range(4)
LEAF_PAGES = 64
"""An index page above more pages than this is referred to so often that it doesn't matter which one it is."""
AGES = 8
"""Quantiles that stand for references of widely spread ages."""


@dataclass(frozen=True)
class _ReferenceUse:
    """References of one operation as seen by the views."""

    touches: Touches
    per_view: FloatArray
    per_transaction: float

    @property
    def new_share(self) -> float:
        """Share of references that are not to the page just referred to."""
        return 1.0 - self.touches.repeats / self.touches.visits


@dataclass(frozen=True)
class _Pages:
    """Pages that rows of a region lie on, or the index pages above them, one for each `below` of them."""

    region: int
    groups: int
    group_pages: int
    rows_per_page: int
    below: int = 1


class PageReader:
    """Sorts the references of a program into groups. Pages are striped over so many `devices`."""

    def __init__(self, reader: ProgramReader, devices: int = 1) -> None:
        self.reader, self.program, self.devices = reader, reader.program, devices
        self.locks = [(number, lock) for number, work in enumerate(reader.works) for lock in work.locks]
        self.views = len(reader.works) + len(self.locks)
        self.found = Collector(self.views)
        self.repeated = np.zeros(len(self.program.regions))
        self.uses = self._uses()
        self.window, self.offspring, self.window_groups = np.inf, 0.0, 1.0
        self._windows()

    def groups(self) -> PageGroups:
        """All groups of the program."""
        by_region: dict[int, list[_ReferenceUse]] = defaultdict(list)
        put_aside: dict[int, list[_ReferenceUse]] = defaultdict(list)
        for use in self._uses(put_aside=True):
            put_aside[int(self.program.references[use.touches.reference, 1])].append(use)
        for use in self.uses:
            by_region[int(self.program.references[use.touches.reference, 1])].append(use)
        for region in dict.fromkeys((*by_region, *put_aside)):
            uses = by_region.get(region, [])
            _, groups, group_pages, rows_per_page, *_ = self.program.region(region)
            own = _Pages(region, groups, group_pages, rows_per_page)
            self._index(own, [*uses, *put_aside.get(region, [])])
            self._drawn(own, uses)
            self._moving(own, uses)
        columns = np.array(self.found.rows).reshape(-1, 11).T
        regions, rate, gap, references, pages, gaps, write, read, clustered, recent, places = columns
        return PageGroups(
            region=regions.astype(np.int64),
            rate=rate,
            gap=gap,
            references=references,
            pages=pages,
            gaps=gaps,
            write=write,
            read=read,
            clustered=clustered,
            recent=recent,
            views=np.array(self.found.shares).reshape(-1, self.views).T,
            repeated=self.repeated,
            again=self._repeated_hits(regions, references, clustered, recent),
            places=places,
            beside=np.zeros((0, 0)),
            laid=tuple(self.found.laid),
            window=self.window,
            offspring=self.offspring,
        ).striped(self.devices)

    def _uses(self, *, put_aside: bool = False) -> list[_ReferenceUse]:
        """References; or changes that are none where the pool lacks their page, but refer to the index page above."""
        uses = []
        classes = len(self.reader.works)
        for number, work in enumerate(self.reader.works):
            for key, touches in work.touches.items():
                if touches.put_aside != put_aside:
                    continue
                per_view = np.zeros(self.views)
                per_view[number] = touches.visits
                for place, (owner, (_, _, _, before)) in enumerate(self.locks):
                    if owner == number and key in before.touches:
                        per_view[classes + place] = before.touches[key].visits
                uses.append(_ReferenceUse(touches, per_view, float(self.reader.mix[number]) * touches.visits))
        return uses

    def _kind(self, use: _ReferenceUse) -> int:
        return int(self.program.references[use.touches.reference, 0])

    def _windows(self) -> None:
        """How long windows remember, and how many references by way of them a remembered one draws."""
        entries = [use for use in self.uses if self._kind(use) == POPULAR and self._window_of(use) >= 0]
        draws = [use for use in self.uses if self._kind(use) == RECENT]
        if not entries or not draws or not sum(use.per_transaction for use in entries):
            return
        length = float(self.program.windows[0, 1])
        self.window_groups = _effective(shares_of(entries[0].touches.row, int(self.program.windows[0, 2])))
        filled = sum(use.per_transaction for use in entries)
        self.window = length * self.window_groups / filled
        bursts = sum(share * hit for share, hit in self._bursts(draws, length).values())
        self.offspring = self.window * bursts / self.window_groups

    def _repeated_hits(
        self, region: FloatArray, references: FloatArray, clustered: FloatArray, recent: FloatArray
    ) -> FloatArray:
        """Hits of the page just used for each reference of a group; where there is a window it is its draws."""
        hits = np.zeros(len(region))
        for number in np.flatnonzero(self.repeated):
            here = (region == number) & (clustered == 0)
            drawn = here & (recent > 0) if (here & (recent > 0)).any() else here
            hits[drawn] = self.repeated[number] / max(float(references[drawn].sum()), 1e-300)
        return hits

    def _bursts(self, draws: list[_ReferenceUse], length: float) -> dict[int, tuple[float, float]]:
        """For each class that draws from windows: its share of the mix, and the chance that one entry is drawn."""
        per_class: dict[int, float] = defaultdict(float)
        for use in draws:
            per_class[use.touches.transaction_class] += use.touches.visits
        return {
            number: (float(self.reader.mix[number]), -np.expm1(visits * np.log1p(-1.0 / max(length, 2.0))))
            for number, visits in per_class.items()
        }

    def _window_of(self, use: _ReferenceUse) -> int:
        return int(self.program.references[use.touches.reference, 5])

    def _index(self, pages: _Pages, uses: list[_ReferenceUse]) -> None:
        """Index pages above a region: each reference below asks for one of them first, which it may change too."""
        *_, interior, below = self.program.region(pages.region)
        if interior < 0:
            return
        if below <= LEAF_PAGES:
            above = _Pages(interior, pages.groups, -(-pages.group_pages // below), pages.rows_per_page * below, below)
            self._drawn(above, uses)
            self._moving(above, uses)
            return
        used = np.zeros(pages.groups)
        for use in uses:
            used += shares_of(use.touches.group, pages.groups)
        number = max(1.0, float(self.program.region(interior).group_pages) * np.count_nonzero(used) / pages.groups)
        references = sum(use.per_transaction for use in uses)
        views = np.sum([use.per_view for use in uses], axis=0)
        written = sum(use.per_transaction for use in uses if use.touches.index_write)
        self.found.add(interior, references, views, rate=references / number, write=written / max(references, 1e-300))

    def _drawn(self, where: _Pages, uses: list[_ReferenceUse]) -> None:
        """Pages by exact popularity: the product of the groups' and the rows' distributions, summed over operations."""
        across, along, amounts, writes, views = [], [], [], [], []
        clustered = 0.0
        for use in uses:
            kind = self._kind(use)
            if kind == RECENT and where.below == 1:
                self._recent(where.region, use)
                continue
            pages = self._pages(self._entry(use, uses) if kind == RECENT else use, where)
            weight = float(pages.sum())
            if weight <= 0:
                continue
            fresh = self._first(use) if kind == RECENT else use.new_share
            self.repeated[where.region] += use.per_transaction * (1.0 - fresh)
            across.append(shares_of(use.touches.group, where.groups))
            along.append(pages)
            amounts.append(use.per_transaction * fresh)
            is_written = use.touches.write if where.below == 1 else use.touches.index_write
            writes.append(use.per_transaction if is_written else 0.0)
            views.append(use.per_view * fresh)
            if kind == POPULAR and self._window_of(use) >= 0 and where.below == 1:
                clustered = 1.0
        if not across:
            return
        by_group = np.array(across)
        steps = np.maximum(by_group.max(axis=1, keepdims=True), 1e-300) / SHARE_STEPS
        profiles, counts = np.unique(np.round(by_group / steps), axis=1, return_counts=True)
        profiles = profiles * steps
        used = profiles.any(axis=0)
        shares = (profiles[:, used].T[:, :, None] * np.array(along)).transpose(1, 0, 2).reshape(len(across), -1)
        pages_like = np.repeat(counts[used].astype(np.float64), len(along[0]))
        self._binned(
            where.region,
            shares,
            np.array(amounts),
            np.array(writes),
            np.array(views),
            pages_like,
            clustered,
            len(along[0]),
        )

    def _pages(self, use: _ReferenceUse, where: _Pages) -> FloatArray:
        """Probability of each page of a group, as far as the row is drawn at random."""
        group_pages, rows_per_page = where.group_pages, where.rows_per_page
        if self._kind(use) == POPULAR:
            pmf = self.reader.pmf(int(self.program.references[use.touches.reference, 4]))
            padded = np.zeros(group_pages * where.below)
            padded[: len(pmf)] = pmf[: len(padded)]
            return np.asarray(padded.reshape(group_pages, where.below).sum(axis=1))
        pages = np.zeros(group_pages)
        for weight, part in use.touches.row:
            if isinstance(part, Numbers):
                offsets = (part.low + np.arange(len(part.share))) // rows_per_page % group_pages
                pages += weight * np.bincount(offsets, weights=part.share, minlength=group_pages)
        return pages

    def _binned(
        self,
        region: int,
        shares: FloatArray,
        amounts: FloatArray,
        writes: FloatArray,
        views: FloatArray,
        counts: FloatArray,
        clustered: float,
        group_pages: int,
    ) -> None:
        """Pages of about one popularity as one group. `shares`: (operations, pages); `counts`: pages like each.

        The pages are those of some of the table's groups, `group_pages` of each in their order.
        """
        rates = weighted_sum(shares.T, amounts)
        asked = np.flatnonzero(rates > 0)
        like = alike(rates[asked], counts[asked])
        group_of = np.full(len(rates), -1, dtype=np.int64)
        for each in range(like.max(initial=-1) + 1):
            inside = asked[like == each]
            group_of[inside] = len(self.found.rows)
            part = weighted_sum(shares[:, inside], counts[inside])
            total = float(weighted_sum(part, amounts))
            self.found.add(
                region,
                total,
                (views * part[:, None]).sum(axis=0),
                rate=total / float(counts[inside].sum()),
                write=float(weighted_sum(part, writes)) / total,
                clustered=clustered,
            )
        self.found.laid.append(LaidPages(group_of.reshape(-1, group_pages), counts.reshape(-1, group_pages)))

    def _entry(self, draw: _ReferenceUse, uses: list[_ReferenceUse]) -> _ReferenceUse:
        """The references that put into a window what `draw` finds there."""
        entries = [use for use in uses if self._kind(use) == POPULAR and self._window_of(use) == self._window_of(draw)]
        return entries[0] if entries else draw

    def _first(self, use: _ReferenceUse) -> float:
        """Share of a transaction's draws from a window, by all its operations, that are the first of their entry."""
        number = use.touches.transaction_class
        draws = [
            each
            for each in self.uses
            if self._kind(each) == RECENT
            and each.touches.transaction_class == number
            and self._window_of(each) == self._window_of(use)
        ]
        length = float(self.program.windows[0, 1])
        _, hit = self._bursts(draws, length)[number]
        return min(1.0, length * hit / sum(each.touches.visits for each in draws))

    def _recent(self, region: int, use: _ReferenceUse) -> None:
        """What windows remember: of the draws of one transaction only the first of each entry can miss."""
        fresh = self._first(use)
        self.repeated[region] += use.per_transaction * (1.0 - fresh)
        self.found.add(
            region,
            use.per_transaction * fresh,
            use.per_view * fresh,
            recent=1.0,
            write=1.0 if use.touches.write else 0.0,
        )

    def _moving(self, where: _Pages, uses: list[_ReferenceUse]) -> None:
        """Pages under a frontier: a burst of references while it passes, and a gap until the next one passes."""
        bursts = self._bursts_of_frontier(where, uses)
        if not bursts:
            return
        region, counter = where.region, bursts[0].counter
        moved = float(self.reader.moves_per_transaction[counter])
        if moved <= 0:
            return
        width = _effective(shares_of(bursts[0].group, where.groups))
        step = width / moved  # transactions in which a group's counter moves by one
        per_page = where.rows_per_page / bursts[0].factor  # steps in which a frontier passes over one page
        new_pages = moved / per_page
        end, dirty = -np.inf, 0.0
        created = False
        for burst in bursts:
            references = burst.references / burst.at_once
            self.repeated[region] += burst.references - references
            views = burst.views / burst.at_once
            each = references / moved
            if not burst.spread and burst.append and not created:
                created = True
                share = min(1.0, new_pages / references)
                self.found.add(region, references * share, views * share, read=0.0)
            elif burst.spread:
                self._ages(region, burst, bursts, step, per_page, width, references, views)
                continue
            else:
                gap = burst.lag - end
                share = min(1.0, new_pages / references) if gap > 0 else 0.0
                self.found.add(
                    region,
                    references * share,
                    views * share,
                    gap=gap * step,
                    gaps=references * share,
                    write=dirty,
                    places=width,
                )
            self.found.add(region, references * (1 - share), views * (1 - share), rate=each / step, write=burst.write)
            end, dirty = max(end, burst.lag + per_page), max(dirty, burst.write)
        self.found.add(region, 0.0, np.zeros(self.views), gaps=new_pages, write=dirty, places=width)

    def _ages(
        self,
        region: int,
        burst: Burst,
        bursts: list[Burst],
        step: float,
        per_page: float,
        width: float,
        references: float,
        views: FloatArray,
    ) -> None:
        """References to rows of widely spread ages: random ones among the pages that the frontiers have left behind."""
        ends = np.array([0.0, *(other.lag + per_page for other in bursts if not other.spread)])
        at = np.cumsum(burst.ages.share)
        edges = np.searchsorted(at, np.arange(AGES + 1) / AGES).clip(0, len(at) - 1)
        middles = np.searchsorted(at, (np.arange(AGES) + 0.5) / AGES)
        for first, middle, last in zip(edges[:-1], middles, edges[1:], strict=True):
            age = max(burst.lag_of(burst.ages.low + int(middle)), 0.5)
            span = abs(burst.lag_of(burst.ages.low + int(first)) - burst.lag_of(burst.ages.low + int(last)))
            pages = max(span, 1.0) * width / per_page
            since = age - float(ends[ends <= age].max())
            gap = max(since, 0.5) * step
            self.found.add(region, references / AGES, views / AGES, gap=gap, rate=references / AGES / pages)

    def _bursts_of_frontier(self, where: _Pages, uses: list[_ReferenceUse]) -> list[Burst]:
        """The frontier's references in the order in which they reach a page; those that insert come first.

        Index pages aren't created: the program reads what is above a new page.
        """
        rows_per_page = where.rows_per_page
        moving = [
            (use, weight, part)
            for use in uses
            if self._kind(use) in (ROW, APPEND) and use.per_transaction > 0
            for weight, part in use.touches.row
            if isinstance(part, Frontier)
        ]
        inserts = [part for use, _, part in moving if self._kind(use) == APPEND] or [part for _, _, part in moving]
        if not inserts:
            return []
        main = inserts[0]
        found: dict[tuple[int, int, int, int], Burst] = {}
        for use, weight, part in moving:
            start = self._initial(main.counter) - self._initial(part.counter)
            lag = start - part.offset.mean / part.factor + main.offset.mean / main.factor
            deviation = float(
                np.sqrt(
                    weighted_sum(
                        (np.arange(len(part.offset.share)) - part.offset.mean + part.offset.low) ** 2, part.offset.share
                    )
                )
            )
            place = round(lag * main.factor / rows_per_page * 2)
            key = use.touches.transaction_class, use.touches.reference, part.counter, place
            burst = found.setdefault(key, Burst(main.counter, main.factor, use.touches.group, self.views))
            burst.take(
                use.per_transaction * weight * use.new_share,
                use.per_view * weight * use.new_share,
                lag,
                use.touches,
                deviation > rows_per_page,
                self._kind(use) == APPEND and where.below == 1,
                part,
                start,
            )
            is_written = use.touches.write if where.below == 1 else use.touches.index_write
            burst.write = max(burst.write, float(is_written))
        return sorted(found.values(), key=lambda burst: (not burst.append, burst.lag))

    def _initial(self, counter: int) -> float:
        start, length = self.program.counter_tables[counter]
        return float(self.program.counters[start : start + length].mean())


def _effective(shares: FloatArray) -> float:
    """How many groups are in use: as many even ones as would meet as often by chance."""
    total = float(shares.sum())
    return total * total / float(weighted_sum(shares, shares)) if total > 0 else 1.0
