"""Predictions that a model must beat: each of a left-out run from the same other runs, without any physics.

The universal scalability law: Gunther, Guerrilla Capacity Planning (2007), chapter 4: X(N) = l N / (1 + s (N - 1) +
k N (N - 1)), here as N / X, which is linear in three coefficients that can't be negative, by relative least squares.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import scipy

from oltpsim.calibration.fit import Baseline, BaselineRow, JudgedRate, error_summary
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.form import FloatArray

CLIENTS = "workload.arrivals.clients"
MEMORY = frozenset({"database.pool.buffers", "machine.memory_gib"})
DEVICE = "machine.disks.disk"
LEAST_USERS = 3
"""numbers of users that fix the law's three coefficients"""


@dataclass(frozen=True)
class BaselineRun:
    """A run as baselines see it: what was set, flat by dotted keys, and its rate in new orders/min."""

    name: str
    settings: dict[str, Any]
    rate: float


@dataclass(frozen=True)
class BaselineRate:
    """A baseline's rate and the runs that it is from, or None and why there is none."""

    rate: float | None
    why: str


def baseline_run(name: str, scenario: ScenarioSpec, rate: float) -> BaselineRun:
    """A run. What names or times it doesn't count as a setting."""
    kept = {"machine", "operating_system", "database", "workload"}
    return BaselineRun(name, flat(scenario.model_dump(mode="json", include=kept)), rate)


def flat(data: Any, before: str = "") -> dict[str, Any]:
    """Values by dotted keys, without names and sources."""
    if not isinstance(data, dict):
        return {before: data}
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key not in {"name", "source", "base"}:
            found |= flat(value, f"{before}.{key}" if before else key)
    return found


def differing(first: BaselineRun, second: BaselineRun) -> frozenset[str]:
    """Keys whose values differ."""
    keys = first.settings.keys() | second.settings.keys()
    return frozenset(key for key in keys if first.settings.get(key) != second.settings.get(key))


def line(left_out: BaselineRun, runs: Sequence[BaselineRun]) -> BaselineRate:
    """A straight line through the two nearest runs that differ in the same one number only."""
    by_key: dict[str, dict[float, BaselineRun]] = {}
    for other in runs:
        keys = differing(left_out, other)
        if len(keys) == 1:
            [key] = keys
            value = _number(other, key)
            if value is not None and _number(left_out, key) is not None:
                by_key.setdefault(key, {}).setdefault(value, other)
    known = {key: points for key, points in by_key.items() if len(points) > 1}
    if not known:
        return BaselineRate(None, "there are no two other runs that differ from it in the same one number only")
    key = max(sorted(known), key=lambda each: len(known[each]))
    here = float(left_out.settings[key])
    near = sorted(known[key], key=lambda value: (_distance(value, here), value))[:2]
    one, other = (known[key][value] for value in near)
    slope = (other.rate - one.rate) / (near[1] - near[0])
    return BaselineRate(one.rate + slope * (here - near[0]), f"{one.name} and {other.name}, along {key}")


def same_memory(left_out: BaselineRun, runs: Sequence[BaselineRun]) -> BaselineRate:
    """Memory doesn't matter: the mean of the runs that differ in pool and memory only."""
    alike = [each for each in runs if differing(left_out, each) and differing(left_out, each) <= MEMORY]
    if not alike:
        return BaselineRate(None, "no other run differs from it in its buffer pool or memory only")
    return BaselineRate(fmean(each.rate for each in alike), f"the mean of {', '.join(each.name for each in alike)}")


def other_device(left_out: BaselineRun, runs: Sequence[BaselineRun]) -> BaselineRate:
    """The rate on another device, rescaled by what the two devices gave where both were measured."""

    def swapped(first: BaselineRun, second: BaselineRun) -> bool:
        keys = differing(first, second)
        return bool(keys) and all(key.startswith(DEVICE) for key in keys)

    def device(run: BaselineRun) -> dict[str, Any]:
        return {key: value for key, value in run.settings.items() if key.startswith(DEVICE)}

    there = [each for each in runs if swapped(left_out, each)]
    if not there:
        return BaselineRate(None, "no other run differs from it in its device only")
    mine = [each for each in runs if device(each) == device(left_out)]
    found = []
    for twin in there:
        theirs = [each for each in runs if device(each) == device(twin)]
        ratios = [a.rate / b.rate for a in mine for b in theirs if swapped(a, b)]
        if ratios:
            found.append((twin, math.log(twin.rate) + fmean(map(math.log, ratios))))
    if not found:
        return BaselineRate(None, "no second pair of runs says how the two devices compare")
    names = ", ".join(twin.name for twin, _ in found)
    return BaselineRate(math.exp(fmean(log for _, log in found)), f"{names}, rescaled")


def scalability_law(left_out: BaselineRun, runs: Sequence[BaselineRun]) -> BaselineRate:
    """The universal scalability law through the runs with fewer users, extrapolated."""
    here = _number(left_out, CLIENTS)
    if here is None:
        return BaselineRate(None, "it has no closed clients")
    alike = [(_number(each, CLIENTS), each.rate) for each in runs if differing(left_out, each) == {CLIENTS}]
    fewer = [(number, rate) for number, rate in alike if number is not None and number < here]
    users = sorted({number for number, _ in fewer})
    if len(users) < LEAST_USERS:
        why = f"it takes runs with {LEAST_USERS} smaller numbers of users and else the same; there are {len(users)}"
        return BaselineRate(None, why)
    n, rates = np.array(fewer).T
    coefficients, _ = scipy.optimize.nnls(_law_terms(n) / (n / rates)[:, None], np.ones(len(n)))
    rate = float(here / (_law_terms(np.array([here])) @ coefficients)[0])
    return BaselineRate(rate, f"fitted to {len(fewer)} runs with {users[0]:g} to {users[-1]:g} users")


def _law_terms(n: FloatArray) -> FloatArray:
    return np.stack([np.ones_like(n), n - 1.0, n * (n - 1.0)], axis=1)


BASELINES: dict[str, Callable[[BaselineRun, Sequence[BaselineRun]], BaselineRate]] = {
    "straight line through two runs": line,
    "memory doesn't matter": same_memory,
    "the other device's curve, rescaled": other_device,
    "universal scalability law": scalability_law,
}


def compare_baselines(points: Sequence[BaselineRun], model: Sequence[JudgedRate]) -> tuple[Baseline, ...]:
    """Baselines beside the model's own left-out predictions, which come by the names of the points."""
    own_errors = {each.name: each.error for each in model}
    found = []
    for name, says in BASELINES.items():
        rows = []
        for each in points:
            predicted = says(each, [other for other in points if other is not each])
            error = None if predicted.rate is None else predicted.rate / each.rate - 1.0
            rows.append(BaselineRow(name=each.name, rate=predicted.rate, error=error, why=predicted.why))
        errors = [(row.name, row.error) for row in rows if row.error is not None]
        found.append(
            Baseline(
                name=name,
                rows=tuple(rows),
                errors=error_summary(errors),
                model=error_summary([(run, own_errors[run]) for run, _ in errors if run in own_errors]),
                nearer=sum(run in own_errors and abs(own_errors[run]) < abs(error) for run, error in errors),
            )
        )
    return tuple(found)


def _distance(value: float, target: float) -> float:
    return abs(math.log(value / target)) if value > 0 and target > 0 else abs(value - target)


def _number(run: BaselineRun, key: str) -> float | None:
    value = run.settings.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
