"""Gaps whose cause is known: one thing of a machine differs from the model's, and it is blamed, not the others."""

import math
from typing import Any

import pytest

from oltpsim.calibration.fit import AnalyticReader, FigureChoice, FigureKind, Gap, solve_inputs
from oltpsim.calibration.judge.gap import explain_gap
from oltpsim.calibration.records import RunRecord
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.analytic import CPU_PART, DEVICE_PART, MISSES_PART, READS_PART
from tests.calibration.synthetic import TINY, base, observed, record, said_by

CLIENTS = 8
COMMON = ("machine.cpu.cores=2", "workload.warehouses=2", f"workload.arrivals.clients={CLIENTS}")
DIRECT = (*COMMON, "database.io=direct", "database.pool.buffers=1500")
ALL = frozenset({FigureKind.CPU, FigureKind.MISSES, FigureKind.READS, FigureKind.WRITES, DEVICE_PART})
PATHS = {"database.path.row_operation_us": 80.0, "database.path.transaction_us": 400.0}


def flash() -> ScenarioSpec:
    return base(*DIRECT)


def arm() -> ScenarioSpec:
    return load_scenario(TINY, ["interval={start: warm, warm_up_s: 5, duration_s: 60}", *DIRECT])


def arm_at_leisure() -> ScenarioSpec:
    """An arm that isn't busy all the time."""
    return with_values(arm(), {"workload.arrivals.think_time_s": 0.1})


def measured(machine: ScenarioSpec, kinds: frozenset[str] = ALL) -> RunRecord:
    """What a record tells of a machine; the device's times if DEVICE_PART is among the kinds."""
    figures = {kind: value for kind, value in said_by(machine).items() if kind in kinds | {FigureKind.RATE}}
    pool_gib = machine.database.pool.buffers * machine.database.page_kib / (1 << 20)
    found = record("run", figures, machine, CLIENTS, pool_gib).model_dump(mode="json", exclude_none=True)
    if DEVICE_PART in kinds:
        [(_, _, solution, _)] = solve_inputs([AnalyticReader().read(machine)])
        device: dict[str, Any] = found["resources"]["devices"]["sda"]
        device["read_await_ms"] = observed(float(solution.disks.read_s[0]) * 1000.0)
        device["utilisation_fraction"] = observed(float(solution.disks.first_busy[0]))
    return RunRecord.model_validate(found)


def gap(model: ScenarioSpec, truth: dict[str, Any], kinds: frozenset[str] = ALL) -> Gap:
    """The gap of a run on a machine that differs from the model's by `truth`."""
    run = measured(with_values(model, truth), kinds)
    found = explain_gap(run, model, FigureChoice(), said_by(model)[FigureKind.RATE])
    assert math.fsum([found.not_told_log, *(part.log for part in found.parts)]) == pytest.approx(found.log, abs=1e-9)
    assert found.log == pytest.approx(math.log(found.model / found.measured), abs=1e-9)
    return found


def shares(found: Gap) -> dict[str, float]:
    """Parts of the gap, as shares of it."""
    return {part.name: part.log / found.log for part in found.parts} | {"not told": found.not_told_log / found.log}


@pytest.mark.parametrize(
    ("model", "truth", "guilty"),
    [
        (flash, {"database.path.row_operation_us": 80.0}, CPU_PART),
        (flash, {"database.path.row_operation_us": 20.0}, CPU_PART),
        (flash, {"machine.disks.disk.read_latency_us": 600.0}, DEVICE_PART),
        (flash, {"database.pool.buffers": 500}, MISSES_PART),
        (flash, {"database.pool.buffers": 5000}, MISSES_PART),
        (arm, {"machine.disks.disk.transfer_mib_per_s": 5.0}, DEVICE_PART),
        (arm, {"machine.disks.disk.seek_average_ms": 7.0}, DEVICE_PART),
        (arm, {"machine.disks.disk.rpm": 15000}, DEVICE_PART),
        (arm_at_leisure, {"machine.disks.disk.rpm": 15000}, DEVICE_PART),
        (arm, {"database.pool.buffers": 500}, MISSES_PART),
    ],
)
def test_the_one_thing_that_differs_is_blamed(model: Any, truth: dict[str, Any], guilty: str) -> None:
    found = gap(model(), truth)
    assert abs(found.log) > 0.05
    parts = shares(found)
    assert 0.9 <= parts.pop(guilty) <= 1.1
    assert all(abs(part) < 0.1 for part in parts.values()), parts


def test_an_arm_that_is_busy_all_the_time_in_both_is_shown_at_its_own_rate() -> None:
    """At the measured rate the slower model would be as busy, and its service time look the same."""
    device = {part.name: part for part in gap(arm(), {"machine.disks.disk.rpm": 15000}).parts}[DEVICE_PART]
    assert device.measured < 0.9 * device.model


