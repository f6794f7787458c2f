"""`oltpsim import` and `oltpsim runs`, as one types them."""

import csv
import io
import json
from pathlib import Path

import pytest
import yaml

from oltpsim.models.machine import FlashDiskSpec
from tests.scenarios.commands.conftest import Call

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DISK = SAMPLES / "run_directories" / "postgres15_go-tpc_one_disk_400_iops"


def test_a_run_is_told_file_by_file_with_its_laws_and_gaps(call: Call) -> None:
    status, out, _ = call("import", DISK)
    assert status == 0
    assert out.startswith(
        "run postgres15_go-tpc_one_disk_400_iops: 2,585.1 new orders/min, 93.24 transactions/s, 16 clients, steady"
    )
    assert "go-tpc.log                  go-tpc result: " in out
    assert "holds   Little's law: 93.24/s x 171.4 ms = 15.98 of 16 clients (100%)" in out
    assert "resources.devices.loop1.reads_per_s" in out


def test_what_is_missing_is_said(call: Call) -> None:
    _, out, _ = call("import", SAMPLES / "tpcc-mysql" / "run.txt")
    assert "\n  missing\n" in out
    assert "    resources.devices: reads and writes per transaction, and the device's service\n" in out


def test_files_that_are_not_recognised_are_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes((SAMPLES / "hammerdb/run.log").read_bytes())
    (tmp_path / "notes.txt").write_text("a note\n")
    status, out, _ = call("import", tmp_path)
    assert (status, "not recognised: notes.txt" in out) == (0, True)


