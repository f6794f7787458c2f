"""Popularity of TPC-C's rows, exactly (specification 5.11, clause 2.1.6), and of the pages that they fill."""

from functools import lru_cache

import numpy as np

from oltpsim.simulator.form import FloatArray

ITEMS = 100_000
CUSTOMERS_PER_DISTRICT = 3_000
DISTRICTS = 10
LAST_NAMES = 1_000
ORDERS_LOADED = 3_000
ORDERS_DELIVERED = 2_100
LINES_PER_ORDER = 10
MOST_LINES, FEWEST_LINES = 15, 5
ROWS_AT_ONCE = 4_000_000
"""rows whose popularity is in memory at a time"""
ITEM_A, CUSTOMER_A, NAME_A = 8191, 1023, 255


@lru_cache(maxsize=8)
def nurand_pmf(a: int, low: int, high: int, c: int = 0) -> FloatArray:
    """Exact distribution of NURand(a, low, high) = ((random(0, a) | random(low, high)) - low + c) mod n + low.

    Shape (n,), n = high - low + 1, entry i for value low + i. The specification's constant C is c - low: it only turns
    the values round, and with c = 0 a number drawn is a row's own. `a` must be one less than a power of two. For every
    value y of the second draw the low bits of `y | x` are a superset of y's; each superset is hit by 2^(bits set in y)
    of the a + 1 values of x: a subset-sum transform over the low bits counts them without sampling.
    It can't be written to: every model of a sweep shares it.
    """
    if a < 1 or a & (a + 1):
        raise ValueError(f"a must be 2^k - 1, got {a}")
    bits = a.bit_length()
    size = a + 1
    values = np.arange(low, high + 1)
    blocks = int(high // size) + 1
    counts = np.zeros((blocks, size))
    low_bits = values & a
    np.add.at(counts, (values // size, low_bits), np.exp2(np.bitwise_count(low_bits)))
    for bit in range(bits):
        halves = counts.reshape(blocks, size >> (bit + 1), 2, 1 << bit)
        halves[:, :, 1, :] += halves[:, :, 0, :]
    pmf = np.zeros(high - low + 1)
    flat = counts.reshape(-1)
    reached = np.flatnonzero(flat)
    np.add.at(pmf, (reached - low + c) % len(pmf), flat[reached])
    pmf /= pmf.sum()
    pmf.setflags(write=False)
    return pmf


def uniform_pmf(n: int) -> FloatArray:
    """Even choice among n rows."""
    return np.full(n, 1.0 / n)


def pages_pmf(rows: FloatArray, rows_per_page: int) -> FloatArray:
    """Popularity of pages: the sum over their rows, rows filling pages in key order."""
    padded = np.zeros(-(-len(rows) // rows_per_page) * rows_per_page)
    padded[: len(rows)] = rows
    return np.asarray(padded.reshape(-1, rows_per_page).sum(axis=1))


def stock_pages_pmf(items: FloatArray, suppliers: FloatArray, rows_per_page: int) -> FloatArray:
    """Popularity of stock pages in which an item's rows of all warehouses lie one after another.

    `items`, `suppliers`: popularity of items and of the warehouses that supply them.
    """
    block = rows_per_page * max(1, ROWS_AT_ONCE // (rows_per_page * len(suppliers)))  # that fill whole pages
    parts = [items[first : first + block] for first in range(0, len(items), block)]
    return np.concatenate([pages_pmf(np.outer(part, suppliers).ravel(), rows_per_page) for part in parts])


def even_pages_pmf(rows: int, rows_per_page: int) -> FloatArray:
    """Popularity of pages whose rows are all as popular as each other."""
    filled = np.full(-(-rows // rows_per_page), rows_per_page)
    filled[-1] = rows - rows_per_page * (len(filled) - 1)
    return np.asarray(filled / rows)


def order_age_pmf(customers: FloatArray, most: int) -> FloatArray:
    """Distribution of the age of a customer's last order in orders, 0..most-1; orders choose the customer.

    A customer of share p has ordered last k orders ago with probability p (1-p)^k; what lies beyond `most` is
    spread evenly (the loaded orders have one for each customer).
    """
    ages = np.arange(most)
    pmf = np.zeros(most)
    for share in np.unique(customers):
        weight = float(share) * np.count_nonzero(customers == share)
        pmf += weight * share * (1.0 - share) ** ages
    return np.asarray(pmf + max(0.0, 1.0 - pmf.sum()) / most)
