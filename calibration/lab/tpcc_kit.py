"""TPC-C for sysbench, one kit for both servers (kit/*.lua): its command lines by a scenario."""

import hashlib
import os
from pathlib import Path

from oltpsim.calibration.lab.load_generator import LEAD_IN_SEED, REPORT_S, LoadGenerator, sysbench_program
from oltpsim.models.scenario import LeadInSpec

KIT = Path(__file__).parent / "kit" / "tpcc.lua"
LOAD_SEED = 1
LOADERS = 4
"""threads that load at most"""
GIB_OF_WAREHOUSE = 0.16
"""room for its rows and indexes, and for what runs add"""


class TpccKit(LoadGenerator):
    """The kit's commands."""

    @property
    def state(self) -> str:
        """Warehouses, and the kit's files: a state that another kit has loaded is another one."""
        digest = hashlib.sha256()
        for path in sorted(KIT.parent.glob("*.lua")):
            digest.update(path.read_bytes())
        return f"w{self._warehouses}-{digest.hexdigest()[:8]}"

    @property
    def state_gib(self) -> float:
        """By its warehouses."""
        return GIB_OF_WAREHOUSE * self._warehouses

    @property
    def _warehouses(self) -> int:
        return self.scenario.tpcc.warehouses

    def _sysbench(self, threads: int) -> list[str]:
        kit = [str(KIT), *self.server.kit_words]
        return [sysbench_program(), *kit, f"--warehouses={self._warehouses}", f"--threads={threads}"]

    def load_words(self) -> list[str]:
        """By a few threads."""
        threads = min(LOADERS, 2 * (os.cpu_count() or 1), self._warehouses)
        return [*self._sysbench(threads), f"--rand-seed={LOAD_SEED}", "prepare"]

    def _words(self, seed: int) -> list[str]:
        arrivals = self.arrivals
        think = "no" if arrivals.think_time_s == 0 else f"{arrivals.think_time_s:g}"
        home = "any" if self.scenario.tpcc.tpcc.home_warehouse == "drawn" else "fixed"
        return [*self._sysbench(arrivals.clients), f"--home={home}", f"--think-time={think}", f"--rand-seed={seed}"]

    def lead_in_words(self, lead_in: LeadInSpec, seed: int) -> list[str]:
        """So many transactions, or so long."""
        length = (
            ["--time=0", f"--events={lead_in.transactions}"]
            if lead_in.duration_s is None
            else [f"--time={max(round(lead_in.duration_s), 1)}", "--events=0"]
        )
        return [*self._words(LEAD_IN_SEED + seed), *length, "run"]

    def run_words(self, seed: int) -> list[str]:
        """The kit counts from the end of the warm-up on."""
        interval = self.scenario.interval
        assert interval.duration_s is not None
        warm_up_s = round(interval.warm_up_s)
        length = [f"--time={warm_up_s + round(interval.duration_s)}", f"--warm-up-time={warm_up_s}", "--events=0"]
        return [*self._words(seed), *length, f"--report-interval={REPORT_S}", "run"]
