"""Jobs on cloud volumes: no page faster than the limits let it through."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.jobs import JobResult, run_job
from models.jobs.volumes import turn_s
from models.reading import load_scenario

TINY = Path(__file__).resolve().parents[1] / "scenarios" / "tiny.yaml"
LIMIT = "{{of: {of}, per_s: {per_s}, source: 'assumption: for tests'}}"
FLASH = (
    "machine.disks.disk={{kind: flash, name: volume, capacity_gib: 600, read_latency_us: 100, write_latency_us: 100, "
    "parallel_requests: 64, source: 'assumption: for tests', limits: [{limits}]}}"
)
SCAN = "job={kind: scan, fragment_kib: 64}"
LOAD = "job={kind: load}"


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


def test_a_load_writes_no_more_than_is_let_through() -> None:
    slow, quick = (found(LOAD, "requests", per_s).value for per_s in (200, 400))
    assert slow == pytest.approx(2 * quick, rel=0.01)
    assert found(LOAD).value < quick / 4


def test_disks_share_what_the_machine_lets_through() -> None:
    together = "machine.volume_limits=[" + LIMIT.format(of="mib", per_s=16) + "]"
    one, four = (found(SCAN, "", 0, together, f"machine.disks.count={count}").value for count in (1, 4))
    assert one == pytest.approx(16 * 2**20 / 1e6, rel=1e-6)
    assert four == pytest.approx(one, rel=1e-6)
    assert turn_s(load_scenario(TINY).machine, 8192) == 0
