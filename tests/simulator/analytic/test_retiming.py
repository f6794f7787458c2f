"""Times changed without reading the program again are those that reading it again gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.build import build
from models.reading import load_scenario
from simulator.analytic import (
    outline_of,
    parameters_of,
    read_workload,
    retimed,
    solve,
    stacked,
    striped,
)
from simulator.form import System
from tests.simulator.tpcc_systems import TINY

TIMES = (
    "database.path.row_operation_us=55",
    "database.path.transaction_us=90",
    "database.critical_section.share_of_path=0.3",
    "operating_system.cpu.message_us=33",
    "machine.network.round_trip_us=250",
)


def model_of(*settings: str) -> System:
    return build(load_scenario(TINY, settings))


def test_times_are_those_of_the_program_read_again() -> None:
    plain, changed = model_of(), model_of(*TIMES)
    assert outline_of(plain) == outline_of(changed)
    found, wanted = retimed(read_workload(plain), changed), read_workload(changed)
    for name in ("user_s", "system_s", "client_s", "network_s", "inside_s"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12), name
    assert [lock.cpu_s for lock in found.locks] == pytest.approx([lock.cpu_s for lock in wanted.locks], rel=1e-12)
    assert wanted.user_s[0] != pytest.approx(read_workload(plain).user_s[0], rel=0.01)


def test_machines_of_other_path_lengths_are_solved_together() -> None:
    plain, changed = model_of(), model_of(*TIMES)
    w = read_workload(plain)
    both = stacked([parameters_of(plain, w), parameters_of(changed, retimed(w, changed))])
    together = solve(w, both, "lru").rate
    alone = [solve(read_workload(m), parameters_of(m, read_workload(m)), "lru").rate[0] for m in (plain, changed)]
    assert together == pytest.approx(alone, rel=1e-3)
    assert abs(np.log(alone[0] / alone[1])) > 0.01


@pytest.mark.parametrize("setting", ["workload.warehouses=2", "workload.mix={new_order: 0.46, payment: 0.42}"])
def test_another_workload_is_not_the_same(setting: str) -> None:
    assert outline_of(model_of()) != outline_of(model_of(setting))


def test_more_clients_are_the_same_if_as_many_of_them_belong_to_each_warehouse() -> None:
    two, three, four = (
        model_of("workload.warehouses=2", f"workload.arrivals={{kind: closed, clients: {clients}, think_time_s: 1}}")
        for clients in (2, 3, 4)
    )
    assert outline_of(two) == outline_of(four)
    assert outline_of(two) != outline_of(three)
    w = read_workload(two)
    together = solve(w, stacked([parameters_of(two, w), parameters_of(four, retimed(w, four))]), "lru").rate
    alone = [solve(read_workload(m), parameters_of(m, read_workload(m)), "lru").rate[0] for m in (two, four)]
    assert together == pytest.approx(alone, rel=1e-3)
    assert alone[1] > 1.5 * alone[0]


@pytest.mark.parametrize("devices", [1, 2, 5])
def test_pages_striped_over_other_devices_are_those_of_the_program_read_again(devices: int) -> None:
    plain = model_of()
    other = replace(plain, storage=replace(plain.storage, data_devices=devices))
    assert outline_of(plain) == outline_of(other)
    w = read_workload(plain)
    found, wanted = striped(w, devices), read_workload(other)
    assert np.array_equal(found.groups.beside, wanted.groups.beside)
    assert devices == 1 or not np.array_equal(found.groups.beside, w.groups.beside)
    assert found.table("lru") is w.table("lru"), "no cache knows on how many devices its pages lie"
    rate = solve(found, parameters_of(other, found), "lru").rate[0]
    assert rate == pytest.approx(solve(wanted, parameters_of(other, wanted), "lru").rate[0], rel=1e-12)
