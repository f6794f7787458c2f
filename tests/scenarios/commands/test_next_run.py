"""oltpsim next-run, and what calibrate says would tell."""

import csv
import io
import json
from pathlib import Path

import pytest

from oltpsim.calibration.fit import Calibration, FigureKind, read_calibration
from oltpsim.calibration.records import save_records
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.show.next_run import would_tell
from tests.calibration.synthetic import FLASH, ROWS, TINY, record, said_by

Output = pytest.CaptureFixture[str]
SECTION = "database.critical_section.share_of_path"
SETTINGS = (
    FLASH, "database.io=direct", "machine.cpu.cores=8", "workload.warehouses=8", "interval.duration_s=60",
    "database.pool.buffers=5000", f"{SECTION}=0.5",
)  # fmt: skip
CLIENTS = "workload.arrivals.clients"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of two runs by many clients, who all wait for the critical section."""
    folder = tmp_path_factory.mktemp("next")
    scenario = load_scenario(TINY, SETTINGS)
    some = []
    for clients in (16, 24):
        figures = said_by(with_values(scenario, {CLIENTS: clients, ROWS.partition("=")[0]: 400.0}))
        some.append(
            record(
                f"{clients} clients",
                {FigureKind.RATE: figures[FigureKind.RATE]},
                scenario,
                clients,
                5000 * 8 / (1 << 20),
            )
        )
    save_records(some, folder / "records")
    return folder


def calibrate(folder: Path, *more: str) -> list[str]:
    sets = [word for setting in SETTINGS for word in ("--set", setting)]
    vary = ["--vary", ROWS.replace("10..160", "100..1600"), "--vary", f"{SECTION}=0.25..0.9"]
    words = ["calibrate", str(folder / "records"), "--base", str(TINY), *sets, *vary, "--quiet", "--workers", "1"]
    return [*words, "--confirm", "0", *more]


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "model.json"
    assert main(calibrate(folder, "--save", str(path))) == 0
    return path


def next_run(capsys: Output, *words: object, status: int = 0) -> str:
    assert main(["next-run", *map(str, words), "--quiet"]) == status
    out, err = capsys.readouterr()
    return err if status else out


def test_calibrate_says_which_run_would_tell(folder: Path, capsys: Output) -> None:
    assert main(calibrate(folder)) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("your runs can't tell"))
    assert lines[at + 1].startswith("a run like ")
    assert lines[at + 1].endswith(" with 1 client would tell share_of_path and row_operation_us apart")


def test_calibrate_says_nothing_where_none_would(model: Path) -> None:
    """The same parameters, said to be told already; and a model that misses too much for any run to tell."""
    calibration = read_calibration(model)
    assert would_tell(calibration)
    told = [each.model_copy(update={"identified": True}) for each in calibration.parameters]
    assert not would_tell(calibration.model_copy(update={"parameters": tuple(told)}))
    assert not would_tell(_missing_all(calibration))


def _missing_all(calibration: Calibration) -> Calibration:
    missed = {kind: each.model_copy(update={"sd": 3.0}) for kind, each in calibration.missed.items()}
    return calibration.model_copy(update={"missed": missed})


def test_the_table_ranks_and_ends_with_a_sentence(model: Path, capsys: Output) -> None:
    lines = next_run(capsys, model, "--could", f"{CLIENTS}=1,96,100000000").splitlines()
    assert lines[4].startswith("  1 client ")
    assert lines[4].endswith("row_operation_us, share_of_path")
    assert lines[5].startswith("  96 clients")
    assert lines[7].split(maxsplit=4)[:4] == ["left", "out", "100,000,000", "clients:"]
    assert " clients with 1 client: it leaves " in lines[-1]
    assert lines[-1].endswith("; it tells row_operation_us and share_of_path apart")


def test_for_a_scenario_the_interval_before_and_after_is_said(model: Path, capsys: Output) -> None:
    words = (model, "--set", f"{CLIENTS}=2", "--could", f"{CLIENTS}=1,96")
    assert "goes from" in next_run(capsys, *words).splitlines()[-1]
    answer = json.loads(next_run(capsys, *words, "--output", "json"))
    facts = answer["facts"]
    assert facts["asked"] == "tiny with clients=2"
    first, second = answer["tables"]["candidates"]
    assert facts["best"] == first["name"] == "1 client"
    now = facts["rate_per_min"]
    assert now["low"] < first["low_per_min"] < now["value"] < first["high_per_min"] < now["high"]
    assert first["narrower_fraction"] > 5 * second["narrower_fraction"]
    rows = list(csv.DictReader(io.StringIO(next_run(capsys, *words, "--output", "csv"))))
    assert [row["name"] for row in rows] == ["1 client", "96 clients"]
    assert float(rows[0]["left_sd"]) == first["left_sd"]


def test_where_no_run_is_worth_it_that_is_said(model: Path, capsys: Output) -> None:
    """What other runs of many clients tell is known; the rate that is asked for is of a run that was made."""
    words = ("--for", TINY, *_sets(), "--set", f"{CLIENTS}=24", "--could", f"{CLIENTS}=48,96")
    doubted = ("--for", TINY, *_sets(), "--set", f"{CLIENTS}=2", "--could", f"{CLIENTS}=1,96")
    said = "no run of these is worth making for "
    last = next_run(capsys, model, *words).splitlines()[-1]
    assert said in last
    assert last.endswith(
        "tiny with 8 settings: nearly all of its interval is of one run from the next and of what the model misses"
    )
    assert said not in next_run(capsys, model, *doubted)


def _sets() -> list[str]:
    return [word for setting in SETTINGS for word in ("--set", setting)]


def test_costs_are_shown_and_ranked_by(model: Path, capsys: Output) -> None:
    file = model.parent / "could.yaml"
    file.write_text(
        "cost_unit: hours\ncandidates:\n"
        f"  long: {{settings: {{{CLIENTS}: 1}}, cost: 40}}\n  short: {{settings: {{{CLIENTS}: 2}}, cost: 2}}\n"
    )
    lines = next_run(capsys, model, "--candidates", file).splitlines()
    assert lines[2].endswith("; best first, by what they give for their hours")
    assert [line.split()[0] for line in lines[4:6]] == ["short", "long"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--could", "workload.clients=1"), "unknown key"),
        (("--could", CLIENTS), "--could"),
        (("--grid",), "--grid"),
        (("--could", f"{CLIENTS}=1", "--candidates", "x.yaml"), "one of them"),
        (("--candidates", "no_such.yaml"), "no_such.yaml"),
        (("--for", "v20zz"), "did you mean"),
    ],
)
def test_bad_words_are_refused(words: tuple[str, ...], said: str, model: Path, capsys: Output) -> None:
    err = next_run(capsys, model, *words, status=2)
    assert err.startswith("error: ")
    assert said in err


def test_a_calibration_that_comes_with_the_program_is_named(capsys: Output) -> None:
    assert "workload.clients: unknown key" in next_run(capsys, "published", "--could", "workload.clients=1", status=2)
    assert "cannot be read" in next_run(capsys, "publshed", "--could", "workload.clients=1", status=2)


def test_a_file_that_is_no_calibration_is_refused(capsys: Output) -> None:
    assert "not a calibration" in next_run(capsys, TINY, status=2)
