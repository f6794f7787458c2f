"""The database engine: buffer pool, writer, checkpoint, log, locks, path lengths."""

from typing import Literal

from pydantic import Field

from oltpsim.models.database.buffer_pool import BufferPoolSpec
from oltpsim.models.database.checkpoint import CheckpointSpec
from oltpsim.models.database.log import LogSpec
from oltpsim.models.database.page_cleaner import PageCleanerSpec, free_pages_of
from oltpsim.models.database.writer import WriterSpec
from oltpsim.models.input import Fraction, Gib, Kib, Mib, Microseconds, Name, Number, Spec, Text, WholeNumber


class PathLengthSpec(Spec):
    """User-mode CPU time on the reference core (AMD Opteron 1.8 GHz)."""

    transaction_us: Microseconds = Field(ge=0, description="begin, plan, commit of any transaction")
    row_operation_us: Microseconds = Field(ge=0, description="find, read, change or insert one row")
    scanned_row_us: Microseconds = Field(ge=0, description="one row met in a range scan")
    page_miss_us: Microseconds = Field(ge=0, description="replace a buffer, queue and complete an I/O")
    client_fraction: Fraction = Field(ge=0, le=1, description="client CPU per server CPU")
    memory_references: Number = Field(default=0.0, ge=0, le=100_000)
    """of a row operation to places in the buffer pool's memory that lie far apart: TLB misses, NUMA"""
    shared_lines: Number = Field(default=0.0, ge=0, le=100_000)
    """cache lines that a row operation writes and all other threads write, too: latches, pins, counters"""
    refill_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """time that a thread needs longer on a processor whose caches another thread has used"""
    session_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """growth of a transaction's CPU time with each other session: snapshots, lists of transactions, caches"""
    crowding_sessions: Number | None = Field(default=None, gt=0)
    """other sessions with which that growth is half of its limit; absent: it has none"""
    transaction_phases: WholeNumber = Field(default=0, ge=0, le=100)
    """n: transaction_us is a sum of n exponential times (coefficient of variation 1 / sqrt n); 0: it doesn't vary"""
    statement_us: Microseconds = Field(default=0.0, ge=0)
    """one statement of a row workload besides its rows, whose transactions have it in the place of transaction_us; 0:
    not known, and transaction_us is taken for the whole transaction"""
    load_row_us: Microseconds | None = Field(default=None, gt=0)
    """one row inserted by a bulk load, its index entries and its share of a new buffer included"""


class CriticalSectionSpec(Spec):
    """The part of the CPU path that only one thread may be in, and how often it is entered."""

    share_of_path: Fraction = Field(ge=0, le=0.95, description="share of user CPU time inside it")
    entries_per_transaction: WholeNumber = Field(ge=1, le=10_000)
    """entries that one simulated entry stands for"""
    memory_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """of the time inside on the reference core: waits for memory, which a faster core doesn't shorten"""


class DatabaseSpec(Spec):
    """One database engine with its settings."""

    name: Name
    page_kib: Kib = Field(gt=0, le=64)
    io: Literal["buffered", "direct"]
    process_memory_gib: Gib = Field(ge=0, description="server without buffer pool and connections")
    memory_per_connection_mib: Mib = Field(default=0.0, ge=0, description="of one connection's process or thread")
    connections_map_pool: bool = False
    """whether each connection is a process with page tables of its own for the whole pool"""
    requests_per_file: WholeNumber = Field(ge=1, le=65536, description="I/O calls that may be pending on one file")
    file_layout: Literal["round_robin", "by_table"] = Field(
        default="round_robin",
        description="round_robin: pages lie on all disks or sets in turn; by_table: a table with its index on its own "
        "disks or sets, as many as its size is of all data",
    )
    pool: BufferPoolSpec
    writer: WriterSpec | None = None
    checkpoint: CheckpointSpec | None = None
    page_cleaner: PageCleanerSpec | None = Field(
        default=None,
        description="in the place of writer and checkpoint; with io: buffered (innodb_flush_method=fsync) a batch goes "
        "through the page cache, stays there and is on the disks before the next one",
    )
    log: LogSpec
    path: PathLengthSpec
    critical_section: CriticalSectionSpec
    measured_threads: WholeNumber = Field(default=8, ge=1)
    """most hardware threads that a run was compared on; with more than twice as many a result is in doubt"""
    source: Text

    @property
    def held_buffers(self) -> int:
        """Buffers that hold pages: free ones don't. Assumption: at least half of them do."""
        buffers = self.pool.buffers
        free_pages = free_pages_of(self.page_cleaner) if self.page_cleaner else 0
        return max(buffers - free_pages, -(-buffers // 2))
