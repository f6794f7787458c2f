"""One run as a record: a system, the random streams of a seed, and what compiled engines take beside it.

Floating-point constants have become whole numbers here, or are handed on bit by bit, so that every engine computes with
the same.
"""

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.form.arrays import FloatArray, IntArray
from oltpsim.simulator.form.clock import NS_PER_S
from oltpsim.simulator.form.daemon import LeadInMarks, check_daemons, lead_in_marks
from oltpsim.simulator.form.io_wait import io_wait_shares
from oltpsim.simulator.form.streams import ZIGGURAT_DENSITIES, ZIGGURAT_EDGES, seed_streams
from oltpsim.simulator.form.system import System


@dataclass(frozen=True)
class SeededRun:
    """A system with its random streams; `traced`: how many ends of transactions are kept, the first ones."""

    system: System
    traced: int
    lead_in: LeadInMarks
    io_wait_shares: IntArray
    """share of idle time that counts as waiting, by tasks asleep in block I/O"""
    streams: IntArray
    """a row for each client, a column for each purpose"""
    terminal_streams: IntArray
    arrival_stream: int
    arrival_mean_ns: int
    """between arrivals from outside; 0: none"""
    merge_stream: int
    ziggurat_edges: FloatArray
    ziggurat_densities: FloatArray


def run_of(system: System, seed: int, traced: int = 0) -> SeededRun:
    """A run by a seed. Raises InputError for a daemon that never waits."""
    check_daemons(system.daemons)

    def states(purpose: str, count: int) -> IntArray:
        return seed_streams(seed, purpose, count).view(np.int64)

    terminals = system.terminals.count if system.terminals else 0
    return SeededRun(
        system=system,
        traced=traced,
        lead_in=lead_in_marks(system.daemons, system.pool.pages),
        io_wait_shares=io_wait_shares(system.processors),
        streams=np.column_stack([states(purpose, len(system.client_registers)) for purpose in system.program.streams]),
        terminal_streams=states("terminals", terminals),
        arrival_stream=int(states("arrivals", 1)[0]),
        arrival_mean_ns=round(NS_PER_S / system.arrivals_per_s) if system.arrivals_per_s else 0,
        merge_stream=int(states("merges", 1)[0]),
        ziggurat_edges=ZIGGURAT_EDGES,
        ziggurat_densities=ZIGGURAT_DENSITIES,
    )
