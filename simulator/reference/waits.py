"""What a client may have to wait for: the interpreter says what, and whoever lets time pass does so and comes back."""

from collections.abc import Iterator
from typing import NamedTuple

from oltpsim.simulator.reference.cache import Frame

Wait = tuple[object, ...]
"""one of the records below"""
Waits = Iterator[Wait]
"""one wait after the other; whoever asks for the next has let the last one pass"""


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
    """Writing the log as the system's rule says; locks are released after it, unless `keeps_locks`."""

    size_bytes: int
    keeps_locks: bool


class LogHandover(NamedTuple):
    """Handing over log that is flushed at once. It takes no time."""

    size_bytes: int


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


class FreeBuffer(NamedTuple):
    """A delay before a buffer of a full pool may be taken."""

    time_ns: int


class SwapIn(NamedTuple):
    """Reading back a frame whose memory was swapped out; it is busy until then."""

    frame: Frame


class VictimWrite(NamedTuple):
    """Writing a dirty victim to its device before its frame is used again; it is busy until then."""

    frame: Frame


class Throttled(NamedTuple):
    """A write-back: the page cache has as many dirty pages as it may."""


class Paused(NamedTuple):
    """A pause after `pages` were written into a page cache with many dirty ones.

    0: the longest one, since it has as many as it may. `file`: where the last of them was written, which may be locked
    meanwhile.
    """

    pages: int
    file: int


class LockedFile(NamedTuple):
    """A delay until a file isn't locked any more by somebody who was paused."""

    time_ns: int


class NetworkDelay(NamedTuple):
    """A delay that occupies nobody."""

    time_ns: int


class StationVisit(NamedTuple):
    """A visit to a plain station."""

    station: int
    service_ns: int
