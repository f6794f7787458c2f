"""Numbers of parts: one for all machines that have the part, and nothing for the others."""

from pathlib import Path

import numpy as np
import pytest

from oltpsim.calibration.fit import (
    AnalyticReader,
    FitTask,
    StepJournal,
    apply_calibration,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    parse_vary,
    run_fit,
    unapplied_keys,
)
from oltpsim.calibration.fit.evaluate import figures
from oltpsim.models.reading import numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.measured import read_runs
from oltpsim.simulator.errors import InputError

SPEED = "machine.cpu.relative_speed"
PENTIUM, XEON = "Pentium 3, 0.6 GHz", "2 x dual-core Xeon 5130, 2.0 GHz"
NAMES = ("published/load-sol7", "published/cpu-5130-load", "published/mutex-linux")


def row(name: str) -> ScenarioSpec:
    return load_scenario_file(library_files()[f"published/{name}"], jobs=True)


def quietly(_: float, __: str) -> None:
    """Nobody watches."""


def test_a_parts_number_is_that_of_machines_with_the_part() -> None:
    slow, fast = row("box-sol7"), row("cpu-5130-load")
    key = f"{SPEED}@{PENTIUM}"
    assert numeric_value(slow, key) == slow.machine.cpu.relative_speed
    assert numeric_value(fast, key) is None
    assert with_values(slow, {key: 0.4}).machine.cpu.relative_speed == 0.4
    assert with_values(fast, {key: 0.4}).machine.cpu == fast.machine.cpu
    assert numeric_value(slow, f"database.path.row_operation_us@{slow.database.name}") is not None
    assert numeric_value(slow, f"machine.disks.disk.overhead_ms@{slow.machine.disks.disk.name}") is not None


def test_a_part_that_no_machine_has_is_refused() -> None:
    with pytest.raises(InputError, match="the scenario has no such number"):
        parse_vary(f"{SPEED}@Pentium 4=0.1..1", row("box-sol7"))
    assert parse_vary(f"{SPEED}@{XEON}=1..3", row("box-sol7"), row("cpu-5130-load")).value == pytest.approx(1.7)


def test_a_parts_value_is_the_catalogues(tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(
        f'parameters:\n  "{SPEED}@{PENTIUM}": {{value: 0.5, low: 0.1, high: 1, factor: 1.3, source: a test}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"value: a part's number is the catalogue's, 0\.31; leave it out"):
        parameters_to_fit([row("box-sol7")], path, ())


def test_a_run_is_evaluated_by_what_it_takes() -> None:
    records, bases = read_runs(list(NAMES), None)
    parameters = [parse_vary(f"{SPEED}@{part}={low}..{high}", *bases.values())
                  for part, low, high in ((PENTIUM, 0.2, 0.5), (XEON, 1, 3))]  # fmt: skip
    runs = measured_runs(records, bases, {})
    assert [run.open_keys(each.key for each in parameters) for run in runs] == [
        (parameters[0].key,),
        (parameters[1].key,),
        (),
    ]
    said = figures(runs, parameters, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), AnalyticReader())
    assert said[1, 0] < said[0, 0] == said[2, 0], "a faster Pentium loads sooner, a faster Xeon changes nothing there"
    assert said[2, 1] < said[0, 1] == said[1, 1]
    assert said[0, 2] == said[1, 2] == said[2, 2]


def test_loads_of_two_machines_tell_the_speed_of_one_by_the_other() -> None:
    """The engine's path from the machine of known speed; the other's speed from the path."""
    records, bases = read_runs(["published/load-fc4-4sata", "published/load-sol7", "published/v20z-10w"], None)
    vary = [f"{SPEED}@{PENTIUM}=0.1..1", "database.path.load_row_us@Virtuoso, before the 5.0 overhaul=10..200",
            "job.fragment_kib=8..64"]  # fmt: skip
    with pytest.raises(InputError, match="no such number"):
        parameters_to_fit(list(bases.values()), None, vary)
    varied, _ = parameters_to_fit(list(bases.values()), None, vary[:2])
    found = calibration_of(
        run_fit(FitTask(tuple(measured_runs(records, bases, {})), varied, starts=1), StepJournal(None, ""), quietly),
        bases[records[0].name],
    )
    speed = found.parameters[0]
    assert speed.identified
    assert speed.value == pytest.approx(1.11 * 726.874 / 2640, rel=0.05)
    described = row("box-sol7")
    assert apply_calibration(found, described).machine.cpu.relative_speed == speed.value
    assert apply_calibration(found, row("box-v20z")).machine.cpu == row("box-v20z").machine.cpu
    other = with_values(described, {SPEED: 0.5})
    assert unapplied_keys(found, other) == (f"{SPEED}@{PENTIUM}",), "somebody's own number stays"
    assert {run.corrected_by for run in found.runs[:2]} == {"nothing: a job is calculated"}
