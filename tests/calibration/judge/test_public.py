"""Public files: their table, and rows beside predictions by the shipped model that each names."""

from pathlib import Path

import pytest

from oltpsim.calibration.fit import calibration_path, no_report, read_calibration, read_mapping_file, scenario_hash
from oltpsim.calibration.judge import judge_public_file, public_files, runs_to_judge
from oltpsim.calibration.judge.public import FOLDER
from oltpsim.calibration.records import load_record, records_in
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError

FILES = {each.name: each for each in public_files()}


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_what_it_names(name: str) -> None:
    file = FILES[name]
    paths = records_in(FOLDER / file.runs)
    assert len({load_record(path).name for path in paths}) == len(paths) > 0
    assert file.base in library_files()
    assert file.mapping is None or (FOLDER / "mappings" / file.mapping).is_file()
    assert (FOLDER.parent / file.model / "model.json").is_file()
    assert file.rule.startswith("fitted: "), "a rule says what was fitted, first"


@pytest.mark.parametrize("name", FILES)
def test_the_rows_that_a_model_was_fitted_to_are_known_again(name: str) -> None:
    """Else the file is refused as fitted otherwise: a default that changed after the fit is another scenario."""
    file = FILES[name]
    calibration = read_calibration(calibration_path(Path(file.model)))
    records = [load_record(path) for path in records_in(FOLDER / file.runs)]
    mapping = read_mapping_file(FOLDER / "mappings" / file.mapping, records) if file.mapping else None
    base = load_scenario_file(library_files()[file.base])
    runs = runs_to_judge(calibration, records, dict.fromkeys([record.name for record in records], base), mapping)
    known = {each.scenario_hash for each in calibration.runs}
    found = {run.name for run in runs if scenario_hash(run.scenario) in known}
    fitted = {run.name for run in calibration.runs} & {record.name for record in records}
    assert fitted <= found
    assert bool(fitted) == (not file.rule.startswith("fitted: none"))


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    entry = "{name: a, title: t, runs: r, base: b, model: m, rule: 'fitted: none'}"
    place = tmp_path / "files.yaml"
    place.write_text(f"files: [{entry}, {entry}]")
    with pytest.raises(InputError, match="two entries of the name a; rename one"):
        public_files(place)
    place.write_text(f"files: [{entry}]")
    assert [each.name for each in public_files(place)] == ["a"]


def test_rows_of_one_machine_have_one_prediction_and_fitted_ones_are_called_so() -> None:
    file = FILES["pgbench_select_only"]
    judged = judge_public_file(file, {file.base: load_scenario_file(library_files()[file.base])}, no_report)
    rows = {row.name: row for row in judged.rows}
    assert len(rows) == 32
    assert [name for name, row in rows.items() if row.role == "fitted"] == [
        f"select-only-raid10-ext4-{scale}" for scale in (1000, 250, 5000)
    ]
    twins = [rows[f"select-only-raid0-{system}-250"] for system in ("ext4", "xfs")]
    assert twins[0].model == twins[1].model
    assert twins[0].measured != twins[1].measured
    errors, held = judged.errors("predicted"), judged.coverage()
    assert errors is not None
    assert held is not None
    assert errors.count == held.count == 29
    assert errors.median < 0.15, "issue 24: rates within 15 %"
