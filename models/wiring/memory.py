"""Memory: who gets how much of it, and what references to the buffer pool's memory cost beyond the path.

The operating system shares it out:

 |<- kernel, daemons ->|<- server, connections ->|<- clients ->|<- buffer pool ... ->|<- page cache ->|
                                                               what does not fit is swapped out; the
                                                               page cache never gets less than its floor;
                                                               with `operating_system.reclaim` that is the
                                                               start, and both take from each other

Where each connection is a process that maps the whole pool (PostgreSQL, Oracle), each has page tables of its own for
it: 8 bytes for each memory page of the pool.

A processor finds `tlb_entries` translations at once. Of references spread evenly over `touched` bytes it lacks
1 - entries x page / touched, and then reads an entry of the page table, 8 bytes for each page: from its cache, as far
as the table fits in, or from memory. Memory is interleaved over the sockets (assumption): of s sockets (s - 1) / s of
all that goes to memory is remote, and takes `remote_memory_factor` times as long.
"""

from dataclasses import dataclass

from oltpsim.models.database import DatabaseSpec
from oltpsim.models.machine import MachineSpec
from oltpsim.models.operating_system import OperatingSystemSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.form import GIB, KIB, MIB, Reclaim, from_s

TABLE_ENTRY_KIB = 8 / 1024
KIB_PER_MIB = 1024


LEAST_HUGE_KIB = 2048
"""memory pages that are never swapped"""
BATCH_KIB = 128
"""reclaimed at once: Linux, include/linux/swap.h, SWAP_CLUSTER_MAX, 32 pages of 4 KiB"""

FIGURES_S = 2.0
"""between two updates of a container's figures: Linux, mm/memcontrol.c, FLUSH_TIME"""


@dataclass(frozen=True)
class MemoryPlan:
    """How the machine's memory is shared out, in bytes and pages."""

    free_bytes: float
    """what kernel, server, connections and clients leave"""
    swap_bytes: float
    """room for what is swapped out"""
    pool_bytes: float
    page_cache_pages: int
    resident_buffers: int
    """buffers that have memory; the others are swapped out"""


def memory_plan(scenario: ScenarioSpec) -> MemoryPlan:
    """Who gets how much memory."""
    machine, system, database = scenario.machine, scenario.operating_system, scenario.database
    total = machine.memory_gib * GIB
    local_clients = scenario.workload.clients if machine.network.clients_on_server else 0
    buffer_bytes = database.pool.memory_per_buffer_kib * KIB
    pool_bytes = database.pool.buffers * buffer_bytes
    per_connection = database.memory_per_connection_mib * MIB
    if database.connections_map_pool:
        per_connection += pool_bytes / system.memory_page_kib * TABLE_ENTRY_KIB
    used = (system.reserved_memory_gib + database.process_memory_gib) * GIB
    used += scenario.workload.clients * per_connection + local_clients * system.memory_per_client_mib * MIB
    free = total - used
    floor = system.page_cache.floor_fraction * total
    is_huge = system.reclaim is not None and system.memory_page_kib >= LEAST_HUGE_KIB
    resident = database.pool.buffers if is_huge else min(database.pool.buffers, int((free - floor) / buffer_bytes))
    cache = max(floor, free - pool_bytes) * (1.0 - system.page_cache.other_files_fraction)
    return MemoryPlan(
        free_bytes=free,
        swap_bytes=0.0 if is_huge else total if system.swap.size_gib is None else system.swap.size_gib * GIB,
        pool_bytes=pool_bytes,
        page_cache_pages=max(1, int(cache / (database.page_kib * KIB))) if database.io == "buffered" else 1,
        resident_buffers=max(1, resident),
    )


def reclaim_of(scenario: ScenarioSpec, resident_buffers: int, page_cache_pages: int) -> Reclaim | None:
    """Rules by which pool and page cache share memory; None if each keeps its own."""
    system, database = scenario.operating_system, scenario.database
    is_swapped = system.memory_page_kib < LEAST_HUGE_KIB and database.io == "buffered"
    if system.reclaim is None or not is_swapped:
        return None
    return Reclaim(
        pages=resident_buffers + page_cache_pages,
        swappiness=0 if system.swap.size_gib == 0 else system.reclaim.swappiness,
        batch_pages=max(round(BATCH_KIB / database.page_kib), 1),
        figures_ns=from_s(FIGURES_S) if system.reclaim.in_container else 0,
    )


def most_buffers(scenario: ScenarioSpec) -> int:
    """Buffers of the largest pool of which nothing is swapped out, 0 if there is room for none."""
    plan, system, database = memory_plan(scenario), scenario.operating_system, scenario.database
    tables = scenario.workload.clients * TABLE_ENTRY_KIB / system.memory_page_kib
    tables *= database.connections_map_pool
    free = plan.free_bytes + tables * plan.pool_bytes
    floor = system.page_cache.floor_fraction * scenario.machine.memory_gib * GIB if database.io == "buffered" else 0.0
    return max(int((free - floor) / (database.pool.memory_per_buffer_kib * KIB * (1.0 + tables))), 0)


def row_operation_ns(machine: MachineSpec, system: OperatingSystemSpec, database: DatabaseSpec) -> float:
    """Time that a row operation's references to the pool take on top of its path; 0 where the profile has none."""
    cpu, references = machine.cpu, database.path.memory_references
    if references == 0:
        return 0.0
    farther = (cpu.sockets - 1) / cpu.sockets * (cpu.remote_memory_factor - 1.0)
    touched_kib = database.pool.buffers * database.pool.memory_per_buffer_kib
    table_kib = touched_kib / system.memory_page_kib * TABLE_ENTRY_KIB
    cached = min(cpu.cache_mib * KIB_PER_MIB / table_kib, 1.0)
    walk_ns = cached * cpu.cache_latency_ns + (1.0 - cached) * (cpu.memory_latency_ns * (1.0 + farther))
    # of a processor whose TLB nobody knows no translation is missing
    missing = max(1.0 - cpu.tlb_entries * system.memory_page_kib / touched_kib, 0.0) if cpu.tlb_entries else 0.0
    return references * (missing * walk_ns + farther * cpu.memory_latency_ns)
