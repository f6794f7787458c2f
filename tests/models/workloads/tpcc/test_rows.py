"""Which rows TPC-C chooses: NURand against every pair of its two draws, and the shares that were published."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.workloads.tpcc import rows as tpcc_rows
from oltpsim.models.workloads.tpcc.rows import (
    CUSTOMER_A,
    CUSTOMERS_PER_DISTRICT,
    ITEM_A,
    ITEMS,
    LAST_NAMES,
    NAME_A,
    nurand_pmf,
    order_age_pmf,
    pages_pmf,
    stock_pages_pmf,
    uniform_pmf,
)
from oltpsim.simulator.form import FloatArray


def hottest_share(pmf: FloatArray, fraction: float) -> float:
    """Share of accesses that go to the hottest `fraction` of rows or pages."""
    ordered = np.sort(pmf)[::-1]
    return float(ordered[: round(fraction * len(pmf))].sum())


def enumerated(a: int, low: int, high: int, c: int) -> FloatArray:
    """Every pair of draws, each as probable as the others."""
    n = high - low + 1
    pmf = np.zeros(n)
    for x, y in itertools.product(range(a + 1), range(low, high + 1)):
        pmf[((x | y) - low + c) % n] += 1
    return pmf / ((a + 1) * n)


@given(bits=st.integers(1, 5), low=st.integers(0, 5), n=st.integers(1, 60), c=st.integers(0, 40))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_nurand_is_what_all_pairs_give(bits: int, low: int, n: int, c: int) -> None:
    a = (1 << bits) - 1
    exact = nurand_pmf(a, low, low + n - 1, c)
    assert exact == pytest.approx(enumerated(a, low, low + n - 1, c), abs=1e-12)
    assert exact.sum() == pytest.approx(1.0, abs=1e-12)


def test_another_mask_or_sum_is_told_apart() -> None:
    exact = nurand_pmf(7, 1, 30)
    for other in (nurand_pmf(15, 1, 30), nurand_pmf(7, 0, 29), nurand_pmf(7, 1, 30, 5), uniform_pmf(30)):
        assert np.abs(exact - other).max() > 0.005
    for wrong in (0, 6, 8190):
        with pytest.raises(ValueError, match="2\\^k - 1"):
            nurand_pmf(wrong, 1, 30)


def test_constant_only_turns_the_numbers_round() -> None:
    assert nurand_pmf(7, 1, 30, 5) == pytest.approx(np.roll(nurand_pmf(7, 1, 30), 5))


def test_hottest_fifth_of_rows_and_pages_is_as_published() -> None:
    """Leutenegger and Dias, SIGMOD 1993: 84 % of accesses go to 20 % of the items; less skew by page."""
    items = nurand_pmf(ITEM_A, 1, ITEMS)
    customers = nurand_pmf(CUSTOMER_A, 1, CUSTOMERS_PER_DISTRICT)
    assert hottest_share(items, 0.2) == pytest.approx(0.844, abs=0.0005)
    assert hottest_share(pages_pmf(items, 24), 0.2) == pytest.approx(0.73, abs=0.005)
    assert hottest_share(pages_pmf(customers, 12), 0.2) == pytest.approx(0.65, abs=0.005)


def test_other_masks_pages_and_even_choice_give_other_shares() -> None:
    items = nurand_pmf(ITEM_A, 1, ITEMS)
    assert hottest_share(nurand_pmf(CUSTOMER_A, 1, ITEMS), 0.2) < 0.80
    assert hottest_share(pages_pmf(items, 12), 0.2) > 0.75
    assert hottest_share(pages_pmf(items, 80), 0.2) < 0.68
    assert hottest_share(uniform_pmf(ITEMS), 0.2) == pytest.approx(0.2)
    assert hottest_share(pages_pmf(uniform_pmf(ITEMS), 24), 0.2) == pytest.approx(0.2, abs=0.001)
    scattered = np.random.default_rng(1).permutation(items)
    assert hottest_share(pages_pmf(scattered, 24), 0.2) < 0.6, "hot rows lie together: their order counts"


def test_last_names_are_as_skewed_as_their_mask_says() -> None:
    """By the rule of clause 2.1.6: mask 255 over 1000 names, of which the hottest is drawn by all bits set."""
    names = nurand_pmf(NAME_A, 0, LAST_NAMES - 1)
    assert len(names) == LAST_NAMES
    assert names == pytest.approx(enumerated(NAME_A, 0, LAST_NAMES - 1, 0), abs=1e-12)
    assert int(names.argmax()) in {255, 511, 767}


@given(rows=st.integers(1, 50), per_page=st.integers(1, 60))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_page_is_as_popular_as_its_rows(rows: int, per_page: int) -> None:
    weights = np.arange(1.0, rows + 1)
    pages = pages_pmf(weights, per_page)
    by_hand = [weights[first : first + per_page].sum() for first in range(0, rows, per_page)]
    assert pages == pytest.approx(by_hand)


def test_age_of_the_last_order_is_geometric() -> None:
    """Two customers of shares 0.75 and 0.25: p (p (1-p)^k) summed by hand; even shares give another distribution."""
    most = 200
    ages = order_age_pmf(np.array([0.75, 0.25]), most)
    by_hand = [sum(p * p * (1 - p) ** k for p in (0.75, 0.25)) for k in range(most)]
    assert ages == pytest.approx(by_hand, abs=1e-12)
    assert np.abs(order_age_pmf(np.array([0.5, 0.5]), most) - ages).max() > 0.1
    assert order_age_pmf(np.array([1.0]), 5).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_age_of_the_last_order_by_playing_it() -> None:
    """Orders drawn one after another: mean age of a customer's last order over 40,000 draws."""
    customers = nurand_pmf(7, 1, 40)
    rng = np.random.default_rng(5)
    orders = rng.choice(40, size=60_000, p=customers)
    asked = rng.choice(40, size=60_000, p=customers)
    last: dict[int, int] = {}
    ages = []
    for now, (customer, wanted) in enumerate(zip(orders.tolist(), asked.tolist(), strict=True)):
        if now >= 20_000 and wanted in last:
            ages.append(now - 1 - last[wanted])
        last[customer] = now
    expected = float((order_age_pmf(customers, 3000) * np.arange(3000)).sum())
    error = float(np.std(ages)) / len(ages) ** 0.5
    assert abs(float(np.mean(ages)) - expected) < 4 * error
    assert abs(20.0 - expected) > 4 * error


@pytest.mark.parametrize(("at_once", "agrees"), [(4_000_000, True), (100, True), (None, False)])
def test_stock_by_item_is_summed_in_blocks_of_whole_pages(
    at_once: int | None, agrees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the whole table at once, of 300 rows, 24 to a page. The twin: blocks of one item, which end within pages."""
    items, suppliers, per_page = np.arange(1.0, 61.0), np.array([0.7, 0.2, 0.1, 0.0, 0.0]), 24
    whole = pages_pmf(np.outer(items, suppliers).ravel(), per_page)
    if at_once:
        monkeypatch.setattr(tpcc_rows, "ROWS_AT_ONCE", at_once)
        found = stock_pages_pmf(items, suppliers, per_page)
    else:
        found = np.concatenate([pages_pmf(item * suppliers, per_page) for item in items])
    assert (len(found) == len(whole) and np.allclose(found, whole)) == agrees
