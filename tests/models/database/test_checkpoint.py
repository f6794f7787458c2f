"""Checkpoints by time and by the log's volume, and pages that the log has whole after one."""

import pytest

from oltpsim.models.database import checkpointer_of
from oltpsim.models.database.checkpoint import CheckpointSpec
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import NEVER_BYTES
from oltpsim.simulator.results import Result
from tests.models.workloads.rows.test_program import scenario

INTERVAL = "interval={start: warm, warm_up_s: 10, duration_s: 20}"


def test_its_steps_are_those_of_the_settings() -> None:
    by_time = checkpointer_of(CheckpointSpec(interval_s=300, spread_fraction=0.9), direct_io=False)
    assert [step.operation for step in by_time.steps] == ["every", "write_dirty", "sync", "note_checkpoint"]
    spec = CheckpointSpec(interval_s=300, spread_fraction=0.9, most_log_gib=1, full_page_writes=True)
    by_log = checkpointer_of(spec, direct_io=False)
    assert [step.operation for step in by_log.steps][:3] == ["every_or_logged", "begin_checkpoint", "write_dirty"]
    # PostgreSQL 16 documentation, 30.5: max_wal_size; xlog.c: by 1 + checkpoint_completion_target
    assert next(iter(by_log.operands("every_or_logged"))) == (300 * 10**9, round(2**30 / 1.9))
    whole = checkpointer_of(CheckpointSpec(interval_s=300, full_page_writes=True), direct_io=False)
    assert next(iter(whole.operands("every_or_logged"))) == (300 * 10**9, NEVER_BYTES)


def logged(result: Result) -> float:
    """Bytes per transaction."""
    return result.log.bytes_per_s / result.transactions_per_s


@pytest.mark.parametrize(
    ("checkpoint", "least"),
    [
        ("{interval_s: 5, spread_fraction: 0.9, full_page_writes: true}", 2_000),
        ("{interval_s: 300, spread_fraction: 0.9, full_page_writes: true, most_log_gib: 0.2}", 2_000),
        ("{interval_s: 5, spread_fraction: 0.9}", 500),
    ],
)
def test_formulas_log_as_much_as_the_simulation(checkpoint: str, least: float) -> None:
    """Two changes of 250 bytes, and the page where it is the first change; the negative twin logs no page."""
    system = build(scenario("pgbench-simple-update", INTERVAL, f"database.checkpoint={checkpoint}"))
    simulated, calculated = kernel.simulate(system, 1), analytic.simulate(system, 1)
    assert logged(simulated) >= 0.999 * least
    assert logged(calculated) == pytest.approx(logged(simulated), rel=0.1)
    assert (logged(simulated) > 501) == ("full" in checkpoint)


def test_more_log_room_means_fewer_checkpoints_and_fewer_whole_pages() -> None:
    few, many = (
        kernel.simulate(
            build(
                scenario(
                    "pgbench-simple-update",
                    INTERVAL,
                    f"database.checkpoint={{interval_s: 300, spread_fraction: 0.9, full_page_writes: true, "
                    f"most_log_gib: {gib}}}",
                )
            ),
            1,
        )
        for gib in (2, 0.1)
    )
    assert len(many.checkpoints_s) > len(few.checkpoints_s) + 3
    assert logged(many) > 1.5 * logged(few)
