"""The two whole runs: harness and monitors brought together by time, and held against Little's law."""

import shutil
from pathlib import Path

import pytest

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.records import check_record, merge_readings, missing_keys
from oltpsim.calibration.records.merging import Merged
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import RUNS

MEMORY, DISK = "postgres15_go-tpc_in_memory", "postgres15_go-tpc_one_disk_400_iops"
EXPECTED: dict[str, dict[str, tuple[float, float]]] = {
    MEMORY: {
        "outcome.new_orders_per_minute": (26846, 0.001),
        "outcome.transactions_per_s": (990, 0.001),
        "workload.clients": (16, 0),
        "workload.warehouses": (40, 0),
        "environment.memory_gib": (8, 0),
        "engine.buffer_pool_gib": (3, 0),
        "engine.page_kib": (8, 0),
        "resources.cpu_idle_fraction": (0, 0.01),
        "resources.log_flushes_per_s": ((38031 - 4896) / 58.12, 0.002),
        "resources.buffer_reads_per_s": ((1345703 - 1323466) / 58.12, 0.002),
    },
    DISK: {
        "outcome.new_orders_per_minute": (2585, 0.001),
        "outcome.transactions_per_s": (93.25, 0.001),
        "workload.clients": (16, 0),
        "workload.warehouses": (40, 0),
        "environment.memory_gib": (1.5, 0),
        "engine.buffer_pool_gib": (0.375, 0),
        "resources.devices.loop1.reads_per_s": (295, 0.005),
        "resources.devices.loop1.utilisation_fraction": (1.0, 0.005),
        "resources.devices.loop1.queue_length": (16.1, 0.01),
        "resources.log_flushes_per_s": ((10725 - 5703) / 53.76, 0.002),
        "resources.buffer_reads_per_s": ((1299874 - 1254074) / 53.76, 0.002),
    },
}
"""By hand: README of the runs, and differences of the views over the seconds from the first snapshot to the end."""


def imported(name: str, folder: Path = RUNS) -> Merged:
    (found,) = find_runs([folder / name])
    return merge_readings(found.name, found.readings)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_run_directory_is_read_whole(name: str) -> None:
    record = imported(name).record
    assert record.window.kind == "steady"
    for key, (expected, relative) in EXPECTED[name].items():
        value: object = record
        for word in key.split("."):
            value = value[word] if isinstance(value, dict) else getattr(value, word)
        assert getattr(value, "value", None) == pytest.approx(expected, rel=relative, abs=0.001), key


@pytest.mark.parametrize("name", EXPECTED)
def test_a_run_directory_passes_littles_law_and_the_others(name: str) -> None:
    record = imported(name).record
    findings = check_record(record)
    assert (findings[0].law, findings[0].holds) == ("Little's law", True)
    assert not [finding for finding in findings if finding.holds is False]
    assert not missing_keys(record)


def test_the_page_cache_answers_what_the_device_does_not() -> None:
    """blks_read asks the operating system; minus what the device read it is the double buffering."""
    texts = [finding.text for finding in check_record(imported(DISK).record)]
    assert "the page cache answered 64% of what the pool lacked" in texts
    assert any(text.startswith("pool 0.9583") for text in texts)


def test_samples_without_times_are_placed_beside_those_that_have_them() -> None:
    """The tool ran while the warm-up still had the disk to itself, with 1,970 reads/s."""
    reads = imported(DISK).record.resources.devices["loop1"].reads_per_s
    assert reads is not None
    assert "sample 4 to sample 13" in reads.source
    assert reads.value == pytest.approx(295, rel=0.005)


def test_without_another_clock_the_ramp_is_told(tmp_path: Path) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run", ignore=shutil.ignore_patterns("sadf*", "diskstats*", "vmstat*"))
    merged = imported("run", tmp_path)
    reads = merged.record.resources.devices["loop1"].reads_per_s
    assert reads is not None
    assert reads.value > 400
    assert any("no times: all its samples are averaged, ramp or not" in note for note in merged.notes)


def test_sars_interval_over_a_gap_is_no_part_of_the_window() -> None:
    """Its row of 278 s ends before the window; counted as one sample of many it would spoil the mean."""
    merged = imported(DISK)
    requests = merged.record.resources.devices["loop1"].requests_per_s
    assert requests is not None
    assert requests.value == pytest.approx(390.5, abs=0.5)
    assert "sample 16 to sample 25" in requests.source


