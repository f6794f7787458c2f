"""Pages that have changes waiting: as a set, whose pages have places that can be swapped."""

from hypothesis import given
from hypothesis import strategies as st

from oltpsim.simulator.reference.waiting_changes import WaitingChanges

steps = st.lists(st.tuples(st.sampled_from(["note", "take", "swap"]), st.integers(0, 9), st.integers(0, 9)))


def test_a_page_that_is_taken_gives_its_place_to_the_last() -> None:
    waiting = WaitingChanges()
    for page in (3, 7, 3, 5, 9):
        waiting.note(page)
    assert waiting.pages == [3, 7, 5, 9]
    assert waiting.take(7)
    assert waiting.pages == [3, 9, 5]
    assert not waiting.take(7)
    assert 7 not in waiting
    waiting.swap(0, 2)
    assert waiting.pages == [5, 9, 3]


@given(steps)
def test_it_is_a_set(drawn: list[tuple[str, int, int]]) -> None:
    """And each page is where its place says."""
    waiting, pages = WaitingChanges(), set[int]()
    for what, one, other in drawn:
        if what == "note":
            waiting.note(one)
            pages.add(one)
        elif what == "take":
            assert waiting.take(one) == (one in pages)
            pages.discard(one)
        elif pages:
            waiting.swap(one % len(pages), other % len(pages))
        assert set(waiting.pages) == pages
        assert len(waiting.pages) == len(pages)
        assert all((page in waiting) == (page in pages) for page in range(10))
        assert all(waiting.pages[place] == page for page, place in waiting.places.items())
