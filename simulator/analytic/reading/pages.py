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

from dataclasses import dataclass, field

import numpy as np

from oltpsim.simulator.analytic.reading.page_groups import Collector, LaidPages, PageGroups, alike
from oltpsim.simulator.expectation import (
    APPEND,
    POPULAR,
    RECENT,
    AlikeGroups,
    Frontier,
    PageUses,
    ProgramReader,
    Use,
    effective,
)
from oltpsim.simulator.form import FloatArray, weighted_sum

LEAF_PAGES = 64
"""An index page above more pages than this is referred to so often that it doesn't matter which one it is."""
AGES = 8
"""Quantiles that stand for references of widely spread ages."""


@dataclass
class _Burst:
    """References of one operation of one class to the page that a frontier is passing over."""

    frontier: Frontier
    """counter that the rows follow"""
    start: float
    """steps by which the inserts' counter is ahead of that"""
    groups: FloatArray
    views: FloatArray
    lag: float = 0.0
    """steps behind the inserts"""
    references: float = 0.0
    visits: float = 0.0
    write: float = 0.0
    append: bool = False
    spread: bool = False
    """whether the rows' ages differ by more than a page"""
    values: set[int] = field(default_factory=set)
    """identities of the registers' values that tell the group"""

    def lag_of(self, place: int) -> float:
        """Steps between the inserts and the row at a place of the distribution of offsets."""
        return self.start - (self.frontier.offset.low + place) / self.frontier.factor

    @property
    def at_once(self) -> float:
        """References of one transaction to one group: all but the first find the page just used."""
        return max(1.0, self.visits / len(self.values))


