"""Regions of pages, and references into them: which page an operation means."""

from typing import NamedTuple

from oltpsim.simulator.form import REFERENCE_KINDS, Program
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.streams import AliasTable


class Region:
    """The pages of a table or index, in groups; rows fill the pages of a group in order, round and round."""

    def __init__(self, base: int, group_pages: int, rows_per_page: int, fanout: int) -> None:
        self.base, self.group_pages, self.rows_per_page, self.fanout = base, group_pages, rows_per_page, fanout
        self.index: Region | None = None
        """the index pages above, one for each `fanout` pages"""
        self.forget_counts()

    def forget_counts(self) -> None:
        """All counters at zero."""
        self.references = self.pool_hits = self.page_cache_hits = self.disk_reads = self.created = 0


class Reference(NamedTuple):
    """A way to find a page in a region (simulator/form/program.py: REFERENCE_COLUMNS)."""

    kind: str
    region: Region
    group_register: int
    row_register: int
    table: int
    window: int
    purpose: int
    high: int


class RecentPages:
    """A ring of the last `length` pages that were remembered."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.pages: list[int] = []
        self.seen = 0

    def remember(self, page: int) -> None:
        """The page takes the place of the oldest one."""
        if len(self.pages) < self.length:
            self.pages.append(page)
        else:
            self.pages[self.seen % self.length] = page
        self.seen += 1


class PageWanted(NamedTuple):
    """The page that an operation means; `created`: no row has reached it before."""

    page: int
    created: bool


class References:
    """All references of a program, and what they remember: recent pages, and the highest page that appends reached."""

    def __init__(self, program: Program, tables: list[AliasTable]) -> None:
        self.tables = tables
        self.regions = [
            Region(base, group_pages, rows_per_page, fanout)
            for base, _, group_pages, rows_per_page, _, fanout in program.regions.tolist()
        ]
        for region, index in zip(self.regions, program.regions[:, 4].tolist(), strict=True):
            region.index = self.regions[index] if index >= 0 else None
        self.references = [
            Reference(REFERENCE_KINDS[kind], self.regions[region], *columns)
            for kind, region, *columns in program.references.tolist()
        ]
        self.high: list[int] = program.initial_high.tolist()
        self.windows = [
            [RecentPages(length) for _ in range(groups)] for _, length, groups, _ in program.windows.tolist()
        ]

    def find(self, client: Client, reference: Reference) -> PageWanted | None:
        """The page that a reference means to a client now; None where no recent page is remembered."""
        region, group = reference.region, client.registers[reference.group_register]
        first, row = region.base + group * region.group_pages, client.registers[reference.row_register]
        stream = client.streams[reference.purpose]
        if reference.kind == "popular":
            page = first + stream.alias(self.tables[reference.table])
            if reference.window >= 0:
                self.windows[reference.window][row].remember(page)
            return PageWanted(page, created=False)
        if reference.kind == "recent":
            recent = self.windows[reference.window][row].pages
            return PageWanted(recent[stream.below(len(recent))], created=False) if recent else None
        offset, created = row // region.rows_per_page, False
        if reference.kind == "append" and offset > self.high[reference.high + group]:
            self.high[reference.high + group] = offset
            created = True
        return PageWanted(first + offset % region.group_pages, created)
