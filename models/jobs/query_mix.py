"""Read-only query mixes in memory: what clients get from processors that share a critical section."""

import numpy as np

from models.build import memory_plan
from models.jobs.processors import US, chances
from models.jobs.result import JobResult, most_crowded
from models.machine import slowed_by_busy, speed_of
from models.scenario import ScenarioSpec
from models.workloads import QueryMixSpec
from simulator.form import GIB, KIB


def query_mix(scenario: ScenarioSpec, job: QueryMixSpec) -> JobResult:
    """Query mixes per hour: clients run on the processors, and enter the critical section one at a time.

    An entry that finds the section taken costs a hand-over, during which nobody is inside, as with transactions
    (docs/model.md, section 5). Who is inside goes first on the processors. Times are exponential.
    """
    machine, section = scenario.machine, scenario.database.critical_section
    speed, slow = speed_of(machine), slowed_by_busy(machine)
    miss_us = scenario.operating_system.cpu.read_us + scenario.database.path.page_miss_us  # the page cache answers it
    path_s, miss_s = job.mix_ms * 1e-3 / speed, _misses(scenario, job) * miss_us * US / speed
    inside_s = path_s * section.share_of_path + miss_s * job.misses_in_section_fraction
    outside_s = path_s + miss_s - inside_s
    handover_s = job.entries_per_mix * scenario.operating_system.cpu.contended_handover_us * US / speed
    handover_s = handover_s if inside_s else 0.0

    inside = np.arange(job.clients + 1)
    running = np.minimum(job.clients - inside, len(slow) - (inside > 0))
    slowed = slow[np.maximum(running + (inside > 0), 1) - 1]
    turn_s = inside_s * slowed + handover_s * (inside > 1)
    per_s = running / (outside_s * slowed)
    with np.errstate(divide="ignore", over="ignore"):
        chance = chances(per_s[:-1], 1.0 / turn_s[1:])
    holding = np.where(inside > 0, inside_s * slowed / np.maximum(turn_s, np.finfo(float).tiny), 0.0)
    rate_per_s, busy = float(chance @ per_s), float(chance @ (running + holding))
    occupied = 1.0 - float(chance[0])
    return JobResult(
        kind="query_mix",
        figure="query mixes per hour",
        value=3600.0 * rate_per_s,
        unit="mixes/h",
        cpu_cores_busy=busy,
        limited_by=most_crowded(
            {"critical section": occupied, "processors": busy / len(slow)}, "clients: each waits for its own queries"
        ),
        parts_of="a query mix",
        parts_s={
            "computing": path_s,
            "page misses": miss_s,
            "slower beside other threads": max(busy / rate_per_s - path_s - miss_s, 0.0),
            "waiting for a processor": float(chance @ (job.clients - inside - running)) / rate_per_s,
            "waiting for the critical section": float(chance @ np.maximum(inside - 1, 0)) / rate_per_s,
            "hand-over": (occupied - float(chance @ holding)) / rate_per_s,
        },
    )


def _misses(scenario: ScenarioSpec, job: QueryMixSpec) -> float:
    """Requests of a mix that the pool can't answer: pages are asked for evenly, and it holds its share of them."""
    held_gib = memory_plan(scenario).resident_buffers * scenario.database.page_kib * KIB / GIB
    return job.page_requests_per_mix * max(1.0 - held_gib / job.data_gib, 0.0)
