"""Rates that this version of the program gives for the scenarios that come with it.

A certificate says how well a model has met runs; it holds for as long as the program gives the same rates. They stand
in answers.json, which a test holds to the program (tests/scenarios/test_golden.py writes it).
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from calibration.fit.calibration import Calibration

ANSWERS_FILE = Path(__file__).with_name("answers.json")


@cache
def _answers() -> dict[str, dict[str, float]]:
    """New orders per minute by database, and by scenario and engine."""
    found: dict[str, dict[str, float]] = json.loads(ANSWERS_FILE.read_text(encoding="utf-8"))
    return found


def answers_version(calibration: Calibration) -> str:
    """Names the rates of all scenarios with a database of the calibration's runs; of all scenarios if none has one."""
    runs = [run.circumstances.machine for run in calibration.runs if run.circumstances is not None]
    names = [
        name
        for name in _answers()
        if name == calibration.base.database.name or any(machine.endswith(f", {name}") for machine in runs)
    ]
    of_these = {name: _answers()[name] for name in names or _answers()}
    return hashlib.sha256(json.dumps(of_these, sort_keys=True).encode()).hexdigest()[:20]
