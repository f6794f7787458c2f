"""PostgreSQL's own harness: pgbench's command lines by a scenario."""

from collections.abc import Iterator

from oltpsim.calibration.lab.load_generator import LEAD_IN_SEED, REPORT_S, LoadGenerator
from oltpsim.calibration.lab.postgresql import programs
from oltpsim.models.catalogue import read_entry
from oltpsim.models.scenario import LeadInSpec, ScenarioSpec
from oltpsim.models.workloads import AnyWorkloadSpec, RowWorkloadSpec

GIB_OF_SCALE = 0.03
"""room for its rows and indexes, half of it, and for what runs add"""
SCRIPTS = {"pgbench": "tpcb-like", "pgbench-simple-update": "simple-update", "pgbench-select-only": "select-only"}
"""scripts that pgbench has, by the catalogue's workload that models each"""
DRIVERS = 2
"""threads of pgbench at most"""


def script_of(workload: AnyWorkloadSpec) -> str | None:
    """The script that a workload models, at any scale; None: it is none of a catalogued one's."""
    assert isinstance(workload, RowWorkloadSpec)
    for name, script in SCRIPTS.items():
        if _done_and_stored(workload) == _done_and_stored(read_entry("workloads", name)):
            return script
    return None


def _done_and_stored(workload: RowWorkloadSpec) -> tuple[object, ...]:
    """What pgbench decides; how many rows fit on a page, and when one moves, is the model's."""
    tables = [(table.name, table.rows, table.indexes) for table in workload.tables]
    return workload.transactions, tables, workload.storage, workload.unit


class Pgbench(LoadGenerator):
    """pgbench's commands."""

    @staticmethod
    def problems(scenario: ScenarioSpec) -> Iterator[str]:
        """PostgreSQL alone, a catalogued workload, and no think time."""
        workload = scenario.workload
        if script_of(workload) is None:
            known = ", ".join(SCRIPTS)
            yield f"workload: got {workload.name}; the laboratory runs TPC-C, and of the catalogue's rows {known}"
            return
        if not scenario.database.name.startswith("PostgreSQL"):
            yield f"workload: got {workload.name}, which PostgreSQL's harness runs: set database to one of its versions"
        if workload.arrivals.kind == "closed" and workload.arrivals.think_time_s:
            yield (
                f"workload.arrivals.think_time_s: got {workload.arrivals.think_time_s:g}; pgbench's clients don't think"
            )

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

    def _words(self, seed: int, *length: str) -> list[str]:
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
        return self._words(LEAD_IN_SEED + seed, length)

    def run_words(self, seed: int) -> list[str]:
        """Its rate has the warm-up in it: `oltpsim measure` tells the rate behind it by the server's commits."""
        interval = self.scenario.interval
        assert interval.duration_s is not None
        lasts_s = round(interval.warm_up_s) + round(interval.duration_s)
        return self._words(seed, f"--time={lasts_s}", f"--progress={REPORT_S}")
