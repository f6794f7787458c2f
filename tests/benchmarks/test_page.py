"""The page of speeds: one section is put in place of its former self, and nothing else moves."""

from pathlib import Path

from benchmarks.page import Section, at_most, goals_table, part, with_section

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
FIRST = Section("First", ["words"], [at_most("ms for one", 1.0, 2.0)])
SECOND = Section("Second", ["more words"], [at_most("s in all", 5.0, 3.0, "s"), at_most("MiB", 5.0, None)])


def page_of(*sections: Section) -> str:
    goals = ["## Goals", "Goals and measured.", goals_table(sections)]
    return part("# Speed", "Opening.", *goals, *(each.text() for each in sections)) + "\n"


def test_a_section_takes_the_place_of_its_former_self() -> None:
    faster = Section("First", ["words of now"], [at_most("ms for one", 1.0, 0.5)])
    assert with_section(page_of(FIRST, SECOND), faster) == page_of(faster, SECOND)
    fewer = Section("Second", ["other words"], [at_most("MiB", 5.0, 7.0)])
    assert with_section(page_of(FIRST, SECOND), fewer) == page_of(FIRST, fewer)


def test_a_new_section_stands_at_the_end() -> None:
    assert with_section(page_of(FIRST), SECOND) == page_of(FIRST, SECOND)


def test_the_same_section_leaves_the_page_as_it_is_and_another_one_doesnt() -> None:
    page = page_of(FIRST, SECOND)
    assert with_section(page, SECOND) == page
    assert with_section(page, Section("Second", ["more"], SECOND.goals)) != page


def test_the_real_page_keeps_every_other_line() -> None:
    page = PAGE.read_text(encoding="utf-8")
    new = Section("A section that isn't there", ["words"], [at_most("s", 1.0, 2.0)])
    found = with_section(page, new).split("\n")
    added = {*new.text().split("\n"), "| A section that isn't there | s at most 1 | 2 | no |"}
    assert [line for line in found if line not in added - {""}][: page.count("\n")] == page.split("\n")[:-1]
