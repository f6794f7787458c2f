"""The eight questions a DBA can answer at once, made into a scenario; what was not asked is assumed and said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from models.catalogue import catalogue_entry
from models.composition import compose
from models.loading import scenario_from_mapping
from models.problems import shown
from models.quantities import parse
from models.specs import ScenarioSpec
from models.specs.workload import LayoutSpec
from models.system import GIB, KIB, MIB
from models.tpcc_tables import loaded_pages
from simulator.errors import Infeasible, InputError

POOL_SHARE = 0.6
"""Share of the memory that system, server process and clients leave free which the buffer pool gets by default."""
OPTIONS = {
    "machine.memory_gib": "--ram",
    "machine.cpu": "--cpu",
    "machine.cpu.cores": "--cores",
    "machine.disks.disk": "--disk",
    "machine.disks.count": "--disks",
    "database.pool.buffers": "--buffers",
    "workload.warehouses": "--warehouses",
    "workload.arrivals.clients": "--clients",
    "workload.arrivals.think_time_s": "--think",
    "interval.warm_up_s": "--warm-up",
    "interval.duration_s": "--duration",
}
"""Which option a key of the scenario comes from."""
RATIO_OF_MIX = "virtuoso-tpcc"


@dataclass(frozen=True)
class Questions:
    """The answers, as typed. `data_size` stands for warehouses, `pool` and `buffers` for the default pool."""

    ram: str
    cores: int
    disk: str
    disks: int
    warehouses: int | None
    data_size: str | None
    clients: int
    database: str
    cpu: str
    operating_system: str
    buffers: int | None
    pool: str | None
    think: str
    warm_up: str
    duration: str


def scenario_of(questions: Questions) -> tuple[ScenarioSpec, dict[str, Any]]:
    """The scenario that the answers describe, and its file's keys.

    Raises InputError for contradictory answers, Infeasible where memory or disks don't suffice.
    """
    data = _mapping(questions)
    try:
        return scenario_from_mapping(data, "quick"), data
    except InputError as error:
        raise type(error)("\n".join(_as_option(line, questions) for line in str(error).splitlines())) from error


def _as_option(problem: str, questions: Questions) -> str:
    """A problem of a key, said of the option that it came from."""
    where, key, rest = problem.split(": ", 2)
    option = "--pool" if key == "database.pool.buffers" and questions.pool else OPTIONS.get(key, key)
    return f"{where}: {option}: {rest}"


def _mapping(q: Questions) -> dict[str, Any]:
    database, system = (
        _named("databases", q.database, "--database"),
        _named("operating_systems", q.operating_system, "--os"),
    )
    warehouses, assumptions = _warehouses(q, database), []
    buffers = q.buffers
    if q.pool is not None and buffers is not None:
        raise InputError("quick: --pool and --buffers both say how large the pool is; give one")
    per_buffer = database["pool"]["memory_per_buffer_kib"] * KIB
    if q.pool is not None:
        buffers = int(quantity(q.pool, "memory", "GiB", "--pool") * GIB / per_buffer)
    if buffers is None:
        taken = (system["reserved_memory_gib"] + database["process_memory_gib"]) * GIB
        taken += q.clients * system["memory_per_client_mib"] * MIB
        free = quantity(q.ram, "memory", "GiB", "--ram") * GIB - taken
        if free <= 0:
            raise Infeasible(
                f"quick: --ram {q.ram}: system, server process and {q.clients} clients alone take {taken / GIB:.3g} GiB"
            )
        buffers = int(POOL_SHARE * free / per_buffer)
        assumptions.append(
            f"assumption: the pool gets {POOL_SHARE:.0%} of free memory, {buffers:,} buffers; --buffers changes it"
        )
    assumptions.append(f"assumption: cores as fast as catalogue entry '{q.cpu}'; --cpu changes it")
    assumptions.append(f"assumption: {q.operating_system} and its defaults; --os changes it")
    return {
        "name": f"{q.ram} RAM, {q.cores} cores, {q.disks} x {q.disk}, {warehouses} warehouses, {q.clients} clients",
        "machine": {
            "name": "a machine described by quick",
            "cpu": {"base": q.cpu, "cores": q.cores},
            "memory_gib": q.ram,
            "disks": {"disk": q.disk, "count": q.disks},
            "source": "assumption: as asked",
        },
        "operating_system": q.operating_system,
        "database": {"base": q.database, "pool": {"buffers": buffers}},
        "workload": {
            "base": RATIO_OF_MIX,
            "warehouses": warehouses,
            "arrivals": {"kind": "closed", "clients": q.clients, "think_time_s": q.think},
        },
        "interval": {"start": "warm", "warm_up_s": q.warm_up, "duration_s": q.duration},
        "notes": assumptions,
    }


def _warehouses(q: Questions, database: dict[str, Any]) -> int:
    if (q.warehouses is None) == (q.data_size is None):
        raise InputError("quick: say how much data there is: --warehouses N or --data-size '4 GiB', one of them")
    if q.warehouses is not None:
        return q.warehouses
    layout = LayoutSpec.model_validate(compose(RATIO_OF_MIX, "quick", "workload")["layout"])
    wanted = quantity(q.data_size or "", "memory", "GiB", "--data-size") * GIB
    return max(1, int(wanted / (loaded_pages(layout, 1) * database["page_kib"] * KIB)))


def _named(kind: str, name: str, option: str) -> dict[str, Any]:
    try:
        return catalogue_entry(kind, name)
    except InputError as error:
        raise InputError(f"quick: {option}: {error}") from error


def quantity(text: str, dimension: str, unit: str, where: str) -> float:
    """A positive quantity from the command line in `unit`. Raises InputError naming the option."""
    try:
        value = float(parse(text, dimension, unit))
    except ValueError as error:
        raise InputError(f"quick: {where}: {shown(text)}; {error}") from error
    if value <= 0:
        raise InputError(f"quick: {where}: got {text!r}; must be greater than 0")
    return value
