"""Which pages a program refers to: one reading for warm starts and formulas, held against what the reference does."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.simulator.analytic.reading.pages import PageReader
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation import AlikeGroups, PageUses, ProgramReader, Use
from oltpsim.simulator.expectation.references import SHARE_STEPS, RecentWindow
from oltpsim.simulator.form import Assembler, Program
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.regions import References
from oltpsim.simulator.reference.streams import streams_of

ROWS_PER_PAGE, PAGES, LAST = 4, 50, 37


def reader_of(program: Program) -> ProgramReader:
    return ProgramReader(program, np.zeros((1, len(program.registers)), dtype=np.int64))


def uses_of(program: Program) -> list[Use]:
    return PageUses(reader_of(program)).uses


def pages_by_reference_engine(program: Program, number: int, row: int) -> int:
    """The page that the reference engine finds for a row of group 0."""
    client = Client(0, [0] * len(program.registers), streams_of(1, "draws", 1))
    client.registers[program.registers.index("row")] = row
    tables = [program.alias[start : start + length].tolist() for start, length in program.tables.tolist()]
    references = References(program, tables)
    wanted = references.find(client, references.references[number])
    assert wanted is not None
    return wanted.page


# Counters at rest


def newest(taken: bool) -> Program:
    """A look at the row 3 before a counter, which nothing moves or another class's inserts do."""
    asm = Assembler()
    draws, group, row = asm.stream("draws"), asm.register("group"), asm.register("row")
    asm.emit("choose", asm.table("mix", [1.0, 1.0] if taken else [1.0]), draws)
    region = asm.region("rows", 1, PAGES, ROWS_PER_PAGE)
    counter = asm.counter("next row", 1, LAST)
    looked_at = asm.reference("newest", "row", region, group, row=row)
    asm.begin_class("look")
    asm.emit("peek", row, counter, group, 3)
    asm.emit("touch", looked_at, 0, 0)
    asm.emit("end")
    if taken:
        asm.begin_class("insert")
        asm.emit("take", row, counter, group, 1)
        asm.emit("end")
    return asm.finish("look")


def test_a_row_by_a_counter_at_rest_is_on_one_page() -> None:
    program = newest(taken=False)
    (use,) = uses_of(program)
    assert use.frontier is None
    assert np.flatnonzero(use.along).tolist() == [pages_by_reference_engine(program, use.touches.reference, LAST - 3)]
    found = PageReader(reader_of(program)).groups()
    assert (found.references.tolist(), found.pages.tolist()) == ([1.0], [1.0])
    assert not found.gaps.any()


def test_a_row_by_a_counter_that_moves_is_on_none_for_long() -> None:
    (use,) = uses_of(newest(taken=True))
    assert use.frontier is not None
    assert not use.along.any()
    found = PageReader(reader_of(newest(taken=True))).groups()
    assert found.gaps.any()


# Popularity


def popular(rows: int) -> Program:
    asm = Assembler()
    draws, group, _ = asm.stream("draws"), asm.register("group"), asm.register("row")
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    region = asm.region("pages", 2, PAGES, 1)
    page = asm.reference("page", "popular", region, group, table=asm.table("popularity", np.arange(1.0, rows + 1)))
    asm.begin_class("look")
    asm.emit("touch", page, 0, 0)
    asm.emit("end")
    return asm.finish("look")


@pytest.mark.parametrize("rows", [PAGES - 20, PAGES])
def test_a_table_of_popularity_has_pages_of_one_group(rows: int) -> None:
    (use,) = uses_of(popular(rows))
    expected: npt.NDArray[np.float64] = np.arange(1.0, rows + 1) / np.arange(1.0, rows + 1).sum()
    np.testing.assert_allclose(use.along, np.pad(expected, (0, PAGES - rows)), atol=1e-9)


def test_a_table_longer_than_a_group_is_refused() -> None:
    """The reference engine would go on into the next group's pages, which belong to others."""
    with pytest.raises(InputError, match=r"'popularity' draws from 51 pages; a group of region 'pages' has 50"):
        uses_of(popular(PAGES + 1))


# Alike groups

