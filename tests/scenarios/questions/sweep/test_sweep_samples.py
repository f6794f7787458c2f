"""Sweeps of samples, replications until the interval is narrow, and what is exported."""

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.commands.sweep import balance_note
from oltpsim.scenarios.library import scenario_loader
from oltpsim.scenarios.questions.sweep import (
    Axis,
    ReplicationRule,
    SampledAxis,
    parse_axes,
    sweep_from_json,
    sweep_json,
    sweep_points,
)
from oltpsim.scenarios.questions.sweep.design import sobol
from oltpsim.scenarios.questions.sweep.runner import LEAST_UNTIL, half_width_fraction
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results.recording import mean_of_replications

TINY = Path(__file__).parents[2] / "tiny.yaml"
SHORT = ["--set", "interval.duration_s=4", "--workers", "1", "--quiet"]
Output = pytest.CaptureFixture[str]
BUFFERS, MEMORY = "database.pool.buffers", "machine.memory_gib"

# Samples


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a.b=1..4", SampledAxis("a.b", 1.0, 4.0)),
        ("a.b=-1.5..2e3", SampledAxis("a.b", -1.5, 2000.0)),
        ("a.b = 0.5 .. 8 : log", SampledAxis("a.b", 0.5, 8.0, "", logarithmic=True)),
        ("a.b=1 GiB..64 GiB:log", SampledAxis("a.b", 1.0, 64.0, " GiB", logarithmic=True)),
        ("a.b=1..64 GiB", SampledAxis("a.b", 1.0, 64.0, " GiB")),
    ],
)
def test_ends_are_read(text: str, read: SampledAxis) -> None:
    assert parse_axes([text], 4) == (read,)


