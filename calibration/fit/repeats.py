"""Noise of figures from runs that were made again: how much one scenario's figures scatter says what noise is.

The pooled variance within scenarios, with the assumption as a few degrees of freedom beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from oltpsim.calibration.fit.covariance import setup_hash
from oltpsim.calibration.fit.mapping import MeasuredRun
from oltpsim.calibration.fit.observables import FigureKind

ASSUMED_FREEDOM = 3.0
"""assumption: degrees of freedom that a kind's assumed noise is worth"""
ROUNDING = 5e-4
"""of a logarithm: figures of one scenario that are so near are one measurement that was printed twice"""
FROM_REPEATS = "repeats of "
"""begins the source of a noise that repeats have told"""


def with_noise_of_repeats(runs: Sequence[MeasuredRun]) -> tuple[MeasuredRun, ...]:
    """The runs with the noise that repeats show, by kind of figure; without repeats as they are.

    What a mapping file says of a figure's noise stays, and so does what repeats have told before. Censored figures
    say nothing.
    """
    groups: dict[tuple[str, FigureKind], list[float]] = {}
    for run in runs:
        for each in run.observations:
            if not each.at_least:
                groups.setdefault((setup_hash(run.scenario), each.kind), []).append(each.log)
    squares: dict[FigureKind, float] = {}
    freedom: dict[FigureKind, int] = {}
    for (_, kind), figures in groups.items():
        logs = _distinct(figures)
        mean = fmean(logs)
        squares[kind] = squares.get(kind, 0.0) + sum((log - mean) ** 2 for log in logs)
        freedom[kind] = freedom.get(kind, 0) + len(logs) - 1
    return tuple(
        replace(
            run,
            observations=tuple(
                replace(
                    each,
                    sd=math.sqrt(
                        (ASSUMED_FREEDOM * each.sd**2 + squares[each.kind]) / (ASSUMED_FREEDOM + freedom[each.kind])
                    ),
                    noise=f"{FROM_REPEATS}{freedom[each.kind] + 1} runs, with {each.noise}",
                )
                if freedom.get(each.kind) and each.is_noise_assumed
                else each
                for each in run.observations
            ),
        )
        for run in runs
    )


def _distinct(logs: Sequence[float]) -> list[float]:
    """Logarithms without those that are another's again."""
    found: list[float] = []
    for log in sorted(logs):
        if not found or log - found[-1] > ROUNDING:
            found.append(log)
    return found
