"""Comparisons: the same seeds for every side, differences paired by them."""

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.questions.compare import Comparer, ScenarioComparison, read_sides
from oltpsim.scenarios.questions.compare.comparison import paired
from oltpsim.scenarios.run import Silent
from oltpsim.scenarios.show.compare import comparison_json
from oltpsim.simulator.errors import InputError, InternalError
from tests.scenarios.explained import TINY

Capture = pytest.CaptureFixture[str]
FASTER = "machine.cpu.relative_speed=1.05"
RATES = st.lists(st.floats(1.0, 1e6), min_size=2, max_size=12)


def compared(*changes: str, seeds: int = 4) -> Comparer:
    comparer = Comparer(read_sides([TINY, TINY], changes), 1)
    comparer.run(seeds, 1, Silent())
    return comparer


def comparison_by(comparer: Comparer) -> ScenarioComparison:
    found = comparer.comparison()
    assert found is not None
    return found


def test_machines_that_run_other_transactions_are_not_compared() -> None:
    lines = ["8 cores, 32 GB, SSD, pgbench", "8 cores, 32 GB, SSD"]
    with pytest.raises(InputError, match="compare: A runs pgbench, TPC-B-like, B TPC-C-like, go-tpc, whose"):
        read_sides(lines, [])
    assert len(read_sides([lines[0], lines[0].replace("32", "64")], [])) == 2


# Pairing


@given(RATES)
def test_equal_rates_differ_by_nothing(rates: list[float]) -> None:
    found = paired(rates, rates)
    assert found.same
    assert (found.difference_per_min, found.ratio.value, found.half_width_fraction) == (0.0, 1.0, 0.0)
    assert not found.distinguishable


@given(RATES, st.floats(1.01, 3.0))
def test_a_ratio_that_every_seed_shows_is_certain(rates: list[float], factor: float) -> None:
    found = paired(rates, [rate * factor for rate in rates])
    assert found.ratio.value == pytest.approx(factor)
    assert found.distinguishable
    assert not found.same


def test_the_interval_is_students_of_the_differences() -> None:
    a, b = [100.0, 120.0, 90.0, 110.0], [103.0, 121.0, 95.0, 113.0]
    found = paired(a, b)
    differences = np.subtract(b, a)
    half = 2.353363 * differences.std(ddof=1) / 2.0
    assert found.difference_ends is not None
    assert found.difference_ends[0] == pytest.approx(differences.mean() - half, rel=1e-6)
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1])
    apart = np.var(a, ddof=1) + np.var(b, ddof=1)
    assert found.variance_reduction == pytest.approx(apart / differences.var(ddof=1))


def test_intervals_cover_the_difference_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    covered = {False: 0, True: 0}
    for _ in range(1000):
        chance = rng.normal(0.0, 0.1, 5)
        a, b = 100 * np.exp(chance), 110 * np.exp(chance + rng.normal(0.0, 0.02, 5))
        ratio = paired(a.tolist(), b.tolist()).ratio
        covered[True] += ratio.low <= 1.1 <= ratio.high
        covered[False] += ratio.low <= 1.12 <= ratio.high
    assert 870 <= covered[True] <= 930
    assert covered[False] < 750


def test_more_comparisons_make_wider_intervals() -> None:
    a, b = [100.0, 120.0, 90.0], [103.0, 121.0, 95.0]
    assert paired(a, b, 3).half_width_fraction > paired(a, b).half_width_fraction
    assert paired(a, b, 3).ratio.confidence == pytest.approx(1 - 0.1 / 3)


def test_a_single_pair_has_no_interval() -> None:
    found = paired([100.0], [110.0])
    assert (found.ratio_ends, found.distinguishable, found.half_width_fraction) == (None, None, math.inf)
    assert found.ratio.value == pytest.approx(1.1)
    two = paired([100.0, 101.0], [110.0, 113.0])  # two points always lie on a line
    assert (two.correlation, two.variance_reduction) == (None, None)
    with pytest.raises(InternalError):
        paired([1.0], [0.0])


# Runs


def test_equal_scenarios_are_exactly_equal_and_another_is_not() -> None:
    assert comparison_by(compared()).differences[0].same
    found = comparison_by(compared(f"B:{FASTER}")).differences[0]
    assert not found.same
    assert found.distinguishable
    assert 1.0 < found.ratio.value < 1.06


def test_common_random_numbers_narrow_the_interval() -> None:
    """Beside the same runs paired with other seeds, which is what independent numbers would give."""
    found = comparison_by(compared(f"B:{FASTER}", seeds=8))
    first, other = ([result.rate_per_min.mean for result in mine] for mine in found.results)
    with_same = found.differences[0]
    independent = paired(first, other[4:] + other[:4])
    assert with_same.half_width_fraction < 0.5 * independent.half_width_fraction
    assert with_same.correlation is not None
    assert with_same.correlation > 0.8
    assert independent.correlation is not None
    assert abs(independent.correlation) < 0.8
    assert with_same.variance_reduction is not None
    assert with_same.variance_reduction > 4.0


def test_the_same_answer_on_any_number_of_workers() -> None:
    one, two = (Comparer(read_sides([TINY, TINY], [f"B:{FASTER}"]), 1) for _ in range(2))
    one.run(2, 1, Silent())
    two.run(2, 2, Silent())
    assert comparison_json(comparison_by(one)) == comparison_json(comparison_by(two))


