"""A client: what it knows between two waits, and the kinds of wait that it may meet."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.reference.cache import Frame
from simulator.reference.streams import Stream


class CpuBurst(NamedTuple):
    """CPU demand by kind, served as one burst: the database in user mode, system calls, the client's own program."""

    user_ns: int
    system_ns: int
    client_ns: int


class Thinking(NamedTuple):
    """A pause, after which a transaction begins."""

    time_ns: int


class NextArrival(NamedTuple):
    """The next transaction that comes from outside."""


class RowLock(NamedTuple):
    """A row lock that another client holds."""

    lock: int


class SectionStay(NamedTuple):
    """Entering a critical section, and `hold_ns` of CPU inside."""

    section: int
    hold_ns: int


class Commit(NamedTuple):
    """Writing the log as the model's rule says; locks are released after it, unless `keeps_locks`."""

    size_bytes: int
    keeps_locks: bool


class Rollback(NamedTuple):
    """Releasing all locks. It takes no time."""


class TransactionEnd(NamedTuple):
    """The end of a transaction. It takes no time."""

    transaction_class: int
    rolled_back: bool


class PageRead(NamedTuple):
    """Reading a page from its device into a frame, which is busy until then."""

    frame: Frame


class PageInTransit(NamedTuple):
    """A page that is being read or written by somebody else."""

    page: int


class AnyBuffer(NamedTuple):
    """Any buffer that is not busy: all of them are."""


class SwapIn(NamedTuple):
    """Reading back a frame whose memory was swapped out; it is busy until then."""

    frame: Frame


class VictimWrite(NamedTuple):
    """Writing a dirty victim to its device before its frame is used again (direct I/O); it is busy until then."""

    frame: Frame


class Throttled(NamedTuple):
    """A write-back: the page cache has as many dirty pages as it may."""


class NetworkDelay(NamedTuple):
    """A delay that occupies nobody."""

    time_ns: int


class StationVisit(NamedTuple):
    """A visit to a plain station."""

    station: int
    service_ns: int


Wait = (
    CpuBurst
    | Thinking
    | NextArrival
    | RowLock
    | SectionStay
    | Commit
    | Rollback
    | TransactionEnd
    | PageRead
    | PageInTransit
    | AnyBuffer
    | SwapIn
    | VictimWrite
    | Throttled
    | NetworkDelay
    | StationVisit
)
Waits = Iterator[Wait]
"""One wait after the other; whoever asks for the next has let the last one pass."""


class Client:
    """A client of the program. Its CPU demand is collected, in ns of each kind, and paid before it waits for anything.

    `next_operation`: the number of the operation that it runs next. `frame_chosen`: the frame that CLOCK's hand has
    chosen for it, while it waits until that can be used.
    """

    __slots__ = (
        "client_ns",
        "frame_chosen",
        "locks_held",
        "log_bytes",
        "next_operation",
        "number",
        "registers",
        "rolled_back",
        "streams",
        "system_ns",
        "transaction_class",
        "user_ns",
    )

    def __init__(self, number: int, registers: list[int], streams: list[Stream]) -> None:
        self.number, self.registers, self.streams = number, registers, streams
        self.next_operation = self.transaction_class = self.log_bytes = 0
        self.rolled_back = False
        self.locks_held: list[int] = []
        self.frame_chosen: Frame | None = None
        self.user_ns = self.system_ns = self.client_ns = 0

    @property
    def owes_cpu(self) -> bool:
        """Whether there is CPU demand that has been collected and not been paid."""
        return self.user_ns + self.system_ns + self.client_ns > 0

    def pay(self) -> Waits:
        """The CPU demand collected so far as one burst; nothing if there is none."""
        if self.owes_cpu:
            burst = CpuBurst(self.user_ns, self.system_ns, self.client_ns)
            self.user_ns = self.system_ns = self.client_ns = 0
            yield burst
