"""Fit of the analytic engine's model error to kept runs of the kernel: `python docs/build_analytic.py` runs it.

The logarithm of a figure's ratio, formula over kernel, is Student's with 3 degrees of freedom. Its scale is a base plus
a sum of features with weights not below 0; the kernel's own chance is added. Then one factor makes intervals of scales:
the 90 % quantile of the ratios of error to scale, each scale fitted without the systems of its kind (conformal
prediction: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.random_comparison import SEED, Compared, compared_results, relative_width
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.analytic import (
    FIGURES,
    PERCENTILES,
    RATE_ERROR,
    counted_per_min,
    doubts,
    percentile_features,
    percentiles_s,
    rate_features,
    result_of,
    sizes_of,
    solved_case,
)
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import BoolArray, FloatArray
from oltpsim.simulator.results import PercentileInterval

CONFIDENCE = 0.90
SIGMAS_OF_CONFIDENCE, SIGMAS_OF_WIDTH = 1.6449, 2 * 1.96
"""standard deviations of a normal distribution: half of 90 %, and both halves of a width at 95 %"""
FREEDOM = 3.0
PENALTY = 1 / 600
"""price of a sum of weights, for each row: it leaves out features that explain nothing (assumption)"""
LEAST_BASE = 0.002
FOLDS = 10
HOLD_OUT = 25
"""every so-manieth block of a set is left out of the fit, for a test"""
BLOCK = {"random": 20}
"""systems of a block, so that it has all kinds; 1 of other sets"""


@dataclass(frozen=True)
class FigureRow:
    """One figure of one system, of a class if it is a percentile; `chance` is the kernel's, a standard deviation."""

    simulated: float
    features: dict[str, float]
    log_ratio: float
    chance: float


@dataclass(frozen=True)
class SystemRow:
    """One system by both engines: figures by name, of percentiles one a class, the main class first."""

    name: str
    number: int
    kind: str
    figures: dict[str, list[FigureRow]]
    sizes: dict[str, float]
    compared: Compared
    warm_up_s: float
    duration_s: float

    @property
    def fold(self) -> int:
        """Number of its fold in a cross-validation."""
        return self._block % FOLDS

    @property
    def _block(self) -> int:
        return self.number // BLOCK.get(self.name, 1)

    @property
    def is_held_out(self) -> bool:
        """Whether the fit doesn't see it."""
        return self._block % HOLD_OUT == HOLD_OUT - 1


@dataclass(frozen=True)
class Samples:
    """Rows of a figure as arrays; `features` (rows, features)."""

    features: FloatArray
    log_ratios: FloatArray
    chances: FloatArray
    kinds: Sequence[str]
    folds: Sequence[int]

    def take(self, which: BoolArray) -> "Samples":
        """Rows of these numbers."""
        kinds, folds = list(compress(self.kinds, which.tolist())), list(compress(self.folds, which.tolist()))
        return Samples(self.features[which], self.log_ratios[which], self.chances[which], kinds, folds)


@dataclass(frozen=True)
class FittedErrors:
    """Half widths as `base` and weights by feature, and those of each row by cross-validation."""

    base: float
    weights: FloatArray
    half_widths: FloatArray
    """rows of a kind by a fit to the other kinds"""
    half_widths_by_fold: FloatArray
    """rows of a fold by a fit to the other folds, which have systems of every kind"""
    other_classes: float = 1.0
    """factor for classes but the main one"""