class PageReader:
    """Sorts the references of a program into groups. Pages are striped over so many `devices`."""

    def __init__(self, reader: ProgramReader, devices: int = 1) -> None:
        self.reader, self.program, self.devices = reader, reader.program, devices
        self.references = PageUses(reader)
        self.locks = [(number, lock) for number, work in enumerate(reader.works) for lock in work.locks]
        self.views = len(reader.works) + len(self.locks)
        self.found = Collector(self.views)
        self.repeated = np.zeros(len(self.program.regions))

    def groups(self) -> PageGroups:
        """All groups of the program."""
        by_region, put_aside = self.references.by_region(), self.references.by_region(put_aside=True)
        for region in dict.fromkeys((*by_region, *put_aside)):
            uses = by_region.get(region, [])
            self._index(region, [*uses, *put_aside.get(region, [])])
            self._drawn(region, uses)
            self._moving(region, uses)
        columns = np.array(self.found.rows).reshape(-1, 11).T
        regions, rate, gap, references, pages, gaps, write, read, clustered, recent, places = columns
        window, offspring = self._remembered()
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
            window=window,
            offspring=offspring,
        ).striped(self.devices)

    def _remembered(self) -> tuple[float, float]:
        """For how long windows remember a page, and how many references each one draws; means over their entries."""
        windows = [window for window in self.references.windows if window.draws and window.entries_per_transaction > 0]
        entries = sum(window.entries_per_transaction for window in windows)
        if not windows:
            return np.inf, 0.0
        span = sum(window.entries_per_transaction * window.span for window in windows) / entries
        drawn = sum(window.entries_per_transaction * window.span * window.follow_rate for window in windows)
        return span, drawn / entries

    def _per_view(self, use: Use) -> FloatArray:
        """References of one transaction of the use's class, then of that until each of its locks is asked for."""
        per_view = np.zeros(self.views)
        number = use.touches.transaction_class
        per_view[number] = use.touches.visits
        for place, (owner, (_, _, _, before)) in enumerate(self.locks, len(self.reader.works)):
            if owner == number and use.key in before.touches:
                per_view[place] = before.touches[use.key].visits
        return per_view

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

    def _index(self, region: int, uses: list[Use]) -> None:
        """Index pages above a region: each reference below asks for one of them first, which it may change too."""
        _, groups, _, _, interior, below = self.program.region(region)
        if interior < 0:
            return
        if below <= LEAF_PAGES:
            self._drawn(region, uses, below)
            self._moving(region, uses, below)
            return
        used = np.sum([use.groups for use in uses], axis=0)
        number = max(1.0, float(self.program.region(interior).group_pages) * np.count_nonzero(used) / groups)
        references = sum(use.per_transaction for use in uses)
        views = np.sum([self._per_view(use) for use in uses], axis=0)
        written = sum(use.per_transaction for use in uses if use.touches.index_write)
        self.found.add(interior, references, views, rate=references / number, write=written / max(references, 1e-300))

    def _drawn(self, region: int, uses: list[Use], below: int = 0) -> None:
        """Pages by exact popularity: the product of the groups' and the rows' distributions, summed over operations.

        `below`: pages of the region that lie below each, where the index pages above it are meant.
        """
        if below:
            region = self.program.region(region).interior
        asked = []
        for use in uses:
            fresh, pages = use.new_share, use.along
            if use.kind == RECENT:
                window = self.references.windows[use.window]
                fresh = window.first_share(use.touches.transaction_class)
                if not below:
                    self._recent(use, fresh)
                    continue
                pages = window.entries[0].along if window.entries else pages
            if not pages.any():
                continue
            if below:
                pages = np.add.reduceat(pages, np.arange(0, len(pages), below))
            self.repeated[region] += use.per_transaction * (1.0 - fresh)
            asked.append((use, fresh, pages))
        if asked:
            self._binned(region, asked, below)

    def _binned(self, region: int, uses: list[tuple[Use, float, FloatArray]], below: int) -> None:
        """Pages of about one popularity as one group; of each use the share that counts, and the chance of each page.

        The pages are those of a group of each kind, in their order.
        """
        kinds = AlikeGroups([use.groups for use, _, _ in uses])
        profiles = np.array([kinds.mean(use.groups) for use, _, _ in uses])
        used, along = profiles.any(axis=0), np.array([pages for _, _, pages in uses])
        shares = (profiles[:, used].T[:, :, None] * along).transpose(1, 0, 2).reshape(len(uses), -1)
        counts = np.repeat(kinds.counts[used], along.shape[1])
        amounts = np.array([use.per_transaction * fresh for use, fresh, _ in uses])
        writes = np.array([use.per_transaction * _writes(use, below) for use, _, _ in uses])
        views = np.array([self._per_view(use) * fresh for use, fresh, _ in uses])
        clustered = float(not below and any(use.kind == POPULAR and use.window >= 0 for use, _, _ in uses))
        rates = weighted_sum(shares.T, amounts)
        asked = np.flatnonzero(rates > 0)
        like = alike(rates[asked], counts[asked])
        group_of = np.full(len(rates), -1, dtype=np.int64)
        ends = np.cumsum(np.bincount(like))
        for inside in np.split(asked[np.argsort(like, kind="stable")], ends[:-1]) if len(like) else ():
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
        self.found.laid.append(LaidPages(group_of.reshape(-1, along.shape[1]), counts.reshape(-1, along.shape[1])))

    def _recent(self, use: Use, fresh: float) -> None:
        """Pages that windows remember: of the draws of one transaction only the first of each entry can miss."""
        self.repeated[use.region] += use.per_transaction * (1.0 - fresh)
        self.found.add(
            use.region,
            use.per_transaction * fresh,
            self._per_view(use) * fresh,
            recent=1.0,
            write=1.0 if use.touches.write else 0.0,
        )

    def _moving(self, region: int, uses: list[Use], below: int = 0) -> None:
        """Pages under a frontier: a burst of references while it passes, and a gap until the next one passes."""
        moving = [(use, use.frontier) for use in uses if use.frontier and use.fresh > 0]
        inserts = [part for use, part in moving if use.kind == APPEND] or [part for _, part in moving]
        if not inserts:
            return
        main = inserts[0]
        _, _, _, rows_per_page, interior, _ = self.program.region(region)
        if below:
            region, rows_per_page = interior, rows_per_page * below
        bursts = self._bursts(moving, main, rows_per_page, below)
        moved = float(self.reader.moves_per_transaction[main.counter])
        width = effective(bursts[0].groups)
        step = width / moved  # transactions in which a group's counter moves by one
        per_page = rows_per_page / max(abs(main.factor), 1)  # steps in which a frontier passes over one page
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
        burst: _Burst,
        bursts: list[_Burst],
        step: float,
        per_page: float,
        width: float,
        references: float,
        views: FloatArray,
    ) -> None:
        """References to rows of widely spread ages: random ones among the pages that the frontiers have left behind."""
        ends = np.array([0.0, *(other.lag + per_page for other in bursts if not other.spread)])
        at = np.cumsum(burst.frontier.offset.share)
        edges = np.searchsorted(at, np.arange(AGES + 1) / AGES).clip(0, len(at) - 1)
        middles = np.searchsorted(at, (np.arange(AGES) + 0.5) / AGES)
        for first, middle, last in zip(edges[:-1], middles, edges[1:], strict=True):
            age = max(burst.lag_of(int(middle)), 0.5)
            span = abs(burst.lag_of(int(first)) - burst.lag_of(int(last)))
            pages = max(span, 1.0) * width / per_page
            since = age - float(ends[ends <= age].max())
            gap = max(since, 0.5) * step
            self.found.add(region, references / AGES, views / AGES, gap=gap, rate=references / AGES / pages)

    def _bursts(
        self, moving: list[tuple[Use, Frontier]], main: Frontier, rows_per_page: int, below: int
    ) -> list[_Burst]:
        """The frontier's references in the order in which they reach a page; those that insert come first.

        Index pages aren't created: the program reads what is above a new page.
        """
        found: dict[tuple[int, int, int, int], _Burst] = {}
        for use, part in moving:
            start = float(self.reader.initial(main.counter).mean() - self.reader.initial(part.counter).mean())
            lag = start - part.offset.mean / part.factor + main.offset.mean / main.factor
            place = round(lag * main.factor / rows_per_page * 2)
            key = use.touches.transaction_class, use.touches.reference, part.counter, place
            burst = found.setdefault(key, _Burst(part, start, use.groups, np.zeros(self.views)))
            burst.lag = (burst.lag * burst.references + lag * use.fresh) / (burst.references + use.fresh)
            burst.references += use.fresh
            burst.views = burst.views + self._per_view(use) * use.new_share
            burst.spread |= part.offset.deviation > rows_per_page
            burst.append |= use.kind == APPEND and not below
            burst.values.add(id(use.touches.group))
            burst.visits += use.touches.visits
            burst.start, burst.frontier = start, part
            burst.write = max(burst.write, float(_writes(use, below)))
        return sorted(found.values(), key=lambda burst: (not burst.append, burst.lag))


def _writes(use: Use, below: int) -> bool:
    """Whether references change the page itself, or the index page above so many pages."""
    return use.touches.index_write if below else use.touches.write
