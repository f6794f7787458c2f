"""What windows of recent pages remember before a run's first transaction, where no warm start draws it."""

from typing import NamedTuple

import numpy as np

from oltpsim.simulator.form.arrays import FloatArray, IntArray
from oltpsim.simulator.form.program import Program
from oltpsim.simulator.form.samplers import CUT_ONE
from oltpsim.simulator.form.streams import uniforms

SAME_FOR_ALL_SEEDS = 0
"""what is loaded doesn't depend on the run's seed"""


class Remembered(NamedTuple):
    """Pages that each ring remembers, oldest first, or -1; and how many each owner's ring has taken in."""

    pages: IntArray
    seen: IntArray


def nothing_remembered(program: Program) -> Remembered:
    """Empty rings."""
    rings = int((program.windows[:, 1] * program.windows[:, 2]).sum())
    return Remembered(np.full(rings, -1, dtype=np.int64), np.zeros(int(program.windows[:, 2].sum()), dtype=np.int64))


def loaded_windows(program: Program) -> Remembered:
    """What a load leaves in them: full rings of those that `Program.loaded_windows` names, the others empty.

    A ring's pages are of its owner's group of the region, or of the group that so many owners share.
    """
    found = nothing_remembered(program)
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
        found.pages[start + places] = base + group * group_pages + offsets
        found.seen[first_seen : first_seen + owners] = length
    return found


def pages_drawn(program: Program, table: int, columns: FloatArray, cuts: FloatArray) -> IntArray:
    """Draws from an alias table by two numbers of [0, 1) each; any shape."""
    start, size = program.tables[table].tolist()
    alias = program.alias[start : start + size]
    column = (columns * size).astype(np.int64)
    return np.where(cuts * CUT_ONE < alias[column, 0], column, alias[column, 1]).astype(np.int64)
