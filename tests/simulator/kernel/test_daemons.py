"""Daemons beside one client that changes ten pages a second: what they write, by hand, in both engines."""

from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import Daemon, DaemonStep, FlashDevice, kept_dirty_pages
from oltpsim.simulator.results import Result
from tests.simulator.daemons import checkpointer, sleeping_writer, write_back, writer
from tests.simulator.kernel.test_page_writes import PAGES, writes, writing_model

MS, SECOND = 1_000_000, 1_000_000_000


def run(engine: ModuleType, *daemons: Daemon, write_ns: int = MS) -> Result:
    model = writing_model(coalesced=1)
    devices = (FlashDevice("disk", MS, write_ns, parallel=1),)
    system = replace(model, daemons=daemons, storage=replace(model.storage, devices=devices))
    result: Result = engine.simulate(system, 1)
    return result


@pytest.mark.parametrize("engine", [kernel, reference])
@pytest.mark.parametrize(
    ("daemons", "pages"),
    [
        ((), 0),
        ((writer(PAGES, 0),), 0),
        ((writer(7, 6),), 4),
        ((writer(7, 6), writer(3, 2)), 8),
        ((writer(3, 2), writer(7, 6)), 8),
        ((sleeping_writer(SECOND // 4, 4),), 6),
        ((sleeping_writer(SECOND // 4, PAGES),), 0),
        ((sleeping_writer(SECOND // 4, 4), sleeping_writer(SECOND // 8, 1)), 9),
    ],
)
def test_each_writer_leaves_what_it_keeps(engine: ModuleType, daemons: tuple[Daemon, ...], pages: int) -> None:
    """The transaction makes all ten pages dirty; whoever keeps fewer writes the others."""
    assert writes(run(engine, *daemons)) == [pages]


@pytest.mark.parametrize("engine", [kernel, reference])
def test_a_checkpoint_that_takes_longer_than_its_interval_is_followed_by_the_next(engine: ModuleType) -> None:
    """One each second of ten writes of 300 ms; the first one finds nothing dirty yet."""
    result = run(engine, checkpointer(SECOND, direct_io=True), write_ns=300 * MS)
    assert result.checkpoints_s[:3] == [[1.0, 1.0], [2.0, 5.0], [5.0, 8.0]]


@pytest.mark.parametrize("engine", [kernel, reference])
def test_a_spread_checkpoint_takes_its_time(engine: ModuleType) -> None:
    """Batch by batch of one page, evenly: the last one begins when nine tenths are over."""
    model = replace(writing_model(coalesced=1, batch=1), daemons=(checkpointer(5 * SECOND, SECOND, direct_io=True),))
    assert engine.simulate(model, 1).checkpoints_s[0] == [5.0, pytest.approx(5.9, abs=0.002)]


def test_a_warm_start_is_as_dirty_as_writers_leave_the_pool() -> None:
    """The least that they keep; checkpoints don't count, and without a writer all pages may be dirty."""
    others = (write_back(SECOND, SECOND), checkpointer(SECOND))
    assert kept_dirty_pages(others, 100) == 100
    assert kept_dirty_pages((*others, writer(70, 60), sleeping_writer(SECOND, 20)), 100) == 20
    assert kept_dirty_pages((Daemon("sync", (DaemonStep("sleep", (1,)), DaemonStep("sync"))),), 7) == 7


@pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
def test_a_daemon_that_never_waits_is_refused(engine: ModuleType) -> None:
    with pytest.raises(InputError, match="daemon restless: nothing in it waits"):
        run(engine, Daemon("restless", (DaemonStep("write_log"),)))
