"""Start of a run: the state that the harness leaves, the lead-in from there, and what is counted after it.

A lead-in at full speed is done before time 0: its transactions wait for no disk, lock or log. What time it takes, or
how many transactions it is, follows from the processors, which alone hold it up: cores / (CPU time of a transaction),
or clients / (CPU time) where there are fewer of them. That time is the age of what it leaves dirty. A lead-in with the
clients of the run is simulated as the run is, and not counted.
"""

import numpy as np

from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.simulator import form
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation import processor_ns_at_start
from oltpsim.simulator.form import GIB, KIB, NS_PER_S, IntArray, from_s

MOST_WORK_S = 86_400
"""simulated time after which a run of a fixed amount of work is given up"""
SUSTAINED_FROM_S = 86_400
"""time that formulas take for the beginning of what a machine sustains: credits of bursts are spent by then"""


def interval_of(scenario: ScenarioSpec, program: form.Program, registers: IntArray) -> form.Interval:
    """The interval of a scenario whose program and clients are these. Raises InputError for an unknown table."""
    spec = scenario.interval
    counted_s = MOST_WORK_S if spec.duration_s is None else spec.duration_s
    before_s, transactions, lead_in_s = SUSTAINED_FROM_S if spec.sustained else spec.warm_up_s, 0, 0.0
    if spec.lead_in is not None:
        if spec.lead_in.speed == "clients":
            before_s += spec.lead_in.duration_s or 0.0
        else:
            transactions, lead_in_s = _at_full_speed(spec, program, registers, scenario.machine.cpu.cores)
    regions, pages = _prewarmed(scenario, program)
    into_pool = spec.prewarm is None or spec.prewarm.into == "pool"
    return form.Interval(
        spec.start, from_s(before_s), from_s(counted_s), transactions, from_s(lead_in_s), regions, pages, into_pool
    )


def _at_full_speed(spec: IntervalSpec, program: form.Program, registers: IntArray, cores: int) -> tuple[int, float]:
    """Transactions of the lead-in, and the time they take, s."""
    assert spec.lead_in is not None
    needs_ns = processor_ns_at_start(program, registers)
    per_s = min(cores, len(registers)) * NS_PER_S / max(needs_ns, 1.0)
    transactions = spec.lead_in.transactions
    if transactions is None:
        lasts_s = spec.lead_in.duration_s or 0.0
        return round(lasts_s * per_s), lasts_s
    return transactions, transactions / per_s


def _prewarmed(scenario: ScenarioSpec, program: form.Program) -> tuple[tuple[int, ...], int]:
    """Regions that a prewarm reads, in its order, and how many of their pages."""
    if scenario.interval.start != "after_prewarm":
        return (), 0
    prewarm = scenario.interval.prewarm
    loaded = tuple(dict.fromkeys(program.load_order[:, 0].tolist()))
    regions = loaded
    if prewarm is not None and prewarm.tables:
        names = [program.region_names[region] for region in loaded]
        for table in prewarm.tables:
            if table not in names:
                raise InputError(
                    f"{scenario.name}: interval.prewarm.tables: no table {table!r}; allowed: {', '.join(names)}"
                )
        regions = tuple(loaded[names.index(table)] for table in prewarm.tables)
    pages = int(program.load_order[np.isin(program.load_order[:, 0], regions), 3].sum())
    if prewarm is not None and prewarm.most_gib is not None:
        pages = min(pages, int(prewarm.most_gib * GIB / (scenario.database.page_kib * KIB)))
    return regions, pages


def start_faults(scenario: ScenarioSpec) -> list[str]:
    """What doesn't fit together in a scenario's start, a line each."""
    interval, faults = scenario.interval, []
    if interval.prewarm is not None and interval.start != "after_prewarm":
        faults.append(
            f"interval.prewarm: with interval.start: {interval.start}, which reads no files; set interval.start: "
            "after_prewarm, or take it out"
        )
    if (
        interval.lead_in is not None
        and interval.lead_in.speed == "full"
        and scenario.workload.arrivals.kind != "closed"
    ):
        faults.append(
            f"interval.lead_in.speed: full speed is that of closed clients, here arrivals are "
            f"{scenario.workload.arrivals.kind} (workload.arrivals.kind); set speed: clients with duration_s"
        )
    if (
        interval.lead_in is not None
        and interval.new_orders_per_client is not None
        and interval.lead_in.speed == "clients"
    ):
        faults.append(
            "interval.lead_in: a run of new_orders_per_client counts all that is done at the clients' speed; set "
            "speed: full, or give duration_s in place of new_orders_per_client"
        )
    return faults
