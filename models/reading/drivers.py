"""Drivers of TPC-C by engine, with the layout of its rows, and how large a warehouse is."""

from typing import Any

from oltpsim.models.catalogue import expand_names
from oltpsim.models.input import validated
from oltpsim.models.workloads import LayoutSpec
from oltpsim.models.workloads.tpcc import loaded_pages
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

DEFAULT_DATABASE = "postgresql-15"
"""engine of a machine of today that nobody names"""
OF_POSTGRESQL = {
    "go-tpc": {"base": "go-tpc"},
    "HammerDB": {"base": "hammerdb-postgresql"},
    "sysbench-tpcc": {"base": "sysbench-tpcc", "layout": "tpcc-postgresql"},
    "BenchBase": {"base": "benchbase"},
}
OF_INNODB = {
    "HammerDB": {"base": "hammerdb-mysql"},
    "go-tpc": {"base": "go-tpc", "layout": "tpcc-innodb-16k"},
    "sysbench-tpcc": {"base": "sysbench-tpcc"},
    "tpcc-mysql": {"base": "tpcc-mysql"},
    "BenchBase": {"base": "benchbase", "layout": "benchbase-innodb-16k"},
}
DRIVERS = {
    **dict.fromkeys((f"postgresql-{release}" for release in range(13, 19)), ("go-tpc", OF_POSTGRESQL)),
    **dict.fromkeys(("mysql-5-7", "mysql-8-0", "mysql-8-4", "mysql-9"), ("HammerDB", OF_INNODB)),
    **dict.fromkeys(("mariadb-10-6", "mariadb-10-11", "mariadb-11", "mariadb-12"), ("HammerDB", OF_INNODB)),
    "percona-5-7": ("tpcc-mysql", OF_INNODB),
}
"""name of the usual driver by engine, and workloads of the catalogue by the drivers' names, with the layout of the
engine's rows where the workload has another engine's"""
PUBLISHED_DRIVERS = {
    "oracle-10g": {"base": "virtuoso-tpcc", "layout": "tpcc-oracle-4k"},
    "mysql-5-1": {"base": "virtuoso-tpcc", "layout": "tpcc-16k"},
}
"""workloads of engines that the Virtuoso articles' driver measured, where rows have a layout of their own"""
OTHER_PUBLISHED_DRIVERS = {("mysql-5-1", "tpcc-mysql"): {"base": "tpcc-mysql"}}
"""further drivers of those engines, whose own layout has the engine's rows"""
VIRTUOSO_DRIVER = {"base": "virtuoso-tpcc"}


def driver_of(engine: str, driver_name: str | None = None) -> dict[str, Any]:
    """Keys of the workload by which an engine of the catalogue is measured: base, and layout if it has its own.

    `driver_name`: None for the usual driver. Raises InputError if that driver's rows have no layout for the engine.
    """
    if engine in DRIVERS:
        usual, drivers = DRIVERS[engine]
        if driver_name is None or driver_name in drivers:
            return dict(drivers[driver_name or usual])
        raise InputError(f"{engine} isn't measured by {driver_name} here; it has {', '.join(drivers)}")
    if (found := OTHER_PUBLISHED_DRIVERS.get((engine, driver_name or ""))) is not None:
        return dict(found)
    if driver_name is not None:
        raise InputError(f"{engine} isn't measured by {driver_name} here; leave it out for the published runs' driver")
    return dict(PUBLISHED_DRIVERS.get(engine, VIRTUOSO_DRIVER))


def kind_of(engine: str) -> str:
    """postgresql, innodb, or nothing of an engine that isn't of today."""
    return "postgresql" if is_postgresql(engine) else "innodb" if engine in DRIVERS else ""


def usual_driver(engine: str) -> str:
    """Name of the driver by which an engine is usually measured; none of the published engines has one."""
    return DRIVERS[engine][0] if engine in DRIVERS else ""


def is_postgresql(engine: str) -> bool:
    """Whether an engine of the catalogue is a release of PostgreSQL."""
    return DRIVERS.get(engine, ("", {}))[1] is OF_POSTGRESQL


def database_keys(engine: str) -> dict[str, Any]:
    """Keys of an engine of the catalogue, over those of the one that it is based on. Raises InputError."""
    keys: dict[str, Any] = expand_names(engine, "engine", "database")
    return keys


def gib_per_warehouse(engine: str, driver_name: str | None = None) -> float:
    """Tables and indexes of a warehouse as loaded, in GiB. Raises InputError for an unknown engine or driver."""
    driver = driver_of(engine, driver_name)
    name = driver.get("layout") or expand_names(driver["base"], "driver", "workload")["layout"]
    keys = expand_names(name, "driver", "workload.layout") if isinstance(name, str) else name
    page_kib = float(database_keys(engine)["page_kib"])
    return loaded_pages(validated(LayoutSpec, keys, "layout"), 1) * page_kib * KIB / GIB
