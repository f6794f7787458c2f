"""Interrupts: counted, served by processors set aside for them, and dearer on another socket than the device's."""

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.models.wiring.paths import costs_of, interrupts_of
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, read_result, result_json
from tests.simulator.tpcc_systems import TINY
from tests.simulator.twins import differences

FLASH = (
    "machine.disks.disk={kind: flash, name: fast, capacity_gib: 70, read_latency_us: 50, write_latency_us: 50, "
    "parallel_requests: 32, source: 'assumption: for tests'}"
)
READING = (
    FLASH, "database.io=direct", "database.pool.buffers=300", "workload.warehouses=4", "machine.cpu.cores=6",
    "workload.arrivals.clients=24", "interval.duration_s=6", "database.requests_per_file=64",
)  # fmt: skip


def settings(interrupts: str, *more: str) -> list[str]:
    asked = [f"operating_system.interrupts={{{interrupts}}}"] if interrupts else []
    return [*READING, *asked, *more]


def found(interrupts: str, *more: str) -> Result:
    return kernel.simulate(build(load_scenario(TINY, settings(interrupts, *more))), 1)


def test_one_for_each_request_and_those_of_messages() -> None:
    """Counting them changes nothing else."""
    plain, counted = found(""), found("interrupt_us: 5, per_message: 3")
    requests = sum(device.reads_per_s + device.writes_per_s for device in counted.devices)
    assert counted.cpu.interrupts_per_s == pytest.approx(requests + 3 * counted.transactions_per_s)
    assert plain.cpu.interrupts_per_s == 0
    assert counted.rate_per_min == plain.rate_per_min
    assert read_result(result_json(counted)) == counted
    assert "interrupts_per_s" not in result_json(plain)


@pytest.mark.uncounted
@pytest.mark.parametrize("interrupts", ["interrupt_us: 9, bound_processors: 1", "interrupt_us: 1, bound_processors: 3"])
def test_engines_agree(interrupts: str) -> None:
    """Over thousands of interrupts."""
    model = build(load_scenario(TINY, settings(interrupts, "interval.warm_up_s=0", "interval.duration_s=1")))
    assert not differences(model, 1)
    result = kernel.simulate(model, 1)
    assert result.broken_laws == []
    assert result.cpu.interrupts_per_s > 2000


def test_a_processor_set_aside_serves_no_more_than_it_can() -> None:
    """At 1 ms each, one serves 1000 a second and keeps everybody waiting; two serve more."""
    rates = {}
    for bound in (1, 2):
        asked = f"interrupt_us: 1000, per_message: 0, bound_processors: {bound}"
        result = found(asked, "operating_system.cpu.disk_request_us=1000")
        [station] = [each for each in result.stations if each.name == "interrupts"]
        rates[bound] = sum(device.reads_per_s for device in result.devices)
        assert station.utilisation > 0.98
        assert rates[bound] == pytest.approx(1000 * bound, rel=0.02)
        cpu = result.cpu
        assert cpu.by_activity["interrupts"] == pytest.approx(bound / 6, rel=0.02)
        assert cpu.user + cpu.system + cpu.iowait + cpu.idle == pytest.approx(1.0)
        assert cpu.cores == 6
        assert result.bottleneck.name == "interrupts"


def test_a_mapping_by_locality_saves_the_way_to_the_other_socket() -> None:
    def costs(more: str) -> tuple[float, float]:
        sockets = "machine.cpu.sockets=4"
        one = load_scenario(TINY, settings(f"interrupt_us: 6, remote_socket_factor: 3, {more}", sockets))
        interrupts = interrupts_of(one.machine, one.operating_system)
        assert interrupts is not None
        return costs_of(one.machine, one.operating_system, one.database).request_ns, interrupts.served_ns

    assert costs("by_locality: true") == (10_000, 6_000)
    # of four sockets three are remote: 0.75 * (3 - 1) * 6 us more
    assert costs("by_locality: false") == (19_000, 15_000)
    assert costs("bound_processors: 2") == (4_000, 15_000)


def test_the_analytic_engine_counts_them_too_and_says_what_it_leaves_out() -> None:
    asked = settings("interrupt_us: 5, bound_processors: 1")
    model = build(load_scenario(TINY, asked))
    calculated, simulated = analytic.simulate(model, 1), kernel.simulate(model, 1)
    assert calculated.cpu.interrupts_per_s == pytest.approx(simulated.cpu.interrupts_per_s, rel=0.15)
    assert any("set aside for interrupts" in warning for warning in calculated.warnings)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("machine.cpu.cores=2", "fewer than the machine's 2 cores"),
        ("machine.cpu.threads_per_core=2", "can't be set aside"),
    ],
)
def test_what_cannot_be_set_aside(more: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_scenario(TINY, settings("interrupt_us: 5, bound_processors: 2", more))
