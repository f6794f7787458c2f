"""Runs as people name them: scenario files of their own with a measured figure, beside records."""

from pathlib import Path

import pytest

from oltpsim.calibration.fit import measured_runs
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.scenarios.questions.measured import read_runs
from oltpsim.simulator.errors import InputError

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
    no_rate = "figures: [{figure: cpu_user_fraction, value: 0.3, role: fitted, source: sar}], role: fitted, source: sar"
    for text, problem in (
        ("base: v20z", r"plain\.yaml: nobody has measured this scenario; give it measured\.new_orders_per_minute"),
        (f"base: v20z\nmeasured: {{{no_rate}}}", r"plain\.yaml: measured\.new_orders_per_minute: missing; a run is"),
        ("name: x\nworkload: {warehouses: 4}", r"plain\.yaml: neither a run record \(it lacks .* nor a measured sc"),
        ("[1, 2]", r"plain\.yaml: got a list; expected keys with values"),
        ("format: oltpsim-run-1\nmachine: {}", r"plain\.yaml: machine: unknown key"),
        (RECORD.read_text(encoding="utf-8"), "a record doesn't say its whole machine; give a scenario with --base"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=problem):
            read_runs([str(path)], None)


def test_measured_figures_that_a_fit_compares_are_in_the_record(own: Path) -> None:
    """Its CPU and its reads are; a figure of another kind, and one that is only a bound, is noted."""
    path = own / "small.yaml"
    figures = [
        "{figure: cpu_user_fraction, value: 0.3, role: fitted, source: sar}",
        "{figure: cpu_system_fraction, value: 0.1, role: fitted, source: sar}",
        "{figure: reads_per_s, value: 80, role: fitted, source: iostat}",
        "{figure: writes_per_s, value: 80, bound: at_least, role: fitted, source: iostat}",
        "{figure: partition_queue, value: 2, role: fitted, source: iostat}",
    ]
    text = (MEASURED % (43_000, 2000)).replace("role: predicted", f"figures: [{', '.join(figures)}], role: predicted")
    path.write_text(text)
    records, scenarios = read_runs([str(path)], None)
    [run] = measured_runs(records, scenarios, {})
    values = {str(each.kind): each.value for each in run.observations}
    mix = scenarios["small"].workload.mix.new_order
    assert values == pytest.approx(
        {
            "new orders/min": 2000,
            "CPU user + system share": 0.4,
            "reads per transaction": 80 / (2000 / 60 / mix),
        }
    )
    assert [text.partition(" ")[2].partition(" ")[0] for text in run.left_aside] == ["writes_per_s", "partition_queue"]


def test_a_record_over_a_measured_base_has_none_of_its_figures(own: Path) -> None:
    """Negative twin: figures of the base are of another run."""
    base = load_scenario_file(scenario_path("ssd-arrays/noop"))
    records, scenarios = read_runs([str(own / "small.yaml")], None)
    [run] = measured_runs(records, {"small": base}, {})
    assert scenarios["small"] is not base
    assert [each for each in run.left_aside if each.startswith("measured")] == []
    assert len(run.observations) == 1


def test_own_scenarios_calibrate(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(own), "--vary", "database.path.row_operation_us=5..100", "--confirm", "0", "-q"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "small" in out
    assert "large" in out


def test_a_folder_of_outputs_is_a_run() -> None:
    """One command from a folder as a user hands it over; a folder of other files is refused."""
    folder = Path(__file__).resolve().parents[3] / "samples" / "run_directories" / "postgres15_go-tpc_in_memory"
    base = load_scenario_file(scenario_path("postgresql-15"))
    [record], scenarios = read_runs([str(folder)], base)
    assert record.name == folder.name
    assert scenarios[record.name] is base
    with pytest.raises(InputError, match="no run record, measured scenario or result of a load generator"):
        read_runs([str(folder.parents[1] / "mysql")], base)
