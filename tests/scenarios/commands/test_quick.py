"""`oltpsim quick`: options as pieces of a description, two answers, and what each wrong option is told."""

import json
from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario, read_description
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.errors import Infeasible, InputError

Output = pytest.CaptureFixture[str]
TINY = str(Path(__file__).parents[1] / "tiny.yaml")
WORDS = {
    "--ram": "2 GiB",
    "--cores": "1",
    "--disk": "sas-15k",
    "--clients": "2",
    "--warehouses": "1",
    "--pool": "64 MiB",
    "--warm-up": "1 s",
    "--duration": "2 s",
}
LINE = "2 GiB, 1 core, sas-15k, 2 clients, 1 warehouse, pool 64 MiB, warm-up 1 s, 2 s"


def command(**changes: str | None) -> list[str]:
    """The words of a small `quick`; `ram=None` leaves --ram out."""
    options = {**WORDS, **{f"--{name.replace('_', '-')}": value for name, value in changes.items()}}
    return ["quick", *(word for name, value in options.items() if value is not None for word in (name, value))]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"--ram": "lots"}, "quick: --ram: got 'lots'; is not a number with a unit"),
        ({"--ram": "8"}, "quick: --ram: got '8'; text needs a unit: '8 GiB'"),
        ({"--ram": "0 GiB"}, "quick: --ram: got '0 GiB'; must be greater than 0"),
        ({"--ram": "-8 GiB"}, "quick: --ram: got '-8 GiB'; must be greater than 0"),
        ({"--ram": "8 ms"}, "quick: --ram: got '8 ms'; 'ms' is a unit of time"),
        ({"--ram": "1e999 GiB"}, "quick: --ram: got '1e999 GiB'; must be a finite number"),
        ({"--cores": "0"}, "quick: --cores: got '0'; must be a whole number, at least 1"),
        ({"--cores": "four"}, "quick: --cores: got 'four'; must be a whole number, at least 1"),
        ({"--cores": "5000"}, "machine: '--cores 5000': machine.cpu.cores: got 5000; must be less than or equal to"),
        ({"--clients": "-3"}, "quick: --clients: got '-3'; must be a whole number"),
        ({"--disk": "nvm"}, "quick: --disk: unknown name 'nvm' in the catalogue of disks (did you mean 'nvme'?)"),
        ({"--disk": "gp4"}, "quick: --disk: 'gp4': no volume gp4 in the catalogue; nearest gp3, gp2"),
        ({"--disk": "8 GB"}, "quick: --disk: unknown name '8 GB' in the catalogue of disks"),
        ({"--disks": "1.5"}, "quick: --disks: got '1.5'; must be a whole number"),
        ({"--disks": "5000"}, "machine: '--disks 5000': machine.disks.count: got 5000; must be less than or equal to"),
        ({"--cpu": "xeon"}, "machine: '--cpu xeon': add the clock, such as '2.0 GHz'"),
        ({"--cpu": "zuse"}, "quick: --cpu: unknown name 'zuse' in the catalogue of cpus"),
        ({"--database": "virtuso"}, "quick: --database: unknown name 'virtuso' in the catalogue of databases (did you"),
        (
            {"--database": "MySQL 4"},
            "quick: --database: 'MySQL 4': the catalogue has no such release; nearest: MySQL 9",
        ),
        ({"--os": "linus"}, "quick: --os: unknown name 'linus' in the catalogue of operating_systems (did you"),
        ({"--warehouses": "4", "--data-size": "4 GiB"}, "machine: '--warehouses 4' and '--data-size 4 GiB' both say"),
        ({"--data-size": "4"}, "quick: --data-size: got '4'; text needs a unit: '4 GiB'"),
        ({"--buffers": "5000", "--pool": "1 GiB"}, "machine: '--buffers 5000' and '--pool 1 GiB' both say"),
        ({"--pool": "big"}, "quick: --pool: got 'big'; is not a number with a unit"),
        ({"--buffers": "10"}, "machine: '--buffers 10': database.pool.buffers: got 10; must be greater than or equal"),
        ({"--think": "5"}, "quick: --think: got '5'; text needs a unit: '5 s'"),
        ({"--think": "3 GiB"}, "quick: --think: got '3 GiB'; 'GiB' is a unit of memory"),
        ({"--think": "2 h"}, "machine: '--think 2 h': workload.arrivals.think_time_s: got 2 h; more than 1 h looks"),
        ({"--warm-up": "-1 s"}, "quick: --warm-up: got '-1 s'; must be greater than or equal to 0"),
        ({"--duration": "0 s"}, "quick: --duration: got '0 s'; must be greater than 0"),
        ({"--duration": "99 d"}, "quick: --duration: got '99 d'; must be at most 2.592e+06 s"),
    ],
)
def test_a_wrong_option_is_named(flags: dict[str, str], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description("", (), flags)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"--ram": "8 GiB", "--pool": "40 GiB"}, "machine: '--pool 40 GiB': database.pool.buffers: "),
        ({"--ram": "100 MiB"}, "machine: '--ram 100 MiB': machine.memory_gib: 0.0976562 GiB; system, server"),
        ({"--warehouses": "50000"}, "machine: '--warehouses 50000': workload.warehouses: 50,000 warehouses are"),
    ],
)
def test_a_machine_too_small_gets_numbers(flags: dict[str, str], sentence: str) -> None:
    with pytest.raises(Infeasible) as caught:
        read_description("", (), flags)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (command(cores="0"), "quick: --cores: got '0'; must be a whole number, at least 1"),
        (command(coers="4"), "oltpsim quick: no such option: --coers"),
        ([*command(), "r6i.2xlarge"], "machine: '--ram 2 GiB' and 'r6i.2xlarge': r6i.2xlarge has 64 GiB of memory"),
        (["quick", TINY, "--cores", "2"], "quick: --cores: not with a scenario; change it by --set KEY=VALUE"),
        (["quick", TINY, "--model", "none"], "quick: --model: not with a scenario"),
        (["quick", "nothing.yaml"], "nothing.yaml: no such file"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], sentence: str, tmp_path: Path, capsys: Output) -> None:
    saved = [] if TINY in words else ["--save-scenario", str(tmp_path / "new" / "x.yaml")]
    assert main([*words, *([] if "nothing.yaml" in words else saved)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {sentence}")
    assert err.count("\n") == 1
    assert not (tmp_path / "new").exists(), "bad answers leave nothing behind"


def test_quick_answers_and_keeps_what_it_made(tmp_path: Path, capsys: Output) -> None:
    made, kept = tmp_path / "made.yaml", tmp_path / "kept.json"
    words = [*command(), "--save-scenario", str(made), "--save", str(kept), "--seed", "3", "--quiet"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "new orders per minute" in out
    assert "bottleneck" in out
    assert "again, same bytes: oltpsim quick --ram '2 GiB' --cores 1 --disk sas-15k" in out
    run = read_saved_run(kept)
    assert load_scenario(made) == run.scenario
    assert run.result.seed == 3
    assert main([*words, "--output", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rate_per_min"]["mean"] == run.result.rate_per_min.mean
    assert {row["key"] for row in again["described"] if row["piece"] == "--ram 2 GiB"} == {"machine.memory_gib"}


def test_line_and_options_give_the_same_answers(capsys: Output) -> None:
    def answer(*words: str) -> list[str]:
        assert main(["quick", *words, "--quiet"]) == 0
        return capsys.readouterr().out.split("First answer")[1].splitlines()[:-1]

    assert answer(LINE) == answer(*command()[1:])
    assert answer(LINE) != answer(LINE.replace("2 clients", "3 clients"))


def test_the_table_lists_what_is_assumed_and_what_it_does(capsys: Output) -> None:
    assert main([*command(disks="1", os="linux", clients=None), "--quiet", "--target", "1e12"]) == 1
    out, err = capsys.readouterr()
    rows = {line[2:].partition("  ")[0]: line for line in out.split("First answer")[0].splitlines()}
    assert "'--os linux'" in rows["operating system"]
    assert "assumed, or 2 or 32" in rows["clients"]
    assert rows["clients"].endswith(" %")
    assert "±" not in rows["memory"]
    assert len(out.splitlines()) <= 60
    assert err.count("\n") == 1
    assert "target missed" in err


def test_what_is_left_open_widens_the_interval(capsys: Output) -> None:
    def ratio(*words: str) -> float:
        assert main(["quick", *words, "--engine", "analytic", "-o", "json", "--quiet"]) == 0
        found = json.loads(capsys.readouterr().out)["measurement"]
        return float(found["high_per_min"] / found["low_per_min"])

    said = ratio("8 cores, 32 GB, SSD, 40 warehouses, 64 clients")
    assert ratio("8 cores, 32 GB, SSD, 64 clients") > 1.1 * said


def test_an_engine_has_its_own_driver_and_rows() -> None:
    """100 warehouses of PostgreSQL's rows are as large as 100 GB say, and Virtuoso keeps the article's driver."""
    drivers = {}
    for engine in ("postgresql-15", "virtuoso-4"):
        flags = {"--database": engine, "--data-size": "10 GB", "--ram": "16 GiB"}
        workload = read_description("", (), flags).scenario.workload
        drivers[workload.name] = workload.warehouses
    assert drivers["TPC-C-like, go-tpc"] == pytest.approx(100, abs=5)
    assert set(drivers) == {"TPC-C-like, go-tpc", "TPC-C-like, Virtuoso's driver"}


def test_beside_csv_the_assumptions_go_to_stderr(capsys: Output) -> None:
    assert main([*command(), "--output", "csv"]) == 0
    out, err = capsys.readouterr()
    assert "assum" not in out
    assert "assumption: disks: 1; no number of disks is said: one\n" in err


def test_quick_with_set_is_the_scenario_that_it_saves(tmp_path: Path, capsys: Output) -> None:
    made, kept = tmp_path / "made.yaml", tmp_path / "kept.json"
    words = [*command(), "--set", "machine.cpu.cores=2", "--set", "machine.log_disk=nvme", "--engine", "reference"]
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


def test_quick_answers_a_scenario_twice(capsys: Output) -> None:
    assert main(["quick", TINY, "--quiet"]) == 0
    out, _ = capsys.readouterr()
    assert "calculated, not simulated" in out
    assert "Second answer, simulated by the kernel engine:" in out
    assert main(["run", TINY, "--quiet", "--output", "json"]) == 0
    run = capsys.readouterr().out
    assert main(["quick", TINY, "--output", "json", "--quiet"]) == 0
    assert capsys.readouterr().out == run
