"""Runs as people name them: record files, folders, records that come with the program, measured scenarios."""

from collections.abc import Iterator
from pathlib import Path

from calibration.records import RunRecord, load_record, record_of_scenario, record_path, records_in, shipped_records
from models.input import read_mapping
from models.scenario import ScenarioSpec
from scenarios.library import library_files, load_scenario_file
from simulator.errors import InputError

OF_A_SCENARIO = frozenset({"base", "machine", "database", "interval", "measured"})
"""keys of a scenario that a record hasn't"""


def read_runs(texts: list[str], base: ScenarioSpec | None) -> tuple[list[RunRecord], dict[str, ScenarioSpec]]:
    """The records, and by their names the scenarios that they are runs of: `base`, or a measured scenario itself.

    A measured scenario is one of the library, of which a folder stands for all in it, or a file with `measured`. Raises
    InputError.
    """
    found = [run for text in texts for run in _runs(text, base)]
    return [record for record, _ in found], {record.name: scenario for record, scenario in found}


def _runs(text: str, base: ScenarioSpec | None) -> Iterator[tuple[RunRecord, ScenarioSpec]]:
    """Each record with the scenario that it is a run of."""
    scenarios = library_files()
    named = [name for name in scenarios if name == text or name.startswith(f"{text}/")]
    if named and text not in shipped_records() and not Path(text).exists():
        for name in named:
            scenario = load_scenario_file(scenarios[name], jobs=True)
            yield record_of_scenario(name, scenario), scenario
        return
    folder = Path(text)
    paths = records_in(folder) if folder.is_dir() else [record_path(text)]
    if not paths:
        raise InputError(f"{text}: no run record in this folder; 'oltpsim import' makes them")
    for path in paths:
        if _is_scenario(path):
            scenario = load_scenario_file(path, jobs=True)
            yield record_of_scenario(path.stem, scenario), scenario
        elif base is None:
            raise InputError(f"{text}: a record doesn't say its whole machine; give a scenario with --base")
        else:
            yield load_record(path), base


def _is_scenario(path: Path) -> bool:
    """Whether a file is a scenario: a mapping that names no format, with a scenario's keys."""
    if path.suffix == ".json":
        return False
    try:
        keys = read_mapping(path).keys()
    except InputError:
        return False  # whatever is wrong with it is said of a record
    return "format" not in keys and bool(OF_A_SCENARIO & keys)
