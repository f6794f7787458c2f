"""`oltpsim quick LINE`: a line in, an answer out, a scenario file that gives it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from scenarios.commands.cli import main

Output = pytest.CaptureFixture[str]
LOAD = "SunFire V20z, load of 2 warehouses"


def test_a_machine_is_answered_and_saved_and_run_says_the_same(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "new" / "v20z.yaml"
    assert main(["quick", LOAD, "--model", "none", "--save-scenario", str(path), "--quiet"]) == 0
    table = capsys.readouterr().out
    assert "seconds of the load" in table
    assert "no interval: no calibrated model" in table
    assert table.endswith(f"saved: {path}\n")
    assert main(["quick", LOAD, "--model", "none", "--output", "json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(["run", str(path), "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == answer["value"]
    assert answer["low"] is None
    guessed = {row["key"] for row in answer["understood"] if row["piece"] is None}
    assert {"machine.cpu.relative_speed", "database.pool.buffers"} <= guessed
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["job"] == {"kind": "load"}


@pytest.mark.parametrize(("words", "text"), [
    (["8 GB, 16 GB"], "error: machine: '8 GB' and '16 GB' both say how much memory there is"),
    ([LOAD, "--output", "csv"], "a machine is more than a row"),
    ([LOAD, "--model", "nothing.json"], "nothing.json: cannot be read"),
    ([LOAD, "--set", "database.pool.bufers=1"], "unknown key (did you mean 'buffers'?)"),
    ([], "give a line, as in '2 x Opteron 244, 8 GB, 4 SATA', a scenario, or --ram"),
    ([LOAD, "--ram", "8 GB"], "quick: --ram: a line is answered by a calibrated model"),
    ([LOAD, "--save", "run.json"], "quick: --save: a line is answered by a calibrated model"),
])  # fmt: skip
def test_bad_words_are_refused(words: list[str], text: str, capsys: Output) -> None:
    assert main(["quick", *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert text in err
    assert "Traceback" not in err


def test_a_model_of_another_version_is_refused_by_its_key(tmp_path: Path, capsys: Output) -> None:
    """What lacks a key below a list is told the key's whole path."""
    path = tmp_path / "model.json"
    path.write_text('{"format": "oltpsim-calibration-1", "runs": [{"name": "a"}]}', encoding="utf-8")
    assert main(["quick", LOAD, "--model", str(path), "--quiet"]) == 2
    assert "runs.0.source: missing; add 'source: ...'" in capsys.readouterr().err
