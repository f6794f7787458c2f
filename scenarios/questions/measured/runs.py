"""Runs as people name them: record files, folders, records that come with the program, measured scenarios."""

from pathlib import Path

from calibration.records import RunRecord, load_record, record_of_scenario, record_path, records_in, shipped_records
from models.scenario import ScenarioSpec
from scenarios.library import library_files, load_scenario_file
from simulator.errors import InputError


def read_runs(texts: list[str], base: ScenarioSpec | None) -> tuple[list[RunRecord], dict[str, ScenarioSpec]]:
    """The records, and by their names the scenarios that they are runs of: `base`, or a measured scenario itself.

    A folder of the library stands for all of its scenarios. Raises InputError.
    """
    scenarios = library_files()
    records: list[RunRecord] = []
    bases: dict[str, ScenarioSpec] = {}
    for text in texts:
        named = [name for name in scenarios if name == text or name.startswith(f"{text}/")]
        if named and text not in shipped_records() and not Path(text).exists():
            for name in named:
                scenario = load_scenario_file(scenarios[name], jobs=True)
                records.append(record_of_scenario(name, scenario))
                bases[name] = scenario
            continue
        folder = Path(text)
        paths = records_in(folder) if folder.is_dir() else [record_path(text)]
        if not paths:
            raise InputError(f"{text}: no run record in this folder; 'oltpsim import' makes them")
        for path in paths:
            record = load_record(path)
            if base is None:
                raise InputError(f"{text}: a record doesn't say its whole machine; give a scenario with --base")
            records.append(record)
            bases[record.name] = base
    return records, bases