def test_a_time_that_the_drive_hides_is_nobodys_fault() -> None:
    """The overhead of a request that waits passes while the arm is at work on another."""
    found = gap(arm(), {"machine.disks.disk.overhead_ms": 4.0})
    assert found.log == pytest.approx(0.0, abs=1e-3)
    assert all(abs(part.log) < 1e-3 for part in found.parts)


def test_a_smaller_page_cache_is_blamed_as_reads_that_the_misses_dont_explain() -> None:
    model = base(*COMMON, "database.io=buffered", "database.pool.buffers=1500", "machine.memory_gib=0.26",
                 "operating_system.reserved_memory_gib=0.1", "machine.disks.disk.read_latency_us=1000")  # fmt: skip
    found = gap(model, {"operating_system.reserved_memory_gib": 0.13})
    assert abs(found.log) > 0.02
    parts = shares(found)
    assert parts[READS_PART] > 0.8
    assert abs(parts[MISSES_PART]) < 0.01


def test_of_contention_only_the_handovers_are_told_as_cpu() -> None:
    """They take processors, which a monitor sees; that clients wait for each other it doesn't."""
    found = gap(flash(), {"database.critical_section.share_of_path": 0.7})
    assert found.log > 0.03
    parts = shares(found)
    assert parts.pop("not told") > 0.5
    assert 0.1 < parts.pop(CPU_PART) < 0.5
    assert all(abs(part) < 0.1 for part in parts.values()), parts
    free = {"database.critical_section.share_of_path": 0.7, "operating_system.cpu.contended_handover_us": 0.0}
    alone = shares(gap(with_values(flash(), {"operating_system.cpu.contended_handover_us": 0.0}), free))
    assert abs(alone[CPU_PART]) < 0.1, "the negative twin: hand-overs that cost nothing"


def test_what_the_record_does_not_tell_is_not_told() -> None:
    truth = {"database.path.row_operation_us": 80.0}
    found = gap(flash(), truth, ALL - {FigureKind.CPU})
    parts = shares(found)
    assert parts["not told"] > 0.9
    assert CPU_PART not in parts
    assert CPU_PART in found.not_told


def test_a_rate_alone_tells_nothing() -> None:
    found = gap(flash(), {"database.path.row_operation_us": 80.0}, frozenset())
    assert found.parts == ()
    assert found.not_told_log == found.log
    assert len(found.not_told) == 6


def test_with_direct_io_reads_tell_the_misses() -> None:
    found = gap(flash(), {"database.pool.buffers": 500}, ALL - {FigureKind.MISSES})
    assert shares(found)[MISSES_PART] > 0.9
    assert found.parts[0].note == "by the device's reads: with direct I/O every miss is one"


def test_through_a_page_cache_reads_stand_for_the_misses_and_say_so() -> None:
    model = base(*COMMON, "database.io=buffered", "database.pool.buffers=1500", "machine.memory_gib=0.31")
    found = gap(model, {"database.pool.buffers": 500}, ALL - {FigureKind.MISSES})
    assert MISSES_PART in found.not_told
    assert found.parts[0].name == READS_PART
    assert found.parts[0].note == "with the pool's misses, which the record doesn't tell"


def test_two_causes_share_the_gap_whatever_the_order() -> None:
    """Of two parts the difference is that of what each explains alone; and together they explain the gap."""
    truth = {**PATHS, "machine.disks.disk.read_latency_us": 600.0}
    both = {
        part.name: part.log
        for part in gap(
            flash(), truth, frozenset({FigureKind.CPU, DEVICE_PART, FigureKind.READS, FigureKind.MISSES})
        ).parts
    }
    alone = {
        part.name: part.log
        for kinds in ({FigureKind.CPU}, {FigureKind.READS, DEVICE_PART})
        for part in gap(flash(), truth, frozenset(kinds)).parts
        if part.name in {CPU_PART, DEVICE_PART}
    }
    assert both[CPU_PART] - both[DEVICE_PART] == pytest.approx(alone[CPU_PART] - alone[DEVICE_PART], abs=1e-3)
    assert both[CPU_PART] > 0.05
    assert both[DEVICE_PART] > 0.05
    assert both[CPU_PART] + both[DEVICE_PART] != pytest.approx(alone[CPU_PART] + alone[DEVICE_PART], abs=0.005)


def test_an_honest_model_has_no_gap() -> None:
    found = gap(flash(), {})
    assert found.log == pytest.approx(0.0, abs=1e-9)
    assert all(abs(part.log) < 1e-3 for part in found.parts)
