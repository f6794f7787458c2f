"""Other jobs than transactions, against what can be said of them by hand, by other solvers and by simulation."""

import heapq
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.jobs.lookups import lookups_model
from oltpsim.models.jobs.query_mix import query_mix_model, turns_of
from oltpsim.models.machine.cpu import slowdowns
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import LookupsSpec, QueryMixSpec
from tests.oracles.exact_networks import exact
from tests.oracles.network import Network
from tests.simulator.twins import differences

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
BASE = load_scenario(TINY)
US = 1e-6
PAGE_BYTES = 8192
CHANCE = 0.01
"""of 200,000 exponential times that are simulated: four standard errors of their mean, and a little"""
ROWS = 100_000 + 1 + 10 * (1 + 3_000 + 3_000 + 3_000 + 30_000 + 900)
"""of a warehouse: stock, itself, and of each district itself, customers, history, orders, lines, new orders"""
ITEMS = 100_000
FREE_CALLS = "operating_system.cpu={read_us: 0, write_us: 0, disk_request_us: 0}"
SECTION = "database.critical_section.share_of_path"
HANDOVER = "operating_system.cpu.contended_handover_us"


def scenario(job: str, *settings: str) -> ScenarioSpec:
    return load_scenario(TINY, [*settings, f"job={{{job}}}"])


def answer(job: str, *settings: str) -> JobResult:
    return run_job(scenario(job, *settings))


def close(value: float, to: float, within: float = 1e-9) -> bool:
    return math.isclose(value, to, rel_tol=within)


# look-ups


def test_lookups_without_exchange_and_siblings_are_cores_by_their_time() -> None:
    job = "kind: lookups, queries: 2, processes: 8, core_us: 3, memory_references: 20, touched_mib: 40, exchange_us: 0"
    cpu = "machine.cpu={cores: 8, relative_speed: 2, cache_mib: 10, memory_latency_ns: 100}"
    found = answer(job, cpu)
    lookup_us = 3 / 2 + 20 * (1 - 10 / 40) * 0.1
    assert close(found.value, 8 / (lookup_us * US), CHANCE)
    assert close(found.cpu_cores_busy, 8, CHANCE)
    assert close(answer(job, cpu, "machine.hardware_share_lost=0.1").value, 0.9 * found.value, CHANCE)
    assert not close(answer(job, cpu, "machine.cpu.threads_per_core=2").value, found.value, 0.1)
    assert not close(answer(job, cpu, "machine.cpu.cache_mib=30").value, found.value, 0.1)


def test_lookups_of_fewer_threads_than_cores_take_their_time_and_the_exchange() -> None:
    job = "kind: lookups, queries: 1, processes: 4, core_us: 3, memory_references: 0, exchange_us: 2"
    found = answer(job, "machine.cpu.cores=8")
    assert close(found.value, 4 / (5 * US), CHANCE)
    assert close(found.cpu_cores_busy, 4 * 3 / 5, CHANCE)
    assert "threads" in found.limited_by


@pytest.mark.parametrize("lost", [0.0, 0.05])
def test_lookups_are_those_of_the_exact_network(lost: float) -> None:
    cpu = "machine.cpu={cores: 4, threads_per_core: 2, second_thread_gain: 0.3, memory_bus_share: 0.1}"
    job = "kind: lookups, queries: 3, processes: 4, core_us: 3, memory_references: 0, exchange_us: 5"
    asked = scenario(job, cpu, f"machine.hardware_share_lost={lost}")
    slow = slowdowns(asked.machine.cpu, placed_by_cores=lost == 0.0)
    network = Network([[3 * US / (1 - lost)]], [12], [5 * US], [8], rates=[1 / slow])
    found, other = run_job(asked), exact(network)
    assert close(found.value, float(other.throughput_per_s[0]), CHANCE)
    assert close(12 / found.value, 5 * US + float(other.residence_s[0, 0]), CHANCE)
    wrong = Network([[3 * US / (1 - lost)]], [12], [5 * US], [8])
    assert not close(found.value, float(exact(wrong).throughput_per_s[0]), 0.05)


