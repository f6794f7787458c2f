"""Cloud volumes in the analytic engine: against the kernel, against what they may do at most, and when credits end.

The errors found when this was written, on the machines below: 0 to 5 % of the rate, 15 % too low with eight clients.
Credits run out within 4 % of the kernel's time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from oltpsim.models.reading import read_description, scenario_from_mapping, with_values
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.analytic import Rates, parameters_of, places_of, read_workload, solve, sustained
from oltpsim.simulator.analytic.reading.volumes import Turn, volumes_of
from oltpsim.simulator.form import System, minutes_of_credits
from oltpsim.simulator.results import Result, read_result, result_json

SOURCE = "assumption: for tests"
CLOSE, NEAR, ROUGH = 0.07, 0.09, 0.18


def limit(of: str, per_s: float, burst_per_s: float | None = None, bucket: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"of": of, "per_s": per_s, "burst_per_s": burst_per_s, "credits": bucket, "source": SOURCE} | more


def volume(*limits: dict[str, Any], parallel: int = 64) -> dict[str, Any]:
    return {
        "kind": "flash", "name": "volume", "capacity_gib": 600, "read_latency_us": 700, "write_latency_us": 800,
        "parallel_requests": parallel, "limits": list(limits), "source": SOURCE,
    }  # fmt: skip


def machine(disk: dict[str, Any], **more: Any) -> System:
    """Forty clients on twenty warehouses with direct I/O, of which a third fits into the pool."""
    disks = {"disk": disk, "count": more.get("count", 1), "level": more.get("level", "independent")}
    keys = {
        "name": "test",
        "machine": {
            "name": "instance", "cpu": "server-2020s", "memory_gib": 2, "disks": disks, "log_disk": more.get("log"),
            "volume_limits": more.get("together", []), "source": SOURCE,
        },
        "operating_system": "linux",
        "database": {
            "base": "virtuoso-6", "io": "direct", "pool": {"buffers": more.get("buffers", 40_000)},
            "log": {"commit": "durable"}, "writer": more.get("writer", {}),
        },
        "workload": {
            "base": "virtuoso-tpcc", "warehouses": 20,
            "arrivals": {"kind": "closed", "clients": more.get("clients", 40), "think_time_s": more.get("think_s", 0)},
        },
        "interval": {
            "start": more.get("start", "warm"), "warm_up_s": more.get("warm_up_s", 30), "duration_s": 120,
        },
    }  # fmt: skip
    return build(scenario_from_mapping(keys, "test"))


def cleaners(requests_per_s: float, mib_per_s: float) -> System:
    """72 clients and two of InnoDB's page cleaners, a tenth of a published machine but for these (docs/volumes.md)."""
    scenario = load_scenario_file(scenario_path("innodb/sysbench-tpcc-io1"))
    caps = {"requests": requests_per_s, "mib": mib_per_s}
    values = {f"machine.disks.disk.limits[{of}].per_s": cap / 10 for of, cap in caps.items()}
    of_cleaner = {"cleaners": 2, "lru_scan_depth_pages": 205, "io_capacity_per_s": 20.0, "io_capacity_max_per_s": 50.0}
    values |= {f"database.page_cleaner.{key}": value for key, value in of_cleaner.items()}
    values |= {"workload.warehouses": 500, "database.pool.buffers": 329_590, "database.pool.old_blocks_time_ms": 10_000}
    return build(with_values(scenario, values | {"database.page_cleaner.redo_capacity_gib": 3.0}))


CAP = limit("requests", 1000)
APART = (limit("requests", 500, direction="read"), limit("requests", 2000, direction="write"))
BURST = limit("requests", 500, 1500, 90_000)
"""gone after 90 s if all that is let through is asked for: in the middle of the counted interval"""
MACHINES = {
    "one volume": (machine(volume(CAP)), CLOSE),
    "caps for reads and for writes": (machine(volume(*APART)), CLOSE),
    "caps apart in slices": (machine(volume(*({**cap, "slice_ms": 100} for cap in APART))), CLOSE),
    "hardly any disk left to wait for": (machine(volume(limit("requests", 8000)), buffers=80_000), NEAR),
    "throughput": (machine(volume(limit("mib", 16))), CLOSE),
    "a log disk": (machine(volume(CAP), log=volume(CAP)), CLOSE),
    "two volumes": (machine(volume(CAP), count=2), CLOSE),
    "four behind one cap": (machine(volume(CAP), count=4, together=[limit("requests", 2000)]), CLOSE),
    "a log disk behind the same cap": (machine(volume(), log=volume(), together=[limit("requests", 2000)]), CLOSE),
    "RAID 0": (machine(volume(CAP), count=4, level="raid0"), CLOSE),
    "thinking": (machine(volume(CAP), clients=20, think_s=0.5), CLOSE),
    "eight clients": (machine(volume(CAP), clients=8), ROUGH),
    "few requests at once": (machine(volume(limit("requests", 3000), parallel=2)), NEAR),
    "page cleaners, few requests": (cleaners(5_000, 476.8), CLOSE),
    "page cleaners, many requests": (cleaners(13_000, 476.8), CLOSE),
    "page cleaners, few bytes": (cleaners(20_000, 152.6), CLOSE),
    "credits run out": (machine(volume(BURST)), CLOSE),
    "credits run out from cold": (machine(volume(BURST), start="cold"), CLOSE),
    "credits of the machine run out": (machine(volume(CAP), count=2, together=[BURST]), CLOSE),
}  # fmt: skip


