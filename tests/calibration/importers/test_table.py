"""A table of runs with a mapping: many records at once, or none and the place of the fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.importers import read_run_table
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES

TABLE, MAPPING = SAMPLES / "tables" / "ladder.csv", SAMPLES / "tables" / "ladder.yaml"
Changed = Callable[[Path, str, str], Path]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """`changed(file, old, new)`: a copy with one text replaced."""

    def change(path: Path, old: str, new: str) -> Path:
        text = path.read_text(encoding="utf-8")
        assert old in text
        (tmp_path / path.name).write_text(text.replace(old, new), encoding="utf-8")
        return tmp_path / path.name

    return change


def test_each_row_is_a_record() -> None:
    records = read_run_table(TABLE, MAPPING)
    assert [record.name for record in records] == ["small 8", "small 16"]
    first = records[0]
    assert first.outcome.transactions_per_s
    assert first.outcome.mean_ms
    assert first.workload.clients
    assert first.environment.cpu_model
    assert first.window.ramp_s
    assert (first.outcome.transactions_per_s.value, first.outcome.transactions_per_s.unit) == (
        pytest.approx(1000),
        "1/min",
    )
    assert first.outcome.mean_ms.value == pytest.approx(7.9)
    assert first.outcome.percentiles_ms["95"].value == pytest.approx(15)
    assert (first.workload.clients.value, first.environment.cpu_model.value) == (8, "small")
    assert (first.window.duration_s.value, first.window.ramp_s.value, first.window.kind) == (300, 60, "steady")
    assert first.outcome.mean_ms.source == "ladder.csv, line 2, mean_us: a table of our own"


def test_an_empty_cell_is_no_figure(changed: Changed) -> None:
    assert read_run_table(changed(TABLE, ",7900,", ",,"), MAPPING)[0].outcome.mean_ms is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("60000", "", "ladder.csv, line 2: small 8: outcome: "),
        ("60000", "60k", "ladder.csv, line 2, per_minute: got '60k'; expected a finite number"),
        ("60000", '"60000,5"', "ladder.csv, line 2, per_minute: got '60000,5'; expected a decimal point"),
        (
            "90000",
            "-90000",
            "ladder.csv, line 3: small 16: outcome.transactions_per_s.value: got -1500.0; must be greater than 0",
        ),
        ("small,4,16", "small,4,8", "line 3: got the name 'small 8' of line 2 again"),
        ("24000\n", "24000", "expected the end of its last line"),
        (",24000", "", "line 3: got 5 columns; expected 6 as in the header"),
        ("machine,", "maschine,", "ladder.yaml: column 'machine' (did you mean 'maschine'?) is not in ladder.csv"),
    ],
)
def test_a_faulty_row_refuses_the_table(changed: Changed, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_run_table(changed(TABLE, old, new), MAPPING)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "outcome.mean_ms",
            "outcome.mean_s",
            "ladder.yaml: outcome.mean_s: outcome.mean_s is no key of a run (did you mean 'mean_ms'",
        ),
        ("outcome.mean_ms", "outcome", "ladder.yaml: outcome: is no figure; give one of its keys"),
        ("factor: 0.001", "facto: 0.001", "columns.mean_us.facto: unknown key (did you mean 'factor'?)"),
        ("window: steady", "window: whole run", "window: got 'whole run'"),
        ("source: a table of our own\n", "", "source: missing"),
        ("window.duration_s:", "window.ramps_s:", "window.ramps_s is no key of a run (did you mean 'ramp_s'"),
    ],
)
def test_a_faulty_mapping_is_refused(changed: Changed, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_run_table(TABLE, changed(MAPPING, old, new))
    assert said in str(caught.value)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text(TABLE.read_text(encoding="utf-8").splitlines()[0] + "\n")
    with pytest.raises(InputError, match="got 0 rows; expected 1 to 10,000"):
        read_run_table(tmp_path / "empty.csv", MAPPING)
