"""Clients as the equations take them, and the time that a run has behind it."""

from dataclasses import dataclass

from oltpsim.simulator.analytic.reading.record_columns import ByClass, MachineColumn, column, column_s
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import System

WARM_TURNOVERS = 3.0
"""turnovers of the pool before a warm start, as in simulator/reference/start.py"""


@dataclass(frozen=True)
class ClientNumbers:
    """Numbers of clients and terminals."""

    number: MachineColumn
    """closed clients, or connections of terminals"""
    arrivals_per_s: MachineColumn
    """transactions that arrive; 0: closed"""
    terminals: MachineColumn
    """terminals before the clients, which are their connections; 0: none"""
    away_s: MachineColumn
    """keying, thinking and middle tier of a terminal, for a transaction"""
    network_s: ByClass
    """delays of the network in a transaction"""


@dataclass(frozen=True)
class IntervalNumbers:
    """Numbers of the run before the counted interval's middle."""

    since_s: MachineColumn
    """time from the start to the middle of the counted interval"""
    turnovers: MachineColumn
    """turnovers of the pool before the start"""


def client_numbers(system: System, workload: Workload) -> ClientNumbers:
    """Numbers of a system's clients."""
    return ClientNumbers(
        number=column(len(system.client_registers)),
        arrivals_per_s=column(system.arrivals_per_s),
        terminals=column(system.terminals.count if system.terminals else 0),
        away_s=column(workload.away_s),
        network_s=workload.network_s[None],
    )


def interval_numbers(system: System) -> IntervalNumbers:
    """Numbers of a system's interval."""
    return IntervalNumbers(
        since_s=column_s(system.interval.warm_up_ns + system.interval.duration_ns / 2),
        turnovers=column(WARM_TURNOVERS if system.interval.start == "warm" else 0.0),
    )
