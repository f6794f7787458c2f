"""Layouts of aged databases: fewer live rows on a page, more pages, more reads; without bloat nothing changes."""

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.models.workloads import pages_in
from oltpsim.models.workloads.tpcc.layout import CHANGED_ROWS, LayoutSpec
from oltpsim.models.workloads.tpcc.tables import loaded_pages, regions_of
from oltpsim.scenarios.library import library_files
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.errors import InputError

SLOW = library_files()["postgresql-15-400-iops"]


def scenario(*settings: str) -> ScenarioSpec:
    return load_scenario(SLOW, list(settings))


def layout(bloat: float) -> LayoutSpec:
    return scenario(f"workload.layout.bloat_fraction={bloat}").workload.layout


def test_without_bloat_it_is_the_same_layout_and_the_same_system() -> None:
    fresh = scenario().workload.layout
    assert fresh.bloat_fraction == 0.0
    assert fresh.aged is fresh
    program, named = build(scenario()).program, build(scenario("workload.layout.bloat_fraction=0")).program
    assert np.array_equal(program.regions, named.regions)
    aged = build(scenario("workload.layout.bloat_fraction=0.3")).program
    assert not np.array_equal(program.regions, aged.regions), "the negative twin"


def test_live_rows_of_a_page_are_fewer_where_rows_change() -> None:
    fresh, aged = layout(0.0), layout(0.2).aged
    for key in CHANGED_ROWS:
        assert getattr(aged, key) == round(0.8 * getattr(fresh, key))
    for key in ("item_rows_per_page", "history_rows_per_page", "new_order_rows_per_page", "index_entries_per_page"):
        assert getattr(aged, key) == getattr(fresh, key)
    assert aged.aged is aged, "twice is once"
    assert layout(0.9).aged.stock_rows_per_page >= 1


def test_pages_grow_by_what_is_dead() -> None:
    pages = [loaded_pages(layout(bloat), 10) for bloat in (0.0, 0.2, 0.5)]
    assert pages[0] < pages[1] < pages[2]
    assert 1.15 < pages[1] / pages[0] < 1.26, "all but history, items and indexes"
    assert pages_in(regions_of(layout(0.5), 10)) > 1.5 * pages_in(regions_of(layout(0.0), 10))
    rows = dict(enumerate(regions_of(layout(0.5), 10)[:, 3].tolist()))
    assert rows != dict(enumerate(regions_of(layout(0.0), 10)[:, 3].tolist()))


def test_an_aged_database_reads_more_and_is_slower() -> None:
    rates = [
        simulate(build(scenario(f"workload.layout.bloat_fraction={bloat}")), 1).rate_per_min.mean
        for bloat in (0.0, 0.17, 0.4)
    ]
    assert rates[0] > 1.05 * rates[1] > 1.1 * rates[2]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("workload.layout.bloat_fraction=0.95",), r"workload\.layout\.bloat_fraction: got 0\.95"),
        (("workload.layout.bloat_fraction=20",), r"looks like a percentage: write '20 %' or 0\.2"),
        (
            ("workload.layout.bloat_fraction=0.2", "job={kind: load}", "database.path.load_row_us=20", "measured=null"),
            r"workload\.layout\.bloat_fraction: got 0\.2; a load leaves no dead rows: expected 0; take it out",
        ),
    ],
)
def test_what_it_can_not_be_is_refused(settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        scenario(*settings)
    assert scenario("workload.layout.bloat_fraction=20 %").workload.layout.bloat_fraction == pytest.approx(0.2)
