"""What taking turns costs the sessions of a described machine: wake-ups, cold caches, growth with their number."""

from dataclasses import dataclass
from typing import Any

from oltpsim.models.input import set_value
from oltpsim.models.reading.one_line.pieces import Origin

OF_THREADS = "MySQL 8.4 in memory, 128 to 512 threads: 3 % less (docs/decisions/0060-sessions-that-take-turns.md)"
FITTED = "fitted to sysbench read-only on twelve EC2 shapes, 1 to 128 threads: docs/cpu-scaling.md"
OF_HAMMERDB = "fitted to HammerDB on PostgreSQL 18, 4 to 64 users of 16 vCPU, data on tmpfs: docs/cpu-scaling.md"
PLACEMENT = "machine.cpu.thread_placement"
PATH = "database.path."
WAKE_US = {"EPYC 7B": 15.0, "EPYC 9B": 15.0, "EPYC": 36.0, "Graviton": 0.0, "Ampere": 0.0, "Neoverse": 0.0}
"""wake-ups of a message on a virtual machine, by the beginning of its processor's model; 7B and 9B are Google's

Ampere and Neoverse: assumption, as Graviton.
"""
OTHER_WAKE_US = 10.0
FACTOR = 1.5
"""standard deviation of each cost, times or divided by"""


@dataclass(frozen=True)
class TurnCost:
    """A cost of taking turns. `key`: of the scenario."""

    what: str
    key: str
    value: float
    source: str
    factor: float | None = FACTOR
    unit: str = ""

    @property
    def row(self) -> Origin:
        """A row for the table of assumptions."""
        return Origin(self.what, self.key, f"{self.value:g}{self.unit}", None, self.source, self.factor)


def add_turns(data: dict[str, Any], kind: str, virtual_model: str | None, *, of_tpcc: bool) -> list[Origin]:
    """Put the costs into a scenario's keys; their rows. `virtual_model`: virtual processors' model, None of others."""
    costs = [TurnCost("refill of caches", f"{PATH}refill_fraction", 0.135, FITTED)]
    if virtual_model is not None:
        us = next((us for word, us in WAKE_US.items() if virtual_model.startswith(word)), OTHER_WAKE_US)
        costs.append(TurnCost("wake-ups of a message", "machine.cpu.wake_us", us, FITTED, unit=" us"))
    if kind == "innodb":
        costs.append(TurnCost("growth with sessions", f"{PATH}session_fraction", 0.0005, FITTED))
        costs.append(TurnCost("sessions of half the growth", f"{PATH}crowding_sessions", 200.0, OF_THREADS, None))
    elif kind == "postgresql" and of_tpcc:
        costs.append(TurnCost("growth with sessions", f"{PATH}session_fraction", 0.0068, OF_HAMMERDB))
    for cost in costs:
        set_value(data, cost.key, cost.value)
    set_value(data, PLACEMENT, "kept")
    placement = Origin("processors of threads", PLACEMENT, "kept", None, "Linux's scheduler (CFS) seldom moves them")
    return [placement, *(cost.row for cost in costs if cost.value)]
