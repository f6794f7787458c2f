"""oltpsim validate, and runs by the model that it certifies: what they print, write and refuse."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.fit import (
    Calibration,
    FitTask,
    StepJournal,
    calibration_of,
    measured_runs,
    parse_vary,
    read_calibration,
    run_fit,
    write_calibration,
)
from oltpsim.calibration.records import load_record, records_in
from oltpsim.scenarios.commands.cli import main
from tests.calibration.synthetic import TINY
from tests.scenarios.commands.test_calibrate import BUFFERS, ROWS, save_runs, scenario

Output = pytest.CaptureFixture[str]


def said(words: list[str]) -> str:
    """What a command prints to stdout when all is well."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main(words) == 0
    return text.getvalue()


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_runs(tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="module")
def model(records: Path) -> Path:
    path = records.parent / "model.json"
    base = scenario("workload.arrivals.clients=8")
    some = measured_runs([load_record(file) for file in records_in(records)], base, {})
    task = FitTask(tuple(some), (parse_vary(f"{ROWS}=10..160", base),), starts=1)
    write_calibration(path, calibration_of(run_fit(task, StepJournal(None, ""), lambda _, __: None), base))
    return path


@pytest.fixture(scope="module")
def validated(model: Path, records: Path) -> tuple[str, Path, Path]:
    """What was printed, the model with its certificate, and the page."""
    folder = model.parent / "validated"
    places = (folder / "model.json", folder / "page.html")
    files = ["--save", str(places[0]), "--report", str(places[1])]
    text = said(["validate", str(model), str(records), "--explain", *files, "--workers", "1", "--quiet"])
    return text, *places


def calibration(validated: tuple[str, Path, Path]) -> Calibration:
    return read_calibration(validated[1])


def test_the_table_says_all_that_is_asked(validated: tuple[str, Path, Path]) -> None:
    text = validated[0]
    wanted = (
        r"500 buffers .*fitted +(cpu|disk|light|locks)",
        r"fitted runs +(cpu|disk|light|locks) +\d +",
        r"leave one run out: median error \d",
        r"all runs are of one machine \(2 x",
        r"leave one device out: not possible",
        r"coverage: \d of 2 left-out runs are inside their 90% intervals; the true share is",
        r"memory doesn't matter: [\d.]+% on 2 runs, the model [\d.]+% and nearer on \d: ",
        r"universal scalability law: not applicable: it takes runs with 3 smaller",
        r"4000 buffers: measured [\d,]+, model [\d,]+ \([+-][\d.]+%\): pool misses .*, not told ",
        r"certificate: validated by leaving out each of 2 runs: median error",
    )
    assert [words for words in wanted if not re.search(words, text)] == [], text
    assert "no figure of writes per transaction, device service, contention" in text


def test_a_certificate_holds_what_was_printed(validated: tuple[str, Path, Path]) -> None:
    found = calibration(validated).certificate
    assert found is not None
    assert f"certificate: {found.line}" in validated[0]
    assert set(found.calibrated_range) >= {"clients", "GiB of buffer pool", "new orders/min"}
    assert not list(validated[1].parent.glob(".*state*"))


def test_same_bytes_by_several_processes_over_the_model_itself(
    validated: tuple[str, Path, Path], model: Path, records: Path, tmp_path: Path
) -> None:
    path = tmp_path / "same.json"
    path.write_text(model.read_text(encoding="utf-8"), encoding="utf-8")
    again = ["validate", str(path), str(records), "--explain", "--save", str(path), "--workers", "2", "--quiet"]
    printed = json.loads(said([*again, "--output", "json"]))
    assert path.read_bytes() == validated[1].read_bytes()
    assert printed["format"] == "oltpsim-certificate-1"


def test_the_page_needs_nothing_else(validated: tuple[str, Path, Path]) -> None:
    page = validated[2].read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", page.split('<script id="figures"')[0])
    for words in ("500 buffers", "Where a gap comes from", "How to reproduce", "oltpsim validate", "Calibrated range"):
        assert words in page, words


def test_ctrl_c_keeps_the_refits_that_are_done(
    model: Path, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    done: list[int] = []

    def slow(_: Any, out: tuple[int, ...], *___: Any) -> list[Any]:
        if done:
            raise KeyboardInterrupt
        done.append(out[0])
        return [[1000.0, 900.0, 1100.0]]

    monkeypatch.setattr("oltpsim.calibration.judge.left_out.predicted_without", slow)
    path = tmp_path / "model.json"
    words = ["validate", str(model), str(records), "--save", str(path), "--workers", "1", "--quiet"]
    assert main(words) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert not path.exists()
    done.clear()
    assert main(words) == 0
    assert done == [1]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--output", "csv"), "give table or json"),
        (("--mapping", "absent.yaml"), "no such file"),
        (("--save", "-"), "files are not written to stdout"),
    ],
)
def test_bad_words_are_refused(model: Path, records: Path, capsys: Output, words: tuple[str, ...], text: str) -> None:
    assert main(["validate", str(model), str(records), *words]) == 2
    assert text in capsys.readouterr().err


def test_what_is_no_model_is_refused(records: Path, capsys: Output) -> None:
    assert main(["validate", str(TINY), str(records)]) == 2
    assert "make one with 'oltpsim calibrate" in capsys.readouterr().err
    assert main(["run", "absent.json"]) == 2
    assert "absent.json: no such file" in capsys.readouterr().err
    assert main(["run", str(TINY), "--model", "absent.json"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_run_by_a_model_shows_interval_parts_distance_and_no_certificate(model: Path) -> None:
    text = said(["run", str(model), "--set", "workload.arrivals.clients=32", "--quiet"])
    assert re.search(r"new orders per minute +[\d,]+  \[[\d,]+ \.\. [\d,]+\]  90% interval, predicted", text)
    words = " ".join(text.split())
    assert "four times the clients of any run you gave" in words
    assert f"not validated: oltpsim validate {model} RUN... --save {model}" in text


def test_the_certificate_travels(validated: tuple[str, Path, Path]) -> None:
    path = str(validated[1])
    found = calibration(validated).certificate
    assert found is not None
    assert found.line in said(["run", path, "--engine", "analytic", "--quiet"])
    data = json.loads(said(["run", path, "--engine", "analytic", "--quiet", "--output", "json"]))
    assert data["certificate"] == found.line
    other = json.loads(said(["run", str(TINY), "--engine", "analytic", "--quiet", "--output", "json"]))
    assert "certificate" not in other


def test_the_scenario_of_a_run_is_fitted_and_own_values_are_not_applied(model: Path) -> None:
    run = ["workload.arrivals.clients=8", f"database.pool.buffers={BUFFERS[0]}", "interval.start=warm"]
    sets = [word for setting in run for word in ("--set", setting)]
    assert "90% interval, fitted" in said(["run", str(model), *sets, "--quiet"])
    text = said(["run", str(model), "--set", f"{ROWS}=55", "--quiet"])
    assert re.search(f"not applied +{ROWS}", text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("pgbench_select",), "pgbench_select: no public file (did you mean 'pgbench_select_only'"),
        (("--near",), "--near: is of one model's runs"),
        (("--save", "new.json"), "--save: is of one model's runs"),
    ],
)
def test_public_files_take_names_of_files_only(capsys: Output, words: tuple[str, ...], text: str) -> None:
    assert main(["validate", "public", *words, "--quiet"]) == 2
    assert text in capsys.readouterr().err
