"""What this version of the program answers, beside what it answered when a model was made and judged.

A certificate says how well a model has met runs; it holds for as long as the program gives the same rates.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from oltpsim.calibration.fit.calibration import Calibration, FittedRun, scenario_hash
from oltpsim.calibration.fit.certificate import NEW_ORDERS
from oltpsim.calibration.fit.evaluate import steady_rates
from oltpsim.calibration.fit.mapping import MeasuredRun, run_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

ANSWERS_FILE = Path(__file__).with_name("answers.json")
"""the kernel's rates of some scenarios, which tests/scenarios/test_golden.py holds to the program and writes"""


def rate_changes(calibration: Calibration, bases: Mapping[str, ScenarioSpec]) -> dict[str, float | None]:
    """Steady rate of each run's fitted machine by the analytic engine, over that in the calibration, less 1; by run.

    A job's is its figure. None where the machine can't be made again: the run's settings, over the calibration's base
    or that of `bases` by the run's name, give no machine, or another scenario than the fitted one.
    """
    values = {
        each.key: each.parameter.possible(float(place))
        for each, place in zip(calibration.parameters, calibration.mode, strict=True)
    }
    changes: dict[str, float | None] = dict.fromkeys(run.name for run in calibration.runs)
    for run in calibration.runs:
        kept = run.conditions.get(NEW_ORDERS)
        for base in (calibration.base, bases.get(run.name)):
            machine = None if base is None else _machine(run, base, values)
            if machine is not None and kept:
                changes[run.name] = steady_rates(machine)[0].new_orders_per_min / kept - 1.0
    return changes


def _machine(run: FittedRun, base: ScenarioSpec, values: Mapping[str, float]) -> ScenarioSpec | None:
    try:
        scenario = run_scenario(run.name, base, run.settings)
        if scenario_hash(scenario) != run.scenario_hash:
            return None
        return MeasuredRun(run.name, run.source, scenario, (), run.settings, ()).machine(values)
    except InputError:
        return None


@cache
def _answers() -> dict[str, dict[str, float]]:
    """New orders per minute by database, and by scenario."""
    found: dict[str, dict[str, float]] = json.loads(ANSWERS_FILE.read_text(encoding="utf-8"))
    return found


def answers_version(calibration: Calibration) -> str:
    """Names the kernel's rates of scenarios with a database of the calibration's runs; of all if none has one."""
    runs = [run.circumstances.machine for run in calibration.runs if run.circumstances is not None]
    names = [
        name
        for name in _answers()
        if name == calibration.base.database.name or any(machine.endswith(f", {name}") for machine in runs)
    ]
    of_these = {name: _answers()[name] for name in names or _answers()}
    return hashlib.sha256(json.dumps(of_these, sort_keys=True).encode()).hexdigest()[:20]