def test_seeds_go_on_until_the_interval_is_narrow() -> None:
    comparer = Comparer(read_sides([TINY, TINY], ["B:workload.arrivals.clients=3"]), 1)
    comparer.run_until(0.02, 40, 1, Silent())
    found = comparison_by(comparer)
    assert found.differences[0].half_width_fraction <= 0.02
    more = Comparer(comparer.sides, 1)
    more.run_until(0.003, 40, 1, Silent())
    assert len(comparison_by(more).seeds) > len(found.seeds)
    bounded = Comparer(comparer.sides, 1)
    bounded.run_until(1e-6, 6, 1, Silent())
    assert comparison_by(bounded).seeds == [1, 2, 3, 4, 5, 6]


def test_a_saved_run_is_not_run_again(tmp_path: Path) -> None:
    kept, seeds = tmp_path / "kept.json", tmp_path / "seeds.json"
    assert main(["run", TINY, "--seed", "2", "--quiet", "--save", str(kept)]) == 0
    assert main(["run", TINY, "--replications", "2", "--quiet", "--save", str(seeds)]) == 0
    saved, pooled, changed = read_sides([str(kept), str(seeds), str(kept)], [f"C:{FASTER}"])
    assert saved.saved_result is not None
    assert pooled.saved_result is None  # means of several seeds aren't one seed's rates
    assert changed.saved_result is None
    comparer = Comparer([saved, read_sides([TINY, TINY], [])[0]], 2)
    comparer.run(1, 1, Silent())
    found = comparison_by(comparer)
    assert found.results[0][0] is saved.saved_result
    assert found.differences[0].difference_per_min == 0.0


def test_an_interrupted_comparison_shows_the_seeds_that_all_have() -> None:
    comparer = compared(seeds=3)
    del comparer._results[1, 2]
    assert comparison_by(comparer).seeds == [1, 3]
    assert Comparer(comparer.sides, 1).comparison() is None


def test_a_comparison_that_is_interrupted_before_its_first_seed_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Comparer, "run", interrupted)
    assert main(["compare", TINY, TINY, "--quiet"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


# The command


def test_the_table_says_what_differs(capsys: Capture) -> None:
    assert main(["compare", TINY, TINY, "--set", f"B:{FASTER}", "--replications", "3", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert f"B  {TINY}, {FASTER}" in out
    assert "B against A             faster: +" in out
    assert "times less than of independent seeds" in out
    assert main(["compare", TINY, TINY, "--replications", "2", "--quiet"]) == 0
    assert "exactly the same in 2 seeds" in capsys.readouterr().out
    assert main(["compare", TINY, TINY, "--set", f"B:{FASTER}", "--replications", "1", "--quiet"]) == 0
    assert "a single seed says nothing of chance" in capsys.readouterr().out


def test_json_and_csv_say_the_same(capsys: Capture) -> None:
    words = ["compare", TINY, TINY, TINY, "--set", f"C:{FASTER}", "--replications", "2", "--quiet", "--output"]
    assert main([*words, "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert main([*words, "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [side["label"] for side in data["sides"]] == [row["label"] for row in rows] == ["A", "B", "C"]
    assert [row["distinguishable"] for row in rows] == ["", "False", "True"]
    assert float(rows[2]["ratio"]) == pytest.approx(data["differences"][1]["ratio"])
    assert data["differences"][0]["same"]
    assert data["sides"][0]["rates_per_min"] == data["sides"][1]["rates_per_min"]


def test_formulas_differ_exactly_but_not_independently(capsys: Capture) -> None:
    words = ["compare", TINY, TINY, "--set", f"B:{FASTER}", "--engine", "analytic", "--quiet"]
    assert main([*words, "--chance"]) == 0
    assert "independent of each other" in " ".join(capsys.readouterr().out.split())
    assert main([*words, "--replications", "3"]) == 2
    assert "answers every seed alike" in capsys.readouterr().err


def test_a_target_that_none_reaches_is_missed(capsys: Capture) -> None:
    words = ["compare", TINY, TINY, "--engine", "analytic", "--quiet", "--target"]
    assert main([*words, "1e9"]) == 1
    assert "target missed: the best is" in capsys.readouterr().err
    assert main([*words, "100"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([TINY], "compare: got 1 scenarios; give 2 to 26"),
        ([TINY, TINY, "--set", "C:machine.memory_gib=2"], "there is no scenario C; compared are A, B"),
        ([TINY, TINY, "--until", "2"], "--until 2"),
        ([TINY, TINY, "--until", "1 %", "--replications", "2"], "give one of them"),
        ([TINY, "nowhere"], "nowhere: no such file or scenario"),
        ([TINY, TINY, "--set", "B:machine.memory_gib=0.01"], "machine.memory_gib"),
    ],
)
def test_what_makes_no_comparison_is_refused(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["compare", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_side_without_transactions_is_refused() -> None:
    comparer = Comparer(read_sides([TINY, TINY], ["B:interval={start: cold, duration_s: 1}", "B:workload.arrivals={kind: open, transactions_per_s: 1e-6, connections: 1}"]), 1)  # fmt: skip # noqa: E501
    comparer.run(1, 1, Silent())
    with pytest.raises(InputError, match="no transaction ended"):
        comparison_by(comparer)
