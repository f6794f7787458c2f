"""A saved run: the scenario and its result in one JSON file, so that a report needs nothing else."""

import json
from dataclasses import dataclass
from pathlib import Path

from oltpsim.models.input import read_document, write_document
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, read_result, result_json

SAVED_FORMAT = "oltpsim-saved-1"
REMEDY = "make one with 'oltpsim run SCENARIO --save FILE.json'"


@dataclass(frozen=True)
class SavedRun:
    """A scenario and its result."""

    scenario: ScenarioSpec
    result: Result


def write_saved_run(path: Path, run: SavedRun) -> None:
    """Write the file whole or not at all: the same run gives the same bytes."""
    content = {"scenario": run.scenario.model_dump(mode="json"), "result": json.loads(result_json(run.result))}
    write_document(path, SAVED_FORMAT, content)


def read_saved_run(path: Path) -> SavedRun:
    """Read what `write_saved_run` wrote. Raises InputError that says what is wrong with anything else."""
    data = read_document(path, SAVED_FORMAT, "a saved run", REMEDY)
    missing = sorted({"scenario", "result"} - set(data))
    if missing:
        raise InputError(f"{path}: not a whole saved run: {' and '.join(missing)} missing; {REMEDY}")
    scenario = scenario_from_mapping(data["scenario"], f"{path}: scenario")
    return SavedRun(scenario, read_result(json.dumps(data["result"]), f"{path}: result"))
