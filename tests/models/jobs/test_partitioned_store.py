"""A partitioned in-memory store: closed forms, laws, one trajectory, and what was measured of one."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.jobs.store_model import store_model
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import PartitionedStoreSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System
from tests.oracles.exact_networks import exact
from tests.oracles.network import Network
from tests.simulator.twins import differences

LIBRARY = Path(__file__).resolve().parents[3] / "scenarios" / "library" / "scaleout"
QUERIES, UPDATES = LIBRARY / "queries.yaml", LIBRARY / "updates.yaml"
SMALL = ("machine.cpu.cores=2", "machine.cpu.relative_speed=1", "job.jvms_per_client_machine=2",
         "job.threads_per_jvm=3", "job.duration_s=2", "job.warm_up_s=0.2")  # fmt: skip
NO_PAUSES = ("job.client_collector=null", "job.server_collector=null")
SLOW = ("job.query={client_us: 1000, server_us: 700}", "job.update={client_us: 900, server_us: 800, copy_us: 500}")


def scenario(*settings: str, path: Path = QUERIES) -> ScenarioSpec:
    return load_scenario(path, [*settings])


def answer(*settings: str, path: Path = QUERIES, seed: int = 1) -> JobResult:
    return run_job(scenario(*settings, path=path), seed)


def model(*settings: str) -> System:
    asked = scenario(*settings)
    assert isinstance(asked.job, PartitionedStoreSpec)
    return store_model(asked, asked.job)


def exact_rate(servers: int, cores: int, threads: int, client_s: float, server_s: float, way_s: float) -> float:
    """Requests per second of the product-form network: every core is a station, visited by chance."""
    stations = servers * cores
    demands = [client_s / stations] * stations + [server_s / stations] * stations
    network = Network(
        demands_s=np.array([demands]), servers=np.ones(2 * stations), populations=np.array([float(threads)]),
        think_s=np.array([way_s]),
    )  # fmt: skip
    return float(exact(network).throughput_per_s[0])


def test_without_pauses_it_is_a_product_form_network() -> None:
    """Client machines are not alike here by symmetry alone: each has its own threads; so one of each."""
    settings = (*SMALL, *SLOW, *NO_PAUSES, "job.servers=1", "job.copies=0", "job.duration_s=60",
                "job.key_kib=0", "job.row_kib=0")  # fmt: skip
    found = answer(*settings)
    low, high = found.also["requests/s, from (90 %)"], found.also["requests/s, to (90 %)"]
    margin = high - low
    rate = exact_rate(1, 2, 6, 1000e-6, 700e-6, 100e-6)
    assert low - margin < rate < high + margin
    assert not low - margin < exact_rate(1, 2, 5, 1000e-6, 700e-6, 100e-6) < high + margin, "a thread less is refused"
    assert math.isclose(found.cpu_cores_busy, found.value * 700e-6, rel_tol=0.02)
    assert math.isclose(sum(found.parts_s.values()), 6 / found.value, rel_tol=0.01), "Little's law"


def test_one_threads_response_is_the_sum_of_its_parts() -> None:
    """Nobody to wait for: messages, ways, bursts, and the collector's pause once in so many requests."""
    alone = ("job.servers=1", "job.copies=0", "job.jvms_per_client_machine=1", "job.threads_per_jvm=1",
             "job.node_gbit_per_s=0.1", "job.backplane_gbit_per_s=0.05", "job.duration_s=60",
             "job.client_collector={young_mib: 1, garbage_kib: 64, pause_ms: 20}", "job.server_collector=null",
             "job.key_kib=1", "job.row_kib=2")  # fmt: skip
    found = answer(*SMALL, *SLOW, *alone)
    bits = 3 * 1024 * 8
    expected = 1000e-6 + 700e-6 + 100e-6 + bits / 1e8 + bits / 5e7 + 20e-3 / 16
    assert math.isclose(found.also["query ms, mean"] / 1e3, expected, rel_tol=0.02)
    assert not math.isclose(found.also["query ms, mean"] / 1e3, expected - 20e-3 / 16, rel_tol=0.02)
    assert math.isclose(found.parts_s["pauses of clients"], 20e-3 / 16, rel_tol=0.1)


def test_an_update_waits_for_its_copy() -> None:
    alone = ("job.servers=2", "job.client_machines=1", "job.jvms_per_client_machine=1", "job.threads_per_jvm=1",
             "job.update_fraction=1", "job.duration_s=30")  # fmt: skip
    found = answer(*SMALL, *SLOW, *NO_PAUSES, *alone)
    without = answer(*SMALL, *SLOW, *NO_PAUSES, *alone, "job.copies=0")
    expected = (900 + 800 + 100) * 1e-6
    assert math.isclose(without.also["update ms, mean"] / 1e3, expected, rel_tol=0.02)
    assert math.isclose(found.also["update ms, mean"] / 1e3, expected + (500 + 100) * 1e-6, rel_tol=0.02)


