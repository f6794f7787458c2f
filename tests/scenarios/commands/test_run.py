"""`oltpsim run`: every kind of system in its one place, the formulas first, and what each wrong word is told."""

import json
import re
import shutil
from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario, read_description
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import load_scenario_file
from oltpsim.scenarios.questions.measured import scenario_of_run
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.errors import Infeasible, InputError

Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]
TINY = str(Path(__file__).parents[1] / "tiny.yaml")
LINE = "2 GiB, 1 core, sas-15k, 2 clients, 1 warehouse, pool 64 MiB, warm-up 1 s, 2 s"
FAST = ["--engine", "analytic", "--quiet"]
RUN_FOLDER = ROOT / "tests" / "samples" / "run_directories" / "postgres15_go-tpc_in_memory"


def document(capsys: Output, *words: str) -> dict[str, object]:
    assert main([*words, "-o", "json", "--quiet"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


# What a system is


def test_a_system_needs_no_command(capsys: Output, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    assert main(["run", TINY, *FAST, "--save", str(saved)]) == 0
    capsys.readouterr()
    for system in (LINE, TINY, "v20z", "published", "r6i.large", str(saved)):
        more = [] if system == str(saved) else FAST[:2]
        assert document(capsys, system, *more) == document(capsys, "run", system, *more)


@pytest.mark.parametrize("word", ["rnu", "v2oz", "postgresql15", "-x"])
def test_a_word_that_is_no_system_is_no_command_either(word: str, capsys: Output) -> None:
    assert main([word]) == 2
    assert f": no such {'option' if word == '-x' else 'command'}" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "remedy"), [
    ("quick", "type: oltpsim run '8 cores, 32 GB, NVMe, PostgreSQL 17'"),
    ("predict", "type: oltpsim run SCENARIO --model MODEL"),
    ("machine", "type: oltpsim run '2 x Opteron 244, 8 GB, 4 SATA'"),
])  # fmt: skip
def test_a_former_command_is_told_in_three_lines_what_to_type(command: str, remedy: str, capsys: Output) -> None:
    assert main([command, "8 GB"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"error: oltpsim {command}: ")
    assert f"error: {remedy}" in err
    assert err.count("\n") == 3


def test_a_saved_run_is_answered_as_it_was_and_not_again(tmp_path: Path, capsys: Output) -> None:
    kept = str(tmp_path / "kept.json")
    first = document(capsys, "run", TINY, "--seed", "3", "--save", kept)
    assert document(capsys, "run", kept) == first
    for option in (["--seed", "4"], ["--set", "machine.cpu.cores=2"], ["--engine", "analytic"]):
        assert main(["run", kept, *option]) == 2
        assert f"error: {option[0]}: {kept} is done already" in capsys.readouterr().err


def test_a_measured_run_is_predicted_with_its_rate_beside_it(tmp_path: Path, capsys: Output) -> None:
    """The folder of what a driver wrote says clients and rate; a record says the same; neither says the machine."""
    base = "postgresql-15"
    assert main(["run", str(RUN_FOLDER), *FAST]) == 2
    assert "a record doesn't say its whole machine; give a scenario with --base" in capsys.readouterr().err
    found = scenario_of_run(str(RUN_FOLDER), load_scenario_file(ROOT / "scenarios" / "library" / f"{base}.yaml"))
    assert found.measured is not None
    assert found.measured.new_orders_per_minute
    words = ["run", str(RUN_FOLDER), "--base", base, *FAST]
    assert main(words) == 0
    assert "measured by others" in capsys.readouterr().out
    record = tmp_path / "record.yaml"
    assert main(["import", str(RUN_FOLDER), "--save", str(record), "--quiet"]) == 0
    capsys.readouterr()
    assert document(capsys, "run", str(record), *words[2:-1]) == document(capsys, *words[:-1])


def test_only_a_run_has_a_base_and_one_run_is_one(tmp_path: Path, capsys: Output) -> None:
    assert main(["run", TINY, "--base", "v20z"]) == 2
    assert "--base v20z: goes with the folder of a measured run" in capsys.readouterr().err
    for name in ("a", "b"):
        shutil.copytree(RUN_FOLDER, tmp_path / name)
    assert main(["run", str(tmp_path), "--base", "postgresql-15", *FAST]) == 2
    assert "holds 2 runs (a, b); give one of them" in capsys.readouterr().err


def test_a_measured_rate_is_shown_beside_the_answer(capsys: Output) -> None:
    assert main(["run", LINE, *FAST, "--measured", "41000"]) == 0
    assert "measured by others      41,000 (−" in capsys.readouterr().out
    assert main(["run", LINE, *FAST]) == 0
    assert "measured by others" not in capsys.readouterr().out
    assert main(["run", f"{LINE}, pgbench, scale 10".replace("1 warehouse, ", ""), *FAST, "--measured", "41000"]) == 2
    assert "--measured: is new orders per minute" in capsys.readouterr().err


# The formulas first


def test_formulas_answer_at_once_and_the_simulation_is_the_answer(capsys: Output) -> None:
    assert main(["run", TINY]) == 0
    out, err = capsys.readouterr()
    assert err.index("analytic: answered in ") < err.index("new orders/min") < err.index("kernel: ")
    assert out.count("new orders/min") == 1
    assert main(["run", TINY, "--quiet"]) == 0
    again, err = capsys.readouterr()
    assert (again.replace(" --quiet", ""), err) == (out, "")
    simulated = document(capsys, "run", TINY, "--engine", "kernel")
    assert simulated["engine"] == "kernel"
    assert document(capsys, "run", TINY) == simulated


# Lines


@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [
        ("8 GiB, pool 40 GiB", "machine: 'pool 40 GiB': database.pool.buffers: "),
        ("100 MiB", "machine: '100 MiB': machine.memory_gib: 0.0976562 GiB; system, server"),
        ("50000 warehouses", "machine: '50000 warehouses': workload.warehouses: 50,000 warehouses are"),
    ],
)
def test_a_machine_too_small_gets_numbers(pieces: str, sentence: str) -> None:
    with pytest.raises(Infeasible) as caught:
        read_description(pieces)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([LINE, "--coers", "4"], "oltpsim run: no such option: --coers"),
        ([LINE, "--cores", "4"], "oltpsim run: no such option: --cores"),
        ([f"{LINE}, r6i.2xlarge"], "machine: '2 GiB' and 'r6i.2xlarge': r6i.2xlarge has 64 GiB of memory"),
        ([TINY], f"--save-scenario: {TINY} isn't a line"),
        (["nothing.yaml"], "nothing.yaml: no such file"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], sentence: str, tmp_path: Path, capsys: Output) -> None:
    saved = tmp_path / "new" / "x.yaml"
    assert main(["run", *words, "--save-scenario", str(saved)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {sentence}")
    assert err.count("\n") == 1
    assert not saved.exists(), "bad answers leave nothing behind"


def test_a_line_is_answered_and_what_it_comes_to_is_kept(tmp_path: Path, capsys: Output) -> None:
    made, kept = tmp_path / "made.yaml", tmp_path / "kept.json"
    words = ["run", LINE, "--save-scenario", str(made), "--save", str(kept), "--seed", "3", "--quiet"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"reproduce: oltpsim run '{LINE}' --save-scenario" in out
    run = read_saved_run(kept)
    assert load_scenario(made) == run.scenario
    assert run.result.seed == 3
    again = document(capsys, *words[:-1])
    assert again["rate_per_min"]["mean"] == run.result.rate_per_min.mean  # type: ignore[index]
    described = again["described"]
    assert isinstance(described, list)
    assert {row["key"] for row in described if row["piece"] == "2 GiB"} == {"machine.memory_gib"}


@pytest.mark.parametrize("system", ["8 cores, 32 GB, NVMe, PostgreSQL 17, 64 clients", "v20z", "postgresql-15"])
def test_an_answer_is_one_screen_with_its_headline_first(system: str, capsys: Output) -> None:
    assert main(["run", system, *FAST]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines[:-1])) <= 80
    rate = next(number for number, line in enumerate(lines) if line.startswith("  "))
    assert rate <= 4
    assert re.match(r"  [\d,]+ new orders/min +between [\d,]+ and [\d,]+ \(90%, predicted\)", lines[rate])
    assert any(line.startswith("  limited by ") for line in lines[rate + 1 : rate + 3])


def test_assumptions_are_one_line_and_a_table_if_asked_for(capsys: Output) -> None:
    assert main(["run", LINE, *FAST]) == 0
    short = capsys.readouterr().out
    [line] = [line for line in short.splitlines() if line.startswith("  assumed ")]
    more = int(line.partition("(")[2].split()[0])
    assert main(["run", LINE, *FAST, "--assumptions"]) == 0
    table = capsys.readouterr().out.partition("reproduce: ")[2]
    assert table.count(" assumed") == line.count(",") + 1 + more
    assert " assumed, or " in table
    assert " assumed, or " not in short


def test_what_is_left_open_widens_the_interval(capsys: Output) -> None:
    def ratio(line: str) -> float:
        found = document(capsys, "run", line, "--engine", "analytic")["measurement"]
        assert isinstance(found, dict)
        return float(found["high_per_min"] / found["low_per_min"])

    said = ratio("8 cores, 32 GB, SSD, 40 warehouses, 64 clients")
    assert ratio("8 cores, 32 GB, SSD, 64 clients") > 1.05 * said


def test_an_engine_has_its_own_driver_and_rows() -> None:
    """100 warehouses of PostgreSQL's rows are as large as 100 GB say, and Virtuoso keeps the article's driver."""
    drivers = {}
    for engine in ("PostgreSQL 15", "Virtuoso 4"):
        workload = read_description(f"{engine}, 10 GB of data, 16 GiB").scenario.workload
        drivers[workload.name] = workload.warehouses
    assert drivers["TPC-C-like, go-tpc"] == pytest.approx(100, abs=5)
    assert set(drivers) == {"TPC-C-like, go-tpc", "TPC-C-like, Virtuoso's driver"}


def test_beside_csv_the_assumptions_go_to_stderr(capsys: Output) -> None:
    assert main(["run", LINE, "--output", "csv"]) == 0
    out, err = capsys.readouterr()
    assert "assum" not in out
    assert "assumption: disks: 1; no number of disks is said: one\n" in err


def test_a_line_with_set_is_the_scenario_that_it_saves(tmp_path: Path, capsys: Output) -> None:
    made, kept = tmp_path / "made.yaml", tmp_path / "kept.json"
    words = ["run", LINE, "--set", "machine.cpu.cores=2", "--set", "machine.log_disk=nvme", "--engine", "reference"]
    assert main([*words, "--save-scenario", str(made), "--save", str(kept), "--quiet"]) == 0
    assert "--set machine.log_disk=nvme --engine reference" in capsys.readouterr().out
    run = read_saved_run(kept)
    assert (run.scenario.machine.cpu.cores, run.result.engine) == (2, "reference")
    assert load_scenario(made) == run.scenario


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("machine.cpu.coers=2", "machine with --set machine.cpu.coers=2: machine.cpu.coers: unknown key"),
        ("cores", "--set cores: expected key.path=value"),
        ("machine.cpu.cores=0", "machine with --set machine.cpu.cores=0: machine.cpu.cores: got 0"),
        ("machine=r6i.2xlarge", "--set machine=r6i.2xlarge: r6i.2xlarge has no disks of its own"),
    ],
)
def test_a_wrong_set_names_itself(setting: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description(LINE, [setting])
    assert str(caught.value).startswith(sentence)
