"""Jobs on cloud volumes: no page faster than the limits let it through."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.jobs import JobResult, run_job
from models.jobs.disks import turn_s
from models.reading import load_scenario
from simulator.errors import InputError

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
LIMIT = "{{of: {of}, per_s: {per_s}, source: 'assumption: for tests'}}"
FLASH = (
    "machine.disks.disk={{kind: flash, name: volume, capacity_gib: 600, read_latency_us: 100, write_latency_us: 100, "
    "parallel_requests: 64, source: 'assumption: for tests', limits: [{limits}]}}"
)
SCAN = "job={kind: scan, fragment_kib: 64}"


def found(job: str, of: str = "", per_s: float = 0, *settings: str) -> JobResult:
    """A job on a volume with such a limit, or without one; rows and calls take no time."""
    limits = LIMIT.format(of=of, per_s=per_s) if of else ""
    quick = ("database.path.scanned_row_us=0", "database.path.page_miss_us=0", "database.path.load_row_us=0.1")
    small = ("workload.warehouses=20", "database.pool.buffers=1000", "machine.memory_gib=0.5", "database.io=direct")
    return run_job(load_scenario(TINY, (FLASH.format(limits=limits), *quick, *small, *settings, job)))


def test_a_scan_reads_no_more_than_is_let_through() -> None:
    assert found(SCAN, "requests", 1000).value == pytest.approx(1000 * 8192 / 1e6, rel=1e-6)
    assert found(SCAN, "mib", 16).value == pytest.approx(16 * 2**20 / 1e6, rel=1e-6)
    assert found(SCAN).value > 4 * found(SCAN, "mib", 16).value
    assert found(SCAN, "requests", 1e6).value == found(SCAN).value


def test_disks_share_what_the_machine_lets_through() -> None:
    together = "machine.volume_limits=[" + LIMIT.format(of="mib", per_s=16) + "]"
    one, four = (found(SCAN, "", 0, together, f"machine.disks.count={count}").value for count in (1, 4))
    assert one == pytest.approx(16 * 2**20 / 1e6, rel=1e-6)
    assert four == pytest.approx(one, rel=1e-6)
    assert turn_s(load_scenario(TINY).machine, 8192) == 0


LEVELS = {"raid0": 4, "raid1": 2, "raid10": 4, "raid5": 4, "raid6": 4}


@pytest.mark.parametrize("level", LEVELS)
def test_a_job_on_a_raid_set_is_refused_and_not_answered_as_without(level: str) -> None:
    wanted = rf"machine\.disks\.level: got '{level}' with job.kind: scan, .* allowed: independent"
    with pytest.raises(InputError, match=wanted) as refused:
        found(SCAN, "", 0, f"machine.disks.count={LEVELS[level]}", f"machine.disks.level={level}")
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith("tiny.yaml: ")


@pytest.mark.parametrize(("job", "value"), [(SCAN, 327.68)])
def test_a_job_on_independent_disks_is_answered_as_ever(job: str, value: float) -> None:
    assert (
        found(job, "", 0, "machine.disks.count=4", "machine.disks.level=independent").value
        == found(job, "", 0, "machine.disks.count=4").value
        == pytest.approx(value, rel=1e-6)
    )


def test_a_job_behind_limited_controllers_is_refused() -> None:
    limit = LIMIT.format(of="mib", per_s=16)
    settings = ("machine.disks.count=4", "machine.disks.controllers=2", f"machine.disks.controller_limits=[{limit}]")
    with pytest.raises(InputError, match=r"machine\.disks\.controller_limits: given with job\.kind: scan"):
        found(SCAN, "", 0, *settings)


def test_other_jobs_and_transactions_take_raid_sets() -> None:
    settings = ("machine.disks.count=4", "machine.disks.level=raid5")
    assert run_job(load_scenario(TINY, [*settings, "job={kind: mutex}"])).value > 1
    assert load_scenario(TINY, settings).machine.disks.layout is not None
