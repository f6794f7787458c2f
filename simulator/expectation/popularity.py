"""How often each page is referred to, from the program alone: what a warm start is drawn from.

Time is counted in transactions of the whole mix, backwards from time 0. What matters of a page is how many references
and how many writes are expected in its last t transactions. Pages that are alike in that share a row; a region has one
row for each page of a group, and one such set for each kind of group. Two kinds of rows:

- pages that are chosen at random always have the same chance: references rise in proportion to t;
- pages that a counter passes over (rows appended, delivered, looked at behind the last ones), and pages that windows
  remember, have a course of their own, noted on a grid of times.

Index pages have no rows: they are referred to whenever a page below them is.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oltpsim.simulator.expectation.references import APPEND, AlikeGroups, PageUses, RecentWindow, Use
from oltpsim.simulator.expectation.values import Frontier, Numbers
from oltpsim.simulator.expectation.visits import ProgramReader
from oltpsim.simulator.form import BoolArray, FloatArray, IntArray, System, uniforms

PHASES = 8
"""places of a page at which the counters of different groups are"""
REFERENCES_PER_PAGE = 30
"""the grid ends when each page was due so often: no warm machine is older"""
GRID_POINTS, LEAST_POINTS, GRID_CELLS = 80, 12, 20_000_000
FIRST_POINT = 1e-5
"""the grid's first point as a share of its last; points between them at equal ratios"""
CERTAIN = 20.0
"""references that a page expects at least from a counter that passes over each of its rows"""
MOST_LAPS = 4
"""rounds of a ring that are looked at"""


