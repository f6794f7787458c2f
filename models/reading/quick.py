"""The eight questions a DBA can answer at once, made into a scenario; what was not asked is assumed and said."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from models.catalogue import catalogue_entry, expand_names, with_setting
from models.input import parse_quantity, value_text
from models.reading.assumptions import assumption, key_of, stands_in
from models.reading.drivers import driver_of, warehouses_of
from models.reading.loading import scenario_from_mapping
from models.scenario import ScenarioSpec
from simulator.errors import Infeasible, InputError
from simulator.form import GIB, KIB, MIB

POOL_SHARE = 0.6
"""Share of the memory that system, server process and clients leave free which the buffer pool gets by default."""
OPTIONS = {
    "database": "--database",
    "operating_system": "--os",
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
    answered: Collection[str] = ()
    """The options that were typed, such as --disks; what the others leave open is assumed."""


def scenario_of(questions: Questions, overrides: Sequence[str] = ()) -> tuple[ScenarioSpec, dict[str, Any]]:
    """The scenario that the answers and `overrides` (key=value) describe, and its file's keys.

    Raises InputError for contradictory answers, Infeasible where memory or disks don't suffice.
    """
    data = _mapping(questions, list(map(key_of, overrides)))
    try:
        scenario = scenario_from_mapping(data, "quick", overrides)
    except InputError as error:
        raise type(error)("\n".join(_as_option(line, questions) for line in str(error).splitlines())) from error
    for setting in overrides:
        data = with_setting(expand_names(data, "quick"), setting)
    return scenario, data


def _as_option(problem: str, questions: Questions) -> str:
    """A problem of a key, said of the option that it came from."""
    if not problem.startswith("quick: "):  # a key of --set, whose words say so
        return problem
    where, key, reason = problem.split(": ", 2)
    option = "--pool" if key == "database.pool.buffers" and questions.pool else OPTIONS.get(key, key)
    return f"{where}: {option}: {reason}"


def _mapping(q: Questions, set_keys: Sequence[str]) -> dict[str, Any]:
    database = _named("databases", q.database, "--database")
    system = _named("operating_systems", q.operating_system, "--os")
    warehouses = _warehouses(q)
    limit = ", whose critical section may limit" if database["critical_section"]["share_of_path"] else ""
    assumptions = {
        "database": f"{q.database}{limit}, under {driver_of(q.database)['base']}",
        "machine.cpu": f"{q.cpu} cores",
        "operating_system": q.operating_system,
        "machine.disks.count": "one disk",
        "workload.arrivals.think_time_s": "no think time",
        "interval.start": "warm start",
        "machine.network.clients_on_server": "clients on the server",
    }
    buffers = q.buffers
    if q.pool is not None and buffers is not None:
        raise InputError("quick: --pool and --buffers both say how large the pool is; give one")
    per_buffer = database["pool"]["memory_per_buffer_kib"] * KIB
    if q.pool is not None:
        buffers = int(positive_quantity(q.pool, "memory", "GiB", "--pool") * GIB / per_buffer)
    if buffers is None:
        used = (system["reserved_memory_gib"] + database["process_memory_gib"]) * GIB
        used += q.clients * system["memory_per_client_mib"] * MIB
        free = positive_quantity(q.ram, "memory", "GiB", "--ram") * GIB - used
        if free <= 0:
            raise Infeasible(
                f"quick: --ram {q.ram}: system, server process and {q.clients} clients alone take {used / GIB:.3g} GiB"
            )
        buffers = int(POOL_SHARE * free / per_buffer)
        assumptions = {"database.pool.buffers": f"pool {100 * POOL_SHARE:.0f} % of free memory", **assumptions}
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
            **driver_of(q.database),
            "warehouses": warehouses,
            "arrivals": {"kind": "closed", "clients": q.clients, "think_time_s": q.think},
        },
        "interval": {"start": "warm", "warm_up_s": q.warm_up, "duration_s": q.duration},
        "notes": [
            assumption(words, f"{OPTIONS.get(key, f'--set {key}=...')} changes it")
            for key, words in assumptions.items()
            if OPTIONS.get(key) not in q.answered and not any(stands_in(key, changed) for changed in set_keys)
        ],
    }


def _warehouses(q: Questions) -> int:
    if (q.warehouses is None) == (q.data_size is None):
        raise InputError("quick: say how much data there is: --warehouses N or --data-size '4 GiB', one of them")
    if q.warehouses is not None:
        return q.warehouses
    return warehouses_of(positive_quantity(q.data_size or "", "memory", "GiB", "--data-size"), q.database)


def _named(kind: str, name: str, option: str) -> dict[str, Any]:
    try:
        return catalogue_entry(kind, name)
    except InputError as error:
        raise InputError(f"quick: {option}: {error}") from error


def positive_quantity(text: str, dimension: str, unit: str, where: str, command: str = "quick") -> float:
    """A positive quantity from the command line in `unit`. Raises InputError naming command and option."""
    try:
        value = float(parse_quantity(text, dimension, unit))
    except ValueError as error:
        raise InputError(f"{command}: {where}: got {value_text(text)}; {error}") from error
    if value <= 0:
        raise InputError(f"{command}: {where}: got {text!r}; must be greater than 0")
    return value
