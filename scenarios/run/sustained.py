"""What a machine does for hours, simulated in seconds: whole cycles, on pages that stand for more where those are long.

A cycle is the time from one checkpoint to the next, or in which the redo log fills. From a warm start some cycles pass
until dirty pages, whole pages in the log and its fill are as in the long run, then some are counted. Where so many
transactions take too long to simulate, a share of the units of data is held (models/wiring/sampling.py): caches, log
and intervals are as much smaller, cycles as much shorter, and what a transaction does is the same.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from oltpsim.models.machine import FlashDiskSpec, RateLimitSpec
from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.models.wiring import build, even_fraction
from oltpsim.scenarios.run.engines import load_engine
from oltpsim.simulator.form import System, to_s
from oltpsim.simulator.results import Beginning, LimitResult, Result

CYCLES_BEFORE, CYCLES_COUNTED = 2, 5
LEAST_S = 60.0
"""warm-up, and what is counted, at least, as far as that takes no longer to simulate than cycles may"""
MESSAGES = 15_000_000
"""round trips of all transactions of a run: some 5 to 15 s to simulate"""
MOST_RUNS = 3
MOST_LONGER = 4 / 3
"""how much longer a cycle may turn out than its run was made for, before it is made for that"""


def simulate_sustained(scenario: ScenarioSpec, run: Callable[[ScenarioSpec], Result]) -> tuple[ScenarioSpec, Result]:
    """What `run` finds over whole cycles, and the scenario that it ran.

    Cycles are as long as formulas say; longer ones that a simulation shows are simulated again.
    Raises InputError where the formulas have no answer.
    """
    system = build(scenario)
    result: Result = load_engine("analytic").simulate(system, 1)
    scenario = without_credits(scenario, result)
    asked, cycle_s = scenario, longest_cycle_s(system, result.log.bytes_per_s)
    for _ in range(MOST_RUNS):
        expected_s = cycle_s
        asked = with_cycles(scenario, expected_s, result.transactions_per_s)
        result = run(asked)
        last_s = last_cycle_s(result) / asked.sampling_fraction
        cycle_s = max(longest_cycle_s(system, result.log.bytes_per_s), last_s)
        if cycle_s <= MOST_LONGER * expected_s:
            break
    return asked, replace(result, warnings=[*result.warnings, *_too_short_words(asked, cycle_s)])


def _too_short_words(asked: ScenarioSpec, cycle_s: float) -> list[str]:
    """A sentence about a run that counts less than one cycle; nothing about others."""
    simulated_s, length_s = asked.interval.duration_s, asked.sampling_fraction * cycle_s
    if simulated_s is None or simulated_s >= length_s:
        return []
    share, minutes = simulated_s / length_s, cycle_s / 60.0
    return [
        f"simulated: {share:.0%} of a cycle of checkpoints ({minutes:.3g} min); --engine analytic counts whole cycles"
    ]


def beginning_of(scenario: ScenarioSpec) -> Beginning | None:
    """The calculated rate while credits last, and until when; None if they don't run out."""
    calculated: Result = load_engine("analytic").simulate(build(scenario), 1)
    limits = [limit for device in calculated.devices for limit in device.limits] + calculated.volume_limits
    lasted_s = min((limit.credits_lasted_s for limit in limits if limit.ran_out), default=None)
    if lasted_s is None:
        return None
    interval = IntervalSpec(start="warm", duration_s=lasted_s)
    first: Result = load_engine("analytic").simulate(build(scenario.model_copy(update={"interval": interval})), 1)
    return Beginning(lasted_s, first.transactions_per_s)


def without_credits(scenario: ScenarioSpec, result: Result) -> ScenarioSpec:
    """The scenario with empty buckets at the limits whose credits ran out in a result of it."""
    machine, devices = scenario.machine, result.devices
    changes: dict[str, Any] = {"volume_limits": _emptied(machine.volume_limits, result.volume_limits)}
    if isinstance(disk := machine.disks.disk, FlashDiskSpec):
        disk = disk.model_copy(update={"limits": _emptied(disk.limits, devices[0].limits)})
        changes["disks"] = machine.disks.model_copy(update={"disk": disk})
    if isinstance(log := machine.log_disk, FlashDiskSpec):
        changes["log_disk"] = log.model_copy(update={"limits": _emptied(log.limits, devices[-1].limits)})
    return scenario.model_copy(update={"machine": machine.model_copy(update=changes)})


def _emptied(specs: Sequence[RateLimitSpec], results: Sequence[LimitResult]) -> tuple[RateLimitSpec, ...]:
    if not any(one.ran_out for one in results):
        return tuple(specs)
    pairs = zip(specs, results, strict=True)
    return tuple(
        spec.model_copy(update={"credits_at_start_fraction": 0.0}) if one.ran_out else spec for spec, one in pairs
    )


def last_cycle_s(result: Result) -> float:
    """Time between the beginnings of a run's last two checkpoints; 0 if there aren't two."""
    begins_s = [begin_s for begin_s, _ in result.checkpoints_s[-2:]]
    return begins_s[-1] - begins_s[0] if begins_s else 0.0


def with_cycles(scenario: ScenarioSpec, cycle_s: float, transactions_per_s: float) -> ScenarioSpec:
    """The scenario of a sustained rate with the length of its run, and the share of its pages that are held."""
    per_s = max(transactions_per_s, 1e-9)
    affordable_s = MESSAGES / per_s / scenario.workload.round_trips
    cycles = CYCLES_BEFORE + CYCLES_COUNTED
    fraction = even_fraction(scenario, affordable_s / (cycles * cycle_s)) if cycle_s > 0 else 1.0
    whole_s = min(fraction * cycle_s, affordable_s / cycles)
    before_s, counted_s = (
        max(math.ceil(many * whole_s), math.ceil(min(LEAST_S, affordable_s / 2.0)))
        for many in (CYCLES_BEFORE, CYCLES_COUNTED)
    )
    interval = IntervalSpec(start="warm", warm_up_s=before_s, duration_s=counted_s)
    return scenario.model_copy(update={"interval": interval, "sampling_fraction": fraction})


def longest_cycle_s(system: System, log_bytes_per_s: float) -> float:
    """The longest cycle of a system that logs so much: of its checkpoints, or of its redo log; 0 if it has none."""
    if log_bytes_per_s <= 0:
        return 0.0
    cycles_s = [
        to_s(cycle_ns)
        for daemon in system.daemons
        if (cycle_ns := daemon.checkpoint_cycle_ns(log_bytes_per_s)) is not None
    ]
    if system.flushing:
        cycles_s.append(system.flushing.whole_age_bytes / log_bytes_per_s)
    return max(cycles_s, default=0.0)
