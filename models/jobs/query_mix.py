"""Read-only query mixes in memory: clients on the machine's processors, its buffer pool and a critical section.

 client ─> computes ─> pages of the pool (misses come from the page cache) ─> enters the section ─> and again

A mix is so many turns of that. It is measured in turns, shared out over clients that claim one after the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from oltpsim.models.jobs.result import JobResult, most_crowded
from oltpsim.models.jobs.simulated import LONGEST, ONE_TRANSACTION_EACH, FinishedJob, simulate_work
from oltpsim.models.machine import speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import machine_model, memory_plan
from oltpsim.models.workloads import QueryMixSpec
from oltpsim.simulator.form import GIB, KIB, NS_PER_S, NS_PER_US, UNPACED, Assembler, Program, Section, System, cut_of
from oltpsim.simulator.results import Activity

MOST_TURNS_OF_A_MIX = 1_000
"""more entries of a mix are put together, hand-over and all"""
MOST_TURNS, LEAST_OF_A_CLIENT, MOST_REQUESTS = 200_000, 20, 400_000
"""that are simulated: so many turns, or turns of so many page requests, but some of each client"""
MOST_REQUESTS_OF_ALL = 100 * MOST_REQUESTS
"""of mixes that are simulated at all: tens of seconds"""
MOST_PAGES = 50_000
"""more pages stand for themselves by their share, with pool and page cache"""
STAYS = 16
"""lengths that stand for exponential stays in the section"""
READ = 0


@dataclass(frozen=True)
class Turns:
    """Turns of a mix, those that are simulated, and what one asks for: `inside_ns` in the section, `outside_ns`."""

    of_a_mix: int
    simulated: int
    outside_ns: int
    inside_ns: int
    page_requests: float


def query_mix(scenario: ScenarioSpec, job: QueryMixSpec, seed: int) -> JobResult:
    """Query mixes per hour: clients run on the processors, and enter the critical section one at a time.

    An entry that finds the section taken costs a hand-over, during which nobody is inside, as with transactions
    (docs/model/locks.md). Who is inside goes first on the processors. Times between entries and inside are
    exponential.
    """
    turns = turns_of(scenario, job)
    model = query_mix_model(scenario, job, turns)
    done = simulate_work(model, seed)
    mixes = turns.simulated / turns.of_a_mix
    sections = done.counters.sections
    occupied = sum(each.busy_ns for each in sections) / done.ended_ns
    return JobResult(
        kind="query_mix",
        figure="query mixes per hour",
        value=3600.0 * mixes / done.seconds,
        unit="mixes/h",
        cpu_cores_busy=done.cores_busy,
        limited_by=most_crowded(
            {"critical section": occupied, "processors": done.cores_busy / model.processors},
            "clients: each waits for its own queries",
        ),
        parts_of="a query mix",
        parts_s={part: ns / NS_PER_S / mixes for part, ns in _parts_ns(scenario, job, model, done, mixes).items()},
        basis=f"simulated, seed {seed}: {mixes:,.4g} query mixes",
    )


def turns_of(scenario: ScenarioSpec, job: QueryMixSpec) -> Turns:
    """Turns of a scenario's query mixes."""
    count = min(job.entries_per_mix, MOST_TURNS_OF_A_MIX)
    share = scenario.database.critical_section.share_of_path
    path_ns = job.mix_ms * 1e3 * NS_PER_US / speed_of(scenario.machine)
    # the pool doesn't know who is in the section: of its misses that are even, those inside are a time on average
    misses = job.page_requests_per_mix * max(1.0 - _pool_gib(scenario) / job.data_gib, 0.0)
    inside_ns = path_ns * share + misses * _miss_us(scenario) * NS_PER_US * job.misses_in_section_fraction
    requests = job.page_requests_per_mix / count
    most = min(MOST_TURNS, round(MOST_REQUESTS / requests)) if requests else MOST_TURNS
    return Turns(
        of_a_mix=count,
        simulated=max(most, LEAST_OF_A_CLIENT * job.clients),
        outside_ns=max(round(path_ns * (1.0 - share) / count), 1),
        inside_ns=round(inside_ns / count),
        page_requests=requests,
    )


def request_faults(job: QueryMixSpec) -> Iterator[str]:
    """More page requests than are simulated, a line; nothing if there are fewer."""
    turns = min(job.entries_per_mix, MOST_TURNS_OF_A_MIX)
    requests = LEAST_OF_A_CLIENT * job.clients * job.page_requests_per_mix / turns
    if requests > MOST_REQUESTS_OF_ALL:
        yield (
            f"job.page_requests_per_mix: got {job.page_requests_per_mix:,.6g} in {turns:,} turns of {job.clients:,} "
            f"clients; {LEAST_OF_A_CLIENT} turns of each would take {requests:,.3g} requests, and at most "
            f"{MOST_REQUESTS_OF_ALL:,} are simulated: give more entries_per_mix, fewer requests or fewer clients"
        )


