"""The formulas and solvers of replacement alone: ends, sums, units, what is refused."""

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.simulator.analytic.reading.page_groups import alike
from oltpsim.simulator.analytic.reading.replacement import clock_missing, lru_missing
from oltpsim.simulator.form import MOST_USAGE
from tests.oracles import replacement
from tests.oracles.replacement import (
    Policy,
    characteristic_time,
    frames_missing,
    hit_ratio,
    midpoint_times,
    missing_by_group,
)

FloatArray = npt.NDArray[np.float64]
Formula = Callable[[npt.ArrayLike], FloatArray]
RATES, PAGES = np.array([1e-6, 0.02, 1.0, 30.0, 4e5]), np.array([1e5, 3e4, 1e3, 50.0, 2.0])


def exact_clock_missing(x: Decimal, entry: int) -> Decimal:
    """By elimination in the equations of the mean stay from each count that the hand can leave."""
    states = range(MOST_USAGE)
    hits = [(-x).exp()]
    for number in range(1, MOST_USAGE + 1):
        hits.append(hits[-1] * x / number)
    rows = [[Decimal(int(i == j)) for j in states] + [Decimal(1)] for i in states]
    for count in states:
        for more in range(count == 0, MOST_USAGE - count):
            rows[count][count + more - 1] -= hits[more]
        rows[count][MOST_USAGE - 1] -= 1 - sum(hits[: MOST_USAGE - count])
    for i in states:
        rows[i] = [number / rows[i][i] for number in rows[i]]
        for j in states:
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return 1 / (1 + x * rows[entry][-1])


@pytest.mark.parametrize("x", ["1e-9", "1e-4", "0.03", "0.5", "1", "2.5", "7"])
def test_the_mean_stay_of_clock_is_that_of_its_markov_chain(x: str) -> None:
    with localcontext(prec=400):
        assert is_stay_from(1, Decimal(x))
        assert not is_stay_from(0, Decimal(x))
        assert not is_stay_from(2, Decimal(x))


@pytest.mark.parametrize("x", [30.0, 100.0])
def test_a_page_that_hardly_ever_misses_is_not_rounded_away(x: float) -> None:
    with localcontext(prec=400):
        exact = float(exact_clock_missing(Decimal(x), 1))
    assert float(clock_missing(x)) == pytest.approx(exact, rel=1e-12, abs=0.0)
    assert float(clock_missing(x * (1 + 1e-12))) != pytest.approx(exact, rel=1e-12, abs=0.0)


def is_stay_from(entry: int, x: Decimal) -> bool:
    """Both the missing share, however small, and the share that is there."""
    found, exact = Decimal(float(clock_missing(float(x)))), exact_clock_missing(x, entry)
    missing_differs, present_differs = abs(found / exact - 1), abs((1 - found) / (1 - exact) - 1)
    return missing_differs < Decimal("1e-12") and present_differs < Decimal("1e-6")


@pytest.mark.parametrize(("formula", "slope"), [(lru_missing, 1.0), (clock_missing, 2.0), (frames_missing, 1.5)])
def test_formulas_hold_at_both_ends(formula: Formula, slope: float) -> None:
    """A page that is hardly ever referred to stays for so many revolutions; one that always is, always is there."""
    with np.errstate(all="raise", under="ignore"):
        ends = formula(np.array([0.0, 1e-9, 1e-300, 1e4, np.inf]))
        between = formula(np.geomspace(1e-9, 1e4, 2000))
    assert ends[0] == ends[2] == 1.0
    assert ends[3] == ends[4] == 0.0
    assert (1.0 - ends[1]) / 1e-9 == pytest.approx(slope, rel=1e-6)
    assert (1.0 - ends[1]) / 1e-9 != pytest.approx(1.1 * slope, rel=1e-6)
    assert (np.diff(between) <= 0.0).all()


@pytest.mark.parametrize("policy", ["lru", "clock", "frames", "midpoint"])
def test_what_is_in_the_cache_fills_it(policy: Policy) -> None:
    capacity = np.array([[0.5, 3.0, 100.0], [1e4, 1.2e5, PAGES.sum() * (1 - 1e-9)]])
    missing = missing_by_group(policy, RATES, PAGES, capacity)
    less = missing_by_group(policy, RATES, PAGES, 0.999 * capacity)
    assert missing.shape == (2, 3, 5)
    np.testing.assert_allclose((1.0 - missing) @ PAGES, capacity, rtol=1e-9)
    assert not np.isclose((1.0 - less) @ PAGES, capacity, rtol=1e-9).any()
    each = [float(hit_ratio(policy, RATES, PAGES, one)) for one in capacity.reshape(-1)]
    np.testing.assert_allclose(hit_ratio(policy, RATES, PAGES, capacity).reshape(-1), each, rtol=1e-9)
    assert (np.diff(each) > 0.0).all()


@pytest.mark.parametrize("policy", ["lru", "clock", "frames"])
def test_times_are_in_the_unit_of_the_rates(policy: replacement.SingleTimePolicy) -> None:
    capacity = np.array([10.0, 500.0, 9000.0])
    time = characteristic_time(policy, RATES, PAGES, capacity)
    np.testing.assert_allclose(characteristic_time(policy, 1e6 * RATES, PAGES, capacity), time / 1e6)
    assert (np.diff(time) > 0.0).all()


@pytest.mark.parametrize("policy", ["lru", "clock", "frames", "midpoint"])
def test_all_or_nothing_in_the_cache(policy: Policy) -> None:
    """Pages that nobody refers to take no room: with all others in, all references hit."""
    rates, pages = [2.0, 0.0, 0.5], [10.0, 1000.0, 20.0]
    np.testing.assert_array_equal(hit_ratio(policy, rates, pages, [0.0, 30.0, 2000.0]), [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(missing_by_group(policy, rates, pages, 30.0), [0.0, 1.0, 0.0])
    assert 0.9 < hit_ratio(policy, rates, pages, 29.0) < 1.0


def test_times_of_all_or_nothing() -> None:
    rates, pages, capacities = [2.0, 0.5], [10.0, 20.0], [0.0, 30.0]
    np.testing.assert_array_equal(characteristic_time("clock", rates, pages, capacities), [0.0, np.inf])
    for times in midpoint_times(rates, pages, capacities):
        np.testing.assert_array_equal(times, [0.0, np.inf])


def test_pages_of_one_rate_are_one_group() -> None:
    np.testing.assert_array_equal(alike(np.full(5, 0.25), np.ones(5)), np.zeros(5))
    assert len(np.unique(alike(np.geomspace(0.01, 0.25, 5), np.ones(5)))) == 5


@pytest.mark.parametrize(
    ("rates", "pages", "capacity", "said"),
    [
        ([1.0, -1.0], [1.0, 1.0], 1.0, "rates must be finite"),
        ([1.0, 1.0], [1.0, np.inf], 1.0, "pages must be finite"),
        ([1.0, 1.0], [1.0, 1.0], [1.0, np.nan], "capacity must be finite"),
        ([1.0, 1.0], [1.0], 1.0, "one shape"),
        ([0.0, 1.0], [1.0, 0.0], 1.0, "no page is referred to"),
    ],
)
def test_bad_input_is_refused(rates: list[float], pages: list[float], capacity: npt.ArrayLike, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        characteristic_time("lru", rates, pages, capacity)
    with pytest.raises(ValueError, match=said):
        midpoint_times(rates, pages, capacity)


def test_bad_fractions_and_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="old_fraction"):
        midpoint_times([1.0], [2.0], 1.0, 1.0)
