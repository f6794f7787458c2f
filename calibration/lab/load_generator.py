"""The laboratory's load generator: TPC-C for sysbench (kit/*.lua), its command lines by a scenario."""

import hashlib
import os
import re
import shutil
from pathlib import Path

from calibration.lab.server import Server
from models.scenario import LeadInSpec, ScenarioSpec
from models.workloads import ClosedClientsSpec
from simulator.errors import InputError, InstallationError

KIT = Path(__file__).parent / "kit" / "tpcc.lua"
REPORT_S = 10
LOAD_SEED = 1
CORE_SPEED_S = 2
LOADERS = 4
"""threads that load at most"""


def _program() -> str:
    program = shutil.which("sysbench")
    if program is None:
        raise InstallationError("lab: sysbench isn't installed: run 'apt-get install sysbench' as root")
    return program


def _sysbench(server: Server, warehouses: int, threads: int) -> list[str]:
    return [_program(), str(KIT), *server.kit_words, f"--warehouses={warehouses}", f"--threads={threads}"]


def core_speed_words(threads: int = 1, for_s: int = CORE_SPEED_S) -> list[str]:
    """Command that says how fast cores compute."""
    return [_program(), "cpu", f"--threads={threads}", f"--time={for_s}", "run"]


def core_speed_of(said: str) -> float:
    """Events/s of what that command said. Raises InputError for something else."""
    found = re.search(r"events per second:\s*([0-9.]+)", said)
    if found is None:
        raise InputError(f"lab: sysbench cpu says no events per second: {said.strip()[-200:]}")
    return float(found[1])


def load_words(server: Server, warehouses: int) -> list[str]:
    """Command that loads so many warehouses. Raises InstallationError without sysbench."""
    threads = min(LOADERS, 2 * (os.cpu_count() or 1), warehouses)
    return [*_sysbench(server, warehouses, threads), f"--rand-seed={LOAD_SEED}", "prepare"]


def kit_digest() -> str:
    """Of the kit's files: a state that another kit has loaded is another one."""
    digest = hashlib.sha256()
    for path in sorted(KIT.parent.glob("*.lua")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _run_words(server: Server, scenario: ScenarioSpec, seed: int) -> list[str]:
    workload, arrivals = scenario.tpcc, scenario.tpcc.arrivals
    assert isinstance(arrivals, ClosedClientsSpec)
    think = "no" if arrivals.think_time_s == 0 else f"{arrivals.think_time_s:g}"
    home = "any" if workload.tpcc.home_warehouse == "drawn" else "fixed"
    choices = [f"--home={home}", f"--think-time={think}", f"--rand-seed={seed}"]
    return [*_sysbench(server, workload.warehouses, arrivals.clients), *choices]


def lead_in_words(server: Server, scenario: ScenarioSpec, lead_in: LeadInSpec, seed: int) -> list[str]:
    """Command of the transactions between the start and the warm-up, drawn with seeds of their own."""
    length = (
        ["--time=0", f"--events={lead_in.transactions}"]
        if lead_in.duration_s is None
        else [f"--time={max(round(lead_in.duration_s), 1)}", "--events=0"]
    )
    return [*_run_words(server, scenario, 1000 + seed), *length, "run"]


def kit_words(server: Server, scenario: ScenarioSpec, seed: int) -> list[str]:
    """Command of the warm-up and of what is counted."""
    interval = scenario.interval
    assert interval.duration_s is not None
    warm_up_s = round(interval.warm_up_s)
    length = [f"--time={warm_up_s + round(interval.duration_s)}", f"--warm-up-time={warm_up_s}", "--events=0"]
    return [*_run_words(server, scenario, seed), *length, f"--report-interval={REPORT_S}", "run"]
