"""The analytic engine: a system's result from mean values, in milliseconds and without drawing anything at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oltpsim.simulator.analytic.answer import Case, doubts, result_of, run_s, with_credits
from oltpsim.simulator.analytic.equations import Solution, course, machine_at_mean_rate, policy_at, solve
from oltpsim.simulator.analytic.reading import (
    Rates,
    Workload,
    columns,
    layout,
    parameters_of,
    places_of,
    read_workload,
    sustained,
)
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import OnProgress, Progress, System
from oltpsim.simulator.results import Result


def simulate(
    system: System, seed: int, on_progress: OnProgress | None = None, workload: Workload | None = None
) -> Result:
    """The result of a system; the seed is only noted in it. `on_progress` is told once, at the end.

    `workload`: the system's, if somebody has read it before. Raises InputError for a program whose loops have no bound
    and for page cleaners that write by age, InternalError if the equations give no finite figures.
    """
    case = solved_case(system, workload)
    result = result_of(case, seed, doubts(case))
    if on_progress is not None:
        on_progress(Progress(case.end_s, case.end_s, sum(one.completed for one in result.classes)))
    return result


def solved_case(system: System, workload: Workload | None = None) -> Case:
    """A system's machine, solved. Arguments and errors: as of `simulate`."""
    read = workload or read_workload(system)
    if any(limit.burst_per_s > limit.per_s for limits in places_of(system) for limit in limits):
        return with_credits(system, lambda rates: _solved(system, read, rates))
    return _solved(system, read, None)


def _solved(system: System, workload: Workload, rates: Rates | None) -> Case:
    """The machine whose volumes let through so much, solved; with the way it gets warm, if it has to."""
    parameters = parameters_of(system, workload, rates)
    solution = solve(workload, parameters, system.pool.replacement)
    warming = None
    if system.interval.start != "warm" and not system.arrivals_per_s:
        warming = course(system, workload, parameters, solution)
        parameters = machine_at_mean_rate(system, workload, parameters, warming)
        solution = solve(workload, parameters, policy_at(parameters, system.pool.replacement))
    elif system.work:
        lasts_s = run_s(system.work, workload, len(system.client_registers), solution, None)
        interval = replace(parameters.interval, since_s=np.array([lasts_s / 2.0]))
        parameters = replace(parameters, interval=interval)
        solution = solve(workload, parameters, system.pool.replacement)
    _refuse_infinite(solution)
    return Case(system, workload, parameters, solution, warming, rates or sustained(system))


def _refuse_infinite(solution: Solution) -> None:
    """Raise InternalError naming figures that are infinite or not numbers: no result could hold them."""
    values = zip(layout(Solution), columns(solution), strict=True)
    wrong = [name for (name, _), column in values if not np.isfinite(column).all()]
    if wrong:
        raise InternalError(f"the analytic engine found no finite {', '.join(wrong)}")