@cache
def simulated(name: str) -> Result:
    return kernel.simulate(MACHINES[name][0], 1)


@cache
def calculated(name: str) -> Result:
    return analytic.simulate(MACHINES[name][0], 1)


def sustained_rate(model: System, rates: Rates | None = None) -> float:
    """Transactions per second of a model's first solution, no credits spent."""
    workload = read_workload(model)
    return float(solve(workload, parameters_of(model, workload, rates), model.pool.replacement).rate[0])


@pytest.mark.parametrize("name", MACHINES)
def test_the_rate_is_near_the_kernels(name: str) -> None:
    ours, theirs = calculated(name), simulated(name)
    assert ours.rate_per_min.mean == pytest.approx(theirs.rate_per_min.mean, rel=MACHINES[name][1])
    assert ours.bottleneck.name == theirs.bottleneck.name or ours.bottleneck.share < 0.5
    assert not ours.broken_laws
    assert read_result(result_json(ours)) == ours


@pytest.mark.parametrize("name", [name for name in MACHINES if name.startswith("page cleaners")])
def test_of_two_limits_apart_the_tighter_one_is_full_and_the_other_has_what_was_taken(name: str) -> None:
    ours, theirs = ({one.of: one.utilisation for one in of(name).devices[0].limits} for of in (calculated, simulated))
    tighter, other = ("mib", "requests") if "bytes" in name else ("requests", "mib")
    assert theirs[tighter] > 0.99
    assert 0.1 < theirs[other] < 0.95
    assert ours == pytest.approx(theirs, rel=0.06)


def test_limits_count_apart_beside_another_for_reads_and_writes_alone() -> None:
    """Bytes over slices are a sum of their own; alone, or beside caps of one direction, they are the turns."""
    sliced = limit("mib", 16, slice_ms=100)
    found = [
        volumes_of(model, sustained(model))
        for model in (machine(volume(*limits)) for limits in ((CAP, sliced), (sliced,), (*APART, sliced), (CAP,)))
    ]
    byte_s = 1 / (16 << 20)
    assert [each.data_apart.byte_s for each in found] == pytest.approx([byte_s, 0, 0, 0])
    assert [each.data_writes.byte_s for each in found][1:3] == pytest.approx([byte_s, byte_s])
    assert found[0].data_flushes.byte_s == pytest.approx(byte_s)


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "thinking"])
def test_a_machine_with_other_limits_is_none_of_these(name: str) -> None:
    """The negative twin: three quarters of what is let through gives a rate that these tests would refuse."""
    model, tolerance = MACHINES[name]
    workload = read_workload(model)
    lower = places_of(model).rates(lambda one: 0.75 * one.per_s)
    plain, less = (solve(workload, parameters_of(model, workload, rates), "lru").rate[0] for rates in (None, lower))
    assert less < (1 - tolerance) * plain


@pytest.mark.parametrize("name", [name for name in MACHINES if "credits" in name])
def test_credits_run_out_when_the_kernels_do(name: str) -> None:
    found = []
    for result in (calculated(name), simulated(name)):
        one = (result.devices[0].limits + result.volume_limits)[0 if "machine" not in name else 1]
        assert one.ran_out
        assert one.credits_left < 100
        assert any("credits ran out" in line for line in result.warnings)
        found.append(one.credits_lasted_s)
    assert found[0] == pytest.approx(found[1], rel=0.04)
    minutes = minutes_of_credits(places_of(MACHINES["credits run out"][0]).data[0], 1e9)
    assert minutes is not None
    assert found[1] == pytest.approx(minutes * 60, rel=0.01)


def test_no_more_than_is_let_through() -> None:
    """Full volumes: requests of a saturated one are its cap's, up to the error of the rate."""
    for name in ("one volume", "two volumes", "few requests at once"):
        for device in calculated(name).devices[: len(MACHINES[name][0].storage.devices)]:
            asked = device.reads_per_s + device.writes_per_s
            assert asked <= (1.0 + CLOSE) * device.limits[0].per_s
    assert calculated("one volume").devices[0].utilisation > 0.99


def test_a_wait_is_no_service() -> None:
    device = calculated("one volume").devices[0]
    assert 0.7e-3 <= device.mean_service_s <= 0.8e-3
    assert device.mean_response_s > 10e-3


