"""Path lengths of described lines: a joint fit of the formulas to rates of public runs (decision 59)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy

from oltpsim.models.reading import read_description, scenario_from_mapping
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic
from oltpsim.simulator.form import FloatArray

PATH = "database.path."
PATH_NUMBERS = STATEMENT, ROW, SIMPLE, PROCEDURES = (
    "InnoDB's statement, us",
    "InnoDB's row, us",
    "PostgreSQL's statement, us",
    "HammerDB's procedures on PostgreSQL, of the entry's paths",
)
START = {STATEMENT: 240.0, ROW: 30.0, SIMPLE: 150.0, PROCEDURES: 0.5}
PRIORS = {ROW: (30.0, 0.5), PROCEDURES: (0.5, 1.0)}
"""prior value, and one standard deviation of its logarithm by that of a row's"""
OUTLIER, STEP, MOST_STEPS = 0.15, 0.02, 8
"""logarithm of a ratio from which on a row counts less; a difference's step; steps of the fit"""
ENTRY_PATHS_US = {"transaction_us": 1500.0, "row_operation_us": 150.0}


@dataclass(frozen=True)
class PathRow:
    """A measured rate. `number`: the path length of its workload."""

    line: str
    per_s: float
    number: str


@cache
def _keys(line: str) -> dict[str, Any]:
    return read_description(line).data


def _log_ratio(row: PathRow, numbers: Mapping[str, float]) -> float:
    """Logarithm of the rate that the formulas say, by the measured one."""
    paths = {PATH + "statement_us": numbers[row.number]}
    if row.number == STATEMENT:
        paths[PATH + "row_operation_us"] = numbers[ROW]
    if row.number == PROCEDURES:
        paths = {PATH + key: us * numbers[PROCEDURES] for key, us in ENTRY_PATHS_US.items()}
    scenario = scenario_from_mapping(_keys(row.line), "line", [f"{key}={us:.6g}" for key, us in paths.items()])
    return math.log(analytic.simulate(build(scenario), 0).rate_per_min.mean / 60.0 / row.per_s)


def fitted_paths(measured: Sequence[PathRow], names: Sequence[str] = PATH_NUMBERS) -> dict[str, tuple[float, float]]:
    """Value and one standard deviation, times or divided by, of each number that the rows are about."""

    def residuals(logarithms: FloatArray) -> list[float]:
        numbers = dict(zip(names, np.exp(logarithms), strict=True))
        priors = [math.log(numbers[name] / PRIORS[name][0]) / PRIORS[name][1] for name in names if name in PRIORS]
        return [*(_log_ratio(row, numbers) for row in measured), *priors]

    start = np.log([START[name] for name in names])
    found = scipy.optimize.least_squares(
        residuals, start, loss="soft_l1", f_scale=OUTLIER, diff_step=STEP, max_nfev=MOST_STEPS
    )
    spreads = np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac))) * OUTLIER
    return {name: (math.exp(x), math.exp(sd)) for name, x, sd in zip(names, found.x, spreads, strict=True)}