@pytest.mark.parametrize(
    ("texts", "samples", "said"),
    [
        (["a=1..4"], None, "--samples N"),
        (["a=1,2"], 4, "nothing to sample from"),
        (["a=4..1"], 4, "low must be below high"),
        (["a=1..1"], 4, "low must be below high"),
        (["a=0..1:log"], 4, "begins above 0"),
        (["a=1..4:lin"], 4, "the one scale beside"),
        (["a=1 MiB..4 GiB"], 4, "same unit"),
        (["a=1..1e999"], 4, "low must be below high"),
        (["a=1..4", "a=1,2"], 4, "stands twice"),
    ],
)
def test_broken_ends_are_refused(texts: list[str], samples: int | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_axes(texts, samples)


def test_samples_fill_each_axis_evenly_and_depend_on_the_seed() -> None:
    drawn = np.array(sobol(64, 3, 1))
    for dimension in drawn.T:
        assert sorted(math.floor(value * 64) for value in dimension) == list(range(64)), (
            "one sample in each of 64 parts"
        )
    assert sobol(64, 3, 1) == drawn.tolist()
    assert sobol(64, 3, 2) != drawn.tolist()
    assert sobol(20, 3, 1) == drawn[:20].tolist(), "fewer samples are the first ones"
    assert sobol(1, 1, 1)[0][0] < 1


def values(axes: tuple[Axis | SampledAxis, ...], samples: int, seed: int = 1) -> list[tuple[str, ...]]:
    return [point.values for point in sweep_points(scenario_loader(str(TINY)), axes, samples, seed)]


def test_integers_are_rounded_and_only_they() -> None:
    axes = parse_axes([f"{BUFFERS}=500..600", f"{MEMORY}=1..64"], 16)
    found = values(axes, 16)
    assert all(float(buffers) == int(buffers) for buffers, _ in found)
    assert sum(float(memory) == int(float(memory)) for _, memory in found) < 4
    assert all(500 <= int(buffers) <= 600 and 1 <= float(memory) <= 64 for buffers, memory in found)


def test_a_logarithmic_scale_takes_equal_ratios() -> None:
    found = sorted(float(memory) for (memory,) in values(parse_axes([f"{MEMORY}=1..256:log"], 8), 8))
    assert [math.floor(math.log2(value)) for value in found] == list(range(8))
    plain = sorted(float(memory) for (memory,) in values(parse_axes([f"{MEMORY}=1..256"], 8), 8))
    assert [math.floor(value / 32) for value in plain] == list(range(8))


def test_units_reach_the_scenario() -> None:
    points = sweep_points(scenario_loader(str(TINY)), parse_axes([f"{MEMORY}=1 GiB..2 GiB"], 4), 4, 1)
    for point in points:
        assert isinstance(point.scenario, ScenarioSpec)
        assert point.values[0] == f"{point.scenario.machine.memory_gib:.6g} GiB"


def test_every_listed_value_gets_the_same_samples() -> None:
    found = values(parse_axes([f"{BUFFERS}=500..2000", "machine.cpu.cores=1,2", f"{MEMORY}=1..4"], 8), 8)
    one, two = ([(row[0], row[2]) for row in found if row[1] == cores] for cores in ("1", "2"))
    assert one == two
    assert len(one) == 8
    assert [row[1] for row in found] == ["1"] * 8 + ["2"] * 8


def test_too_many_points_and_a_wrong_field_are_refused() -> None:
    with pytest.raises(InputError, match="more than 10,000"):
        values(parse_axes([f"{BUFFERS}=500..600", "machine.cpu.cores=1,2"], 5001), 5001)
    with pytest.raises(InputError, match="did you mean 'buffers'"):
        values(parse_axes(["database.pool.bufers=500..600"], 4), 4)


def test_balance_is_said_kindly(capsys: Output) -> None:
    assert [balance_note(number) for number in (1, 2, 64, 4096)] == [""] * 4
    assert "64 or 128" in balance_note(100)
    words = ["sweep", str(TINY), "--engine", "analytic", "--samples", "3", "--vary", f"{BUFFERS}=500..600:log"]
    assert main(words) == 0
    assert capsys.readouterr().err.count("balanced at powers of two") == 1


def test_samples_that_round_to_one_value_are_run_once(tmp_path: Path, capsys: Output) -> None:
    store = tmp_path / "runs.sqlite"
    words = ["sweep", str(TINY), *SHORT, "--samples", "8", "--vary", f"{BUFFERS}=500..501", "--save", str(store)]
    assert main([*words, "--output", "json"]) == 0
    answer = sweep_from_json(capsys.readouterr().out)
    assert len(answer.rows) == 8
    assert sweep_json(sweep_from_json(sweep_json(answer))) == sweep_json(answer)
    assert {row.values[0]: row.rate_per_min for row in answer.rows}.keys() == {"500", "501"}
    assert main([*[word for word in words if word != "--quiet"]]) == 0
    assert "2 runs were in" in capsys.readouterr().err


# Replications


def rates(seed: int, spread: float) -> list[float]:
    return (1000 * (1 + spread * np.random.default_rng(seed).standard_normal(200))).tolist()


def replicated(rule: ReplicationRule, all_rates: list[float]) -> int:
    """How many replications a rule ends with, and that it asks in rounds for the first ones in their order."""
    count = rule.first
    while (wanted := rule.needed(all_rates[:count])) != count:
        assert count < wanted <= min(2 * count, rule.most)
        count = wanted
    return count


@given(st.integers(0, 1000), st.floats(0.001, 0.2), st.floats(0.005, 0.1), st.integers(LEAST_UNTIL, 100))
def test_replications_end_when_narrow_or_at_the_most(seed: int, spread: float, until: float, most: int) -> None:
    rule = ReplicationRule(most, until)
    found = replicated(rule, rates(seed, spread))
    narrow = half_width_fraction(mean_of_replications(rates(seed, spread)[:found])) <= until
    assert narrow or found == most
    assert bool(rule.shortfall(rates(seed, spread)[:found])) == (not narrow)
    assert found >= LEAST_UNTIL


def test_a_narrower_interval_takes_more_replications() -> None:
    counts = [replicated(ReplicationRule(100, until), rates(1, 0.05)) for until in (0.1, 0.03, 0.02, 0.012)]
    assert counts == sorted(counts)
    assert counts[0] == LEAST_UNTIL
    assert 15 < counts[-1] < 100


def test_intervals_that_stopped_the_replications_hold_nearly_as_often_as_they_claim() -> None:
    held = 0
    for seed in range(400):
        found = mean_of_replications(rates(seed, 0.05)[: replicated(ReplicationRule(100, 0.02), rates(seed, 0.05))])
        held += found.low <= 1000 <= found.high
    assert held / 400 > 0.85


def test_without_until_the_number_is_fixed() -> None:
    assert ReplicationRule(7).first == 7
    assert ReplicationRule(7).needed(rates(1, 0.5)[:7]) == 7
    assert not ReplicationRule(7).shortfall(rates(1, 0.5)[:7])
    assert half_width_fraction(mean_of_replications([0.0, 0.0])) == 0.0


def test_rows_say_how_many_and_what_falls_short(tmp_path: Path, capsys: Output) -> None:
    words = ["sweep", str(TINY), "--set", "interval.duration_s=4", "--quiet", "--vary", f"{BUFFERS}=500,1500"]
    words += ["--until", "1.5%", "--replications", "7"]
    store = ["--save", str(tmp_path / "runs.sqlite")]
    assert main([*words, *store, "--workers", "2", "--output", "json"]) == 0
    out = capsys.readouterr().out
    assert main([*words, "--workers", "1", "--output", "json"]) == 0
    assert capsys.readouterr().out == out
    for row in sweep_from_json(out).rows:
        assert row.rate_per_min is not None
        assert row.high_per_min is not None
        assert row.replications is not None
        narrow = row.high_per_min / row.rate_per_min - 1 <= 0.015
        assert narrow or row.replications == 7
        assert any("replications the interval is still" in warning for warning in row.warnings) == (not narrow)
    assert main([*words, *store]) == 0
    text = capsys.readouterr().out
    assert "seeds from 1, up to 7, until ±1.5% of the rate" in text
    assert text.splitlines()[0].endswith("replications")


def test_more_replications_in_the_store_change_nothing(tmp_path: Path, capsys: Output) -> None:
    words = ["sweep", str(TINY), *SHORT, "--vary", f"{BUFFERS}=500", "--output", "json"]
    until = [*words, "--until", "3%", "--save", str(tmp_path / "runs.sqlite")]
    assert main(until) == 0
    alone = capsys.readouterr().out
    assert main([*words, "--replications", "12", "--save", str(tmp_path / "more.sqlite")]) == 0
    capsys.readouterr()
    assert main([*until[:-1], str(tmp_path / "more.sqlite")]) == 0
    assert capsys.readouterr().out == alone


@pytest.mark.parametrize("until", ["2", "0", "-1%", "x", "100%", "2%%", "nan", "2 % of it"])
def test_a_broken_share_is_refused(until: str, capsys: Output) -> None:
    assert main(["sweep", str(TINY), "--vary", f"{BUFFERS}=500", "--until", until]) == 2
    assert "as in 2% or 0.02" in capsys.readouterr().err


def test_too_few_replications_for_until_and_formulas_are_refused(capsys: Output) -> None:
    words = ["sweep", str(TINY), "--vary", f"{BUFFERS}=500", "--until", "2%"]
    assert main([*words, "--replications", "3"]) == 2
    assert "give 5 or more" in capsys.readouterr().err
    assert main([*words, "--engine", "analytic"]) == 2
    assert "nothing at random" in capsys.readouterr().err


# Exports


def test_rows_are_exported_as_they_are_shown(tmp_path: Path, capsys: Output) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    words = [
        "sweep",
        str(TINY),
        *SHORT,
        "--vary",
        f"{BUFFERS}=500,5",
        "--vary",
        "database.io=buffered",
        "--output",
        "csv",
    ]
    for name in ("rows.csv", "rows.parquet"):
        assert main([*words, "--export", str(tmp_path / name)]) == 0
        out = capsys.readouterr().out
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8") == out
    found = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    shown = list(csv.DictReader(io.StringIO(out)))
    assert [list(row) for row in found] == [list(row) for row in shown]
    assert [row[BUFFERS] for row in found] == [500, 5]
    assert found[0]["rate_per_min"] == float(shown[0]["rate_per_min"])
    assert found[1]["rate_per_min"] is None
    assert "greater than" in found[1]["reason"]


def test_series_are_exported_run_by_run(tmp_path: Path, capsys: Output) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    words = ["sweep", str(TINY), *SHORT, "--vary", "machine.disks.count=1,2", "--replications", "2"]
    for name in ("series.csv", "series.parquet"):
        assert main([*words, "--series", str(tmp_path / name)]) == 0
    assert main([*words, "--runs", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    found = parquet.read_table(tmp_path / "series.parquet").to_pylist()
    lines = list(csv.DictReader(io.StringIO((tmp_path / "series.csv").read_text(encoding="utf-8"))))
    assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in found] == lines
    files = sorted((tmp_path / "runs").iterdir())
    assert [file.name for file in files] == [
        f"000{disks}_count={disks}_seed={seed}.json" for disks in (1, 2) for seed in (1, 2)
    ]
    for file in files:
        run = read_saved_run(file)
        mine = [row for row in found if (row["machine.disks.count"], row["seed"]) == (run.scenario.machine.disks.count,
                                                                                      run.result.seed)]  # fmt: skip
        for name, series in run.result.series.values.items():
            assert [row[name] for row in mine] == series
        assert [row["begins_s"] for row in mine] == [step * run.result.series.step_s for step in range(len(mine))]
    assert {row["disk 2 utilisation"] is None for row in found if row["machine.disks.count"] == 1} == {True}
    assert main(["explain", str(files[0])]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("option", ["--export", "--series"])
def test_another_kind_of_file_is_refused(option: str, capsys: Output) -> None:
    assert main(["sweep", str(TINY), "--vary", f"{BUFFERS}=500", option, "rows.xlsx"]) == 2
    assert "must end in .csv or .parquet" in capsys.readouterr().err


def test_a_sweep_of_another_format_is_refused() -> None:
    with pytest.raises(InputError, match="format: got 'oltpsim-sweep-1'"):
        sweep_from_json(json.dumps({"format": "oltpsim-sweep-1", "axes": [], "rows": [], "scenario": "", "seed": 1,
                              "replications": 1, "engine": "", "versions": {}, "confidence": 0.95}))  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": "one"}, r"mine\.json: seed: got 'one'; must be a whole number"),
        ({"sed": 1}, r"mine\.json: sed"),
        ({"rows": [{"reason": "none"}]}, r"mine\.json: rows\.0\.values: got nothing"),
    ],
)
def test_a_damaged_sweep_is_refused_by_its_key(change: dict[str, object], said: str) -> None:
    axes = [{"key": "a", "values": ["1"]}, {"key": "b", "low": 1.0, "high": 2.0, "unit": "", "logarithmic": False}]
    content = {"axes": axes, "rows": [], "scenario": "", "seed": 1, "replications": 1, "engine": "", "versions": {},
               "confidence": 0.95}  # fmt: skip
    sound = sweep_from_json(json.dumps({"format": "oltpsim-sweep-2", **content}))
    assert sound.axes == (Axis("a", ("1",)), SampledAxis("b", 1.0, 2.0))
    with pytest.raises(InputError, match=said):
        sweep_from_json(json.dumps({"format": "oltpsim-sweep-2", **content, **change}), "mine.json")
