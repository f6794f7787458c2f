"""`oltpsim quick`: eight questions as options, what is assumed, and what each wrong answer is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.build import memory_plan
from models.reading import Questions, assumptions_of, load_scenario, scenario_from_mapping, scenario_of
from models.reading.quick import POOL_SHARE
from scenarios.commands.cli import main
from scenarios.run import read_saved_run
from simulator.errors import Infeasible, InputError

Output = pytest.CaptureFixture[str]
TINY = str(Path(__file__).parents[1] / "tiny.yaml")
ANSWERS: dict[str, Any] = {
    "ram": "8 GiB", "cores": 4, "disk": "sas-15k", "disks": 2, "warehouses": 10, "data_size": None, "clients": 20,
    "database": "virtuoso-4", "cpu": "server-2020s", "operating_system": "linux", "buffers": None, "pool": None,
    "think": "0 s", "warm_up": "1 min", "duration": "2 min",
}  # fmt: skip
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


def questions(**answers: Any) -> Questions:
    return Questions(**{**ANSWERS, **answers})


def command(**changes: str | None) -> list[str]:
    """The words of a small `quick`; `ram=None` leaves --ram out."""
    options = {**WORDS, **{f"--{name.replace('_', '-')}": value for name, value in changes.items()}}
    return ["quick", *(word for name, value in options.items() if value is not None for word in (name, value))]


def test_answers_become_a_scenario() -> None:
    scenario, data = scenario_of(questions())
    assert scenario.machine.memory_gib == 8
    assert scenario.machine.cpu.cores == 4
    assert (scenario.machine.disks.count, scenario.machine.disks.disk.name) == (2, "SAS, 15,000 rpm")
    assert scenario.workload.warehouses == 10
    assert (scenario.workload.arrivals.kind, scenario.interval.start) == ("closed", "warm")
    assert (scenario.interval.warm_up_s, scenario.interval.duration_s) == (60, 120)
    assert scenario.name == "8 GiB RAM, 4 cores, 2 x sas-15k, 10 warehouses, 20 clients"
    assert scenario_from_mapping(data, "again") == scenario


def test_the_pool_gets_its_share_of_what_is_free_and_this_is_said() -> None:
    scenario, _ = scenario_of(questions())
    plan = memory_plan(scenario)
    assert plan.pool_bytes / plan.free_bytes == pytest.approx(POOL_SHARE, abs=1e-4)
    assert all(note.startswith("assumption: ") for note in scenario.notes)
    assert scenario.notes[0] == "assumption: pool 60 % of free memory; --buffers changes it"


@pytest.mark.parametrize(
    ("answers", "buffers"), [({"buffers": 5000}, 5000), ({"pool": "1 GiB"}, 104_857), ({"pool": "1 GB"}, 97_656)]
)
def test_the_pool_that_was_asked_for_is_no_assumption(answers: dict[str, object], buffers: int) -> None:
    scenario, _ = scenario_of(questions(**answers))
    assert scenario.database.pool.buffers == buffers
    assert not any("pool" in note for note in scenario.notes)


def test_a_size_of_data_becomes_warehouses() -> None:
    def warehouses(size: str) -> int:
        return scenario_of(questions(warehouses=None, data_size=size))[0].workload.warehouses

    assert warehouses("1 MiB") == 1
    assert 10 <= warehouses("1 GiB") <= 14
    assert warehouses("10 GiB") == pytest.approx(10 * warehouses("1 GiB"), rel=0.1)
    assert warehouses("10 GB") < warehouses("10 GiB")


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"ram": "lots"}, "quick: --ram: got 'lots'; is not a number with a unit"),
        ({"ram": "8"}, "quick: --ram: got '8'; text needs a unit: '8 GiB'"),
        ({"ram": "0 GiB"}, "quick: --ram: got '0 GiB'; must be greater than 0"),
        ({"ram": "-8 GiB"}, "quick: --ram: got '-8 GiB'; must be greater than 0"),
        ({"ram": "8 ms"}, "quick: --ram: got '8 ms'; 'ms' is a unit of time"),
        ({"ram": "1e999 GiB"}, "quick: --ram: got '1e999 GiB'; must be a finite number"),
        ({"ram": "8", "buffers": 5000}, "quick: --ram: got '8'; text needs a unit: '8 GiB'"),
        ({"cores": 5000}, "quick: --cores: got 5000; must be less than or equal to 4096"),
        ({"disk": "nvm"}, "quick: --disk: unknown name 'nvm' in the catalogue of disks (did you mean 'nvme'?)"),
        ({"disks": 5000}, "quick: --disks: got 5000; must be less than or equal to 1024"),
        ({"cpu": "xeon"}, "quick: --cpu: unknown name 'xeon' in the catalogue of cpus"),
        ({"database": "virtuoso"}, "quick: --database: unknown name 'virtuoso' in the catalogue of databases (did you"),
        ({"operating_system": "linus"}, "quick: --os: unknown name 'linus' in the catalogue of operating_systems (di"),
        ({"warehouses": None}, "quick: say how much data there is: --warehouses N or --data-size '4 GiB', one of them"),
        ({"data_size": "4 GiB"}, "quick: say how much data there is"),
        ({"warehouses": None, "data_size": "4"}, "quick: --data-size: got '4'; text needs a unit: '4 GiB'"),
        ({"buffers": 5000, "pool": "1 GiB"}, "quick: --pool and --buffers both say how large the pool is; give one"),
        ({"pool": "big"}, "quick: --pool: got 'big'; is not a number with a unit"),
        ({"buffers": 10}, "quick: --buffers: got 10; must be greater than or equal to 100"),
        ({"think": "5"}, "quick: --think: got '5'; text needs a unit: '5 s'"),
        ({"think": "3 GiB"}, "quick: --think: got '3 GiB'; 'GiB' is a unit of memory"),
        ({"think": "2 h"}, "quick: --think: got 2 h; more than 1 h looks like a wrong unit"),
        ({"warm_up": "-1 s"}, "quick: --warm-up: got '-1 s'; must be greater than or equal to 0"),
        ({"duration": "0 s"}, "quick: --duration: got '0 s'; must be greater than 0"),
        ({"duration": "99 d"}, "quick: --duration: got '99 d'; must be at most 2.592e+06 s"),
    ],
)
def test_a_wrong_answer_names_its_option(answers: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario_of(questions(**answers))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (
            {"pool": "40 GiB"},
            "quick: --pool: 4194304 buffers of 10 KiB take 40 GiB; 7.36 of 8 GiB are free and swap has 8",
        ),
        ({"buffers": 9_000_000}, "quick: --buffers: 9000000 buffers of 10 KiB take 85.8 GiB"),
        ({"ram": "600 MiB"}, "quick: --ram 600 MiB: system, server process and 20 clients alone take 0.639 GiB"),
        ({"warehouses": 5000}, "quick: --warehouses: 5000 warehouses are"),
    ],
)
def test_a_machine_too_small_gets_numbers(answers: dict[str, object], sentence: str) -> None:
    with pytest.raises(Infeasible) as caught:
        scenario_of(questions(**answers))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (command(ram=None), "oltpsim quick: missing option '--ram'"),
        (command(clients=None), "oltpsim quick: missing option '--clients'"),
        (command(cores="0"), "oltpsim quick: --cores: got '0'; must be greater than or equal to 1"),
        (command(cores="four"), "oltpsim quick: --cores: got 'four'; must be a whole number"),
        (command(clients="-3"), "oltpsim quick: --clients: got '-3'; must be greater than or equal to 1"),
        (command(disks="0"), "oltpsim quick: --disks: got '0'; must be greater than or equal to 1"),
        (command(disks="1.5"), "oltpsim quick: --disks: got '1.5'; must be a whole number"),
        (command(warehouses="0"), "oltpsim quick: --warehouses: got '0'; must be greater than or equal to 1"),
        (command(coers="4"), "oltpsim quick: no such option: --coers"),
        (command(pool=None, ram="1 MiB"), "quick: --ram 1 MiB: system, server process and 2 clients alone take"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], sentence: str, tmp_path: Path, capsys: Output) -> None:
    assert main([*words, "--save-scenario", str(tmp_path / "new" / "x.yaml")]) == 2
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
    assert out.splitlines()[-1].startswith("again, same bytes: oltpsim quick --ram '2 GiB' --cores 1 --disk sas-15k")
    run = read_saved_run(kept)
    assert load_scenario(made) == run.scenario
    assert run.result.seed == 3
    assert main([*words, "--output", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rate_per_min"]["mean"] == run.result.rate_per_min.mean


def test_the_table_lists_what_is_assumed_however_quiet(capsys: Output) -> None:
    words = command(pool=None, disks="1", os="linux")
    assert main([*words, "--quiet", "--target", "1e12"]) == 1
    out, err = capsys.readouterr()
    assert (
        "assumed: pool 60 % of free memory; postgresql-15, under go-tpc; server-2020s cores;"
        " no think time; warm start; clients on the server "
    ) in " ".join(out.split())
    assert max(len(line) for line in out.splitlines()[:-1]) <= 80
    assert err.count("\n") == 1
    assert "target missed" in err


def test_an_engine_has_its_own_driver_and_rows() -> None:
    """100 warehouses of PostgreSQL's rows are as large as 100 GB say, and Virtuoso keeps the article's driver."""
    drivers = {}
    for engine in ("postgresql-15", "virtuoso-4"):
        scenario, _ = scenario_of(questions(database=engine, warehouses=None, data_size="10 GB", ram="16 GiB"))
        drivers[scenario.workload.name] = scenario.workload.warehouses
    assert drivers["TPC-C-like, go-tpc"] == pytest.approx(100, abs=5)
    assert set(drivers) == {"TPC-C-like, go-tpc", "TPC-C-like, Virtuoso's driver"}


def test_beside_other_forms_the_assumptions_go_to_stderr(capsys: Output) -> None:
    assert main([*command(), "--output", "csv"]) == 0
    out, err = capsys.readouterr()
    assert "assum" not in out
    assert "assumption: one disk; --disks changes it\n" in err


def test_nothing_that_was_set_is_called_assumed() -> None:
    every = ["--database", "--cpu", "--os", "--disks", "--think"]
    overrides = ["interval={start: cold}", "machine.network.clients_on_server=false"]
    assert assumptions_of(scenario_of(questions(buffers=5000, answered=every), overrides)[0]) == []
    left = assumptions_of(scenario_of(questions(buffers=5000, answered=every), ["machine.memory_gib=9"])[0])
    assert left == ["warm start", "clients on the server"]


def test_quick_with_set_is_the_scenario_that_it_saves(tmp_path: Path, capsys: Output) -> None:
    made, kept = tmp_path / "made.yaml", tmp_path / "kept.json"
    words = [*command(), "--set", "machine.cpu.cores=2", "--set", "machine.log_disk=nvme", "--engine", "reference"]
    assert main([*words, "--save-scenario", str(made), "--save", str(kept), "--quiet"]) == 0
    assert "--set machine.log_disk=nvme --engine reference" in capsys.readouterr().out.splitlines()[-1]
    run = read_saved_run(kept)
    assert (run.scenario.machine.cpu.cores, run.result.engine) == (2, "reference")
    assert load_scenario(made) == run.scenario


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("machine.cpu.coers=2", "quick with --set machine.cpu.coers=2: machine.cpu.coers: unknown key"),
        ("cores", "--set cores: expected key.path=value"),
        ("machine.cpu.cores=0", "quick with --set machine.cpu.cores=0: machine.cpu.cores: got 0"),
    ],
)
def test_a_wrong_set_names_itself(setting: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario_of(questions(), [setting])
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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["quick", TINY, "--cores", "2"], "quick: --cores: not with a scenario; change it by --set KEY=VALUE"),
        (["quick", TINY, "--model", "none"], "quick: --model: not with a scenario"),
        (["quick", "nothing.yaml"], "nothing.yaml: no such file"),
        ([*command(), "--model", "none"], "quick: --model: only with a line"),
    ],
)
def test_an_option_without_a_use_is_refused(words: list[str], sentence: str, capsys: Output) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"error: {sentence}")
