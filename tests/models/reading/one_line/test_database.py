"""Databases of described machines: an owner's settings, and the server's own with "as shipped"."""

from __future__ import annotations

import pytest

from oltpsim.models.input import value_at
from oltpsim.models.reading import read_description
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate

REDO, IO_CAPACITY = "database.page_cleaner.redo_capacity_gib", "database.page_cleaner.io_capacity_per_s"
WAL, TIMEOUT, POOL = "database.checkpoint.most_log_gib", "database.checkpoint.interval_s", "database.pool.buffers"


@pytest.mark.parametrize(
    ("line", "key", "usual", "others", "shipped"),
    [
        ("MySQL 8.4, 8 cores, 32 GB, NVMe", REDO, 4, (1, 18), 0.09766),
        ("MySQL 8.0, 4 vCPU, 8 GB, NVMe", REDO, 2, (0.5, 4), 0.09766),
        ("MariaDB 11, 64 cores, 512 GB, NVMe", REDO, 16, (4, 128), 0.09375),
        ("MySQL 8.0, 1 core, 1 GB, NVMe", REDO, 1, (0.25,), 0.09766),
        ("MySQL 8.0, 8 cores, 32 GB, NVMe", IO_CAPACITY, 2000, (1000, 8000), 200),
        ("MySQL 8.0 on r6i.2xlarge + gp3 500 GiB", IO_CAPACITY, 2000, (1000, 8000), 200),
        ("MySQL 8.0, 8 cores, 32 GB, 4 SATA", IO_CAPACITY, 200, (), 200),
        ("MySQL 8.4, 8 cores, 32 GB, NVMe", IO_CAPACITY, 10_000, (1000, 8000), 10_000),
        ("MySQL 8.0, 8 cores, 32 GB, NVMe", "database.io", "direct", ("buffered",), "buffered"),
        ("PostgreSQL, 8 cores, 32 GB, NVMe", WAL, 8, (1, 32), 1),
        ("PostgreSQL, 8 cores, 32 GB, NVMe", TIMEOUT, 900, (300, 1800), 300),
        ("PostgreSQL, 8 cores, 32 GB, NVMe", POOL, 1_026_757, (2_053_514,), 16_384),
        ("MySQL 8.4, 8 cores, 32 GB, NVMe", POOL, 1_443_822, (962_548,), 8192),
        ("MySQL 8.4, 2 cores, 4 GB, NVMe", POOL, 120_318, (180_477,), 8192),
    ],
)
def test_settings_are_what_guides_say_and_the_servers_own_as_shipped(
    line: str, key: str, usual: float | str, others: tuple[float | str, ...], shipped: float | str
) -> None:
    owners, servers = read_description(line), read_description(f"{line}, as shipped")
    assert [value_at(each.scenario, key) for each in (owners, servers)] == [usual, shipped]
    (mine,), (its,) = ([row for row in each.rows if row.key == key] for each in (owners, servers))
    assert mine.piece is None
    assert tuple(value_at(owners.changed(other), key) for other in mine.others) == others
    assert (its.piece, its.others) == ("as shipped", ())


def test_io_capacity_max_is_twice_the_owners_and_the_servers_own_if_he_leaves_it() -> None:
    key = "database.page_cleaner.io_capacity_max_per_s"
    found = [
        value_at(read_description(f"{engine}, 8 cores, NVMe").scenario, key) for engine in ("MySQL 8.0", "MySQL 9")
    ]
    assert found == [4000, 20_000]


def test_the_redo_log_as_shipped_holds_up_a_large_machine_and_the_owners_does_not() -> None:
    """MariaDB on 40 cores: 424,556 new orders/min were measured, with a redo log of a size that its owner had set."""
    line = "MariaDB 11 on 40 cores, 256 GB, NVMe, HammerDB, 1000 warehouses, 80 clients"
    owners, larger, servers = (
        simulate(build(read_description(line + words, sets).scenario), 1).rate_per_min.mean
        for words, sets in (("", ()), ("", (f"{REDO}=128",)), (", as shipped", ("database.pool.buffers=11550579",)))
    )
    assert owners == pytest.approx(larger, rel=1e-3)
    assert servers < owners / 5


def test_a_setting_of_the_line_is_taken_as_shipped_or_not() -> None:
    for words in ("", ", as shipped"):
        found = read_description(f"PostgreSQL, 8 cores, NVMe, max_wal_size 2 GB, shared_buffers 1 GB{words}")
        assert value_at(found.scenario, WAL) == 2
        assert value_at(found.scenario, POOL) == 128_344
        (row,) = [row for row in found.rows if row.key == WAL]
        assert row.piece == "max_wal_size 2 GB"
