"""Page cache: what of a log's files it has room for."""

from __future__ import annotations

import pytest

from models.operating_system.page_cache import inactive_pages
from models.reading import load_scenario
from scenarios.library import library_files
from simulator.errors import InputError

PAGE = 8192
GIB_PAGES = 2**30 // PAGE


@pytest.mark.parametrize(
    ("gib", "share"),
    [(0.5, 1 / 2), (1, 1 / 4), (10, 1 / 11), (100, 1 / 32), (1024, 1 / 102)],
)
def test_the_inactive_list_is_that_of_linux(gib: float, share: float) -> None:
    """mm/vmscan.c's own table: 1 GB 3 to 1, 10 GB 10, 100 GB 31, 1 TB 101."""
    pages = round(gib * GIB_PAGES)
    assert inactive_pages(pages, PAGE) == int(pages * share) or abs(inactive_pages(pages, PAGE) - pages * share) < 1


def test_a_log_by_direct_io_is_not_in_it() -> None:
    with pytest.raises(InputError, match=r"database.log.in_page_cache: got true with database.io: direct"):
        load_scenario(library_files()["laboratory/mariadb"], ["database.log.in_page_cache=true"])
