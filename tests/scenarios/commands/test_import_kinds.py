"""What `oltpsim import` says of a disk that fio measured: its kind, its numbers, its entry."""

import json
import math
from pathlib import Path

import pytest
import yaml

from oltpsim.calibration.fit.disk_kinds import KINDS, disk_table
from oltpsim.calibration.records import DiskPoint
from oltpsim.models.machine import DiskArraySpec, SsdSpec
from tests.scenarios.commands.conftest import Call

PLOT = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "fio" / "fio_plot.csv"
FLASH = KINDS[0]
TRUE = {
    "read_latency_us": 80.0, "reads_per_s": 300_000.0, "dies": 20.0, "read_mib_per_s": 3000.0,
    "write_latency_us": 18.0, "writes_per_s": 80_000.0, "write_mib_per_s": 1200.0, "interference": 0.5,
}  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of sizes and mixes of a disk with those numbers."""
    rows = [(n, size, mix) for n in (1, 4, 16, 64, 256) for size in (4, 16, 64) for mix in (100, 70, 0)]
    points = [
        DiskPoint(f"{at}", way, n, size, share, math.nan, math.nan)
        for at, (n, size, mix) in enumerate(rows)
        for way, share in (("read", mix / 100), ("write", 1 - mix / 100))
        if share > 0
    ]
    rates = FLASH.per_s(disk_table(points, 7200.0), TRUE)
    kinds = {100: "randread", 70: "randrw", 0: "randwrite"}
    lines = [
        f"{kinds[mix]},{size}k,{n},{rate:.1f},{mix}" for (n, size, mix), rate in zip(rows, rates.tolist(), strict=True)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["rw,bs,iodepth,iops,rwmixread", *lines, ""]))
    return path


def test_a_table_of_depths_sizes_and_mixes_becomes_an_entry(call: Call, table: Path, tmp_path: Path) -> None:
    place = tmp_path / "disk.yaml"
    status, out, err = call("import", table, "--capacity", "1TiB", "--save", place)
    assert status == 0, err
    assert "# 45 points: blocks of 4, 16, 64 KiB, 1 to 256 in flight, 0, 30, 100 % writes" in out
    lines = out.splitlines()
    first = lines.index("# kind                  mean error") + 1
    assert lines[first].startswith("# flash ")
    assert not lines[first + 1].startswith("# flash ")
    (interference,) = [line.split()[2:] for line in lines if line.startswith("#   interference ")]
    assert float(interference[0]) == pytest.approx(0.5, rel=0.01)
    assert float(interference[1]) < 0.5 < float(interference[3])
    assert out.endswith(f"# for machine.disks.disk of a scenario:\n{place.read_text()}")
    spec = SsdSpec.model_validate(yaml.safe_load(place.read_text()))
    assert spec.read_latency_us == pytest.approx(80, rel=0.02)
    assert spec.writes_per_s == pytest.approx(80_000, rel=0.02)
    assert spec.read_mib_per_s == pytest.approx(3000, rel=0.02)
    assert spec.write_mib_per_s == pytest.approx(1200, rel=0.02)
    assert "interference 0.5 (" in spec.source
    document = json.loads(call("import", table, "--capacity", "1TiB", "-o", "json")[1])
    fit = document.pop("fit")
    assert document == {"format": "oltpsim-disk-1", **yaml.safe_load(place.read_text())}
    assert fit["kind"] == "flash"
    assert fit["mean_error"] < 0.01 < fit["kinds"]["servers"]
    low, high = (fit["numbers"]["interference"][end] for end in ("low", "high"))
    assert low < 0.5 < high


def test_a_scenario_takes_the_entry(call: Call, table: Path, tmp_path: Path) -> None:
    place = tmp_path / "disk.yaml"
    call("import", table, "--capacity", "1TiB", "--save", place)
    disk = "\n".join(f"      {line}" for line in place.read_text().splitlines())
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(f"base: v20z\nmachine:\n  disks:\n    disk:\n{disk}\n", encoding="utf-8")
    status, out, err = call("run", scenario, "--engine", "analytic")
    assert status == 0, err
    assert "new orders/min" in out


def test_a_device_of_several_is_chosen_by_a_part_of_its_name(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "array.yaml"
    status, out, err = call("import", PLOT, "--device", "highpoint", "--capacity", "700GiB", "--save", place)
    assert status == 0, err
    assert "# array behind a cache: arms among which requests are spread, behind a controller's write cache" in out
    assert "# the 12 points that are furthest off" in out
    assert "# for machine.disks of a scenario:" in out
    spec = DiskArraySpec.model_validate(yaml.safe_load(place.read_text()))
    assert spec.controller_cache is not None
    assert "7200 rpm (--rpm)" in spec.disk.source
    for words, said in (
        ((), "got no --device; expected one of 3x_CRUCIAL"),
        (("--device", "crucial"), "got --device crucial; expected one of 3x_CRUCIAL_MX200_RAID0_behind_P420i, CRUC"),
        (("--device", "floppy"), "got --device floppy; expected one of 3x_CRUCIAL"),
    ):  # fmt: skip
        status, out, err = call("import", PLOT, *words, "--capacity", "1TiB")
        assert (status, out) == (2, "")
        assert said in err


def test_what_the_results_do_not_show_makes_no_entry(call: Call, tmp_path: Path) -> None:
    """A FireCuda 530 with 70 % reads (ezfio issue 62): the fit is shown, but neither reads nor writes are known."""
    rates = (24.6, 48.5, 94.5, 172, 286, 440, 610, 767, 833)
    rows = [f"randrw,4k,{2**at},{1000 * rate},70" for at, rate in enumerate(rates)]
    path, place = tmp_path / "mix.csv", tmp_path / "disk.yaml"
    path.write_text("\n".join(["rw,bs,iodepth,iops,rwmixread", *rows, ""]))
    status, out, err = call("import", path, "--capacity", "1TiB", "--save", place)
    assert status == 2
    assert "# flash                       0.9%" in out
    assert "#   read_latency_us               -  not identified" in out
    assert "don't show read_latency_us and reads_per_s; expected reads alone and writes alone" in err
    assert not place.exists()