def test_a_result_that_is_not_read_is_exit_status_1(call: Call, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes((SAMPLES / "hammerdb/run.log").read_bytes())
    (tmp_path / "own.txt").write_text("throughput 100 tps, latency 5 ms\n")
    status, out, err = call("import", tmp_path)
    assert (status, out.startswith("run ")) == (1, True)
    assert err.startswith("not read: own.txt looks like text that begins with 'throughput 100 tps, latency 5 ms'; ")


def test_several_runs_of_a_file_are_saved_under_their_numbers(call: Call, tmp_path: Path) -> None:
    text = (SAMPLES / "hammerdb/run.log").read_text()
    (tmp_path / "run.log").write_text(text + text.replace("41203 NOPM", "40203 NOPM"))
    status, out, _ = call("import", tmp_path / "run.log", "--save", tmp_path / "records")
    assert (status, out.count("\nrun run#") + out.startswith("run run#")) == (0, 2)
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == ["run_1.yaml", "run_2.yaml"]
    assert "40,203 new orders/min" in call("import", f"{tmp_path / 'run.log'}#2")[1]


def test_a_broken_law_is_exit_status_1(call: Call, tmp_path: Path) -> None:
    text = (SAMPLES / "tpcc-mysql" / "run.txt").read_text().replace("[connection]: 8", "[connection]: 4")
    (tmp_path / "run.txt").write_text(text)
    status, out, _ = call("import", tmp_path / "run.txt")
    assert status == 1
    assert "BROKEN  Little's law" in out


def test_a_record_is_saved_listed_shown_and_checked(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "records" / "disk.yaml"
    status, _, err = call("import", DISK, "--save", place)
    assert (status, err) == (0, f"written: {place}\n")
    assert call("runs", "list", place.parent)[1] == (
        "disk.yaml: 2,585.1 new orders/min, 93.24 transactions/s, 16 clients, steady, 60.2 s\n"
    )
    shown = call("runs", "show", place)[1]
    assert "outcome.reported.tpmC" in shown
    status, out, _ = call("runs", "check", place.parent)
    assert (status, "BROKEN" in out) == (0, False)
    place.write_text(place.read_text().replace("value: 16.0\n", "value: 8.0\n", 1))
    assert call("runs", "check", place)[0] == 1


def test_several_runs_are_saved_into_a_folder(call: Call, tmp_path: Path) -> None:
    assert call("import", DISK.parent, "--save", tmp_path / "records")[0] == 0
    assert len(list((tmp_path / "records").glob("*.yaml"))) == 2


def test_the_runs_of_the_program_are_listed_and_hold(call: Call) -> None:
    status, out, _ = call("runs", "list")
    assert (status, out.count("\n")) == (0, 7)
    status, out, _ = call("runs", "check")
    assert (status, out.count("holds   Little's law:")) == (0, 2)
    assert call("runs", "show", "postgres15_go-tpc_in_memory")[0] == 0


def test_json_and_csv_hold_what_the_table_holds(call: Call) -> None:
    document = json.loads(call("import", DISK, "--output", "json")[1])
    (record,) = document["runs"]
    assert (document["format"], record["format"]) == ("oltpsim-records-1", "oltpsim-run-1")
    assert record["workload"]["warehouses"]["value"] == 40
    rows = list(csv.DictReader(io.StringIO(call("import", DISK, "--output", "csv")[1])))
    by_key = {row["key"]: row for row in rows}
    assert by_key["workload.warehouses"]["value"] == "40.0"
    assert by_key["environment.memory_gib"]["unit_as_read"] == "B"


def test_a_table_gives_a_record_for_each_row(call: Call, tmp_path: Path) -> None:
    table, mapping = SAMPLES / "tables" / "ladder.csv", SAMPLES / "tables" / "ladder.yaml"
    status, out, _ = call("import", table, "--mapping", mapping, "--save", tmp_path / "records")
    assert (status, out.count("holds   Little's law")) == (0, 2)
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == ["small_16.yaml", "small_8.yaml"]


def test_a_disk_enters_the_catalogue_from_fio(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "disk.yaml"
    files = [SAMPLES / "fio" / f"fifo200.qd{depth}.json" for depth in (1, 4, 16)]
    status, out, _ = call("import", *files, "--capacity", "100GiB", "--save", place)
    assert status == 0
    spec = FlashDiskSpec.model_validate(yaml.safe_load(place.read_text()))
    assert (spec.parallel_requests, spec.capacity_gib) == (1, 100)
    assert out.endswith(place.read_text())
    document = json.loads(call("import", *files, "--capacity", "100GiB", "-o", "json")[1])
    fit = document.pop("fit")
    assert document == {"format": "oltpsim-disk-1", **yaml.safe_load(place.read_text())}
    assert (fit["kind"], fit["points"]) == ("servers", 3)
    assert {number["low"] for number in fit["numbers"].values()} == {None}, "too few depths for intervals"
    rows = dict(csv.reader(io.StringIO(call("import", *files, "--capacity", "100GiB", "-o", "csv")[1])))
    assert rows["capacity_gib"] == str(document["capacity_gib"])


def test_a_throttle_is_told_from_a_disk(call: Call) -> None:
    words = "# warning: at depth 1 one request in a hundred takes 20 times the mean: a limit of I/Os per s"
    assert words in call("import", SAMPLES / "fio" / "throttle200.qd1.json", "--capacity", "100GiB")[1]
    assert words[:30] not in call("import", SAMPLES / "fio" / "fifo200.qd1.json", "--capacity", "100GiB")[1]


def test_files_of_one_name_are_refused(call: Call, tmp_path: Path) -> None:
    """Reads of one file and writes of another would become a mix of both at the same depth."""
    rows = {"reads": "randread", "writes": "randwrite"}
    for folder, pattern in rows.items():
        (tmp_path / folder).mkdir()
        table = "rw,bs,iodepth,iops\n" + "".join(f"{pattern},4k,{depth},{1000 * depth}\n" for depth in (1, 2, 4, 8))
        (tmp_path / folder / "t.csv").write_text(table)
    files = [tmp_path / folder / "t.csv" for folder in rows]
    status, _, err = call("import", *files)
    assert status == 2
    assert "got two files called t.csv; expected names that differ; rename one" in err
    other = files[1].rename(files[1].with_name("writes.csv"))
    assert "two files" not in call("import", files[0], other)[2]


def test_a_scenario_takes_the_disk(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "disk.yaml"
    call("import", SAMPLES / "fio" / "fifo200.qd1.json", "--capacity", "100GiB", "--save", place)
    disk = "\n".join(f"      {line}" for line in place.read_text().splitlines())
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(f"base: v20z\nmachine:\n  disks:\n    disk:\n{disk}\n", encoding="utf-8")
    status, out, err = call("run", scenario, "--engine", "analytic")
    assert status == 0, err
    assert "new orders/min" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "nowhere"), "nowhere: can't be read: No such file or directory"),
        (("import", SAMPLES / "fio" / "fifo200.qd1.json"), "add --capacity, such as --capacity 931GiB"),
        (("import", SAMPLES / "monitors"), "expected the result of a load generator too"),
        (("import", SAMPLES / "tables" / "ladder.csv", "--mapping", "nowhere.yaml"), "nowhere.yaml: no such file"),
        (("import", DISK, "--save", SAMPLES / "README.md" / "x.yaml"), "is a file, not a folder"),
        (("runs", "show", "postgres15_go-tpc_in_memori"), "did you mean 'postgres15_go-tpc_in_memory'"),
        (("runs", "show", SAMPLES), "is a folder; give a run record"),
        (("runs", "list", "nowhere"), "nowhere: is not a folder"),
        (
            ("runs", "check", SAMPLES / "tables" / "ladder.yaml"),
            "ladder.yaml: window: got 'steady'; expected keys with values",
        ),
    ],
)
def test_bad_input_is_a_sentence_and_exit_status_2(call: Call, words: tuple[object, ...], said: str) -> None:
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert all(line.startswith("error: ") for line in err.splitlines())


def test_nothing_is_written_if_one_run_of_several_is_bad(call: Call, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.log").write_bytes((SAMPLES / "hammerdb/run.log").read_bytes())
    (tmp_path / "runs" / "b" / "run.log").write_text("Vuser 1:Rampup 1 minutes complete ...\n")
    status, _, err = call("import", tmp_path / "runs", "--save", tmp_path / "records")
    assert status == 2
    assert "expected the line TEST RESULT" in err
    assert not list((tmp_path / "records").glob("*")) if (tmp_path / "records").exists() else True


def test_the_page_shows_what_the_command_prints(call: Call) -> None:
    page = (SAMPLES.parents[1] / "docs" / "how-to" / "import-a-run.md").read_text(encoding="utf-8")
    block = page.split("```text\n$ oltpsim runs check\n")[1].split("```")[0]
    assert block == call("runs", "check")[1], "run docs/build.py"