def query_mix_model(scenario: ScenarioSpec, job: QueryMixSpec, turns: Turns) -> System:
    """The scenario's machine with the job's clients, all of its data in pool and page cache."""
    data_pages = max(round(job.data_gib * GIB / (scenario.database.page_kib * KIB)), 1)
    pages = min(data_pages, MOST_PAGES)
    program = _program(turns, pages)
    registers = np.zeros((job.clients, len(program.registers)), dtype=np.int64)
    model = machine_model(scenario, program, registers, replace(LONGEST, start="after_load"))
    buffers = max(round(memory_plan(scenario).resident_buffers * pages / data_pages), job.clients + 1)
    cached = max(round(model.page_cache.pages * pages / data_pages), 1)
    of_section_us = job.entries_per_mix / turns.of_a_mix * scenario.operating_system.cpu.contended_handover_us
    handover_ns = round(of_section_us * NS_PER_US / speed_of(scenario.machine))
    outside = 1.0 - job.misses_in_section_fraction
    costs = model.costs
    return replace(
        model,
        work=ONE_TRANSACTION_EACH,
        pool=replace(model.pool, pages=buffers, resident_pages=buffers),
        daemons=(),
        page_cache=replace(model.page_cache, pages=cached, dirty_limit_pages=cached, paced_pages=UNPACED),
        costs=replace(costs, miss_ns=round(outside * costs.miss_ns), read_ns=round(outside * costs.read_ns)),
        sections=tuple(Section(section.name, handover_ns) for section in model.sections),
    )


def _program(turns: Turns, pages: int) -> Program:
    asm = Assembler()
    zero, claimed, page, requests = map(asm.register, ("zero", "claimed", "page", "requests"))
    times, draws = asm.stream("times"), asm.stream("pages")
    begun, count = asm.counter("begun", 1, 0), asm.counter("turns", 1, turns.simulated)
    data = asm.region("data", 1, pages, 1)
    asm.loaded(data, 0, pages)
    row = asm.reference("row", "row", data, zero, row=page)
    next_turn, done = asm.label(), asm.label()

    def ask() -> None:
        asm.emit("uniform", page, pages, 0, draws)
        asm.emit("touch", row, READ, 0)

    asm.emit("think", asm.distribution("constant", 0), times)
    asm.emit("choose", asm.table("mix", [1.0]), times)
    asm.begin_class("query mixes")
    asm.place(next_turn)
    asm.emit("claim", claimed, begun, zero, count, done)
    asm.emit("work", asm.distribution("exponential", turns.outside_ns), times)
    whole, left = divmod(turns.page_requests, 1.0)
    if whole:
        following = asm.label()
        asm.emit("set", requests, int(whole))
        asm.place(following)
        ask()
        asm.emit("loop", requests, following)
    if left:
        without = asm.label()
        asm.emit("maybe", cut_of(1.0 - left), draws, without)
        ask()
        asm.place(without)
    if turns.inside_ns:
        for number, share in enumerate(_exponential_stays()):
            longer = asm.label()
            asm.emit("maybe", cut_of(1.0 - 1.0 / (STAYS - number)), times, longer)
            asm.emit("section", asm.section("critical section"), round(share * turns.inside_ns))
            asm.emit("jump", next_turn)
            asm.place(longer)
    asm.emit("commit")  # without log or locks it takes no time, but what was computed is paid
    asm.emit("jump", next_turn)
    asm.place(done)
    asm.emit("end")
    return asm.finish("query mixes")


def _exponential_stays() -> list[float]:
    """Means of the parts of an exponential time of mean 1 that are as likely as each other, the shortest first."""
    edges = [-math.log1p(-number / STAYS) for number in range(STAYS)]
    above = [(edge + 1.0) * math.exp(-edge) for edge in edges] + [0.0]
    return [STAYS * (low - high) for low, high in pairwise(above)]


def _parts_ns(
    scenario: ScenarioSpec, job: QueryMixSpec, model: System, done: FinishedJob, mixes: float
) -> dict[str, float]:
    """Time of all clients by part. Page misses have their part in the section, too."""
    spent, sections = done.spent_ns, done.counters.sections
    path_ns = mixes * job.mix_ms * 1e-3 * NS_PER_S / speed_of(scenario.machine)
    pool = done.counters.pool
    misses_ns = (pool.references - pool.hits) * _miss_us(scenario) * NS_PER_US
    alone = min((path_ns + misses_ns) if model.sharing else spent[Activity.CPU], spent[Activity.CPU])
    of_path = path_ns / (path_ns + misses_ns)
    handed = sum(each.waits * model.sections[0].handover_ns for each in sections)
    return {
        "computing": alone * of_path,
        "page misses": alone * (1.0 - of_path),
        "slower beside other threads": spent[Activity.CPU] - alone,
        "waiting for a processor": spent[Activity.CPU_QUEUE],
        "waiting for the critical section": max(spent[Activity.CRITICAL_SECTION] - handed, 0),
        "hand-over": handed,
        "waiting for disks": spent[Activity.DISK_READ] + spent[Activity.PAGE_WAIT],
    }


def _pool_gib(scenario: ScenarioSpec) -> float:
    return memory_plan(scenario).resident_buffers * scenario.database.page_kib * KIB / GIB


def _miss_us(scenario: ScenarioSpec) -> float:
    """CPU time of a miss that the page cache answers, on this machine."""
    path_us = scenario.operating_system.cpu.read_us + scenario.database.path.page_miss_us
    return path_us / speed_of(scenario.machine)