def system_row(name: str, file: Path) -> SystemRow | str:
    """A kept run beside the formulas; a sentence where these give no answer."""
    try:
        saved = read_saved_run(file)
        system, kernel = build(saved.scenario), saved.result
        began_s = time.process_time()
        case = solved_case(system)
        calculated = result_of(case, SEED, doubts(case))
        compared = compared_results(file, kernel, system, calculated, 1e3 * (time.process_time() - began_s))
    except (InputError, InternalError) as error:
        return f"{file.stem}: {type(error).__name__}: {error}"
    number, _, kind = file.stem.partition("-")
    w, p, r = case.workload, case.parameters, case.solution
    chance = relative_width(kernel) / SIGMAS_OF_WIDTH
    of_rate = {name: float(values[0, 0]) for name, values in rate_features(w, p, r).items()}
    ratio = math.log(counted_per_min(case) / kernel.rate_per_min.mean)
    figures = {"rate": [FigureRow(kernel.rate_per_min.mean, of_rate, ratio, chance)]}
    times_s = percentiles_s(case)
    order = sorted(range(len(w.classes)), key=lambda each: each != w.main_class)
    by_class = percentile_features(w, p, r, np.arange(len(w.classes)), np.ones(1))
    for kth, percentile in enumerate(PERCENTILES):
        rows = []
        for at in order:
            simulated_s = getattr(kernel.classes[at], f"{percentile}_s")
            if not simulated_s or not math.isfinite(simulated_s) or not times_s[at, kth] > 0.0:
                continue
            intervals = kernel.classes[at].intervals
            own = None if intervals is None else _chance_of(getattr(intervals, percentile))
            features = {name: float(values[0, at]) for name, values in by_class.items()}
            ratio = math.log(times_s[at, kth] / simulated_s)
            rows.append(FigureRow(simulated_s, features, ratio, chance if own is None else own))
        figures[percentile] = rows
    sizes = {name: float(values[0]) for name, values in sizes_of(p).items()}
    times = kernel.warm_up_s, kernel.duration_s
    return SystemRow(name, int(number), kind.replace("-", " "), figures, sizes, compared, *times)


def _chance_of(interval: PercentileInterval) -> float | None:
    """Standard deviation of a simulated percentile's logarithm; None without an interval."""
    if interval.low_s is None or interval.high_s is None or interval.low_s <= 0.0:
        return None
    return math.log(interval.high_s / interval.low_s) / 2.0 / SIGMAS_OF_CONFIDENCE


def samples_of(
    rows: Sequence[SystemRow], figure: str, names: Sequence[str], rate_half_widths: FloatArray, classes: slice
) -> Samples:
    """Rows of a figure, of some of the classes if it is a percentile; the main class is the first.

    A percentile's error by that of the rate is its amplification times the rate's half width.
    """
    of_systems = zip(rows, rate_half_widths.tolist(), strict=True)
    found = [(one, width, each) for one, width in of_systems for each in one.figures[figure][classes]]
    features = np.array([[each.features[name] for name in names] for _, _, each in found])
    if RATE_ERROR in names:
        features[:, names.index(RATE_ERROR)] *= [width for _, width, _ in found]
    log_ratios, chances = (np.array([getattr(each, key) for *_, each in found]) for key in ("log_ratio", "chance"))
    return Samples(features, log_ratios, chances, [one.kind for one, *_ in found], [one.fold for one, *_ in found])


MAIN_CLASS, OTHER_CLASSES = slice(0, 1), slice(1, None)


def fitted(samples: Samples) -> FittedErrors:
    """Half widths fitted to all samples, and by cross-validation."""
    by_kind, by_fold = (_scales_without(samples, np.array(groups)) for groups in (samples.kinds, samples.folds))
    factor = holding_factor(samples, by_kind)
    base, *weights = (factor * fitted_scale(samples)).tolist()
    return FittedErrors(base, np.array(weights), factor * by_kind, factor * by_fold)


def holding_factor(samples: Samples, half_widths: FloatArray) -> float:
    """Factor that makes half widths hold `CONFIDENCE` of the samples, beside the kernel's chance."""
    beyond = np.maximum(samples.log_ratios**2 - (SIGMAS_OF_CONFIDENCE * samples.chances) ** 2, 0.0)
    return float(np.quantile(np.sqrt(beyond) / half_widths, CONFIDENCE))


def _scales_without(samples: Samples, groups: npt.NDArray[Any]) -> FloatArray:
    """Scales of the rows of each group by a fit to the others."""
    scales = np.zeros(len(groups))
    for group in dict.fromkeys(groups.tolist()):
        mine = groups == group
        scales[mine] = scales_of(fitted_scale(samples.take(~mine)), samples.features[mine])
    return scales


def are_held(samples: Samples, half_widths: FloatArray) -> BoolArray:
    """Whether intervals hold the simulated figures, allowing for these figures' own chance."""
    return np.asarray(np.abs(samples.log_ratios) <= np.hypot(half_widths, SIGMAS_OF_CONFIDENCE * samples.chances))