def test_the_cgroups_limit_is_the_memory() -> None:
    memory = imported(MEMORY).record.environment.memory_gib
    assert memory is not None
    assert (memory.value, "hierarchical_memory_limit" in memory.source) == (8, True)


def test_snapshots_have_their_own_clock(tmp_path: Path) -> None:
    """Without the sessions' times the ticks of the CPUs tell how far apart they are, and without both the window."""
    shutil.copytree(RUNS / DISK, tmp_path / "run", ignore=shutil.ignore_patterns("pg_stat_activity*"))
    ticks = imported("run", tmp_path).record.resources.buffer_reads_per_s
    assert ticks is not None
    assert ticks.value == pytest.approx(45800 / 54.76, rel=0.001)
    for path in (tmp_path / "run").glob("proc_stat*"):
        path.unlink()
    merged = imported("run", tmp_path)
    assert merged.record.resources.buffer_reads_per_s is not None
    assert merged.record.resources.buffer_reads_per_s.value == pytest.approx(45800 / 60.23, rel=0.001)
    assert any("no clock between the snapshots" in note for note in merged.notes)


def test_mixed_up_snapshots_are_refused(tmp_path: Path) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run")
    start, end = (tmp_path / "run" / f"pg_stat_database.{phase}.csv" for phase in ("start", "end"))
    earlier = start.read_text()
    start.write_text(end.read_text())
    end.write_text(earlier)
    with pytest.raises(InputError, match="a counter that fell"):
        imported("run", tmp_path)


def test_a_folder_of_runs_gives_each_of_them() -> None:
    assert [found.name for found in find_runs([RUNS])] == [MEMORY, DISK]


def test_a_folder_below_without_a_result_belongs_to_the_run(tmp_path: Path) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run")
    (tmp_path / "run" / "monitors").mkdir()
    for name in ("sadf.json", "iostat-x.json"):
        shutil.move(tmp_path / "run" / name, tmp_path / "run" / "monitors" / name)
    ours, whole = (
        record.resources.devices["loop1"] for record in (imported("run", tmp_path).record, imported(DISK).record)
    )
    assert ours.reads_per_s
    assert whole.reads_per_s
    assert ours.reads_per_s.value == whole.reads_per_s.value
    assert ours.reads_per_s.source.startswith("monitors/iostat-x.json, ")


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run", ignore=shutil.ignore_patterns("go-tpc*"))
    with pytest.raises(InputError, match="expected the result of a load generator too"):
        imported("run", tmp_path)


def test_a_huge_file_of_another_kind_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run")
    monkeypatch.setattr("oltpsim.models.input.source_file.MOST_BYTES", 100_000)
    (tmp_path / "run" / "base.tar").write_bytes(b"\x00" * 200_000)
    (found,) = find_runs([tmp_path / "run"])
    assert found.unknown == ["base.tar"]


@pytest.mark.parametrize(
    ("name", "opening", "remedy"),
    [
        ("notes.xlsx", b"PK\x03\x04", "an Excel workbook: save each sheet as CSV"),
        ("more.zip", b"PK\x03\x04", "a zip archive: unpack it into a folder"),
        ("dump.zst", b"\x28\xb5\x2f\xfd", "zstd: unpack it with zstd -d"),
    ],
)
def test_a_packed_file_beside_a_result_is_no_obstacle(tmp_path: Path, name: str, opening: bytes, remedy: str) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(opening + bytes(30))
    (found,) = find_runs([tmp_path / "run"])
    assert found.unknown == [f"{name} ({remedy})"]
    with pytest.raises(InputError, match=remedy.partition(": ")[2]):
        find_runs([tmp_path / "run" / name])


def test_a_folder_of_nothing_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n")
    with pytest.raises(InputError, match="got no file of a known format"):
        find_runs([tmp_path])


def test_one_bad_file_refuses_the_run(tmp_path: Path) -> None:
    shutil.copytree(RUNS / DISK, tmp_path / "run")
    path = tmp_path / "run" / "sadf.json"
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"sadf.json, line 1: got .*; the file is cut off"):
        imported("run", tmp_path)
