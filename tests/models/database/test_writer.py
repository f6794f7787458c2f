"""The background writer: its sweep of the pool, its pushes to the disks, and where neither can be."""

from pathlib import Path

import pytest

from oltpsim.models.database import sweeper_of
from oltpsim.models.database.writer import SweepSpec
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError

LIBRARY = Path(__file__).resolve().parents[3] / "scenarios" / "library"
SWEEP = "database.writer.sweep={whole_pool_s: 120, round_s: 0.2, round_pages: 100}"


def test_rounds_add_up_to_the_pool() -> None:
    """600 rounds of 0.2 s in 120 s: 82 of 49,152 buffers each; twice as often half as many."""
    for round_s, places in ((0.2, 82), (0.1, 41)):
        daemon = sweeper_of(SweepSpec(whole_pool_s=120, round_s=round_s, round_pages=100), 49_152)
        assert next(iter(daemon.operands("write_unused"))) == (places, 100)
        assert next(iter(daemon.operands("sleep"))) == (round(round_s * 1e9),)


def test_it_is_there_if_asked_for() -> None:
    file = LIBRARY / "postgresql-15-400-iops.yaml"
    with_it, without = build(load_scenario(file, [SWEEP])), build(load_scenario(file))
    assert len(with_it.daemons) == len(without.daemons) + 1


def test_a_pool_that_counts_no_uses_down_has_none() -> None:
    with pytest.raises(InputError, match=r"database\.writer\.sweep: with pool\.replacement: lru"):
        load_scenario(LIBRARY / "v20z.yaml", [SWEEP])


def test_what_it_writes_is_pushed_if_asked_for() -> None:
    file = LIBRARY / "postgresql-15-400-iops.yaml"
    assert build(load_scenario(file, ["database.writer.flush_after=true"])).writing.pushed
    assert not build(load_scenario(file)).writing.pushed


def test_nothing_is_pushed_past_a_page_cache() -> None:
    with pytest.raises(InputError, match=r"database\.writer\.flush_after: with database\.io: direct"):
        load_scenario(
            LIBRARY / "postgresql-15-400-iops.yaml", ["database.writer.flush_after=true", "database.io=direct"]
        )