def scales_of(coefficients: FloatArray, features: FloatArray) -> FloatArray:
    """Scales of rows: the base and the weighted sum of their features."""
    return np.asarray(coefficients[0] + features @ coefficients[1:])


def fitted_scale(samples: Samples) -> FloatArray:
    """Base and weights of the scale of errors: most probable ones under the penalty."""
    x, squares, chances = samples.features, samples.log_ratios**2, samples.chances**2
    penalty = PENALTY * len(squares)

    def cost(coefficients: FloatArray) -> tuple[float, FloatArray]:
        scales = scales_of(coefficients, x)
        variances = scales**2 + chances
        parts = squares / (FREEDOM * variances)
        value = ((FREEDOM + 1.0) / 2.0 * np.log1p(parts) + np.log(variances) / 2.0).sum()
        slopes = (1.0 - (FREEDOM + 1.0) * parts / (1.0 + parts)) / variances * scales
        gradient = np.concatenate([[slopes.sum()], x.T @ slopes + penalty])
        return float(value + penalty * coefficients[1:].sum()), gradient

    begin = np.full(x.shape[1] + 1, 0.01)
    bounds = [(LEAST_BASE, None)] + [(0.0, None)] * x.shape[1]
    found = minimize(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 3000})
    return np.asarray(found.x)


def fitted_figures(rows: Sequence[SystemRow]) -> dict[str, tuple[list[str], Samples, FittedErrors]]:
    """Features, samples and errors of each figure."""
    none = np.zeros(len(rows))
    names = list(rows[0].figures["rate"][0].features)
    samples = samples_of(rows, "rate", names, none, MAIN_CLASS)
    found = {"rate": (names, samples, fitted(samples))}
    of_rate = found["rate"][2].half_widths
    for figure in FIGURES[1:]:
        own = [*names, RATE_ERROR]
        samples, others = (samples_of(rows, figure, own, of_rate, classes) for classes in (MAIN_CLASS, OTHER_CLASSES))
        errors = fitted(samples)
        widths = scales_of(np.array([errors.base, *errors.weights]), others.features)
        factor = max(holding_factor(others, widths), 1.0)
        found[figure] = (own, samples, replace(errors, other_classes=factor))
    return found


def held_out_content(rows: Sequence[SystemRow]) -> list[dict[str, Any]]:
    """Systems that the fit hasn't seen, by set and number, with what the kernel says of them."""
    return [
        {
            "set": one.name,
            "number": one.number,
            "warm_up_s": one.warm_up_s,
            "duration_s": one.duration_s,
            **{key: [one.figures[key][0].simulated, round(one.figures[key][0].chance, 5)] for key in ("rate", "p95")},
        }
        for one in rows
        if one.is_held_out
    ]


def model_json(rows: Sequence[SystemRow], found: dict[str, tuple[list[str], Samples, FittedErrors]]) -> dict[str, Any]:
    """Content of model_error.json but for its source and date."""
    figures = {
        figure: {
            "base": float(f"{errors.base:.4g}"),
            "other_classes": float(f"{errors.other_classes:.4g}"),
            "weights": {
                name: float(f"{weight:.4g}")
                for name, weight in zip(names, errors.weights.tolist(), strict=True)
                if weight > errors.base / 100.0
            },
        }
        for figure, (names, _, errors) in found.items()
    }
    sizes = {name: [least(one.sizes[name] for one in rows) for least in (min, max)] for name in rows[0].sizes}
    coverage = {figure: coverage_of(*found[figure][1:]) for figure in ("rate", "p95")}
    return {"systems": len(rows), "confidence": CONFIDENCE, "coverage": coverage, "sizes": sizes, "figures": figures}


def coverage_of(samples: Samples, errors: FittedErrors) -> dict[str, float]:
    """Coverage of the intervals by cross-validation over folds, for all systems and by kind."""
    held, kinds = are_held(samples, errors.half_widths_by_fold), np.array(samples.kinds)
    by_kind = {kind: round(float(held[kinds == kind].mean()), 3) for kind in dict.fromkeys(samples.kinds)}
    return {"all": round(float(held.mean()), 3), **by_kind}