@pytest.mark.parametrize("settings", [(), ("job.copies=0",), ("job.servers=3", "job.update_fraction=0.5")])
def test_stores_give_one_trajectory(settings: tuple[str, ...]) -> None:
    pauses = "job.client_collector={young_mib: 1, garbage_kib: 30, pause_ms: 5}"
    shorter = ("job.duration_s=0.2", "job.warm_up_s=0", "job.update_fraction=0.3", *settings)
    assert differences(model(*SMALL, *SLOW, pauses, *shorter), 5) == []


def test_throughput_grows_with_the_servers_as_measured() -> None:
    """Linear within 3 %, server processors near 40 % busy, and the shares of queries, each within 5 points."""
    rates = {}
    for servers in (2, 10):
        found = answer(f"job.servers={servers}", "job.duration_s=1")
        rates[servers] = found.value
        assert abs(found.also["server processors busy, share"] - 0.40) < 0.02
        shares = [found.also[f"query under {limit} ms, share"] for limit in (1, 2, 5)]
        assert np.abs(np.array(shares) - (0.75, 0.93, 0.98)).max() < 0.05
    assert abs(rates[10] / rates[2] / 5 - 1) < 0.03
    narrow = [answer(f"job.servers={servers}", "job.duration_s=0.5", "job.backplane_gbit_per_s=5").value
              for servers in (2, 10)]  # fmt: skip
    assert narrow[1] / narrow[0] / 5 < 0.9, "a backplane that all share and that is full isn't linear"


def test_pauses_of_servers_stop_everybody_the_more_the_more_there_are() -> None:
    """The bound that linear throughput sets to them: what is lost grows with the servers."""
    pauses = "job.server_collector={young_mib: 640, garbage_kib: 2, pause_ms: 100}"
    rates = {servers: answer(f"job.servers={servers}", pauses).value for servers in (2, 10)}
    assert rates[10] / rates[2] / 5 < 0.9


@pytest.mark.parametrize("path", [UPDATES, LIBRARY / "mix.yaml"])
def test_updates_are_linear_too(path: Path) -> None:
    rates = {n: answer(f"job.servers={n}", "job.duration_s=1", path=path).value for n in (2, 10)}
    assert abs(rates[10] / rates[2] / 5 - 1) < 0.03


def test_updates_are_within_what_was_measured_at_two_servers_and_ten() -> None:
    """Over 80 % under 1 ms and over 90 % under 2 ms; not if an update cost as much as a query and its copy."""
    for servers, seconds in ((2, 1.0), (10, 0.3)):
        found = answer(f"job.servers={servers}", f"job.duration_s={seconds}", path=UPDATES)
        assert found.also["update under 1 ms, share"] > 0.80
        assert found.also["update under 2 ms, share"] > 0.90
    dear = answer("job.updated_row.cost_fraction=0", "job.duration_s=0.5", path=UPDATES)
    assert dear.also["update under 1 ms, share"] < 0.5


def test_an_updates_path_by_hand() -> None:
    """Of 40 columns of which a quarter of the time goes with each 10, an update leaves 30 alone."""

    def path_of(*settings: str) -> list[float]:
        job = scenario("job.query={client_us: 100, server_us: 50}", *settings).job
        assert isinstance(job, PartitionedStoreSpec)
        return [job.update_path.client_us, job.update_path.server_us, job.update_path.copy_us]

    row = "job.updated_row={cost_fraction: 0.4, changed_fraction: 0.25, copying_us: 10}"
    assert path_of(row) == pytest.approx([70, 45, 35])
    assert path_of(row, "job.updated_row.cost_fraction=0") == pytest.approx([100, 60, 50])
    assert path_of(*SLOW) == [900, 800, 500], "what is given goes before what follows from a query"
    with pytest.raises(InputError, match=r"update: missing; add it, or updated_row"):
        scenario("job.updated_row=null")


def test_no_number_of_a_store_is_dead() -> None:
    settings = (*SMALL, "job.duration_s=0.3", "job.update_fraction=0.5", "job.servers=3", "job.client_machines=2",
                "job.client_cores=3", "job.client_relative_speed=0.7",
                "job.client_collector.young_mib=1", "job.server_collector.young_mib=1")  # fmt: skip
    asked = scenario(*settings)
    before = dataclasses.replace(run_job(asked, 1), basis="")
    job = asked.job
    assert isinstance(job, PartitionedStoreSpec)

    def keys(data: dict[str, Any], above: str) -> list[tuple[str, int | float]]:
        pairs = [(f"{above}{key}", value) for key, value in data.items() if isinstance(value, int | float)]
        inner = [(f"{above}{key}.", value) for key, value in data.items() if isinstance(value, dict)]
        return pairs + [each for name, value in inner for each in keys(value, name)]

    for key, value in keys(job.model_dump(), "job."):
        other = {"job.copies": 0}.get(key, value + 1 if isinstance(value, int) else value * 0.75)
        found = dataclasses.replace(answer(*settings, f"{key}={other}"), basis="")
        assert found != before, key


def test_seeds_differ_and_repeat() -> None:
    one, again, other = (answer(*SMALL, "job.duration_s=0.2", seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert "seed 2" in other.basis


def test_a_copy_needs_another_server() -> None:
    with pytest.raises(InputError, match=r"job\.copies: got 1; a further copy is on another server: at least 2 "):
        scenario("job.servers=1")
