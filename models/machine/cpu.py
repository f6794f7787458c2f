"""Processors: cores, their speed and caches, and how threads that run at once slow each other down."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field
from scipy.special import gammaln

from oltpsim.models.input import Fraction, Mib, Microseconds, Name, Nanoseconds, Number, Spec, Text, WholeNumber
from oltpsim.simulator.form import FloatArray

KEPT_SHARE = 0.65
"""share of wake-ups that keep a thread on its processor while another core is idle: fitted with `wake_us` to sysbench
read-only on twelve EC2 shapes (docs/cpu-scaling.md)"""


@dataclass(frozen=True)
class Sessions:
    """Sessions that share the processors, and what their taking turns costs.

    `threads`: of each session on the machine, one of which runs at a time: two if its client is there, too.
    `wake_share`: share of a lone transaction's time in which processors that slept wake up.
    `refill_fraction`: time that a thread needs longer on caches that another one has used.
    """

    number: int
    threads: int
    wake_share: float = 0.0
    refill_fraction: float = 0.0
    growth: float = 1.0
    """CPU time of a transaction with all sessions connected, of that with one"""


class CpuSpec(Spec):
    """Processors of one machine.

    `relative_speed` is the speed of one core on one thread of OLTP work, relative to one core of an
    AMD Opteron 244 (1.8 GHz) = 1.0; path lengths of database profiles are times on that core.
    """

    model: Name
    cores: WholeNumber = Field(ge=1, le=4096)
    relative_speed: Number = Field(ge=0.01, le=100)
    threads_per_core: WholeNumber = Field(default=1, ge=1, le=2, description="hardware threads of a core")
    second_thread_gain: Fraction = Field(default=0.2, ge=0, le=1)
    """work that a core does more with both of its threads busy"""
    thread_placement: Literal["by_cores", "by_chance", "kept"] = "by_cores"
    """by_cores: idle cores are filled before second threads; by_chance: a thread that wakes up takes any idle one;
    kept: each thread of a session has a processor, idle cores first, and mostly stays there though others are idle"""
    wake_us: Microseconds = Field(default=0.0, ge=0)
    """time of a client's message and its answer in which processors that were idle wake up"""
    all_core_clock_fraction: Fraction = Field(default=1.0, gt=0, le=1)
    """clock with all cores busy, of that with one, for which relative_speed holds"""
    quota_cores: Number | None = Field(default=None, ge=0.01, le=4096)
    """processors' worth of time that may be run in each 100 ms (a container's CFS quota); absent: all"""
    cache_line_ns: Nanoseconds = Field(default=20.0, ge=0)
    """time in which a cache line comes from another core of the socket (assumption: devices measured by others)"""
    remote_cache_line_ns: Nanoseconds = Field(default=150.0, ge=0)
    """the same from another socket: 100 to 200 were measured (assumption)"""
    memory_bus_share: Fraction = Field(default=0.0, ge=0, le=1)
    """share of its time that a lone busy core keeps the memory bus busy, which all cores share"""
    cache_mib: Mib = Field(default=0.0, ge=0)
    """last cache of one processor before memory; 0: look-ups find nothing in it"""
    memory_latency_ns: Nanoseconds = Field(default=100.0, ge=0)
    """time of a reference that goes to memory (assumption)"""
    cache_latency_ns: Nanoseconds = Field(default=15.0, ge=0)
    """time of a reference that this cache answers (assumption)"""
    sockets: WholeNumber = Field(default=1, ge=1, le=256, description="each with its share of cores and memory")
    remote_memory_factor: Number = Field(default=1.0, ge=1, le=100)
    """how many times as long another socket's memory takes as one's own"""
    tlb_entries: WholeNumber = Field(default=0, ge=0, le=1_000_000)
    """translations that a processor holds; 0: never lacks one"""
    source: Text

    @property
    def threads(self) -> int:
        """Hardware threads of all cores: what an operating system counts as processors."""
        return self.cores * self.threads_per_core

    def described(self, times: str = "×") -> str:
        """How many of which: 2 × AMD Opteron 244; with several threads per core how many there are."""
        words = f"{self.cores} {times} {self.model}"
        return words if self.threads_per_core == 1 else f"{words} ({self.threads} threads)"


def cache_line_ns(cpu: CpuSpec) -> float:
    """Time in which a cache line comes from another core, ns; of s sockets (s - 1) / s of the others are elsewhere."""
    elsewhere = (cpu.sockets - 1) / cpu.sockets
    return (1.0 - elsewhere) * cpu.cache_line_ns + elsewhere * cpu.remote_cache_line_ns


