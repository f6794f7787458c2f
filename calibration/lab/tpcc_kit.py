"""TPC-C for sysbench, one kit for both servers (kit/*.lua): its command lines by a scenario."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from oltpsim.calibration.lab.load_generator import LEAD_IN_SEED, REPORT_S, LoadGenerator, sysbench_program
from oltpsim.models.scenario import LeadInSpec, ScenarioSpec
from oltpsim.models.workloads import MixSpec, TpccWorkloadSpec

KIT = Path(__file__).parent / "kit" / "tpcc.lua"
LOAD_SEED = 1
KIT_MIX = {"new_order": 0.45, "payment": 0.43, "order_status": 0.04, "delivery": 0.04, "stock_level": 0.04}
OF_THE_MODEL = ("payment_order", "namesakes_read", "rows_per_statement", "client_us", "round_trips", "stock_key")
"""Keys of workload.tpcc that say how the model counts what the kit does; the kit can do nothing else."""
KIT_ENDS = "the kit doesn't do that"
LOADERS = 4
"""threads that load at most"""
GIB_OF_WAREHOUSE = 0.16
"""room for its rows and indexes, and for what runs add"""


class TpccKit(LoadGenerator):
    """The kit's commands."""

    @staticmethod
    def problems(scenario: ScenarioSpec) -> Iterator[str]:
        """All warehouses, one mix, and the specification's choices."""
        workload = scenario.workload
        assert isinstance(workload, TpccWorkloadSpec)
        if workload.active_warehouses not in {None, workload.warehouses}:
            yield f"workload.active_warehouses: got {workload.active_warehouses}; {KIT_ENDS}: leave it out"
        if workload.mix != MixSpec(**KIT_MIX):
            yield f"workload.mix: {KIT_ENDS}: 45, 43, 4, 4 and 4 %"
        choices = workload.tpcc
        kit = type(choices)(**{key: getattr(choices, key) for key in (*OF_THE_MODEL, "home_warehouse")})
        for key, value in choices.model_dump(exclude_defaults=True).items():
            if getattr(kit, key) != value:
                yield f"workload.tpcc.{key}: got {value}; {KIT_ENDS}: {getattr(kit, key)}"

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
        return self.scenario.workload.loaded

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
        home = "any" if self.scenario.workload.goes_anywhere else "fixed"
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
