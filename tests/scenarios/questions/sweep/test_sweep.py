"""Sweeps: grids, points that cannot be run, same bytes on any number of workers, tables and pictures."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import scenario_loader, scenario_path
from oltpsim.scenarios.questions.sweep import (
    Axis,
    MeasuredPoint,
    ReplicationRule,
    Sweep,
    SweepRunner,
    measured_points,
    parse_axis,
    sweep_from_json,
    sweep_json,
    sweep_points,
)
from oltpsim.scenarios.questions.sweep.answer import SweepRow
from oltpsim.scenarios.run import Silent, Store
from oltpsim.scenarios.show.chart import Points
from oltpsim.scenarios.show.sweep import is_geometric, sweep_chart, sweep_csv, sweep_table
from oltpsim.simulator.errors import InputError

TINY = str(Path(__file__).parents[2] / "tiny.yaml")
BUFFERS = "database.pool.buffers=500,1000,2000"
Output = pytest.CaptureFixture[str]


def sweep(*words: str) -> list[str]:
    return ["sweep", TINY, "--quiet", *words]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1,2,3", ("1", "2", "3")),
        ("a.b=1:4:1", ("1", "2", "3", "4")),
        ("a.b=0.1:0.5:0.2", ("0.1", "0.3", "0.5")),
        ("a.b=100:1000:300", ("100", "400", "700", "1000")),
        ("a.b=1:4:2", ("1", "3")),
        ("a.b=1 GiB, 2 GiB", ("1 GiB", "2 GiB")),
        ("a.b={a: 1, b: 2}", ("{a: 1, b: 2}",)),
        ("a.b={a: {b: 1}}", ("{a: {b: 1}}",)),
        ("a.b={a: [1, 2], b: 3}, [4, 5],6", ("{a: [1, 2], b: 3}", "[4, 5]", "6")),
    ],
)
def test_axes_are_lists_or_ranges(text: str, values: tuple[str, ...]) -> None:
    assert parse_axis(text) == Axis("a.b", values)


@pytest.mark.parametrize("text", ["a", "a=", "=1", "a=1,,2", "a=1,1", "a=1:2:0", "a=2:1:1", "a=1:x:1", "a=0:1:1e-9"])
def test_broken_axes_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_axis(text)


def test_one_row_per_point_in_grid_order(capsys: Output) -> None:
    words = sweep("--vary", BUFFERS, "--vary", "machine.cpu.cores=1,2", "--output", "csv", "--workers", "1")
    assert main(words) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    points = [(row["database.pool.buffers"], row["machine.cpu.cores"]) for row in rows]
    assert points == [("500", "1"), ("500", "2"), ("1000", "1"), ("1000", "2"), ("2000", "1"), ("2000", "2")]
    for row in rows:
        steady = "not steady" not in row["warnings"]
        assert steady == bool(row["low_per_min"]) == bool(row["high_per_min"])
        assert not steady or float(row["low_per_min"]) <= float(row["rate_per_min"])
    assert all(row["model_hash"] and row["engine"] and row["version"] and row["bottleneck"] for row in rows)


def test_same_bytes_with_one_and_two_workers(capsys: Output) -> None:
    words = sweep("--vary", BUFFERS, "--replications", "2", "--output", "json")
    assert main([*words, "--workers", "1"]) == 0
    alone = capsys.readouterr().out
    assert main([*words, "--workers", "2"]) == 0
    assert capsys.readouterr().out == alone
    assert sweep_json(sweep_from_json(alone)) == alone


def test_points_that_cannot_be_run_are_listed_with_the_reason(capsys: Output) -> None:
    assert main(sweep("--vary", "database.pool.buffers=5,1000", "--workers", "1")) == 0
    out = capsys.readouterr().out
    assert "not run: " in out
    assert "oltpsim " in out.splitlines()[-1]


@pytest.mark.parametrize("vary", ["database.pool.buffers=5,6", "database.pool.bufers=1000,2000"])
def test_a_sweep_without_any_point_is_bad_input(vary: str, capsys: Output) -> None:
    assert main(sweep("--vary", vary)) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(("interrupted", "finished"), [("keep", 0), ("release", 1)])
def test_what_is_kept_when_ctrl_c_comes_is_counted(
    interrupted: str, finished: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is not kept is not finished; one that is kept is, counted or not."""
    axis = Axis("database.pool.buffers", ("500", "600"))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with Store() as store:
        runner = SweepRunner(sweep_points(scenario_loader(str(TINY)), [axis]), store, 1, ReplicationRule(1))
        with monkeypatch.context() as patched:
            patched.setattr(store, interrupted, interrupt)
            with pytest.raises(KeyboardInterrupt):
                runner.run(1, Silent())
        assert (runner.finished, runner.runs_needed) == (finished, 2)
        again = SweepRunner(sweep_points(scenario_loader(str(TINY)), [axis]), store, 1, ReplicationRule(1))
        again.run(1, Silent())
        assert (again.finished, again.reused) == (2, finished)


