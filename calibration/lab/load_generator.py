"""What loads a server and drives it as a scenario says; and how fast the cores are that all this shares."""

import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oltpsim.calibration.lab.server import Server
from oltpsim.models.scenario import LeadInSpec, ScenarioSpec
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.simulator.errors import InputError, InstallationError

REPORT_S = 10
"""between two lines about progress"""
CORE_SPEED_S = 2
LEAD_IN_SEED = 1000
"""added to a run's seed for what comes before its warm-up, so that it isn't done twice"""


@dataclass(frozen=True)
class LoadGenerator(ABC):
    """Command lines of a harness, by a scenario."""

    server: Server
    scenario: ScenarioSpec

    @property
    def arrivals(self) -> ClosedClientsSpec:
        """Its clients, which `emulated` has found closed."""
        arrivals = self.scenario.workload.arrivals
        assert isinstance(arrivals, ClosedClientsSpec)
        return arrivals

    @staticmethod
    @abstractmethod
    def problems(scenario: ScenarioSpec) -> Iterator[str]:
        """Reasons why it can't do a scenario's workload, by their keys."""

    @property
    @abstractmethod
    def state(self) -> str:
        """What is loaded, as part of a file's name: equal where the same state serves."""

    @property
    @abstractmethod
    def state_gib(self) -> float:
        """Room for its rows and indexes, and for what runs add."""

    @abstractmethod
    def load_words(self) -> Sequence[str]:
        """Command that loads an empty database. Raises InstallationError if the harness isn't installed."""

    @abstractmethod
    def lead_in_words(self, lead_in: LeadInSpec, seed: int) -> Sequence[str]:
        """Command of the transactions between the start and the warm-up."""

    @abstractmethod
    def run_words(self, seed: int) -> Sequence[str]:
        """Command of the warm-up and of what is counted, one behind the other."""


def sysbench_program() -> str:
    """Its path. Raises InstallationError if there is none."""
    program = shutil.which("sysbench")
    if program is None:
        raise InstallationError("lab: sysbench isn't installed: run 'apt-get install sysbench' as root")
    return program


def core_speed_words(threads: int = 1, for_s: int = CORE_SPEED_S) -> list[str]:
    """Command that says how fast cores compute."""
    return [sysbench_program(), "cpu", f"--threads={threads}", f"--time={for_s}", "run"]


def core_speed_of(said: str) -> float:
    """Events/s of what that command said. Raises InputError for something else."""
    found = re.search(r"events per second:\s*([0-9.]+)", said)
    if found is None:
        raise InputError(f"lab: sysbench cpu says no events per second: {said.strip()[-200:]}")
    return float(found[1])