@lru_cache(maxsize=64)
def slowdowns(
    cpu: CpuSpec, *, placed_by_cores: bool = True, line_share: float = 0.0, sessions: Sessions | None = None
) -> FloatArray:
    """How much longer a piece of work takes with 1, 2, ... all hardware threads busy than alone, (threads,).

    Two busy threads of one core do `1 + second_thread_gain` times the work of one. `placed_by_cores`: the operating
    system fills idle cores first; under a hypervisor, whose guests don't know which processors are siblings, it is
    chance. The clock falls evenly from one busy core to all of them (assumption: makers' tables have steps).
    What is no core's own work waits for the memory bus, one customer at a time: each busy core is a customer
    of a closed network with that queue (exact mean-value analysis, Reiser and Lavenberg 1980). A second queue
    is for lines of cache that all threads write, one at a time; `line_share`: time to fetch them, by the work's time
    alone, if each came from another core. Of k threads the last to write was another with chance (k - 1) / k.
    `sessions`: with them a processor that has turns to give no longer sleeps, and its caches are others'.
    """
    threads = cpu.threads
    busy = np.arange(1, threads + 1, dtype=np.float64)
    kept = sessions if cpu.thread_placement == "kept" else None
    pairs = np.zeros(threads)
    if cpu.threads_per_core == 2:
        by_chance = busy * (busy - 1.0) / (2.0 * (threads - 1.0))
        by_cores = np.maximum(busy - cpu.cores, 0.0)
        pairs = _kept_pairs(cpu, busy, kept.threads) if kept else by_cores if placed_by_cores else by_chance
    alone = busy / (busy - 2.0 * pairs + pairs * (1.0 + cpu.second_thread_gain))
    if cpu.all_core_clock_fraction < 1.0 and cpu.cores > 1:
        alone /= 1.0 - (1.0 - cpu.all_core_clock_fraction) * (busy - pairs - 1.0) / (cpu.cores - 1.0)
    share, core = cpu.memory_bus_share, alone * (1.0 - cpu.memory_bus_share)
    fetch = line_share * (busy - 1.0) / busy
    bus, line = np.full(threads, share), fetch.copy()
    if share > 0.0 or line_share > 0.0:
        at_bus, at_line = np.zeros(threads), np.zeros(threads)
        for customers in range(1, threads + 1):
            here = slice(customers - 1, None)  # rows with so many busy threads
            bus[here], line[here] = share * (1.0 + at_bus[here]), fetch[here] * (1.0 + at_line[here])
            around = core[here] + bus[here] + line[here]
            at_bus[here], at_line[here] = customers * bus[here] / around, customers * line[here] / around
    factors: FloatArray = core + bus + line
    if sessions is not None:
        placed = np.append(busy[:-1], max(sessions.number, threads)) * sessions.threads
        # chances that a thread wakes up on an idle processor, and on one that has been idle long enough to sleep
        idle = _idle_chance(np.maximum(placed / threads - 1.0, 0.0), placed, sessions.threads)
        asleep, waking = idle**2, sessions.wake_share
        factors = factors * (1.0 + sessions.refill_fraction * (1.0 - idle)) * (1.0 - waking) + waking * asleep
        if kept and kept.threads > 1:
            without_thread = _idle_chance(placed / cpu.cores, placed, sessions.threads)
            factors /= 1.0 - KEPT_SHARE * np.maximum(without_thread - 1.0 + (busy - pairs) / cpu.cores, 0.0)
        factors *= sessions.growth
    factors.setflags(write=False)
    return factors


def _kept_pairs(cpu: CpuSpec, busy: FloatArray, threads: int) -> FloatArray:
    """Cores with both hardware threads busy, where each session's threads have processors, idle cores first.

    A thread that has a sibling finds it busy unless it belongs to the same session; one of a session's threads runs.
    """
    placed = busy * threads
    with_sibling = 2.0 * np.maximum(placed - cpu.cores, 0.0) / placed
    others = (placed - threads) / np.maximum(placed - 1.0, 1.0) / threads
    crowded = (busy - 1.0) / (cpu.threads - 1.0)
    return 0.5 * busy * np.where(placed <= cpu.threads, with_sibling * others, crowded)


def _idle_chance(present: FloatArray, all_threads: FloatArray, threads: int) -> FloatArray:
    """Chance that none of the threads present at a processor or core runs, where one in `threads` of all does.

    As balls drawn from an urn without putting them back, so that one session never meets itself.
    """
    asleep = all_threads * (1.0 - 1.0 / threads)
    left = np.maximum(asleep - present, 0.0)
    chance: FloatArray = np.exp(
        gammaln(asleep + 1.0) - gammaln(left + 1.0) + gammaln(all_threads - present + 1.0) - gammaln(all_threads + 1.0)
    )
    return np.where(present < asleep + 1.0, chance, 0.0)