def example(*rows: SweepRow) -> Sweep:
    """A sweep over disks with these rows."""
    axes = (Axis("machine.disks.count", tuple(row.values[0] for row in rows)),)
    return Sweep("example", axes, 1, 1, "kernel", {"oltpsim": "1"}, 0.95, rows)


def row(value: str, bottleneck: str, *warnings: str) -> SweepRow:
    return SweepRow((value,), None, 90.0, 80.0, 100.0, 1, bottleneck, 0.5, 0.9, {}, "hash", warnings)


def test_a_table_has_intervals_of_one_kind() -> None:
    """Where a measurement would fall can be said of the first row only: chance's interval isn't put in its place."""
    known = replace(row("1", "cpu"), measurement_low_per_min=50.0, measurement_high_per_min=160.0)
    swept = example(known, row("2", "cpu"))
    header, first, second, *_ = sweep_table(swept).splitlines()
    assert "90% interval, predicted" in header
    assert "50 .. 160" in first
    assert "80 .. 100" not in second
    of_chance, *rows = sweep_table(example(row("1", "cpu"), row("2", "cpu"))).splitlines()
    assert "interval, chance alone" in of_chance
    assert all("80 .. 100" in line for line in rows[:2])


def test_warnings_of_points_are_below_the_table_and_in_every_form() -> None:
    swept = example(row("1", "cpu", "it swaps", "few"), row("2", "cpu"), row("3", "cpu", "few"))
    _, first, second, third, *below, _ = sweep_table(swept).splitlines()
    assert first.endswith("  warning 1, 2")
    assert "warning" not in second
    assert third.endswith("  warning 2")
    assert below == ["warning 1: it swaps", "warning 2: few"]
    cells = [line["warnings"] for line in csv.DictReader(io.StringIO(sweep_csv(swept)))]
    assert cells == ["it swaps; few", "", "few"]
    assert sweep_from_json(sweep_json(swept)) == swept


def test_the_warnings_of_a_run_reach_its_row(capsys: Output) -> None:
    assert main(sweep("--vary", "database.pool.buffers=500", "--set", "interval.duration_s=1", "--workers", "1")) == 0
    assert "warning 1: only " in capsys.readouterr().out


def test_another_of_the_equal_disks_is_no_other_bottleneck() -> None:
    one, two, log = sweep_table(example(row("1", "disk 1"), row("2", "disk 2"), row("3", "log disk"))).splitlines()[1:4]
    assert one.replace("1 ", "2 ", 1) == two
    assert "  log disk  " in log
    assert "disk 2" in sweep_csv(example(row("2", "disk 2")))