UNEVEN = np.array([10_000.0, 10_001.0, 10_002.0, 5_000.0, 10_004.0, 5_001.0, 0.0, 1.0])


def test_alike_groups_have_together_what_they_have_one_by_one() -> None:
    alike = AlikeGroups([UNEVEN])
    assert alike.kinds.tolist() == [2, 2, 2, 1, 2, 1, 0, 0]
    assert alike.mean(UNEVEN) @ alike.counts == pytest.approx(UNEVEN.sum(), rel=1e-15)
    assert alike.mean(UNEVEN).tolist() == pytest.approx([0.5, 5_000.5, 10_001.75])
    by_the_first = UNEVEN[alike.first] @ alike.counts
    rounded = np.round(UNEVEN / UNEVEN.max() * SHARE_STEPS).sum() * UNEVEN.max() / SHARE_STEPS
    assert UNEVEN.sum() not in (pytest.approx(by_the_first, rel=1e-5), pytest.approx(rounded, rel=1e-5))


def test_groups_at_other_places_are_not_alike() -> None:
    assert len(AlikeGroups([np.ones(4)], [np.array([3, 3, 4, 3])]).counts) == 2
    assert len(AlikeGroups([np.ones(4)], [np.array([3, 3, 3, 3])]).counts) == 1
    even = np.full(3, 1.0 / 3.0)
    assert AlikeGroups([even]).mean(even).tolist() == [1.0 / 3.0]


# Windows


def remembered(lengths: tuple[int, ...], draws: tuple[tuple[int, ...], ...]) -> list[RecentWindow]:
    """Windows of these lengths, an entry of each in each transaction; draws by class and window."""
    asm = Assembler()
    stream, group, _ = asm.stream("draws"), asm.register("group"), asm.register("row")
    asm.emit("choose", asm.table("mix", np.ones(len(draws))), stream)
    region, table = asm.region("pages", 1, PAGES, 1), asm.table("even", np.ones(PAGES))
    windows = [asm.window(length, 1) for length in lengths]
    entered, drawn = (
        [asm.reference(kind, kind, region, group, row=group, table=table, window=window) for window in windows]
        for kind in ("popular", "recent")
    )
    for number, of_class in enumerate(draws):
        asm.begin_class(f"class {number}")
        for reference in entered:
            asm.emit("touch", reference, 0, 0)
        for reference, times in zip(drawn, of_class, strict=True):
            for _ in range(times):
                asm.emit("touch", reference, 0, 0)
        asm.emit("end")
    return PageUses(reader_of(asm.finish("class 0"))).windows


def chance_by_hand(length: int, draws: int) -> float:
    """Share of all ways to draw from a ring that draw its first entry."""
    ways = list(product(range(length), repeat=draws))
    return sum(0 in way for way in ways) / len(ways)


def test_a_transactions_draws_find_an_entry_as_often_as_by_hand() -> None:
    (window,) = remembered((3,), ((4,), (1,), (0,)))
    chances = chance_by_hand(3, 4), chance_by_hand(3, 1)
    assert [window.hit(0), window.hit(1)] == pytest.approx(chances)
    assert window.span == 3.0
    assert window.follow_rate == pytest.approx(sum(chances) / 3.0)
    assert window.looks == pytest.approx(3.0 * 2.0 / 3.0)
    assert 1.0 - np.exp(-window.drawn) == pytest.approx(window.hit_share)
    by_the_mean = 2.0 / 3.0 * (1.0 - np.exp(-5.0 / 2.0 / 3.0))
    assert window.follow_rate != pytest.approx(by_the_mean, rel=0.002)


def test_windows_are_apart() -> None:
    """Each of its own length, with its own draws."""
    short, long = remembered((2, 5), ((3, 1),))
    assert (short.span, long.span) == (2.0, 5.0)
    assert [short.follow_rate, long.follow_rate] == pytest.approx([chance_by_hand(2, 3), chance_by_hand(5, 1)])
    assert short.first_share(0) == pytest.approx(2 * chance_by_hand(2, 3) / 3)
    assert long.first_share(0) == pytest.approx(1.0)
