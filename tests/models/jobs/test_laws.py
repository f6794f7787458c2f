"""Laws of other jobs than transactions, and what is wrong with a job that somebody wrote."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.reading import load_scenario, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
BASE = load_scenario(TINY)


def scenario(job: str, *changes: str) -> ScenarioSpec:
    return load_scenario(TINY, [*changes, f"job={{{job}}}"])


def answer(job: str, *changes: str) -> JobResult:
    return run_job(scenario(job, *changes))


def close(value: float, to: float, within: float = 1e-9) -> bool:
    return math.isclose(value, to, rel_tol=within)


JOBS = {
    "load": "kind: load",
    "scan": "kind: scan, fragment_kib: 16",
    "lookups": "kind: lookups, queries: 2, processes: 3",
    "mutex": "kind: mutex, handed_over_fraction: 0.5",
    "query_mix": "kind: query_mix, clients: 3, mix_ms: 100, page_requests_per_mix: 1000, data_gib: 0.1, "
    "misses_in_section_fraction: 0.2",
}
CPU = "machine.cpu={cores: 2, threads_per_core: 2, memory_bus_share: 0.1, cache_mib: 4}"


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_no_number_of_a_job_is_dead(job: str) -> None:
    changes = (CPU, "database.path.load_row_us=40", "workload.warehouses=4", "database.path.page_miss_us=20")
    asked = scenario(job, *changes)
    before = run_job(asked)
    assert asked.job is not None
    for key, value in asked.job.model_dump().items():
        if isinstance(value, int | float):
            other = scenario(f"{job}, {key}: {value * 2 if value != 0.5 else 0.25}" if key not in job else
                             job.replace(f"{key}: {value:g}", f"{key}: {value * 2 if value < 1 else value + 1:g}"),
                             *changes)  # fmt: skip
            assert run_job(other) != before, key


@pytest.mark.parametrize("key", ["cache_mib", "memory_latency_ns", "memory_bus_share", "second_thread_gain"])
def test_lookups_feel_every_number_of_the_processor(key: str) -> None:
    value = getattr(scenario(JOBS["lookups"], CPU).machine.cpu, key)
    before, after = (answer(JOBS["lookups"], CPU, f"machine.cpu.{key}={value * factor}") for factor in (1.0, 1.5))
    assert not close(before.value, after.value, 1e-6)


@settings(max_examples=15, deadline=None)
@given(
    clients=st.integers(1, 40), cores=st.integers(1, 12), threads=st.integers(1, 2), share=st.floats(0, 0.9),
    bus=st.sampled_from([0.0, 0.0, 0.1, 0.5]), handover_us=st.sampled_from([0.0, 0.0, 3.0, 50.0]),
    requests=st.integers(0, 20_000),
)  # fmt: skip
def test_laws_of_query_mixes(
    clients: int, cores: int, threads: int, share: float, bus: float, handover_us: float, requests: int
) -> None:
    def run(clients: int, cores: int) -> JobResult:
        cpu = BASE.machine.cpu.model_copy(update={"cores": cores, "threads_per_core": threads, "memory_bus_share": bus})
        job = {
            "kind": "query_mix",
            "clients": clients,
            "mix_ms": 20,
            "page_requests_per_mix": requests,
            "data_gib": 0.1,
        }
        data = BASE.model_dump() | {"job": job}
        data["machine"]["cpu"] = cpu.model_dump()
        data["database"]["critical_section"]["share_of_path"] = share
        data["operating_system"]["cpu"]["contended_handover_us"] = handover_us
        return run_job(ScenarioSpec.model_validate(data))

    found = run(clients, cores)
    assert found.cpu_cores_busy <= min(clients, cores * threads) * (1 + 1e-9)
    assert close(sum(found.parts_s.values()), clients * 3600 / found.value, 0.005)
    assert min(found.parts_s.values()) >= -1e-12
    if handover_us == bus == 0 and threads == 1:  # else more threads slow down the one in the section
        assert run(clients, cores + 1).value >= found.value * 0.99
        assert run(clients + 1, cores).value >= found.value * 0.99


@settings(max_examples=15, deadline=None)
@given(
    queries=st.integers(1, 4), processes=st.integers(1, 16), cores=st.integers(1, 12), gain=st.floats(0, 1),
    bus=st.floats(0, 0.9), exchange_us=st.floats(0, 20), cache_mib=st.floats(0, 100),
)  # fmt: skip
def test_laws_of_lookups(
    queries: int, processes: int, cores: int, gain: float, bus: float, exchange_us: float, cache_mib: float
) -> None:
    def run(**changes: float) -> JobResult:
        keys = {"cores": cores, "second_thread_gain": gain, "memory_bus_share": bus, "cache_mib": cache_mib, **changes}
        data = BASE.model_dump()
        data["machine"]["cpu"] |= {"threads_per_core": 2, **keys}
        data["job"] = {"kind": "lookups", "queries": queries, "processes": processes, "exchange_us": exchange_us}
        return run_job(ScenarioSpec.model_validate(data))

    found = run()
    assert found.cpu_cores_busy <= min(queries * processes, 2 * cores) * (1 + 1e-9)
    assert close(sum(found.parts_s.values()), queries * processes / found.value, 0.005)
    assert min(found.parts_s.values()) >= 0
    for key, more in (("cores", cores + 1), ("second_thread_gain", min(gain + 0.1, 1.0)), ("cache_mib", cache_mib + 1)):
        assert run(**{key: more}).value >= found.value * 0.99, key


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["job={kind: load}"], "database.path.load_row_us: missing; a load needs the CPU time of one inserted row"),
        (["job={kind: scan, fragment_kib: 4}"], "job.fragment_kib: got 4; at least the page of 8 KiB"),
        (["job={kind: sacn}"], "job.kind: got 'sacn' (did you mean 'scan'?); allowed: load, scan, lookups, mutex"),
        (["job={kind: mutex, treads: 2}"], "job.treads: unknown key (did you mean 'threads'?); allowed:"),
        (["job={kind: lookups, queries: 1}"], "job.processes: missing; add 'processes: ...', processes, each with"),
        (["job={kind: query_mix, clients: 1, mix_ms: 5, page_requests_per_mix: 1, data_gib: 20}"],
         "job.data_gib: got 20; pool and page cache hold"),
    ],
)  # fmt: skip
def test_a_job_that_lacks_something_is_refused(changed: list[str], words: str) -> None:
    with pytest.raises(InputError) as refused:
        load_scenario(TINY, changed)
    assert words in str(refused.value)


def test_a_scenario_without_a_job_has_no_answer_and_one_with_a_job_no_model() -> None:
    with pytest.raises(InputError, match=r"tiny: job: missing; add 'job: \{kind: ...\}' with load, scan"):
        run_job(BASE)
    with pytest.raises(InputError, match="tiny: job: 'mutex' runs no transactions; 'oltpsim run' answers it"):
        build(scenario("kind: mutex"))
    assert build(BASE).name == "tiny"


def test_a_job_needs_no_interval_and_transactions_do(tiny: dict[str, Any]) -> None:
    without = {key: value for key, value in tiny.items() if key != "interval"}
    assert ScenarioSpec.model_validate({**without, "job": {"kind": "mutex"}}).job is not None
    with pytest.raises(ValueError, match="interval"):
        ScenarioSpec.model_validate(without)


@pytest.mark.parametrize(
    ("job", "key", "words"),
    [
        ({"kind": "mutex"}, "new_orders_per_minute", "measured.job_figure: missing; add 'job_figure: ...', which a"),
        (None, "job_figure", "measured.new_orders_per_minute: missing; add 'new_orders_per_minute: ...', which a"),
    ],
)
def test_what_a_scenario_is_measured_by(job: Any, key: str, words: str, tiny: dict[str, Any]) -> None:
    measured = {key: 5, "role": "fitted", "source": "assumption: for tests"}
    with pytest.raises(InputError) as refused:
        scenario_from_mapping({**tiny, "job": job, "measured": measured}, "x")
    assert words in str(refused.value)
    assert f"measured.{key}: a scenario with" in str(refused.value)
    right = {**measured, key: None, words.split(".")[1].partition(":")[0]: 5}
    assert scenario_from_mapping({**tiny, "job": job, "measured": right}, "x").measured is not None
