"""`oltpsim run LINE`: a line in, an answer out, a scenario file that gives it again."""

import json
import re
from pathlib import Path

import pytest
import yaml

from oltpsim.scenarios.commands.cli import main

Output = pytest.CaptureFixture[str]
LINE = "8 cores, 32 GB, SSD"
TINY = str(Path(__file__).parents[1] / "tiny.yaml")
LOAD = "SunFire V20z, load of 2 warehouses"


def test_a_machine_is_answered_and_saved_and_run_says_the_same(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "new" / "v20z.yaml"
    assert main(["run", LOAD, "--model", "none", "--save-scenario", str(path), "--quiet"]) == 0
    table = capsys.readouterr().out
    assert "seconds of the load" in table
    assert path.exists()
    assert main(["run", LOAD, "--model", "none", "--output", "json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(["run", str(path), "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == answer["value"]
    assert "measurement" not in answer
    guessed = {row["key"] for row in answer["described"] if row["piece"] is None}
    assert {"machine.cpu.relative_speed", "database.pool.buffers"} <= guessed
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["job"] == {"kind": "load"}


@pytest.mark.parametrize(("words", "text"), [
    (["8 GB, 16 GB"], "error: machine: '8 GB' and '16 GB' both say how much memory there is"),
    ([LOAD, "--model", "nothing.json"], "nothing.json: cannot be read"),
    ([LOAD, "--set", "database.pool.bufers=1"], "unknown key (did you mean 'buffers'?)"),
    ([], "oltpsim run: missing argument 'SYSTEM'"),
    ([LOAD, "--save", "run.json"], "--save: is for transactions; 'SunFire V20z, 2 warehouses' has a job: leave it out"),
    (["8 cores, serial read", "--target", "2"], "--target: is for transactions"),
])  # fmt: skip
def test_bad_words_are_refused(words: list[str], text: str, capsys: Output) -> None:
    assert main(["run", *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert text in err
    assert "Traceback" not in err


def test_a_model_answers_for_its_own_engine_only(capsys: Output) -> None:
    """The program's own model, fitted to runs of Virtuoso, isn't asked about PostgreSQL unless somebody says so."""
    assert main(["run", LOAD]) == 0
    assert "fitted to 42 runs" in " ".join(capsys.readouterr().out.split())
    small = "2 cores, 4 GB, NVMe, serial read"
    assert main(["run", small, "--quiet", "--assumptions"]) == 0
    assert "the catalogue's values" in capsys.readouterr().out
    assert main(["run", small, "--model", "published", "--quiet"]) == 0
    assert "fitted to 42 runs" in " ".join(capsys.readouterr().out.split())


def test_a_job_has_a_row_too(capsys: Output) -> None:
    assert main(["run", LOAD, "--model", "none", "--output", "csv", "--quiet"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header == "scenario,figure,value,unit,low,high,limited_by"
    assert "seconds of the load" in row


def test_a_model_of_another_version_is_refused_by_its_key(tmp_path: Path, capsys: Output) -> None:
    """What lacks a key below a list is told the key's whole path."""
    path = tmp_path / "model.json"
    path.write_text('{"format": "oltpsim-calibration-1", "runs": [{"name": "a"}]}', encoding="utf-8")
    assert main(["run", LOAD, "--model", str(path), "--quiet"]) == 2
    assert "runs.0.source: missing; add 'source: ...'" in capsys.readouterr().err


SMALL = ["run", "1 core, 2 GB, PostgreSQL 15, 2 warehouses, 2 clients, pool 64 MB, 1 min", "--quiet"]


def test_a_model_answers_as_the_catalogue_does_with_its_own_values_and_intervals(capsys: Output) -> None:
    """Simulated beside the formulas, what is assumed before it: only values and intervals are the model's."""
    answers = []
    for model in ("none", "postgresql"):
        assert main([*SMALL, "--model", model, "--assumptions"]) == 0
        answers.append(capsys.readouterr().out)
    for text in answers:
        assert text.index("new orders/min") < text.index("limited by") < text.index("(kernel)   formulas ")
        assert "reproduce: " in text
    catalogue, model = answers
    assert "a model fitted to 13 runs" in model
    assert "90% intervals           new order mean" in model
    assert "90% intervals           " not in catalogue
    assert "the catalogue's values" in catalogue


def test_a_models_answer_is_one_document_saved_reported_and_held_to_a_target(tmp_path: Path, capsys: Output) -> None:
    saved, report = tmp_path / "run.json", tmp_path / "run.html"
    words = ["--model", "postgresql", "--engine", "analytic", "--save", str(saved), "--report", str(report)]
    assert main([*SMALL, *words, "--target", "1000000000", "--output", "json"]) == 1
    out, err = capsys.readouterr()
    assert "target missed" in err
    answer = json.loads(out)
    assert answer["format"] == "oltpsim-answer-1"
    assert answer["measurement"]["model"]["runs"] == 13
    figures = {each["name"]: each for each in answer["measurement"]["figures"]}
    assert figures["cpu_utilisation"]["low"] < figures["cpu_utilisation"]["value"]
    assert any(row["key"] == "machine.cpu.relative_speed" for row in answer["described"])
    assert saved.exists()
    assert "By the model, 90 % intervals" in report.read_text(encoding="utf-8")


def test_what_the_line_leaves_open_is_in_the_models_intervals(capsys: Output) -> None:
    """Of the response too: it hangs on the clients, whose number nobody said."""
    widths = []
    for line in ("1 core, 2 GB, PostgreSQL 15, 2 warehouses, pool 64 MB", SMALL[1]):
        words = ["run", line, "--quiet", "--model", "postgresql", "--engine", "analytic", "--output", "json"]
        assert main(words) == 0
        measurement = json.loads(capsys.readouterr().out)["measurement"]
        widths.append({each["name"]: each["sd"] for each in measurement["figures"]}["new_order_mean"])
    assert widths[0] > 1.1 * widths[1]


@pytest.mark.parametrize("words", [
    ["run", LINE, "--engine", "analytic"],
    ["explain", LINE],
    ["compare", LINE, "v20z", "--engine", "analytic"],
    ["sweep", LINE, "--vary", "machine.disks.count=1,2", "--engine", "analytic"],
    ["plan", LINE, "--target", "20000", "--candidates", "m7i.large", "--confirm", "0"],
])  # fmt: skip
def test_every_command_lists_what_a_line_leaves_open(words: list[str], capsys: Output) -> None:
    """Before its answer; in the notes beside a document for programs, and nothing of a file."""
    main([*words, "-q", *(["--assumptions"] if words[0] == "run" else [])])
    out = capsys.readouterr().out
    assert re.search(r"warehouses +339 +assumed, or 85 or 1354 +±\d\d %", out), out
    main([*words, "-o", "csv"])
    out, err = capsys.readouterr()
    assert "assumed" not in out.partition("\n")[0]
    assert "warehouses: 339" in err
    main([*(word if word != LINE else TINY for word in words), "-q"])
    assert "assumed, or" not in capsys.readouterr().out


def test_a_comparison_of_lines_leaves_out_what_is_open_in_both(capsys: Output) -> None:
    """The speed that nobody said is in both rates, and not in their ratio."""
    lines = [f"{LINE}, 40 warehouses, 64 clients{more}" for more in ("", ", pool 4 GiB")]
    assert main(["compare", *lines, "--engine", "analytic", "-o", "json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    [difference] = document["differences"]
    low, high = difference["measured_ratio"]
    one = document["sides"][0]["measurement"]
    assert high / low < one["high_per_min"] / one["low_per_min"]


ROWS = "2 cores, 4 GB, NVMe, PostgreSQL 16, 8 clients, 5 s, 1 s warm-up"


@pytest.mark.parametrize(("pieces", "unit", "header", "counted"), [
    ("pgbench, scale 10", "tpcb like/min", "scale 10, 8 clients", "tpcb like"),
    ("pgbench -S, scale 10", "select only/min", "scale 10, 8 clients", "select only"),
    ("sysbench update index, 2 tables", "update index/min", "2 tables, 8 clients", "update index"),
    ("YCSB B, 1 million records", "read/min", "scale 1, 8 clients", "read"),
])  # fmt: skip
def test_a_benchmark_of_rows_is_answered_in_its_own_transactions(
    pieces: str, unit: str, header: str, counted: str, tmp_path: Path, capsys: Output
) -> None:
    """Nowhere new orders; calculated and simulated agree; the saved scenario gives the engine's rate."""
    path = tmp_path / "rows.yaml"
    line = f"{ROWS}, {pieces}"
    assert main_words(["run", line, "-q", "--save-scenario", str(path)], capsys).count(unit) == 1
    table = main_words(["run", line, "-q", "--assumptions"], capsys)
    assert header in " ".join(table.split())
    assert "new order" not in table
    assert "NOPM" not in table
    assert "statement's CPU" in table, "which is assumed, and in the interval"
    assert "CPU time of a statement isn't known" not in table
    simulated = json.loads(main_words(["run", line, "-q", "-o", "json"], capsys))
    assert simulated["main_class"] == counted
    calculated = json.loads(main_words(["run", line, "-q", "-o", "json", "--engine", "analytic"], capsys))
    assert calculated["rate_per_min"]["mean"] == pytest.approx(simulated["rate_per_min"]["mean"], rel=0.15)
    again = json.loads(main_words(["run", str(path), "-o", "json"], capsys))
    assert again["rate_per_min"]["mean"] == simulated["measurement"]["nearby"]["engine_per_min"]


def main_words(words: list[str], capsys: Output) -> str:
    """What a command that succeeds says."""
    assert main(words) == 0
    return capsys.readouterr().out


def test_a_model_that_has_seen_no_such_workload_says_so(capsys: Output) -> None:
    line = f"{ROWS}, pgbench, scale 10"
    table = " ".join(main_words(["run", line, "-q", "--model", "postgresql"], capsys).split())
    assert "a workload that no run of the model had: pgbench, TPC-B-like" in table
    twin = " ".join(main_words(["run", f"{ROWS}, 2 warehouses", "-q", "--model", "postgresql"], capsys).split())
    assert "a workload that no run" not in twin


def test_what_settings_change_of_a_benchmark_is_the_answers(capsys: Output) -> None:
    words = ["run", f"{ROWS}, pgbench -S, scale 10", "-q", "-o", "json", "--engine", "analytic"]
    slow = json.loads(main_words([*words, "--set", "database.path.statement_us=700"], capsys))
    fast = json.loads(main_words(words, capsys))
    assert slow["rate_per_min"]["mean"] < 0.5 * fast["rate_per_min"]["mean"]
