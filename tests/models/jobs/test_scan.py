"""Serial read on the machine's parts: against arithmetic, against a reader of the reference disk by hand, and laws."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.jobs.scan import MOST_RUNS, scan_model, scan_size
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import ScanSpec
from oltpsim.models.workloads.tpcc import loaded_pages
from oltpsim.simulator.form import CODES, RotatingDevice
from oltpsim.simulator.form.samplers import alias_pmf
from oltpsim.simulator.reference.disk import DiskMechanics
from tests.simulator.twins import differences

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
ROWS, ITEMS, US = 499_011, 100_000, 1e-6
PAGE = 8192
FREE = (
    "operating_system.cpu={read_us: 0, write_us: 0, disk_request_us: 0}",
    "database.path={scanned_row_us: 0, page_miss_us: 0}",
)
LIMIT = "{{of: {of}, per_s: {per_s}, source: 'assumption: for tests'}}"
FLASH = (
    "machine.disks.disk={{kind: flash, name: volume, capacity_gib: 600, read_latency_us: 100, write_latency_us: 100, "
    "parallel_requests: 64, source: 'assumption: for tests', limits: [{limits}]}}"
)
LEVELS = ("raid0", "raid10", "raid5", "raid6")


def scenario(fragment: object, *settings: str) -> ScenarioSpec:
    return load_scenario(TINY, [f"job={{kind: scan, fragment_kib: {fragment}}}", *settings])


def answer(fragment: object, *settings: str) -> JobResult:
    return run_job(scenario(fragment, *settings))


def on_flash(fragment: object, of: str = "", per_s: float = 0, *settings: str) -> JobResult:
    """A scan of a volume with such a limit, or without one; rows and calls take no time."""
    limits = LIMIT.format(of=of, per_s=per_s) if of else ""
    return answer(fragment, FLASH.format(limits=limits), *FREE, "workload.warehouses=20", *settings)


# one arm


def test_a_scan_of_one_run_of_pages_goes_at_the_media_rate() -> None:
    settings = (*FREE, "workload.warehouses=100")
    found = answer("1 GiB", *settings)
    media = 60 * 2**20 / 1e6
    assert found.value == pytest.approx(media, rel=0.001)
    assert found.value < media
    assert answer("1 GiB", *settings, "machine.disks.count=4").value == pytest.approx(4 * media, rel=0.01)
    assert answer(64, *settings).value < 0.5 * media


def test_a_scan_page_by_page_pays_half_a_rotation_for_each() -> None:
    found = answer(8, "workload.warehouses=100")
    rotation_s = 60 / 10_000
    page_s = PAGE / 1e6 / found.value
    assert rotation_s / 2 + 0.2e-3 + 0.5e-3 < page_s < rotation_s / 2 + 0.2e-3 + 2e-3
    assert found.limited_by.startswith("disks")
    three = answer(8, "workload.warehouses=100", "machine.disks.count=3")
    assert 2.7 < three.value / found.value < 3.01


def by_hand_s(device: RotatingDevice, places: int, requests: float, size: int, start: int) -> float:
    """Mean time of a reader that sorts so many places at random, reads them one by one, and begins anew."""
    rng, disk = np.random.default_rng(5), DiskMechanics(device)
    now, arm, served = 0.0, start, 0
    while served < 10_000:
        for place in np.sort(rng.integers(0, places, rng.poisson(requests))).tolist():
            byte = start + place * size
            now += disk.positioning_ns(arm, byte, now / device.revolution_ns % 1.0) + disk.transfer_ns(size)
            arm, served = byte + size, served + 1
    return now / served / 1e9


@pytest.mark.parametrize("fragment_kib", [8, 64, 512])
@pytest.mark.parametrize("rpm", [5_000, 15_000])
def test_a_scan_takes_as_long_as_a_sorted_reader_of_the_disk(fragment_kib: int, rpm: int) -> None:
    spec = scenario(fragment_kib, *FREE, f"machine.disks.disk.rpm={rpm}", "workload.warehouses=100")
    assert isinstance(spec.job, ScanSpec)
    size, device = scan_size(spec, spec.job), spec.machine.disks.disk.device("disk")
    assert isinstance(device, RotatingDevice)
    start = scan_model(spec, size).storage.data_start_bytes
    expected = by_hand_s(device, size.places, size.ahead, fragment_kib * 1024, start)
    found = fragment_kib * 1024 / 1e6 / run_job(spec).value
    assert found == pytest.approx(expected, rel=0.03)
    if size.ahead > 100:
        unsorted = by_hand_s(device, size.places, 1, fragment_kib * 1024, start)
        assert found < 0.9 * unsorted, "the negative twin: a reader that doesn't sort"


@pytest.mark.parametrize(("warehouses", "fragment_kib"), [(1, 8), (100, 8), (100, 300), (1000, 1024)])
def test_an_arm_passes_the_file_once_for_each_index_page(warehouses: int, fragment_kib: int) -> None:
    """The mean way is the file by the runs that a page names, however many cells it is drawn from."""
    spec = scenario(fragment_kib, *FREE, f"workload.warehouses={warehouses}", "machine.disks.disk.capacity_gib=1000")
    assert isinstance(spec.job, ScanSpec)
    size = scan_size(spec, spec.job)
    program = scan_model(spec, size).program
    uniform = next(row for row in program.operations.tolist() if row[0] == CODES["uniform"])
    start, length = program.tables[program.table_names.index("ways")].tolist()
    chances = alias_pmf(program.alias[start : start + length])
    mean = uniform[2] * float(chances @ np.arange(length)) + (uniform[2] + 1) / 2
    assert mean == pytest.approx(size.places / size.ahead, rel=0.01)
    assert length < 2_000


# limits


def test_a_scan_reads_no_more_than_is_let_through() -> None:
    assert on_flash(8, "requests", 1000).value == pytest.approx(1000 * PAGE / 1e6, rel=0.001)
    assert on_flash(64, "requests", 1000).value == pytest.approx(1000 * 8 * PAGE / 1e6, rel=0.001), "a run is a request"
    assert on_flash(64, "mib", 16).value == pytest.approx(16 * 2**20 / 1e6, rel=0.001)
    assert on_flash(64).value > 4 * on_flash(64, "mib", 16).value
    assert on_flash(64, "requests", 1e6).value == on_flash(64).value


def test_disks_share_what_the_machine_lets_through() -> None:
    together = "machine.volume_limits=[" + LIMIT.format(of="mib", per_s=16) + "]"
    one, four = (on_flash(64, "", 0, together, f"machine.disks.count={count}").value for count in (1, 4))
    assert one == pytest.approx(16 * 2**20 / 1e6, rel=0.001)
    assert four == pytest.approx(one, rel=0.001)


def test_each_controller_lets_its_share_through() -> None:
    limit = "machine.disks.controller_limits=[" + LIMIT.format(of="mib", per_s=16) + "]"
    two, four = (
        on_flash(64, "", 0, "machine.disks.count=4", f"machine.disks.controllers={count}", limit).value
        for count in (2, 4)
    )
    assert two == pytest.approx(2 * 16 * 2**20 / 1e6, rel=0.001)
    assert four == pytest.approx(2 * two, rel=0.001)


# RAID


def test_a_set_reads_with_all_its_disks() -> None:
    """Runs of whole stripes at the media rate of the disks that have data, or with pairs those that are read."""
    free = (*FREE, "workload.warehouses=40", "machine.disks.disk.overhead_ms=0")
    media = 60 * 2**20 / 1e6
    found = {
        level: answer(8192, *free, f"machine.disks.level={level}", "machine.disks.count=4").value for level in LEVELS
    }
    independent = answer(8192, *free, "machine.disks.count=4").value
    assert independent == pytest.approx(found["raid0"], rel=0.1)
    assert 3.4 * media < found["raid0"] < 4 * media
    assert found["raid6"] <= found["raid5"] <= found["raid0"]
    assert found["raid10"] < found["raid0"] * 1.05
    assert found["raid6"] > media


@pytest.mark.parametrize("level", LEVELS)
def test_single_pages_of_a_set_come_from_one_disk_each(level: str) -> None:
    free = (*FREE, "workload.warehouses=40", f"machine.disks.level={level}")
    four, eight = (answer(8, *free, f"machine.disks.count={count}").value for count in (4, 8))
    alone = answer(8, *FREE, "workload.warehouses=40").value
    assert 2 * alone < four < 4.05 * alone
    assert eight > 1.4 * four


# the processors


def test_a_scan_from_flash_is_limited_by_the_thread_that_takes_the_rows_in() -> None:
    found = answer(
        8, "machine.disks.disk=nvme", "machine.cpu.cores=4", "machine.disks.count=8", "database.path.page_miss_us=0"
    )
    assert found.limited_by == "processor: one thread takes in all rows"
    rows_per_s = found.value * 1e6 / PAGE * (ROWS + ITEMS) / (found.seconds or 0.0) / found.also["pages per second"]
    assert rows_per_s == pytest.approx(1 / (2 * US), rel=0.01)
    two = answer(8, "machine.disks.disk=nvme", "machine.cpu.cores=1", "machine.disks.count=8")
    assert two.limited_by == "processors"
    assert two.cpu_cores_busy == pytest.approx(1.0, rel=0.01)


# laws


@pytest.mark.parametrize("disks", [("machine.disks.count=2",), ("machine.disks.count=3", "machine.disks.level=raid5")])
@pytest.mark.parametrize("io", ["buffered", "direct"])
def test_both_engines_scan_alike(io: str, disks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oltpsim.models.jobs.scan.MOST_RUNS", 400)
    spec = scenario(20, f"database.io={io}", *disks)
    assert isinstance(spec.job, ScanSpec)
    assert differences(scan_model(spec, scan_size(spec, spec.job)), 3) == []


@settings(max_examples=8, deadline=None)
@given(disks=st.integers(1, 16), fragment_kib=st.floats(8, 1e5), level=st.sampled_from(["independent", "raid0"]))
def test_laws_of_a_scan(disks: int, fragment_kib: float, level: str) -> None:
    def run(disks: int, fragment_kib: float, *more: str) -> JobResult:
        more += (f"machine.disks.level={level if disks > 1 else 'independent'}", f"machine.disks.count={disks}")
        return answer(fragment_kib, "workload.warehouses=10", *more)

    found = run(disks, fragment_kib)
    assert found.seconds is not None
    assert sum(found.parts_s.values()) == pytest.approx(found.seconds, rel=1e-6)
    assert min(found.parts_s.values()) >= 0
    assert found.cpu_cores_busy <= 1 + 1e-9
    if disks > 1:
        assert run(2 * disks, fragment_kib).value >= found.value * 0.95
    assert run(disks, 2 * fragment_kib).value >= found.value * 0.95
    assert run(disks, fragment_kib, "machine.disks.disk.overhead_ms=0.1").value >= found.value * 0.95


def test_a_long_scan_goes_on_at_the_rate_of_its_first_runs_and_says_so() -> None:
    small, large = (answer(8, f"workload.warehouses={warehouses}") for warehouses in (1, 40))
    pages = [loaded_pages(scenario(8).workload.layout, warehouses) for warehouses in (1, 40)]
    assert pages[0] < MOST_RUNS < pages[1]
    assert large.basis.endswith(f"{MOST_RUNS:,} runs of 1 pages; the scan has {pages[1]:,}")
    assert small.basis.endswith(f"{pages[0]:,} runs of 1 pages; the scan has {pages[0]:,}")
    assert large.seconds is not None
    assert large.seconds == pytest.approx(pages[1] / large.also["pages per second"])
    assert not math.isclose(run_job(scenario(8), 2).value, small.value, rel_tol=1e-6), "places are drawn"
