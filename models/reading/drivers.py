"""Drivers of TPC-C by engine, with the layout of its rows, and how many warehouses data of a size is."""

from typing import Any

from models.catalogue import catalogue_entry, expand_names
from models.input import validated
from models.workloads import LayoutSpec
from models.workloads.tpcc import loaded_pages
from simulator.errors import InputError
from simulator.form import GIB, KIB

DEFAULT_DATABASE = "postgresql-15"
"""of a machine of today whose engine nobody names"""
DRIVERS = {
    "postgresql-15": {"base": "go-tpc"},
    "mysql-8-4": {"base": "hammerdb-mysql"},
    "mysql-8-0": {"base": "hammerdb-mysql"},
    "percona-5-7": {"base": "tpcc-mysql"},
    "mariadb-10-11": {"base": "hammerdb-mysql"},
    "mariadb-12": {"base": "hammerdb-mysql"},
    "oracle-10g": {"base": "virtuoso-tpcc", "layout": "tpcc-oracle-4k"},
    "mysql-5-1": {"base": "virtuoso-tpcc", "layout": "tpcc-16k"},
}
"""workloads of the catalogue by engine, with the layout of its rows where the workload has another engine's"""
VIRTUOSO_DRIVER = {"base": "virtuoso-tpcc"}
OF_POSTGRESQL = {
    "HammerDB": {"base": "hammerdb-postgresql"},
    "go-tpc": {"base": "go-tpc"},
    "sysbench-tpcc": {"base": "sysbench-tpcc", "layout": "tpcc-postgresql"},
}
OF_INNODB = {
    "HammerDB": {"base": "hammerdb-mysql"},
    "go-tpc": {"base": "go-tpc", "layout": "tpcc-innodb-16k"},
    "sysbench-tpcc": {"base": "sysbench-tpcc"},
    "tpcc-mysql": {"base": "tpcc-mysql"},
}
NAMED = {
    "postgresql-15": OF_POSTGRESQL,
    **dict.fromkeys(("mysql-8-4", "mysql-8-0", "percona-5-7", "mariadb-10-11", "mariadb-12"), OF_INNODB),
}
"""drivers that somebody may name, by engine"""


def driver_of(engine: str, named: str | None = None) -> dict[str, Any]:
    """Keys of the workload by which an engine of the catalogue is measured: base, and layout if it has its own.

    `named`: a driver by its own name; None for the usual one. Raises InputError if it measures no such engine here.
    """
    if named is None:
        return dict(DRIVERS.get(engine, VIRTUOSO_DRIVER))
    drivers = NAMED.get(engine, {})
    if named not in drivers:
        known = f"it has {', '.join(drivers)}" if drivers else "leave the driver out: it has that of the published runs"
        raise InputError(f"{engine} isn't measured by {named} here; {known}")
    return dict(drivers[named])


def database_keys(engine: str) -> dict[str, Any]:
    """Keys of an engine of the catalogue, over those of the one that it is based on. Raises InputError."""
    keys: dict[str, Any] = expand_names(engine, "engine", "database")
    return keys


def gib_per_warehouse(engine: str, named: str | None = None) -> float:
    """Tables and indexes of a warehouse as loaded, in GiB. Raises InputError for an unknown engine or driver."""
    driver = driver_of(engine, named)
    name = driver.get("layout") or expand_names(driver["base"], "driver", "workload")["layout"]
    keys = catalogue_entry("layouts", name) if isinstance(name, str) else name
    page_kib = float(database_keys(engine)["page_kib"])
    return loaded_pages(validated(LayoutSpec, keys, "layout"), 1) * page_kib * KIB / GIB


def warehouses_of(data_gib: float, engine: str, named: str | None = None) -> int:
    """Warehouses whose tables and indexes as loaded are about so large, at least one. Raises InputError."""
    return max(1, round(data_gib / gib_per_warehouse(engine, named)))
