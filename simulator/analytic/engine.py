"""The analytic engine: a model's result from mean values, in milliseconds and without drawing anything at random."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from simulator.analytic.figures import Case
from simulator.analytic.fixed_work import run_s
from simulator.analytic.parameters import parameters_of
from simulator.analytic.result import answer
from simulator.analytic.spending import with_credits
from simulator.analytic.system import Solution, solve
from simulator.analytic.validity import doubts
from simulator.analytic.volumes import Rates, places_of, sustained
from simulator.analytic.warming import course, interval_mean_per_s
from simulator.analytic.workload import Workload, read_workload
from simulator.errors import InternalError
from simulator.form import Model, OnProgress, Progress
from simulator.results import Result

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def simulate(model: Model, seed: int, on_progress: OnProgress | None = None) -> Result:
    """The result of a model; the seed is only noted in it. `on_progress` is told once, at the end.

    Raises InputError for a program whose loops have no bound, InternalError if the equations give no finite figures.
    """
    workload = read_workload(model)
    if any(limit.burst_per_s > limit.per_s for limits in places_of(model) for limit in limits):
        case = with_credits(model, lambda rates: _solved(model, workload, rates))
    else:
        case = _solved(model, workload, None)
    result = answer(case, seed, doubts(case))
    if on_progress is not None:
        on_progress(Progress(case.end_s, case.end_s, sum(one.completed for one in result.classes)))
    return result


def _solved(model: Model, workload: Workload, rates: Rates | None) -> Case:
    """The machine whose volumes let through so much, solved; with the way it gets warm, if it has to."""
    parameters = parameters_of(model, workload, rates)
    solution = solve(workload, parameters, model.pool.replacement)
    warming = None
    if model.interval.start != "warm" and not model.arrivals_per_s:
        warming = course(model, workload, parameters, solution)
        parameters = warming.like(interval_mean_per_s(model, workload, warming))
        solution = solve(workload, parameters, model.pool.replacement)
    elif model.work:
        lasts_s = run_s(model.work, workload, len(model.client_registers), solution, None)
        parameters = replace(parameters, since_s=np.array([lasts_s / 2.0]))
        solution = solve(workload, parameters, model.pool.replacement)
    _refuse_infinite(solution)
    return Case(model, workload, parameters, solution, warming, rates or sustained(model))


def _refuse_infinite(solution: Solution) -> None:
    """Raise InternalError naming figures that are infinite or not numbers: no result could hold them."""
    residence, demands = solution.residence, solution.demands
    parts: tuple[DataclassInstance, ...] = (residence, residence.writes, solution.pool, solution.traffic, demands)
    wrong = [
        f"{type(part).__name__}.{field.name}"
        for part in parts
        for field in fields(part)
        if isinstance(values := getattr(part, field.name), np.ndarray) and not np.isfinite(values).all()
    ]
    if wrong:
        raise InternalError(f"the analytic engine found no finite {', '.join(wrong)}")
