"""What a request passes on its way to the disks: storage stack and scheduler, their CPU and their turns."""

from dataclasses import astuple

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.models.wiring.paths import costs_of
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FairQueueing
from oltpsim.simulator.kernel import simulate
from tests.models.machine.test_partitions import ARRAY, TINY, tiny

CFQ = "operating_system.io_scheduler={kind: cfq, request_us: 3}"
FILES = "operating_system.storage_stack={kind: file_system, request_us: 5}"


def costs(scenario: ScenarioSpec) -> tuple[int, ...]:
    return astuple(costs_of(scenario.machine, scenario.operating_system, scenario.database))


def test_a_request_costs_what_each_layer_takes() -> None:
    """10 us of the system itself; with direct I/O the writer's requests too, which otherwise write-back pays for."""
    read, write, miss, request = costs(tiny(*ARRAY))
    assert (write, request) == (10_000, 10_000)
    assert costs(tiny(*ARRAY, CFQ)) == (read, write + 3000, miss, request + 3000)
    assert costs(tiny(*ARRAY, FILES)) == (read, write + 5000, miss, request + 5000)
    assert costs(tiny(*ARRAY, FILES, CFQ)) == (read, write + 8000, miss, request + 8000)
    assert costs(tiny(*ARRAY, FILES, "database.io=buffered")) == (read, write, miss, request + 5000)


def test_files_take_system_time_that_raw_devices_leave() -> None:
    raw, files = (simulate(build(tiny(*ARRAY, *more)), 1) for more in ((), (FILES.replace("5}", "100}"),)))
    requests = sum(device.reads_per_s + device.writes_per_s for device in files.devices[:4])
    assert requests > 1000
    more = files.cpu.system / files.transactions_per_s - raw.cpu.system / raw.transactions_per_s
    each = sum(device.reads_per_s for device in files.devices[:4]) + files.devices[0].by_purpose_per_s["writer"] * 4
    assert more * 8 == pytest.approx(each * 100e-6 / files.transactions_per_s, rel=0.15)


def test_the_scheduler_is_the_operating_system_s_and_off_by_default() -> None:
    assert build(tiny(*ARRAY)).fair_queueing is None
    assert build(tiny(*ARRAY, CFQ)).fair_queueing == FairQueueing(4, 100_000_000, 40_000_000)
    named = tiny(*ARRAY, "operating_system.io_scheduler={kind: noop}")
    assert build(named).digest() == build(tiny(*ARRAY)).digest() != build(tiny(*ARRAY, CFQ)).digest()
    with pytest.raises(InputError, match=r"operating_system\.io_scheduler"):
        load_scenario(TINY, ("operating_system.io_scheduler={kind: elevator}",))


def test_clients_that_wait_for_each_other_are_slower() -> None:
    """One partition of twelve disks serves one read at a time: its svctm is a read's latency, and the rate falls."""
    one = (*ARRAY, "machine.disks.sets=1", "workload.arrivals.clients=80", "database.requests_per_file=80")
    noop, cfq = (simulate(build(tiny(*one, *more)), 1) for more in ((), (CFQ,)))
    assert not cfq.broken_laws
    assert cfq.rate_per_min.mean < 0.8 * noop.rate_per_min.mean
    assert noop.devices[0].occupied_per_request_s < 0.5 * cfq.devices[0].occupied_per_request_s