def test_lookups_are_drawn_by_their_seed() -> None:
    asked = scenario("kind: lookups, queries: 1, processes: 4")
    assert run_job(asked, 2) == run_job(asked, 2)
    assert not close(run_job(asked, 3).value, run_job(asked, 2).value)
    assert close(run_job(asked, 3).value, run_job(asked, 2).value, CHANCE)


# mutex


def test_threads_without_hand_over_only_take_turns() -> None:
    for threads in (1, 2, 5):
        assert close(answer(f"kind: mutex, threads: {threads}", f"{HANDOVER}=0", "machine.cpu.cores=4").value, threads)


def test_every_entry_that_is_handed_over_costs_it() -> None:
    settings = (f"{HANDOVER}=3.4", "machine.cpu={cores: 2, relative_speed: 3}")
    assert close(answer("kind: mutex, mutex_us: 0.1", *settings).value, 2 * (0.1 + 3.4) / 0.1)
    assert close(answer("kind: mutex, mutex_us: 0.1, handed_over_fraction: 0.1", *settings).value, 2 * 4.4)
    assert close(answer("kind: mutex, mutex_us: 0.1, threads: 1", *settings).value, 1)
    assert close(answer("kind: mutex, mutex_us: 0.1", f"{HANDOVER}=3.4").value, 2), "on one processor they hardly meet"


# query mixes


def repairman_per_s(clients: int, away_s: float, service_s: float) -> float:
    """Machine repairman by its own formula: 1 - P(nobody there), over the service time."""
    weights = [math.perm(clients, k) * (service_s / away_s) ** k for k in range(clients + 1)]
    return (1 - weights[0] / sum(weights)) / service_s


def mixes(clients: int, *settings: str, **keys: Any) -> JobResult:
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    return answer(f"kind: query_mix, clients: {clients}, mix_ms: 100{more}", *settings)


@pytest.mark.parametrize("clients", [1, 2, 7])
def test_a_section_without_hand_over_is_the_machine_repairman(clients: int) -> None:
    settings = ("machine.cpu.cores=8", f"{SECTION}=0.3")
    found = mixes(clients, *settings, f"{HANDOVER}=0")
    assert close(found.value, 3600 * repairman_per_s(clients, 0.07, 0.03), CHANCE)
    if clients > 1:
        assert mixes(clients, *settings, f"{HANDOVER}=50").value < 0.95 * found.value


def test_clients_without_a_section_share_the_processors() -> None:
    settings = (f"{SECTION}=0", "machine.cpu={cores: 4, relative_speed: 2}")
    for clients in (1, 3, 4, 9):
        found = mixes(clients, *settings)
        assert close(found.value, 3600 * min(clients, 4) / 0.05, CHANCE)
        assert close(found.cpu_cores_busy, min(clients, 4), CHANCE)
    assert not close(
        mixes(3, f"{SECTION}=0.5", "machine.cpu={cores: 4, relative_speed: 2}").value, 3 * 3600 / 0.05, 0.1
    )


def test_misses_are_the_share_of_the_data_that_the_pool_lacks() -> None:
    pool_gib = 2000 / 131072
    keys = {"page_requests_per_mix": 10_000, "data_gib": 4 * pool_gib}
    found = mixes(1, f"{SECTION}=0.1", **keys)
    assert close(found.parts_s["page misses"], 7_500 * (10 + 20) * US, CHANCE)
    assert close(3600 / found.value, 0.1 + 7_500 * (10 + 20) * US, CHANCE)
    assert mixes(1, "database.pool.buffers=8000", **keys).parts_s["page misses"] == 0
    inside = mixes(4, "machine.cpu.cores=4", f"{HANDOVER}=0", f"{SECTION}=0", misses_in_section_fraction=1, **keys)
    assert close(inside.value, 3600 * repairman_per_s(4, 0.1, 0.225), CHANCE)
    assert inside.limited_by == "critical section"


