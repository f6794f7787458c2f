"""What caches, windows and counters hold at time 0: after a long run, or as a load leaves them."""

import numpy as np

from oltpsim.simulator.expectation.warm_start import nothing_remembered, pages_drawn, warm_state
from oltpsim.simulator.form import POOL_COLUMNS, Program, StartState, System, uniforms

SAME_FOR_ALL_SEEDS = 0
"""what is loaded doesn't depend on the run's seed"""


def start_state(system: System, seed: int) -> StartState:
    """The state that a run of the system starts from. Raises InputError for a program whose loops have no bound."""
    return warm_state(system, seed) if system.interval.start == "warm" else loaded_state(system.program)


def loaded_state(program: Program) -> StartState:
    """Empty caches, and full rings of the windows that `Program.loaded_windows` names; the other windows are empty.

    A ring's pages are of its owner's group of the region, or of the group that so many owners share.
    """
    windows, seen = nothing_remembered(program)
    for window, region, table in program.loaded_windows.tolist():
        start, length, owners, first_seen = program.windows[window].tolist()
        base, groups, group_pages, *_ = program.regions[region].tolist()
        places = np.arange(owners * length)
        group = places // length * groups // owners
        purpose = f"load: windows, {window}"
        offsets = pages_drawn(
            program,
            table,
            uniforms(SAME_FOR_ALL_SEEDS, f"{purpose}, columns", places),
            uniforms(SAME_FOR_ALL_SEEDS, f"{purpose}, cuts", places),
        )
        windows[start + places] = base + group * group_pages + offsets
        seen[first_seen : first_seen + owners] = length
    no_pages = np.zeros(0, dtype=np.int64)
    pool = no_pages.reshape(0, len(POOL_COLUMNS))
    return StartState(pool, no_pages, windows, seen, program.counters, program.initial_high)