class Popularity:
    """Rows of pages that are alike (see above), of all regions that a program's references name.

    `per_page`: references expected per transaction, all at random, shape (rows,); `writes`: those that write;
    `grid`: row of `courses` and `changes` or -1. `courses`, `changes`: (grid rows, times), references and writes in the
    last `times` transactions. `window`: which windows remember its pages, or -1. `copies`: pages of each row.
    `kinds[region]`: kind of each group; `first_rows[region]`: row of a kind's first page or -1. `counters`, `high`: as
    a program's `counters` and `initial_high`, at time 0.
    """

    def __init__(self, system: System, seed: int) -> None:
        """Raises InputError for a program whose loops have no bound."""
        program, terminals = system.program, system.terminals
        self.program = program
        self.reader = ProgramReader(program, system.homes, terminals.mix if terminals else None, at_start=True)
        self.references = PageUses(self.reader)
        self.windows = self.references.windows
        self.uses = self._uses()
        self.flows = {region: self._flows(region, uses) for region, uses in self.uses.items()}
        self.counters, self.high = self._spread_counters(seed)
        self.kinds = [np.zeros(groups, dtype=np.int64) for groups in program.regions[:, 1].tolist()]
        self.first_rows = [np.full(1, -1, dtype=np.int64) for _ in self.kinds]
        alike = {region: self._alike_groups(region) for region in self.flows}
        rates = [self._rates(region, alike[region][0]) for region in self.flows]
        copies = [np.repeat(alike[region][1], program.region(region).group_pages) for region in self.flows]
        moving = [any(flow.is_on_grid for flow in flows) for flows in self.flows.values()]
        on_grid = np.repeat(np.array(moving, dtype=np.bool_), [len(each) for each in copies])
        if not self.flows:  # a row of no page, so that pages without references have a row to look at
            rates, copies, on_grid = [(*np.zeros((3, 1)), np.full(1, -1.0))], [np.zeros(1)], np.zeros(1, dtype=np.bool_)
        self.per_page, self.writes, entered, self.window = (
            np.concatenate([columns[place] for columns in rates]) for place in range(4)
        )
        self.copies = np.concatenate(copies)
        self.longest = self._longest(system, self.per_page + entered)
        self.grid = np.where(on_grid, np.cumsum(on_grid) - 1, -1)
        points = int(np.clip(GRID_CELLS // max(int(on_grid.sum()), 1), LEAST_POINTS, GRID_POINTS))
        self.times = np.concatenate([[0.0], np.geomspace(FIRST_POINT * self.longest, self.longest, points)])
        courses = [
            self._courses(region, alike[region][0]) for region, moves in zip(self.flows, moving, strict=True) if moves
        ]
        none = np.zeros((0, len(self.times)))
        self.courses = np.concatenate([course for course, _ in courses] or [none])
        self.changes = np.concatenate([change for _, change in courses] or [none])

    @cached_property
    def writers(self) -> tuple[BoolArray, BoolArray]:
        """Whether all references to a row's pages write; whether none does."""
        always, never = self.writes >= self.per_page, self.writes <= 0
        moving = self.grid >= 0
        always[moving] &= (self.changes >= self.courses).all(axis=1)
        never[moving] &= (self.changes <= 0).all(axis=1)
        return always & ~never, never

    def expected(self, rows: IntArray, times: FloatArray, writes: bool = False) -> FloatArray:
        """References (or `writes`) to a page of each row in its last `times` transactions."""
        courses, rates = (self.changes, self.writes) if writes else (self.courses, self.per_page)
        found = rates[rows] * times
        moving = np.flatnonzero(self.grid[rows] >= 0)
        if len(moving):
            course, at = self.grid[rows[moving]], np.minimum(times[moving], self.times[-1])
            place = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
            low, high = self.times[place], self.times[place + 1]
            before, after = courses[course, place], courses[course, place + 1]
            found[moving] += before + (after - before) * (at - low) / (high - low)
        return found

    def when(self, rows: IntArray, references: FloatArray) -> FloatArray:
        """Transactions in which a page of each row expects so many references; infinite if it never does."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = references / self.per_page[rows]
        found[np.isnan(found)] = np.inf
        moving = np.flatnonzero(self.grid[rows] >= 0)
        if not len(moving):
            return found
        course, wanted, rate = self.grid[rows[moving]], references[moving], self.per_page[rows[moving]]
        low, high = np.zeros(len(moving), dtype=np.int64), np.full(len(moving), len(self.times) - 1)
        while (high - low > 1).any():
            middle = (low + high) // 2
            reached = self.courses[course, middle] + rate * self.times[middle] >= wanted
            high, low = np.where(reached, middle, high), np.where(reached, low, middle)
        before, after = (self.courses[course, end] + rate * self.times[end] for end in (low, high))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = (wanted - before) / (after - before)
            late = self.times[-1] + (wanted - after) / rate
        start, end = self.times[low], self.times[high]
        found[moving] = np.where(wanted <= after, start + (end - start) * inside, np.where(rate > 0, late, np.inf))
        return found

    def rows_of(self, pages: IntArray, region: int) -> IntArray:
        """Rows of pages of one region, which are counted from its first."""
        group_pages = self.program.region(region).group_pages
        return self.first_rows[region][self.kinds[region][pages // group_pages]] + pages % group_pages

    def _uses(self) -> dict[int, list[Use]]:
        """References by region, without changes that may be put aside: they bring no page in."""
        found = {}
        for region, uses in self.references.by_region().items():
            if asked := [use for use in uses if use.fresh > 0 or use.written > 0]:
                found[region] = asked
        return found

    def _longest(self, system: System, rates: FloatArray) -> float:
        """A time in which more pages are referred to than caches hold; or in which each page was due often enough."""
        references = sum(use.fresh for uses in self.uses.values() for use in uses)
        longest = REFERENCES_PER_PAGE * self.program.pages / max(references, 1e-12)
        held = system.pool.pages + (0 if system.direct_io else system.page_cache.pages)
        low, high = math.log(longest) - 30.0, math.log(longest)
        for _ in range(20):
            middle = (low + high) / 2.0
            fills = (self.copies * -np.expm1(-rates * math.exp(middle))).sum() > held
            low, high = (low, middle) if fills else (middle, high)
        return min(longest, (1.2 if system.pool.replacement == "lru" else 5.0) * math.exp(high))

    def _spread_counters(self, seed: int) -> tuple[IntArray, IntArray]:
        """Counters and the pages that appends have reached, groups being at different places of their pages.

        A load leaves the counters of all groups at one place, often at the end of a page. Counters of one set of groups
        move on together, so that what is behind one stays behind it.
        """
        counters, high = self.program.counters.copy(), self.program.initial_high.copy()
        steps: dict[int, int] = defaultdict(int)
        for region, flows in self.flows.items():
            for flow in flows:
                if flow.frontier:
                    _, groups = self.program.counter_tables[flow.frontier.counter].tolist()
                    per_page = self.program.region(region).rows_per_page // abs(flow.frontier.factor)
                    steps[groups] = max(steps[groups], per_page)
        by_groups = {
            groups: most
            * (PHASES * uniforms(seed, "warm start: counters", np.arange(groups))).astype(np.int64)
            // PHASES
            for groups, most in steps.items()
        }
        for counter, (start, groups) in enumerate(self.program.counter_tables.tolist()):
            if groups in by_groups and self.reader.moves_per_transaction[counter] > 0:
                counters[start : start + groups] += by_groups[groups]
        for number, (kind, region, *_, first) in enumerate(self.program.references.tolist()):
            here = [use.frontier for use in self.uses.get(region, []) if use.touches.reference == number]
            if kind == APPEND and (parts := [part for part in here if part]):
                part = min(parts, key=lambda part: part.offset.low)
                before, after = (
                    self.references.by_group(values, part.counter, region)
                    for values in (self.program.counters, counters)
                )
                rows = part.factor * np.stack([before, after]) + part.offset.low - 1
                passed = np.diff(rows // self.program.region(region).rows_per_page, axis=0)[0]
                high[first : first + len(passed)] += passed
        return counters, high

    def _flows(self, region: int, uses: Sequence[Use]) -> list["_Flow"]:
        """References to a region that find their page in the same way, added up."""
        _, groups, _, rows_per_page, *_ = self.program.region(region)
        flows: dict[tuple[object, ...], _Flow] = {}
        for use in uses:
            key: tuple[object, ...] = use.window, use.along.tobytes()
            frontier = use.frontier
            if frontier:
                numbers = frontier.offset
                if len(numbers.share) <= rows_per_page:  # a page is passed by all of them at about the same time
                    numbers = Numbers(numbers.low // rows_per_page * rows_per_page, np.ones(1))
                frontier = Frontier(frontier.counter, frontier.factor, numbers)
                key = frontier.counter, frontier.factor, numbers.low, numbers.share.tobytes()
            elif not use.along.any():
                continue
            if key not in flows:
                flows[key] = _Flow(np.zeros(groups), np.zeros(groups), use.window, use.along, frontier)
            flows[key].references += use.fresh * use.groups
            flows[key].written += use.written * use.groups
        return list(flows.values())

    def _alike_groups(self, region: int) -> tuple[IntArray, FloatArray]:
        """The first group of each kind, and how many there are of it."""
        groups, flows = self.program.region(region).groups, self.flows[region]
        shares = [amounts for flow in flows for amounts in (flow.references, flow.written)]
        of = self.references.by_group
        places = [of(self.counters, flow.frontier.counter, region) for flow in flows if flow.frontier]
        alike = AlikeGroups([np.zeros(groups), *shares], places)
        self.kinds[region] = alike.kinds
        for flow in flows:
            flow.references, flow.written = (alike.mean(each)[alike.kinds] for each in (flow.references, flow.written))
        rows = sum(
            len(each) * self.program.region(number).group_pages
            for number, each in enumerate(self.first_rows)
            if each[0] >= 0
        )
        self.first_rows[region] = (
            rows + np.arange(len(alike.first), dtype=np.int64) * self.program.region(region).group_pages
        )
        return alike.first, alike.counts

    def _rates(self, region: int, first: IntArray) -> tuple[FloatArray, ...]:
        """By row: references and writes at random, entries into windows, and into which."""
        shape = len(first), self.program.region(region).group_pages
        rate, written, entered = (np.zeros(shape) for _ in range(3))
        remembered = np.full(shape, -1.0)
        for flow in self.flows[region]:
            if flow.frontier:
                continue
            if flow.window >= 0:
                entered += flow.references[first, None] * flow.along
                remembered[:, flow.along > 0] = flow.window
            else:
                rate += flow.references[first, None] * flow.along
                written += flow.written[first, None] * flow.along
        return rate.ravel(), written.ravel(), entered.ravel(), remembered.ravel()

    def _courses(self, region: int, first: IntArray) -> tuple[FloatArray, FloatArray]:
        """References and writes by row and time, apart from those at random."""
        flows = self.flows[region]
        courses = np.zeros((len(first), self.program.region(region).group_pages, len(self.times)))
        changes = np.zeros_like(courses)
        speeds: dict[int, FloatArray] = defaultdict(lambda: np.zeros(1))
        for flow in flows:
            if flow.frontier:
                speeds[flow.frontier.counter] = speeds[flow.frontier.counter] + flow.references + flow.written
        for flow in flows:
            if flow.frontier:
                speed = speeds[flow.frontier.counter]
                shares = (
                    speed / max(float(speed.sum()), 1e-300) * self.reader.moves_per_transaction[flow.frontier.counter]
                )
                for kind, group in enumerate(first.tolist()):
                    found = self._passed(flow, region, group, float(shares[group]))
                    courses[kind] += flow.references[group] * found
                    changes[kind] += flow.written[group] * found
            elif flow.window >= 0:
                course = self._remembered(self.windows[flow.window])
                courses += (flow.references[first, None] * flow.along)[:, :, None] * course
                changes += (flow.written[first, None] * flow.along)[:, :, None] * course
        return courses.reshape(-1, len(self.times)), changes.reshape(-1, len(self.times))

    def _remembered(self, window: RecentWindow) -> FloatArray:
        """Course of a page by entries that windows have forgotten since, one per transaction.

        What windows remember is drawn entry by entry (warm_start.py). Of those that they have forgotten since, a page's
        last reference is its last draw, at most as long before as a window remembers: in the last t transactions are
        those of entries that were forgotten y ago and drawn within t - y before that.
        """
        follow, span = window.follow_rate, window.span
        if follow <= 0:
            return np.maximum(self.times - span, 0.0)
        return np.asarray(self.times + np.expm1(-follow * np.minimum(self.times, span)) / follow)

    def _passed(self, flow: "_Flow", region: int, group: int, steps_per_transaction: float) -> FloatArray:
        """Courses of a group's pages, (pages, times), by references that follow a counter, one per transaction.

        Looking back x steps of the counter the row is factor * (counter - x) + offset, so the references to a page in
        the last x steps are an integral over the distribution of offsets.
        """
        _, _, group_pages, rows_per_page, *_ = self.program.region(region)
        found = np.zeros((group_pages, len(self.times)))
        if steps_per_transaction <= 0 or flow.frontier is None:
            return found
        counter, factor, numbers = flow.frontier.counter, flow.frontier.factor, flow.frontier.offset
        steps, ring = steps_per_transaction * self.times, group_pages * rows_per_page
        per_step = 1.0 / steps_per_transaction
        all_steps = per_step * max(float(flow.references[group]), float(flow.written[group]))
        if all_steps > 1 - 1e-6 and len(numbers.share) == 1:
            per_step *= max(1.0, CERTAIN * abs(factor) / (all_steps * rows_per_page))
        now = factor * float(self.references.by_group(self.counters, counter, region)[group])
        lap = int((now + numbers.low + (len(numbers.share) if factor > 0 else 0)) // ring)
        passed = min(abs(factor) * float(steps[-1]) + len(numbers.share), float(MOST_LAPS * ring))
        rows = np.arange(group_pages) * rows_per_page - now
        for back in range(int(passed // ring) + 2):
            first = rows + (lap - back * (1 if factor > 0 else -1)) * ring
            reached = min(0.0, -factor * float(steps[-1])), max(0.0, -factor * float(steps[-1]))
            reached_pages = np.flatnonzero(
                (first + rows_per_page >= reached[0] + numbers.low)
                & (first <= reached[1] + numbers.low + len(numbers.share))
            )
            below = first[reached_pages, None] + factor * steps
            whole = _integral(numbers, below + rows_per_page) - _integral(numbers, below)
            found[reached_pages] += per_step / factor * (whole - whole[:, :1])
        return found


@dataclass
class _Flow:
    """References per transaction, and those that write, by group of a region; `along`: chance of each page of a group.

    With a `frontier` they follow its counter instead.
    """

    references: FloatArray
    written: FloatArray
    window: int
    along: FloatArray
    frontier: Frontier | None

    @property
    def is_on_grid(self) -> bool:
        """Whether its pages' references are not in proportion to the time."""
        return self.frontier is not None or self.window >= 0


def _integral(numbers: Numbers, to: FloatArray) -> FloatArray:
    """Integral of the distribution function of numbers up to `to`; each number is spread over the unit behind it."""
    reached = np.concatenate([[0.0], np.cumsum(numbers.share)])
    areas = np.concatenate([[0.0], np.cumsum(reached[:-1] + numbers.share / 2.0)])
    at = np.clip(to - numbers.low, 0.0, float(len(numbers.share)))
    place = np.minimum(at.astype(np.int64), len(numbers.share) - 1)
    inside = at - place
    area = areas[place] + reached[place] * inside + numbers.share[place] * inside**2 / 2.0
    return np.asarray(area + np.maximum(to - numbers.low - len(numbers.share), 0.0) * reached[-1])
