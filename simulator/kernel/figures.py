"""What the kernel gives back: figures of a run, values of its program, and the whole state, as records."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from oltpsim.simulator.form import IntArray, StructuredArray
from oltpsim.simulator.results import HISTOGRAM_BUCKETS, Activity, Counters, Levels


class ClassCompletions(NamedTuple):
    """Completions of a transaction class in the measured interval; times in ns, in all and by activity."""

    completed: int
    rolled_back: int
    total_ns: int
    spent_ns: Annotated[IntArray, Activity]
    histogram: Annotated[IntArray, HISTOGRAM_BUCKETS]


class Checkpoint(NamedTuple):
    """Begin and end of a checkpoint that is done."""

    began_ns: int
    ended_ns: int


class End(NamedTuple):
    """End of a transaction."""

    time_ns: int
    client: int
    transaction_class: int
    response_ns: int


@dataclass(frozen=True)
class KernelFigures:
    """Counters and levels at an instant; a row for each class, checkpoint and traced end of a transaction."""

    now_ns: int
    events: int
    counters: Counters
    levels: Levels
    classes: Annotated[StructuredArray, ClassCompletions]
    checkpoints: Annotated[IntArray, Checkpoint]
    ends: Annotated[IntArray, End]


@dataclass(frozen=True)
class Values:
    """Values of the program now: counters, registers by client, and what references have reached and remember."""

    counters: IntArray
    registers: IntArray
    streams: IntArray
    high: IntArray
    remembered: IntArray
    seen: IntArray


class SlotState(NamedTuple):
    """Slot of a cache: its page or -1; `residence`: what the operating system knows of its memory."""

    page: int
    usage: int
    dirty: int
    busy: int
    residence: int


class DirtyPage(NamedTuple):
    """Page of the page cache that has been dirty since a time."""

    page: int
    since_ms: int


class ClientState(NamedTuple):
    """Client in its transaction: CPU demand and log that aren't paid, the slot that it has waited for."""

    transaction_class: int
    user_ns: int
    system_ns: int
    client_ns: int
    log_bytes: int
    victim: int
    rolled_back: int


class HeldLock(NamedTuple):
    """Lock that a client holds."""

    client: int
    lock: int


@dataclass(frozen=True)
class State:
    """All that the kernel holds beside the program's values."""

    pool: Annotated[IntArray, SlotState]
    page_cache: Annotated[IntArray, SlotState]
    pool_by_use: IntArray
    page_cache_by_use: IntArray
    page_cache_by_age: Annotated[IntArray, DirtyPage]
    pool_hand: int
    resident_hand: int
    writes_in_flight: int
    put_aside: IntArray
    lock_owners: IntArray
    locks_held: Annotated[IntArray, HeldLock]
    clients: Annotated[IntArray, ClientState]
    arrival_stream: int
    terminal_streams: IntArray
    requests: int
    free_requests: int
