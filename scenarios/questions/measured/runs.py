"""Runs as people name them: record files, folders, records that come with the program, measured scenarios."""

from collections.abc import Iterator
from pathlib import Path

from oltpsim.calibration.records import (
    RunRecord,
    load_record,
    record_of_scenario,
    record_path,
    records_in,
    shipped_records,
)
from oltpsim.models.input import SourceFile, as_mapping, read_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file, scenario_path
from oltpsim.simulator.errors import InputError

OF_A_SCENARIO = frozenset({"base", "machine", "database", "interval", "measured"})
"""keys of a scenario that a record hasn't"""
OF_A_RECORD = frozenset({"format", "outcome", "window"})
"""keys of a record that a scenario hasn't"""


def read_runs(
    texts: list[str], base: ScenarioSpec | None, otherwise: ScenarioSpec | None = None
) -> tuple[list[RunRecord], dict[str, ScenarioSpec]]:
    """The records, and by their names the scenarios that they are runs of.

    That is `base`, or if None the scenario that a record names, or `otherwise`; or a measured scenario itself, which is
    one of the library, of which a folder stands for all in it, or a file with `measured`. Raises InputError.
    """
    found = [run for text in texts for run in _runs(text, base, otherwise)]
    return [record for record, _ in found], {record.name: scenario for record, scenario in found}


def _runs(
    text: str, base: ScenarioSpec | None, otherwise: ScenarioSpec | None
) -> Iterator[tuple[RunRecord, ScenarioSpec]]:
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
        raise InputError(f"{text}: no run record or measured scenario in this folder; 'oltpsim import' makes records")
    for path in paths:
        if _is_scenario(path):
            scenario = load_scenario_file(path, jobs=True)
            yield record_of_scenario(path.stem, scenario, path.name), scenario
            continue
        record = load_record(path)
        if base is None and record.scenario is not None:
            yield record, load_scenario_file(scenario_path(record.scenario), jobs=True)
            continue
        stands_for = base or otherwise
        if stands_for is None:
            raise InputError(f"{text}: a record doesn't say its whole machine; give a scenario with --base")
        yield record, stands_for


def _is_scenario(path: Path) -> bool:
    """Whether a file is a scenario and no record, by its keys. Raises InputError if it is neither.

    What can't be read at all is left to the reader of records, who says why.
    """
    try:
        data = SourceFile(path, path.name).data if path.suffix == ".json" else read_mapping(path)
        keys = as_mapping(data, path.name).keys()
    except InputError:
        return False
    if "format" not in keys and OF_A_SCENARIO & keys:
        return True
    if OF_A_RECORD & keys:
        return False
    raise InputError(
        f"{path.name}: neither a run record (it lacks format, window and outcome; 'oltpsim import' makes one) nor a "
        "measured scenario (it lacks base or machine, and measured)"
    )
