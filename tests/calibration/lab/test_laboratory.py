"""The laboratory on this host: a whole run with each server, and what a killed one leaves."""

import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oltpsim.calibration.lab import Laboratory, clean
from oltpsim.calibration.lab.cleaning import LOCK, MOUNTS, STATE, work_folder
from oltpsim.calibration.lab.groups import Hierarchies
from oltpsim.calibration.lab.storage import loop_devices, mounts_below
from oltpsim.calibration.records import RunRecord, load_record
from oltpsim.scenarios.commands.cli import main
from oltpsim.simulator.errors import InputError

ROOT = Path(__file__).resolve().parents[3]
CODE = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main())"
SCENARIO = """
base: laboratory/{server}
name: a small machine
machine: {{memory_gib: 0.5}}
operating_system: {{swap: {{size_gib: 0.125}}}}
database: {{pool: {{buffers: 4096}}}}
workload: {{warehouses: 1, arrivals: {{clients: 4}}}}
interval: {{start: after_prewarm, lead_in: {{transactions: 200}}, warm_up_s: 2, duration_s: 6}}
"""
PGBENCH = """
base: laboratory/postgresql-pgbench
name: a small machine
machine: {{memory_gib: 0.5}}
operating_system: {{swap: {{size_gib: 0.125}}}}
workload: {{scale: 2, arrivals: {{clients: 4}}}}
interval: {{start: after_prewarm, lead_in: {{transactions: 200}}, warm_up_s: 3, duration_s: 6}}
"""
STAGES = ("restoring the loaded state", "reading the tables", "lead-in", "measuring")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("host")]


def leftovers() -> list[str]:
    """What is there of a laboratory: groups, loop devices, mounts."""
    groups = [f"group {group.name}: {group.processes()}" for group in Hierarchies.mounted().groups()]
    return [*groups, *loop_devices(), *map(str, mounts_below(STATE))]


def start(folder: Path, server: str) -> subprocess.Popen[str]:
    """The program on its own, so that it can be killed."""
    scenario = folder / f"{server}.yaml"
    scenario.write_text((PGBENCH if server == "pgbench" else SCENARIO).format(server=server))
    command = [sys.executable, "-c", CODE, "lab", "run", str(scenario), "--folder", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode in {0, 1}, err  # in seconds beside other work a law may well be broken
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder of a laboratory: what is loaded once serves all tests."""
    made = tmp_path_factory.mktemp("laboratory")
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("server", ["postgresql", "mariadb"])
def test_a_machine_is_emulated_and_measured_and_nothing_stays(folder: Path, server: str) -> None:
    out = finished(start(folder, server))
    assert re.search(r"4 clients, steady, 6(\.00)? s", out)
    assert leftovers() == []
    starts = (folder / "server.log").read_text(errors="replace").count("ready for connections")
    assert starts == (2 if server == "mariadb" else 0)  # the second with a log whose blocks have been written
    run = folder / "runs" / f"{server}.r1"
    record: RunRecord = load_record(run / "record.yaml")
    assert record.environment.cores is not None
    assert record.environment.memory_gib is not None
    assert (record.environment.cores.value, record.environment.memory_gib.value) == (1, 0.5)
    assert record.window.start is not None
    assert record.window.lead_in_transactions is not None
    assert (record.window.start.value, record.window.lead_in_transactions.value) == ("after_prewarm", 200)
    assert record.outcome.new_orders_per_minute is not None
    assert record.outcome.classes["new_order"].percentiles_ms["95"].value > 0
    assert record.resources.process_groups["database"].cpu_user_cores is not None
    assert any("emulated disk data" in note for note in record.notes)
    assert any("data on ext4, loop73" in note and "log on" in note for note in (" ".join(record.notes),))
    before = (run / "laboratory.json").stat().st_mtime_ns
    assert finished(start(folder, server)).splitlines()[0] == out.splitlines()[0]  # what is measured is kept
    assert (run / "laboratory.json").stat().st_mtime_ns == before


def test_pgbench_is_measured_behind_its_warm_up(folder: Path) -> None:
    finished(start(folder, "pgbench"))
    assert leftovers() == []
    record: RunRecord = load_record(folder / "runs" / "pgbench.r1" / "record.yaml")
    window, scale, rate = record.window, record.workload.scale, record.outcome.transactions_per_s
    assert window.ramp_s is not None
    assert window.duration_s is not None
    assert scale is not None
    assert rate is not None
    assert (window.kind, scale.value) == ("steady", 2)
    assert 3 <= window.ramp_s.value < 6, "to the next sample"
    assert 2 < window.duration_s.value <= 7
    assert rate.value > 10
    assert record.workload.driver is not None
    assert str(record.workload.driver.value).startswith("pgbench")


@pytest.mark.parametrize("number", range(10))
def test_killed_at_any_moment_it_leaves_nothing_once_cleaned(folder: Path, number: int) -> None:
    draws = random.Random(number)  # noqa: S311 - a moment, no secret
    stage, delay_s = STAGES[number % len(STAGES)], draws.uniform(0.0, 2.0)
    shutil.rmtree(folder / "runs" / "postgresql.r1", ignore_errors=True)
    process = start(folder, "postgresql")
    assert process.stderr is not None
    said = ""
    while stage not in (line := process.stderr.readline()):
        said += line
        assert line, f"it ended: {said}"
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if stage != STAGES[0]:
        assert leftovers(), "a killed laboratory leaves something, or this test shows nothing"
    clean()
    assert leftovers() == []
    assert not MOUNTS.exists()
    assert not work_folder(folder).exists()
    assert not (folder / "runs" / "postgresql.r1" / "laboratory.json").exists()  # an unfinished run doesn't look whole


def test_another_scenario_of_the_same_name_is_refused(folder: Path) -> None:
    finished(start(folder, "postgresql"))
    scenario = folder / "postgresql.yaml"
    command = [sys.executable, "-c", CODE, "lab", "run", str(scenario), "--folder", str(folder)]
    scenario.write_text(SCENARIO.format(server="postgresql").replace("clients: 4", "clients: 5"))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "holds a run of another scenario of this name" in done.stderr


def test_more_repeats_have_numbers_and_seeds_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(_self: Laboratory, _scenario: object, name: str, _library: object, seed: int, _shown: object) -> Path:
        raise InputError(f"asked for {name} with seed {seed}")

    monkeypatch.setattr(Laboratory, "measure", measure)
    scenario = tmp_path / "postgresql.yaml"
    scenario.write_text(SCENARIO.format(server="postgresql"))
    for words, asked in (((), "postgresql.r1 with seed 1"), (("--first-repeat", "4"), "postgresql.r4 with seed 4")):
        assert main(["lab", "run", str(scenario), "--folder", str(tmp_path), *words]) == 2
        assert asked in capsys.readouterr().err


def test_one_at_a_time() -> None:
    STATE.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print(os.getpid(), file=lock, end="", flush=True)
        with pytest.raises(InputError, match="a laboratory runs on this host"):
            clean()
    clean()


def test_what_a_killed_laboratory_was_just_starting_is_waited_for() -> None:
    """Between fork and exec a child holds its parent's lock, dead or not."""
    STATE.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        print(ended.pid, file=lock, end="", flush=True)
        child = subprocess.Popen(["sleep", "0.5"], pass_fds=[lock.fileno()])
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert clean() == []
    assert child.wait() == 0


def test_something_else_that_holds_the_lock_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oltpsim.calibration.lab.cleaning.PATIENCE_S", 0.1)
    with LOCK.open("w") as lock:  # of nobody
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(InputError, match="something that it started holds"):
            clean()


def test_without_root_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="take root"):
        clean()
