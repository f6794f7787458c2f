"""PostgreSQL's own harness: pgbench's command lines by a scenario."""

from calibration.lab.load_generator import LEAD_IN_SEED, REPORT_S, LoadGenerator
from calibration.lab.postgresql import programs
from models.catalogue import read_entry
from models.scenario import LeadInSpec
from models.workloads import RowWorkloadSpec, WorkloadSpec

GIB_OF_SCALE = 0.03


SCRIPTS = {"pgbench": "tpcb-like", "pgbench-simple-update": "simple-update", "pgbench-select-only": "select-only"}
"""scripts that pgbench has, by the catalogue's workload that models each"""
DRIVERS = 2
"""threads of pgbench at most"""


def script_of(workload: RowWorkloadSpec | WorkloadSpec) -> str | None:
    """The script that a workload models: one whose transactions and rows are a catalogued one's, at any scale."""
    if isinstance(workload, WorkloadSpec):
        return None
    modelled = [(table.name, table.rows) for table in workload.tables]
    for name, script in SCRIPTS.items():
        entry = read_entry("workloads", name)
        known = [(table.name, table.rows) for table in entry.tables]
        if (workload.transactions, modelled) == (entry.transactions, known):
            return script
    return None


class Pgbench(LoadGenerator):
    """pgbench, which knows no warm-up: that is a run of its own."""

    @property
    def state(self) -> str:
        """Its scale."""
        return f"pgbench-s{self._scale}"

    @property
    def state_gib(self) -> float:
        """By its scale."""
        return GIB_OF_SCALE * self._scale

    @property
    def _scale(self) -> int:
        return self.scenario.workload.size

    def _pgbench(self, *words: str) -> list[str]:
        return [str(programs() / "pgbench"), *words, self.server.environment["PGDATABASE"]]

    def load_words(self) -> list[str]:
        """Tables, their rows, keys, statistics."""
        return self._pgbench("--initialize", f"--scale={self._scale}", "--quiet")

    def _run_words(self, seed: int, *length: str) -> list[str]:
        clients = self.arrivals.clients
        return self._pgbench(
            f"--builtin={script_of(self.scenario.workload)}",
            f"--client={clients}",
            f"--jobs={min(DRIVERS, clients)}",
            f"--random-seed={seed}",
            "--no-vacuum",
            *length,
        )

    def lead_in_words(self, lead_in: LeadInSpec, seed: int) -> list[str]:
        """As many transactions, or so long; each client has an equal share of them, to whole ones."""
        length = (
            f"--transactions={max(round((lead_in.transactions or 0) / self.arrivals.clients), 1)}"
            if lead_in.duration_s is None
            else f"--time={max(round(lead_in.duration_s), 1)}"
        )
        return self._run_words(LEAD_IN_SEED + seed, length)

    def warm_up_words(self, seed: int) -> list[str]:
        """With seeds of its own."""
        warm_up_s = round(self.scenario.interval.warm_up_s)
        return self._run_words(2 * LEAD_IN_SEED + seed, f"--time={warm_up_s}") if warm_up_s else []

    def words(self, seed: int) -> list[str]:
        """What is counted."""
        duration_s = self.scenario.interval.duration_s
        assert duration_s is not None
        return self._run_words(seed, f"--time={round(duration_s)}", f"--progress={REPORT_S}")
