"""Files of public runs held against shipped models: which rows a model was fitted to, the others predicted.

The files are entries of calibration/public/files.yaml; one more folder of records is one more entry there.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import Field

from oltpsim.calibration.fit import (
    Calibration,
    Coverage,
    Errors,
    JudgedRun,
    ReportProgress,
    SimulateModel,
    StepJournal,
    calibration_path,
    error_summary,
    read_calibration,
    read_mapping_file,
    scenario_hash,
)
from oltpsim.calibration.judge.left_out import measured_rate
from oltpsim.calibration.judge.validation import coverage, judged_run, runs_to_judge
from oltpsim.calibration.predict import predict_scenarios
from oltpsim.calibration.records import load_record, records_in
from oltpsim.models.input import Name, Spec, Text, read_mapping, repeated_name, validated
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

CALIBRATIONS = Path(str(resources.files("oltpsim.calibration")))
FOLDER = CALIBRATIONS / "runs"
FILE = CALIBRATIONS / "public" / "files.yaml"


class PublicFile(Spec):
    """A folder of records that others measured, and what answers for them."""

    name: Name
    title: Text
    runs: Name = Field(description="folder of records in calibration/runs")
    base: Name = Field(description="scenario of the library that the records change")
    model: Name = Field(description="shipped model, whose fit saw the rows that are called fitted")
    mapping: Name | None = Field(default=None, description="mapping file in calibration/runs/mappings")
    rule: Text = Field(description="which rows the model was fitted to, as it was chosen before the fit")


class _PublicFiles(Spec):
    """The file's content."""

    files: tuple[PublicFile, ...] = Field(min_length=1)


@dataclass(frozen=True)
class JudgedFile:
    """A public file's rows beside their predictions."""

    file: PublicFile
    rows: tuple[JudgedRun, ...]
    not_judged: tuple[str, ...]
    confidence: float

    def errors(self, role: str) -> Errors | None:
        """Errors of the rows of one role."""
        return error_summary([(row.name, row.error) for row in self.rows if row.role == role])

    def coverage(self) -> Coverage | None:
        """Coverage of the intervals of predicted rows."""
        return coverage([row for row in self.rows if row.role == "predicted"], self.confidence)


def public_files(path: Path = FILE) -> tuple[PublicFile, ...]:
    """The entries. Raises InputError for two of one name."""
    files = validated(_PublicFiles, read_mapping(path), path.name).files
    if twice := repeated_name([each.name for each in files]):
        raise InputError(f"{path.name}: files: two entries of the name {twice}; rename one")
    return files


def judge_public_file(
    file: PublicFile,
    bases: Mapping[str, ScenarioSpec],
    report: ReportProgress,
    executor: Executor | None = None,
    simulate_model: SimulateModel | None = None,
) -> JudgedFile:
    """All rows of a file by its model; rows of one machine and load are predicted once. Raises InputError."""
    model = calibration_path(Path(file.model))
    calibration: Calibration = read_calibration(model)
    records = [load_record(path) for path in records_in(FOLDER / file.runs)]
    mapping = read_mapping_file(FOLDER / "mappings" / file.mapping, records) if file.mapping else None
    base = bases[file.base]
    runs = runs_to_judge(calibration, records, dict.fromkeys([record.name for record in records], base), mapping)
    rated = [(run, rate) for run in runs if (rate := measured_rate(run)) is not None]
    machines = {scenario_hash(run.scenario): run.scenario for run, _ in rated}
    answers = predict_scenarios(calibration, machines, StepJournal(None, ""), report, executor, simulate_model)
    return JudgedFile(
        file=file,
        rows=tuple(judged_run(calibration, run, rate, answers[scenario_hash(run.scenario)]) for run, rate in rated),
        not_judged=tuple(run.name for run in runs if measured_rate(run) is None),
        confidence=calibration.confidence,
    )


def all_errors(judged: Sequence[JudgedFile]) -> tuple[Errors | None, Coverage | None]:
    """Errors and coverage of the predicted rows of all files together."""
    rows = [row for each in judged for row in each.rows if row.role == "predicted"]
    return error_summary([(row.name, row.error) for row in rows]), coverage(rows, judged[0].confidence)