def convoy_per_s(clients: int, away_s: float, inside_s: float, handover_s: float, turns: int) -> float:
    """Simulated: who finds the section taken waits, and its turn takes the hand-over more."""
    rng = np.random.default_rng(11)
    coming = [(rng.exponential(away_s), number) for number in range(clients)]
    heapq.heapify(coming)
    free_at = ended = 0.0
    for _ in range(turns):
        at, number = heapq.heappop(coming)
        turn_s = rng.exponential(inside_s) + (handover_s if at < free_at else 0.0)
        ended = free_at = max(at, free_at) + turn_s
        heapq.heappush(coming, (ended + rng.exponential(away_s), number))
    return turns / ended


@pytest.mark.parametrize(("share", "handover_us"), [(0.05, 5.0), (0.1, 20.0), (0.3, 20.0)])
def test_a_convoy_costs_what_its_simulation_says(share: float, handover_us: float) -> None:
    found = mixes(8, "machine.cpu.cores=8", f"{SECTION}={share}", f"{HANDOVER}={handover_us}", entries_per_mix=2000)
    simulated = convoy_per_s(8, 0.1 * (1 - share), 0.1 * share, 2000 * handover_us * US, 60_000)
    assert close(found.value, 3600 * simulated, 0.06)
    free = mixes(8, "machine.cpu.cores=8", f"{SECTION}={share}", f"{HANDOVER}=0")
    assert not close(free.value, 3600 * simulated, 0.06)


def test_much_data_is_asked_for_by_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"page_requests_per_mix": 2_000, "data_gib": 0.7, "entries_per_mix": 100}
    more = ("machine.memory_gib=2", "database.pool.buffers=20000")
    folded = mixes(4, *more, **keys)
    monkeypatch.setattr("oltpsim.models.jobs.query_mix.MOST_PAGES", 10**6)
    whole = mixes(4, *more, **keys)
    assert close(folded.value, whole.value, CHANCE)
    missing = 1 - 20_000 * PAGE_BYTES / (0.7 * 2**30)
    assert close(whole.parts_s["page misses"], 2_000 * missing * (10 + 20) * US, CHANCE)


def test_what_pool_and_page_cache_both_hold_leaves_less_room() -> None:
    """Data that only fit in both together are read from disks, since a page is in both for a while."""
    keys = {"page_requests_per_mix": 2_000, "data_gib": 0.75, "entries_per_mix": 100}
    roomy, tight = (
        mixes(2, "database.pool.buffers=40000", f"machine.memory_gib={memory}", **keys) for memory in (4, 1)
    )
    assert roomy.parts_s["waiting for disks"] == 0
    assert tight.parts_s["waiting for disks"] > 0


@pytest.mark.parametrize("kind", ["lookups", "query_mix"])
def test_both_engines_do_the_job_alike(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = "machine.cpu={cores: 2, threads_per_core: 2, memory_bus_share: 0.1}"
    if kind == "lookups":
        asked = scenario("kind: lookups, queries: 2, processes: 4", cpu)
        assert isinstance(asked.job, LookupsSpec)
        model = lookups_model(asked, asked.job, 5_000, 2_000)
    else:
        monkeypatch.setattr("oltpsim.models.jobs.query_mix.MOST_TURNS", 2_000)
        keys = "page_requests_per_mix: 2500, data_gib: 0.05, misses_in_section_fraction: 0.2"
        asked = scenario(f"kind: query_mix, clients: 6, mix_ms: 100, {keys}", cpu)
        assert isinstance(asked.job, QueryMixSpec)
        model = query_mix_model(asked, asked.job, turns_of(asked, asked.job))
    assert differences(model, 5) == []
