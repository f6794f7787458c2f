"""Scenarios whose figure somebody has measured, as run records: what a fit takes and a validation judges."""

from __future__ import annotations

from typing import Any

from calibration.records.record import RunRecord
from models.jobs import run_job
from models.scenario import ScenarioSpec
from simulator.errors import InputError


def record_of_scenario(name: str, scenario: ScenarioSpec) -> RunRecord:
    """The record of a scenario's measured figure. It names no setting: the scenario is the run's own base.

    Raises InputError if nobody has measured it.
    """
    measured = scenario.measured
    if measured is None:
        raise InputError(f"{name}: nobody has measured this scenario; give it 'measured', or a run record")

    def read(value: float | None, unit: str, definition: str) -> dict[str, Any]:
        return {"value": value, "unit": unit, "source": measured.source, "definition": definition}

    interval = scenario.interval
    resources: dict[str, Any] = {}
    if measured.cpu_cores_busy is not None:
        busy = measured.cpu_cores_busy / scenario.machine.cpu.threads
        resources["cpu_busy_fraction"] = read(busy, "processors", "processors busy, over all of the machine")
    if scenario.job is not None:
        result = run_job(scenario)
        window: dict[str, Any] = {"kind": "whole", "rate_definition": result.figure}
        outcome = {"job_figure": read(measured.job_figure, result.unit, result.figure)}
    else:
        steady = interval.start == "warm" or interval.warm_up_s > 0
        window = {"kind": "steady" if steady else "whole", "rate_definition": "what ended in it"}
        if interval.duration_s is not None:
            window["duration_s"] = read(interval.duration_s, "s", "what is counted")
        outcome = {"new_orders_per_minute": read(measured.new_orders_per_minute, "1/min", "new orders per minute")}
    return RunRecord.model_validate(
        {
            "name": name,
            "source": measured.source,
            "window": window,
            "outcome": outcome,
            "resources": resources,
            "notes": scenario.notes,
        }
    )
