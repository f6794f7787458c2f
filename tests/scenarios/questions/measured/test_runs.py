"""Runs as people name them: scenario files of their own with a measured figure, beside records."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.commands.cli import main
from scenarios.library import load_scenario_file, scenario_path
from scenarios.questions.measured import read_runs
from simulator.errors import InputError

MEASURED = """
base: v20z-43000-buffers
name: our own run
database: {pool: {buffers: %d}}
measured: {new_orders_per_minute: %d, role: predicted, source: our own measurement}
"""
RECORD = Path(__file__).resolve().parents[4] / "calibration" / "runs" / "v20z-43000-buffers.yaml"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    for name, buffers, rate in (("small", 43_000, 2000), ("large", 120_000, 4000)):
        (tmp_path / f"{name}.yaml").write_text(MEASURED % (buffers, rate))
    return tmp_path


def test_a_measured_scenario_file_is_a_run_of_itself(own: Path) -> None:
    for texts in ([str(own / "large.yaml"), str(own / "small.yaml")], [str(own)]):
        records, scenarios = read_runs(texts, None)
        assert [record.name for record in records] == ["large", "small"]
        rates = [record.outcome.new_orders_per_minute for record in records]
        assert [rate and rate.value for rate in rates] == [4000, 2000]
        assert [scenarios[name].database.pool.buffers for name in ("large", "small")] == [120_000, 43_000]


def test_records_and_scenarios_go_together(own: Path) -> None:
    base = load_scenario_file(scenario_path("v20z"))
    records, scenarios = read_runs([str(own / "large.yaml"), str(RECORD)], base)
    assert [record.name for record in records] == ["large", "v20z-43000-buffers"]
    assert scenarios["v20z-43000-buffers"] is base
    assert scenarios["large"] is not base


def test_a_file_without_a_measured_figure_says_what_is_missing(own: Path) -> None:
    path = own / "plain.yaml"
    path.write_text("base: v20z\n")
    with pytest.raises(
        InputError, match=r"plain: nobody has measured this scenario; give it measured\.new_orders_per_m"
    ):
        read_runs([str(path)], None)
    path.write_text("name: x\nworkload: {warehouses: 4}\n")
    with pytest.raises(InputError, match="doesn't say its whole machine"):
        read_runs([str(path)], None)


def test_own_scenarios_calibrate(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(own), "--vary", "database.path.row_operation_us=5..100", "--confirm", "0", "-q"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "small" in out
    assert "large" in out
