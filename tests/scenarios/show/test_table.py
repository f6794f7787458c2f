"""Columns, lines behind labels, bars of blocks and CSV."""

import pytest

from oltpsim.scenarios.show.table import aligned, blocks, csv_text, flow, sentence_flow


def test_columns_are_aligned_two_apart() -> None:
    rows = [["part", "amount", ""], ["a disk", "1,000", "[0 .. 1]"], ["cpu", "5"]]
    assert aligned(rows, "<>") == ["part    amount", "a disk   1,000  [0 .. 1]", "cpu          5"]
    assert aligned(rows, "<", indent=2)[2] == "  cpu     5"
    assert aligned([]) == []


def test_nothing_is_wrapped_marked_up_or_coloured() -> None:
    long = "[bold]x[/bold] :smile: " + "y" * 500
    assert aligned([[long, "z"]]) == [f"{long}  z"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_parts_flow_behind_their_label(width: int) -> None:
    lines = flow("label", ["one part", "another part", "a part with several words in it"], width)
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("  label ")
    assert all(line.startswith(" " * 26) for line in lines[1:])


def test_a_sentence_is_broken_at_its_words() -> None:
    assert sentence_flow("", "one two three", 9, indent=2) == ["  one two", "  three"]


@pytest.mark.parametrize(("part", "full"), [(0.0, 0), (0.001, 1), (0.5, 5), (0.96, 10), (1.0, 10), (1.2, 10)])
def test_blocks(part: float, full: int) -> None:
    assert blocks(part, 10) == "▇" * full + "▁" * (10 - full)


def test_csv_of_rows_with_and_without_names() -> None:
    assert csv_text(("a", "b"), [[1, None], ["x,y", 2.5]]) == 'a,b\n1,\n"x,y",2.5\n'
    assert csv_text(("a", "b"), [{"b": 2}, {"a": 1, "b": None}]) == "a,b\n,2\n1,\n"
