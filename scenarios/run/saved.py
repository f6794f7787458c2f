"""A saved run: the scenario and its result in one JSON file, so that a report needs nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from models.input import shown, write_whole
from models.reading import scenario_from_mapping
from models.scenario import ScenarioSpec
from simulator.errors import InputError
from simulator.results.result import Result, from_json, to_json

FORMAT = "oltpsim-saved-1"
REMEDY = "make one with 'oltpsim run SCENARIO --save FILE.json'"


@dataclass(frozen=True)
class SavedRun:
    """What was asked and what came out."""

    scenario: ScenarioSpec
    result: Result


def to_text(run: SavedRun) -> str:
    """Canonical JSON: the same run gives the same bytes."""
    data = {
        "format": FORMAT,
        "scenario": run.scenario.model_dump(mode="json"),
        "result": json.loads(to_json(run.result)),
    }
    return json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n"


def write(path: Path, run: SavedRun) -> None:
    """Write the file whole or not at all: under a temporary name first."""
    write_whole(path, to_text(run))


def read(path: Path) -> SavedRun:
    """Read what `write` wrote. Raises InputError that says what is wrong with anything else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {REMEDY}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a saved run: it is not JSON ({error}); {REMEDY}") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise InputError(f"{path}: not a saved run: format: {shown(found)}, expected {FORMAT!r}; {REMEDY}")
    missing = sorted({"scenario", "result"} - set(data))
    if missing:
        raise InputError(f"{path}: not a whole saved run: {' and '.join(missing)} missing; {REMEDY}")
    scenario = scenario_from_mapping(data["scenario"], f"{path}: scenario")
    return SavedRun(scenario, from_json(json.dumps(data["result"]), f"{path}: result"))


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