def test_a_larger_cap_is_never_slower() -> None:
    model = machine(volume(CAP))
    caps = np.geomspace(100, 1e5, 13).tolist()
    rates = [sustained_rate(model, sustained(model)._replace(data=(cap,))) for cap in caps]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1] / 100


def test_turns_by_hand() -> None:
    """Requests of 8 KiB at 1,000/s and 4 MiB/s: 1 ms and 2 ms; 512 KiB count as two requests and take 125 ms."""
    model = machine(volume(CAP, limit("mib", 4)))
    turn = volumes_of(model, sustained(model)).data
    assert turn is not None
    assert (turn.request_s, turn.byte_s) == pytest.approx((1e-3, 1 / (4 << 20)))
    assert turn.turn_s(8192) == pytest.approx(2 / 1024)
    requests = Turn(1e-3, 1e-3 / (256 << 10))
    assert [requests.turn_s(size << 10) for size in (8, 256, 512)] == pytest.approx([1e-3, 1e-3, 2e-3])
    behind = machine(volume(), count=4, together=[CAP])
    shared = volumes_of(behind, sustained(behind)).data
    assert shared is not None
    assert (shared.request_s, shared.byte_s) == pytest.approx((4e-3, 4e-3 / (256 << 10)))
    assert volumes_of(machine(volume()), sustained(machine(volume()))).data is None


def test_caps_apart_are_beyond_the_fit_of_the_model_error() -> None:
    def doubt_of(*caps: dict[str, Any]) -> str:
        return " ".join(analytic.simulate(machine(volume(*caps)), 1).warnings)

    assert "limits for reads or writes alone" in doubt_of(*APART)
    assert "limits for reads or writes alone" in doubt_of(APART[0], CAP)
    assert "limits for" not in doubt_of(CAP)


def test_a_writer_that_falls_behind_widens_the_interval() -> None:
    """Not one with a mark as high as it gets, nor one that clients leave time for."""

    def width(high: float, think_s: float = 0.0) -> float:
        marks = {"dirty_high_fraction": high, "dirty_low_fraction": 0.8 * high}
        system = machine(volume(limit("requests", 300)), writer=marks, think_s=think_s)
        rate = analytic.simulate(system, 1).rate_per_min
        assert rate.low is not None
        assert rate.high is not None
        return rate.high / rate.low

    assert width(0.1) > 1.1 * width(0.9)
    assert width(0.1, think_s=20.0) < width(0.1)


@pytest.mark.parametrize("disk", ["io1 500 GiB 5000 IOPS", "gp3 500 GiB"])
def test_commits_pass_a_checkpoint_at_a_limit_in_their_turn(disk: str) -> None:
    """They have the writes before them that are at the volume, and not whole heaps, as at an arm that sweeps.

    Off by 0 and 19 %; by 32 and 62 % with the sweep.
    """
    line = f"4 cores, 16 GB, {disk}, PostgreSQL 16, pgbench, scale 50, 100 clients"
    run = "interval={warm_up_s: 60, duration_s: 60}"
    system = build(read_description(line, ["database.checkpoint.interval_s=60", run]).scenario)
    simulated = kernel.simulate(system, 1).rate_per_min.mean
    assert analytic.simulate(system, 1).rate_per_min.mean == pytest.approx(simulated, rel=0.25)
    arms = build(read_description(line.replace(disk, "1 SATA disk"), ["database.checkpoint.interval_s=60"]).scenario)
    assert analytic.simulate(arms, 1).rate_per_min.mean < simulated / 2


def test_a_cap_of_writes_takes_nothing_from_reads() -> None:
    """Reads wait for their own cap: twice the rate of one cap of as much for both together, of which half are reads."""
    apart = [limit("requests", 500, direction=direction) for direction in ("read", "write")]
    both = sustained_rate(machine(volume(limit("requests", 500))))
    assert 1.6 * both < sustained_rate(machine(volume(*apart))) < 2.0 * both


def test_credits_that_a_warm_up_has_spent() -> None:
    """The same bucket: gone before the counted interval, in the middle of it, or never."""
    early = machine(volume(BURST), warm_up_s=100)
    slow, between, fast = (
        analytic.simulate(model, 1).rate_per_min.mean
        for model in (early, machine(volume(BURST)), machine(volume(BURST | {"credits": 1e6})))
    )
    w = read_workload(early)
    assert slow == pytest.approx(60 * sustained_rate(early) * w.mix[w.main_class], rel=0.02)
    assert slow < 0.8 * between < 0.8**2 * fast


def test_log_disks_of_a_set_have_the_limits_of_one() -> None:
    scenario = load_scenario_file(scenario_path("laboratory/postgresql-volume"))
    one, two = (analytic.simulate(build(with_values(scenario, {"machine.log_disks": count})), 1) for count in (1, 2))
    assert two.rate_per_min.mean >= 0.999 * one.rate_per_min.mean
    assert not two.broken_laws
