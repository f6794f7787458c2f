"""Other jobs than transactions over an interval: what a machine can be asked to do instead."""

from typing import Annotated, Literal

from pydantic import Field

from oltpsim.models.input import Fraction, Gib, Kib, Mib, Microseconds, Milliseconds, Name, Number, Spec, WholeNumber
from oltpsim.models.workloads.partitioned_store import PartitionedStoreSpec

MOST_THREADS = 100_000


class LoadSpec(Spec):
    """One thread inserts the rows of `workload.warehouses` warehouses; their pages are written in the background.

    Its path length is the database's: `database.path.load_row_us`.
    """

    kind: Literal["load"] = "load"


class ScanSpec(Spec):
    """A serial read of all loaded tables from disks, nothing in memory; one read-ahead thread for each disk."""

    kind: Literal["scan"] = "scan"
    fragment_kib: Kib = Field(
        default=8.0,
        gt=0,
        le=2**30,
        description="mean run of a table's pages that lie behind each other in the file "
        "(assumption: one page of 8 KiB, as tables are that grew page by page beside others)",
    )


class LookupsSpec(Spec):
    """Random look-ups of a join whose tables lie in partitions, one for each process, all in memory."""

    kind: Literal["lookups"] = "lookups"
    queries: WholeNumber = Field(ge=1, le=MOST_THREADS, description="queries that run at the same time")
    processes: WholeNumber = Field(ge=1, le=MOST_THREADS, description="processes, each with one thread for each query")
    core_us: Microseconds = Field(default=2.0, gt=0)
    """CPU time of a look-up whose data are in the processor's cache, on the reference core (assumption)"""
    memory_references: Number = Field(default=40.0, ge=0, le=1e6)
    """references of a look-up to what may not be in the processor's cache (assumption)"""
    touched_mib: Mib = Field(default=64.0, gt=0)
    """memory over which these references are spread (assumption)"""
    exchange_us: Microseconds = Field(default=1.5, ge=0)
    """time for each look-up that a thread waits for the other processes, off the processor (assumption)"""


class MutexSpec(Spec):
    """Threads that do nothing but acquire and free one mutex, each as often as one thread alone did."""

    kind: Literal["mutex"] = "mutex"
    threads: WholeNumber = Field(default=2, ge=1, le=MOST_THREADS)
    mutex_us: Microseconds = Field(default=0.1, gt=0)
    """acquire and free without contention, on the reference core (assumption)"""
    handed_over_fraction: Fraction = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of entries that are handed over to a sleeping thread: 1 if threads enter in order of "
        "arrival; less if one that is running may enter first",
    )


class QueryMixSpec(Spec):
    """Clients that run read-only mixes of queries, all data in memory, one mix after the other without thinking."""

    kind: Literal["query_mix"] = "query_mix"
    name: Name = "query mixes"
    clients: WholeNumber = Field(ge=1, le=MOST_THREADS)
    mix_ms: Milliseconds = Field(gt=0, description="user CPU time of one mix on the reference core, misses left out")
    entries_per_mix: WholeNumber = Field(default=1000, ge=1, le=10**9)
    """entries into the database's critical section (assumption)"""
    page_requests_per_mix: Number = Field(default=0.0, ge=0, le=1e9, description="requests to the buffer pool")
    data_gib: Gib = Field(default=1.0, gt=0, description="pages over which these requests are spread evenly")
    misses_in_section_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """share of a miss's CPU time that is spent in the critical section"""


JobSpec = Annotated[
    LoadSpec | ScanSpec | LookupsSpec | MutexSpec | QueryMixSpec | PartitionedStoreSpec, Field(discriminator="kind")
]
