"""Page cache: what of a log's files it has room for."""

import pytest

from oltpsim.models.operating_system.page_cache import inactive_pages
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files

PAGE = 8192
GIB_PAGES = 2**30 // PAGE
OF_LOG = "write-back of the log"


@pytest.mark.parametrize(
    ("gib", "share"),
    [(0.5, 1 / 2), (1, 1 / 4), (10, 1 / 11), (100, 1 / 32), (1024, 1 / 102)],
)
def test_the_inactive_list_is_that_of_linux(gib: float, share: float) -> None:
    """mm/vmscan.c's own table: 1 GB 3 to 1, 10 GB 10, 100 GB 31, 1 TB 101."""
    pages = round(gib * GIB_PAGES)
    assert inactive_pages(pages, PAGE) == int(pages * share) or abs(inactive_pages(pages, PAGE) - pages * share) < 1


@pytest.mark.parametrize(("io", "has_log"), [("buffered", True), ("direct", False)])
def test_a_log_stands_in_it_where_there_is_one(io: str, has_log: bool) -> None:
    """PostgreSQL's does, in the catalogue; by direct I/O there is no page cache that it could stand in."""
    model = build(load_scenario(library_files()["postgresql-15"], [f"database.io={io}"]))
    assert (model.page_cache.log_pages > 0) == has_log


@pytest.mark.parametrize(("commit", "names"), [("durable", ["write-back"]), ("buffered", ["write-back", OF_LOG])])
def test_a_log_that_commits_leave_behind_has_its_own_write_back(commit: str, names: list[str]) -> None:
    model = build(load_scenario(library_files()["postgresql-15"], [f"database.log.commit={commit}"]))
    assert [each.name for each in model.daemons if each.name.startswith("write-back")] == names
