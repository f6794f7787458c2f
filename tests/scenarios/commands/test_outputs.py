"""Every command that answers has a table, a JSON document with its format, and CSV, and can be quiet."""

import csv
import io
import json
from pathlib import Path

import pytest
import typer.main

from oltpsim.scenarios.commands.cli import LazyCommands, main
from oltpsim.scenarios.show import progress
from oltpsim.scenarios.show.progress import PlainLines

TINY = str(Path(__file__).parents[1] / "tiny.yaml")
LISTS = Path(__file__).resolve().parents[2] / "samples" / "catalogue"
Output = pytest.CaptureFixture[str]
WITHOUT_ANSWER = {"report", "schema", "serve"}
"""One writes a page, one is a JSON document by itself, one answers in a browser."""


def commands() -> dict[str, typer.main.TyperCommand]:
    """All commands by their words."""
    found = {}
    for name, command in LazyCommands().items():
        inside = getattr(command, "commands", None)
        found |= {f"{name} {word}": each for word, each in inside.items()} if inside else {name: command}
    return found


def options_of(name: str) -> set[str]:
    return {option for parameter in commands()[name].params for option in parameter.opts}


@pytest.mark.parametrize("name", sorted(set(commands()) - WITHOUT_ANSWER))
def test_every_command_that_answers_has_its_forms(name: str) -> None:
    assert {"--output", "-o"} <= options_of(name)


def test_a_command_without_forms_would_be_found() -> None:
    assert not {"--output", "-o"} & options_of("schema")


def test_every_command_that_speaks_on_stderr_can_be_quiet() -> None:
    assert {name for name in commands() if "--quiet" not in options_of(name)} == {
        "system", "schema", "runs list", "runs show", "runs check", "catalog list", "catalog show", "catalog check",
        "serve", "lab clean",
    }  # fmt: skip


LISTING = [
    ["catalog", "list", "disks"],
    ["catalog", "list", "scenarios"],
    ["catalog", "check"],
    ["runs", "list"],
    ["runs", "check", "postgres15_go-tpc_in_memory"],
    ["system", TINY],
]


@pytest.mark.parametrize("words", LISTING, ids=" ".join)
def test_a_document_and_a_csv_hold_the_same_rows(words: list[str], capsys: Output) -> None:
    assert main([*words, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"].startswith("oltpsim-")
    assert main([*words, "-o", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == len(document["rows"]) > 0
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in document["rows"]] == [
        {name: row[name] for name in document["rows"][0]} for row in rows
    ]


def test_the_rows_of_the_runs_are_those_of_the_list(capsys: Output) -> None:
    assert main(["runs", "list", "-o", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main(["runs", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [row["run"] for row in rows]
    [memory] = [row for row in rows if row["run"] == "postgres15_go-tpc_in_memory"]
    assert memory["new_orders_per_min"] == pytest.approx(26_844.565)
    assert (memory["clients"], memory["figure"]) == (16.0, None)


def test_a_broken_law_ends_with_its_status_in_every_form(capsys: Output, tmp_path: Path) -> None:
    assert main(["runs", "show", "postgres15_go-tpc_in_memory", "-o", "json"]) == 0
    [record] = json.loads(capsys.readouterr().out)["runs"]
    record["workload"]["clients"]["value"] = 7
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(record), encoding="utf-8")
    for form in ("table", "json", "csv"):
        assert main(["runs", "check", str(broken), "-o", form]) == 1
    out = capsys.readouterr().out
    assert '"holds": false' in out


@pytest.mark.parametrize("words", [("volumes", "gp2"), ("prices", "us-2006"), ("disks", "sata-7200")])
def test_an_entry_in_its_three_forms(words: tuple[str, str], capsys: Output) -> None:
    assert main(["catalog", "show", *words, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["name"]) == words
    assert main(["catalog", "show", *words, "-o", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    if words[0] == "prices":
        assert [row["part"] for row in rows] == [row["part"] for row in document["entry"]["rows"]]
    else:
        values = {row["key"]: row["value"] for row in rows}
        assert values["source"] == document["entry"]["source"]


def test_an_import_of_a_list_says_its_files_as_rows_and_can_be_quiet(capsys: Output, tmp_path: Path) -> None:
    words = ["catalog", "import", str(LISTS / "my-machines.csv"), "--date", "2026-01-01", "--into", str(tmp_path)]
    assert main([*words, "-o", "json", "-q"]) == 0
    said = capsys.readouterr()
    [row] = json.loads(said.out)["rows"]
    assert (row["entries"], row["left_out"], said.err) == (2, None, "")
    assert Path(row["place"]).is_file()


def test_completion_knows_commands_and_options(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def completed(words: str) -> list[str]:
        monkeypatch.setenv("_OLTPSIM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        assert main([]) == 0
        return capsys.readouterr().out.split()

    assert completed("oltpsim pl") == ["plan"]
    assert completed("oltpsim plan --targ") == ["--target"]
    assert completed("oltpsim nothing") == []


def test_a_line_of_progress_is_written_once(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE_AFTER_S", 0.001)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.001)
    lines = PlainLines()
    turns: list[float] = []
    wait = lines._over.wait

    def counted(pause_s: float) -> bool:
        turns.append(pause_s)
        if len(turns) == 5:
            lines.step("the second")
        return wait(0.001) or len(turns) == 10

    monkeypatch.setattr(lines._over, "wait", counted)
    lines.step("the first")
    lines._thread.join(timeout=60)
    lines.close()
    assert [line for line in capsys.readouterr().err.splitlines() if line != "starting"] == ["the first", "the second"]
