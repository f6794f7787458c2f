"""Runs as people name them: record files, folders, records that come with the program, measured scenarios."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from oltpsim.calibration.fit import measured_runs
from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.records import (
    FORMAT,
    RunRecord,
    load_record,
    merge_readings,
    record_of_scenario,
    record_path,
    records_in,
    shipped_records,
)
from oltpsim.models.input import SourceFile, as_mapping, read_mapping
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import MeasuredSpec, ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file, scenario_path
from oltpsim.simulator.errors import InputError

OF_A_SCENARIO = frozenset({"base", "machine", "database", "interval", "measured"})
"""keys of a scenario that a record hasn't"""
OF_A_RECORD = frozenset({"format", "outcome", "window"})
"""keys of a record that a scenario hasn't"""

OUTCOME = "outcome"
"""key of a record that no other document has"""
RECORD_SUFFIXES = (".yaml", ".yml", ".json")


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
    if folder.is_dir() and not any(map(_may_be_a_run, paths)):
        for record in _imported(folder):
            yield record, _its_base(record, text, base, otherwise)
        return
    for path in paths:
        if _is_scenario(path):
            scenario = load_scenario_file(path, jobs=True)
            yield record_of_scenario(path.stem, scenario, path.name), scenario
            continue
        record = load_record(path)
        yield record, _its_base(record, text, base, otherwise)


def _its_base(record: RunRecord, text: str, base: ScenarioSpec | None, otherwise: ScenarioSpec | None) -> ScenarioSpec:
    """The scenario that a record is a run of. Raises InputError if there is none."""
    if base is None and record.scenario is not None:
        return load_scenario_file(scenario_path(record.scenario), jobs=True)
    stands_for = base or otherwise
    if stands_for is None:
        raise InputError(f"{text}: a record doesn't say its whole machine; give a scenario with --base")
    return stands_for


def _may_be_a_run(path: Path) -> bool:
    """Whether a file can be a record or a scenario: YAML, or a record as JSON, which monitors write too."""
    return path.suffix != ".json" or f'"{FORMAT}"' in SourceFile(path, path.name).head


def _imported(folder: Path) -> list[RunRecord]:
    """Records of a folder with outputs of a load generator. Raises InputError if there are none."""
    runs = [run for run in find_runs([folder]) if run.has_result]
    if not runs:
        raise InputError(f"{folder}: no run record, measured scenario or result of a load generator in this folder")
    return [merge_readings(run.name, run.readings).record for run in runs]


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


def is_run(text: str) -> bool:
    """Whether a word is that of a measured run: a folder, or a record's file."""
    path = Path(text)
    if text and path.is_dir():
        return True
    if path.suffix not in RECORD_SUFFIXES or not path.is_file():
        return False
    try:
        return OUTCOME in read_mapping(path)
    except InputError:  # the scenario's reader says why
        return False


def scenario_of_run(text: str, base: ScenarioSpec | None, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """The scenario of one measured run, with the rate that was measured.

    `text`: the folder of what a load generator and its monitors wrote, or a record. `base`: the machine, which a run
    doesn't say whole. Raises InputError.
    """
    records, bases = read_runs([text], base)
    if len(records) != 1:
        names = ", ".join(record.name for record in records)
        raise InputError(f"{text}: holds {len(records)} runs ({names}); give one of them, or compare a model with all")
    [run] = measured_runs(records, bases, {})
    orders, all_kinds = records[0].outcome.new_orders_per_minute, records[0].outcome.transactions_per_s
    measured = None
    if orders is not None:
        measured = MeasuredSpec(new_orders_per_minute=orders.value, role="predicted", source=run.source)
    elif all_kinds is not None:
        measured = MeasuredSpec(transactions_per_s=all_kinds.value, role="predicted", source=run.source)
    changed = scenario_from_mapping(run.scenario.model_dump(mode="json"), run.name, overrides)
    return changed.model_copy(update={"measured": measured})
