"""Times changed without reading the program again are those that reading it again gives."""

from dataclasses import replace

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import (
    parameters_of,
    read_workload,
    response_quantiles_s,
    retimed,
    solve,
    stacked,
    striped,
    transactions_key,
)
from oltpsim.simulator.form import System
from tests.simulator.tpcc_systems import TINY

APART = "machine.network={clients_on_server: false, round_trip_us: 100}"
TIMES = (
    "database.path.row_operation_us=55",
    "database.path.transaction_us=90",
    "database.critical_section.share_of_path=0.3",
    "operating_system.cpu.message_us=33",
    "machine.network.round_trip_us=250",
)


def model_of(*settings: str) -> System:
    return build(load_scenario(TINY, (APART, *settings)))


def test_times_are_those_of_the_program_read_again() -> None:
    plain, changed = model_of(), model_of(*TIMES)
    assert transactions_key(plain) == transactions_key(changed)
    found, wanted = retimed(read_workload(plain), changed), read_workload(changed)
    for name in ("user_s", "system_s", "client_s", "network_s", "inside_s"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12), name
    assert [lock.cpu_s for lock in found.locks] == pytest.approx([lock.cpu_s for lock in wanted.locks], rel=1e-12)
    assert wanted.network_s.min() > 0.0
    assert wanted.drawn_s2 == pytest.approx(found.drawn_s2, rel=1e-12)
    assert wanted.user_s[0] != pytest.approx(read_workload(plain).user_s[0], rel=0.01)


def test_machines_of_other_path_lengths_are_solved_together() -> None:
    plain, changed = model_of(), model_of(*TIMES)
    w = read_workload(plain)
    both = stacked([parameters_of(plain, w), parameters_of(changed, retimed(w, changed))])
    together = solve(w, both, "lru").rate
    alone = [solve(read_workload(m), parameters_of(m, read_workload(m)), "lru").rate[0] for m in (plain, changed)]
    assert together == pytest.approx(alone, rel=1e-3)
    assert abs(np.log(alone[0] / alone[1])) > 0.01


def test_percentiles_are_those_of_the_machine_however_its_workload_was_read() -> None:
    """Drawn path lengths and the network's delays are the machine's own, not those of the program read first."""
    long = "database.path.transaction_us=20000"
    first = model_of(long, "database.path.transaction_phases=50")
    other = model_of(long, "database.path.transaction_phases=1", TIMES[-1])
    w = read_workload(first)
    share, new_order = np.array([0.95]), np.array([0])
    found = []
    for workload in (w, read_workload(other)):
        p = parameters_of(other, retimed(workload, other))
        times_s = response_quantiles_s(workload, p, solve(workload, p, "lru"), new_order, share)
        found.append(float(times_s[0, 0, 0]))
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    p = parameters_of(first, w)
    assert found[0] > 1.05 * float(response_quantiles_s(w, p, solve(w, p, "lru"), new_order, share)[0, 0, 0])


@pytest.mark.parametrize("setting", ["workload.warehouses=2", "workload.mix={new_order: 0.46, payment: 0.42}"])
def test_another_workload_is_not_the_same(setting: str) -> None:
    assert transactions_key(model_of()) != transactions_key(model_of(setting))


def test_more_clients_are_the_same_if_as_many_of_them_belong_to_each_warehouse() -> None:
    two, three, four = (
        model_of("workload.warehouses=2", f"workload.arrivals={{kind: closed, clients: {clients}, think_time_s: 1}}")
        for clients in (2, 3, 4)
    )
    assert transactions_key(two) == transactions_key(four)
    assert transactions_key(two) != transactions_key(three)
    w = read_workload(two)
    together = solve(w, stacked([parameters_of(two, w), parameters_of(four, retimed(w, four))]), "lru").rate
    alone = [solve(read_workload(m), parameters_of(m, read_workload(m)), "lru").rate[0] for m in (two, four)]
    assert together == pytest.approx(alone, rel=1e-3)
    assert alone[1] > 1.5 * alone[0]


@pytest.mark.parametrize("devices", [1, 2, 5])
def test_pages_striped_over_other_devices_are_those_of_the_program_read_again(devices: int) -> None:
    plain = model_of()
    other = replace(plain, storage=replace(plain.storage, data_devices=devices))
    assert transactions_key(plain) == transactions_key(other)
    w = read_workload(plain)
    found, wanted = striped(w, devices), read_workload(other)
    assert np.array_equal(found.groups.beside, wanted.groups.beside)
    assert devices == 1 or not np.array_equal(found.groups.beside, w.groups.beside)
    assert found.table("lru") is w.table("lru"), "no cache knows on how many devices its pages lie"
    rate = solve(found, parameters_of(other, found), "lru").rate[0]
    assert rate == pytest.approx(solve(wanted, parameters_of(other, wanted), "lru").rate[0], rel=1e-12)