def test_pictures_of_one_and_two_fields(tmp_path: Path, capsys: Output) -> None:
    svg, page = tmp_path / "one.svg", tmp_path / "two.html"
    assert main(sweep("--vary", BUFFERS, "--workers", "1", "--picture", str(svg))) == 0
    assert svg.read_text().startswith("<svg")
    two = ["--vary", "database.pool.buffers=500,1000", "--vary", "machine.cpu.cores=1,2"]
    assert main(sweep(*two, "--workers", "1", "--picture", str(page))) == 0
    text = page.read_text()
    assert "<script" in text
    assert 'src="http' not in text
    capsys.readouterr()


def test_pictures_place_points_by_their_values(capsys: Output) -> None:
    words = sweep("--vary", "database.pool.buffers=500,1000", "--workers", "1", "--output", "json")
    assert main(words) == 0
    answer = sweep_from_json(capsys.readouterr().out)
    drawn = sweep_chart(answer)
    line = next(trace for trace in drawn.figure["data"] if trace["mode"] == "lines+markers")
    assert line["x"] == [500.0, 1000.0]
    assert drawn.x.ticks is None


@pytest.mark.parametrize("picture", ["x.gif", "x"])
def test_an_unknown_kind_of_picture_is_refused(picture: str, capsys: Output) -> None:
    assert main(sweep("--vary", BUFFERS, "--picture", picture)) == 2
    assert ".svg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "geometric"),
    [
        ((1, 2, 4, 8), True),
        ((8, 1, 2, 4), True),
        ((1, 2, 5, 10), True),
        ((10, 100, 130, 1000), False),
        ((1, 2, 3, 4), False),
        ((1, 2), False),
        ((0, 1, 2, 4), False),
        ((5, 10, 20, 30, 40), False),
    ],
)
def test_a_scale_is_logarithmic_where_values_double(values: tuple[float, ...], geometric: bool) -> None:
    assert is_geometric(values) == geometric


def doubling(capsys: Output, values: str) -> Sweep:
    words = sweep("--vary", f"database.pool.buffers={values}", "--engine", "analytic", "--chance", "--output", "json")
    assert main(words) == 0
    return sweep_from_json(capsys.readouterr().out)


def test_a_pool_is_drawn_in_gib_beside_measured_points(capsys: Output) -> None:
    answer = doubling(capsys, "500,1000,2000")
    measured = [
        MeasuredPoint(700.0, 12.0, "predicted", "other"),
        MeasuredPoint(1500.0, 14.0, "fitted", "own"),
        MeasuredPoint(90_000.0, 99.0, "fitted", "far"),
    ]
    drawn = sweep_chart(answer, measured, 0.01)
    assert drawn.x.log
    assert drawn.x.title == "buffer pool (GiB)"
    assert list(drawn.x.labels()) == [5.0, 10.0, 20.0]
    points = [mark for mark in drawn.marks if isinstance(mark, Points) and mark.label.startswith("measured")]
    assert [(list(mark.x), list(mark.y)) for mark in points] == [([7.0], [12.0]), ([15.0], [14.0])]
    assert "measured by others: 700: 12; 1,500: 14" in drawn.alternative


def test_without_the_size_of_a_buffer_or_doubling_the_scale_stays(capsys: Output) -> None:
    drawn = sweep_chart(doubling(capsys, "500,1000,1500"))
    assert not drawn.x.log
    assert drawn.x.title == "buffers"
    assert "measured" not in drawn.alternative


def test_measured_points_are_those_of_the_same_machine() -> None:
    axis = parse_axis("database.pool.buffers=50000,100000")
    path = scenario_path("v20z")
    found = measured_points([axis], sweep_points(scenario_loader(str(path)), [axis]))
    assert (100_000.0, 7819.0) in [(each.value, each.rate_per_min) for each in found]
    assert "v20z-10-warehouses" not in {each.scenario for each in found}
    assert measured_points([axis], sweep_points(scenario_loader(str(path), ["machine.memory_gib=4"]), [axis])) == ()
    two = [axis, parse_axis("machine.cpu.cores=1,2")]
    assert measured_points(two, sweep_points(scenario_loader(str(path)), two)) == ()
