"""The operating system: page cache, write-back, memory pressure and swap, CPU per call."""

from typing import Annotated

from pydantic import Field

from oltpsim.models.input import Gib, Kib, Mib, Microseconds, Milliseconds, Name, Number, Spec, Text, WholeNumber
from oltpsim.models.operating_system.io_scheduler import CfqSpec, FileSystemSpec, NoopSpec, RawSpec
from oltpsim.models.operating_system.page_cache import PageCacheSpec
from oltpsim.simulator.form import NS_PER_MS

MOST_SCALING = 8
"""processors beyond which time slices grow no more (Linux, kernel/sched/fair.c, get_update_sysctl_factor)"""


class SwapSpec(Spec):
    """Where memory goes that does not fit. Swap lies on the first data disk."""

    cluster_pages: WholeNumber = Field(ge=1, le=1024, description="pages written out per request to the swap device")
    size_gib: Gib | None = Field(default=None, ge=0, description="room in it; as large as memory if absent")
    request_kib: Kib | None = Field(
        default=None,
        ge=4,
        le=4096,
        description="size of a request that writes to swap, in place of cluster_pages; Linux writes 4 KiB pages one by "
        "one, of which neighbours are merged",
    )


class ReclaimSpec(Spec):
    """Linux's reclaim: pool and page cache take memory from each other, by active and inactive lists of both.

    It is for buffered I/O and a pool in small memory pages; huge ones are never swapped. `floor_fraction` then holds
    for the start alone. Modelled: the lists since 6.2, not MGLRU.
    """

    swappiness: WholeNumber = Field(default=60, ge=0, le=200)
    """vm.swappiness: weight of buffers; that of the page cache is 200 less it"""
    in_container: bool = Field(
        default=False,
        description="whether memory_gib is the limit of a control group: its figures, by which reclaim decides whether "
        "to look at buffers, are up to 2 s old (mm/memcontrol.c, FLUSH_TIME)",
    )


class SystemCpuSpec(Spec):
    """System-mode CPU time per call on the reference core (AMD Opteron 1.8 GHz)."""

    read_us: Microseconds = Field(ge=0, description="read of one page, with its copy")
    write_us: Microseconds = Field(ge=0, description="write of one page, with its copy")
    disk_request_us: Microseconds = Field(ge=0, description="request to a device, with its interrupt")
    message_us: Microseconds = Field(ge=0, description="one client request and its answer")
    contended_handover_us: Microseconds = Field(ge=0)
    """passing a contended mutex to a sleeping thread: wake-up and context switch"""
    time_slice_ms: Milliseconds = Field(default=0.0, ge=0, le=1000)
    """after which a thread lets others go first, on one processor; longer with more of them; 0: never"""


class InterruptsSpec(Spec):
    """Interrupts: one for each I/O, and some for each message. Their time is system time."""

    interrupt_us: Microseconds = Field(ge=0)
    """one of them on the reference core; a part of disk_request_us and of message_us"""
    per_message: Number = Field(default=1.0, ge=0, le=1000, description="of a client's request and its answer together")
    bound_processors: WholeNumber = Field(default=0, ge=0, le=4096)
    """those that serve them all and do nothing else; 0: all serve them"""
    remote_socket_factor: Number = Field(default=1.0, ge=1, le=100)
    """times as long that one takes on another socket than its device's"""
    by_locality: bool = Field(default=False, description="whether each is served on the socket of its device")


class OperatingSystemSpec(Spec):
    """One operating system with its settings."""

    name: Name
    reserved_memory_gib: Gib = Field(ge=0, description="kernel and daemons")
    memory_per_client_mib: Mib = Field(ge=0, description="memory of one client process on the server")
    page_cache: PageCacheSpec
    swap: SwapSpec
    reclaim: ReclaimSpec | None = Field(
        default=None, description="if absent, buffers are swapped only for what does not fit beside the floor"
    )
    cpu: SystemCpuSpec
    io_scheduler: Annotated[NoopSpec | CfqSpec, Field(discriminator="kind")] = NoopSpec()
    """what orders requests to flash and RAID sets; a lone disk with an arm has a scheduler of its own"""
    memory_page_kib: Kib = Field(default=4.0, gt=0, le=16 * 1024 * 1024)
    """memory pages of the buffer pool: 4; huge ones 2048, 262144"""
    storage_stack: Annotated[RawSpec | FileSystemSpec, Field(discriminator="kind")] = RawSpec()
    """what lies between the database's files and the devices, beside disk_request_us"""
    interrupts: InterruptsSpec | None = Field(default=None, description="if absent, they are not told apart")
    source: Text

    def slice_ns(self, processors: int) -> float:
        """The time slice of so many processors, by Linux's scaling: 1 + log2 of their number, rounded down, up to 8."""
        return self.cpu.time_slice_ms * NS_PER_MS * min(processors, MOST_SCALING).bit_length()

    @property
    def request_us(self) -> float:
        """System CPU that scheduler and storage stack take for each request, beside disk_request_us."""
        return sum(getattr(part, "request_us", 0.0) for part in (self.io_scheduler, self.storage_stack))
