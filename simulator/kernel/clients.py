"""The kernel's clients: what happens when a wait is over, and which wait comes next."""

# pyright: reportReturnType=false

from simulator.kernel import columns as ks
from simulator.kernel import interpreter as waits
from simulator.kernel.caches import DIRTY, DIRTY_COUNT, FLAGS, PAGE, POOL, SWAP_INS, SWAP_OUTS, clear_dirty
from simulator.kernel.calendar import NOW, after, at_once
from simulator.kernel.columns import SPENT, STAGE, A, B, Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.daemons import commit
from simulator.kernel.devices import call, device_of, return_call, submit, submit_call
from simulator.kernel.interpreter import advance, own_lock
from simulator.kernel.io_wait import sleep_in_io
from simulator.kernel.memory import finish_fault, finish_read
from simulator.kernel.page_writes import wait_for_written
from simulator.kernel.state import COSTS, DIRECT_IO, FIRST_LOCK, LOCK_OWNERS, LOCKS_HELD, PLACES, USER_NS, State
from simulator.kernel.stations import (
    change,
    come,
    count_lock_wait,
    enter,
    enter_section,
    go,
    hand_over_section,
    has_section,
    join_those_who_wait,
    leave,
    leave_section,
    next_owner,
    wait_for_lock,
)
from simulator.kernel.terminal_events import answer_terminal, seat_client, take_arrival
from simulator.kernel.terminals import TIER_NS
from simulator.kernel.write_back import flush_dirt, write_evicted
from simulator.results import HISTOGRAM_SUB_BUCKETS

THROTTLED_BATCH_PAGES = 64


@compiled_inside
def wake_client(state: State, kernel: Kernel, client: int) -> None:
    """A client's event: end its wait, then run it to the next one that takes time."""
    life = kernel.life[client]
    stage = life[STAGE]
    if stage == ks.SERVING:
        if not _served(state, kernel, client):
            return
    elif stage == ks.THINKING:
        life[ks.BEGAN] = kernel.calendar.clock[NOW]
        come(kernel.facts, ks.IN_SYSTEM, life[ks.BEGAN])
    elif stage != ks.NEW and not _end_rare_wait(state, kernel, client, stage):
        return
    _run_to_next_wait(state, kernel, client)


@compiled_inside
def _spend(kernel: Kernel, client: int, activity: int) -> None:
    life = kernel.life[client]
    life[SPENT + activity] += kernel.calendar.clock[NOW] - life[ks.ASKED]


@compiled_inside
def _served(state: State, kernel: Kernel, client: int) -> bool:
    """The CPU or a station has served a client."""
    life = kernel.life[client]
    leave(kernel, client)
    if life[ks.STATION] == kernel.facts[ks.INTERRUPT_STATION] and life[B] == ks.READING:
        _page_has_come(state, kernel, life[A])
        _spend(kernel, client, ks.SPENT_DISK_READ)
    elif life[A] == ks.FOR_CPU:
        life[SPENT + ks.SPENT_CPU] += life[ks.BURST]
        life[SPENT + ks.SPENT_CPU_QUEUE] += life[ks.WAITED]
    elif life[A] == ks.FOR_SECTION:
        leave_section(kernel, life[ks.SECTION])
        _spend(kernel, client, ks.SPENT_SECTION)
        life[SPENT + ks.SPENT_SECTION] -= life[ks.BURST]
        life[SPENT + ks.SPENT_CPU] += life[ks.BURST]
        state.usage[USER_NS] += life[B]
    else:
        _spend(kernel, client, ks.SPENT_STATIONS)
    return True


@compiled_inside
def _end_rare_wait(state: State, kernel: Kernel, client: int, stage: int) -> bool:  # noqa: C901, PLR0912 - one branch per wait
    """The other waits; False if the client goes on waiting for something else."""
    life = kernel.life[client]
    if stage == ks.READING:
        return_call(kernel, device_of(kernel, life[A]))
        if kernel.facts[ks.INTERRUPT_STATION] != ks.NONE:
            life[B] = ks.READING
            enter(kernel, kernel.facts[ks.INTERRUPT_STATION], client, kernel.facts[ks.INTERRUPT_NS], False)
            return False
        _page_has_come(state, kernel, life[A])
        _spend(kernel, client, ks.SPENT_DISK_READ)
    elif stage == ks.PAGE_WAIT:
        _spend(kernel, client, ks.SPENT_PAGE_WAIT)
    elif stage == ks.LOCK_TURN:
        life[SPENT + ks.SPENT_ROW_LOCKS] += count_lock_wait(kernel, client)
    elif stage == ks.COMMITTING:
        _spend(kernel, client, ks.SPENT_LOG)
        _logged(state, kernel, client)
    elif stage == ks.ON_NETWORK:
        _spend(kernel, client, ks.SPENT_NETWORK)
    elif stage == ks.FAULT:
        _swapped_in(state, kernel, life[A])
        _spend(kernel, client, ks.SPENT_SWAP)
    elif stage == ks.THROTTLED:
        _spend(kernel, client, ks.SPENT_THROTTLE)
    elif stage == ks.VICTIM:
        return_call(kernel, device_of(kernel, state.tiers.slots[life[A], PAGE]))
        _victim_written(state, kernel, life[A])
        _spend(kernel, client, ks.SPENT_THROTTLE)
    elif stage == ks.SECTION_TURN:
        hand_over_section(kernel, life[ks.SECTION], client)
        return False
    elif stage == ks.SECTION_HANDOVER:
        has_section(kernel, life[ks.SECTION], client, life[B])
        return False
    elif stage == ks.CALL_TURN:
        life[STAGE] = life[B]
        page = life[A] if life[B] == ks.READING else state.tiers.slots[life[A], PAGE]
        submit_call(kernel, client, page, life[B])
        return False
    elif stage == ks.ARRIVING:
        _begin(state, kernel, client)
    return True


@compiled_inside
def _begin(state: State, kernel: Kernel, client: int) -> None:
    """A client takes up the arrival that it was given."""
    life, tier_ns = kernel.life[client], kernel.terminals.facts[TIER_NS]
    life[SPENT + ks.SPENT_CONNECTION] += kernel.calendar.clock[NOW] - life[ks.BEGAN] - tier_ns
    life[SPENT + ks.SPENT_NETWORK] += tier_ns
    seat_client(state, kernel, client)


@compiled_inside
def _logged(state: State, kernel: Kernel, client: int) -> None:
    """The log has what a client gave it: a commit releases the locks, a flush keeps them."""
    if kernel.life[client, B] == 0:
        release_locks(state, kernel, client)


@compiled_inside
def _run_to_next_wait(state: State, kernel: Kernel, client: int) -> None:
    life = kernel.life[client]
    while True:
        now = kernel.calendar.clock[NOW]
        wait, a, b = advance(state, client, now)
        if state.outbox[0]:
            write_evicted(state, kernel)
        life[ks.ASKED] = now
        if wait == waits.WAIT_CPU:
            life[A], life[B] = ks.FOR_CPU, a
            enter(kernel, ks.CPU_STATION, client, a, False)
            return
        if wait == waits.WAIT_END:
            if _end(kernel, client, a, b):
                return
        elif wait == waits.WAIT_RELEASE:
            release_locks(state, kernel, client)
        elif wait == waits.WAIT_COMMIT:
            life[B] = b
            if commit(kernel, client, a):
                return
            _logged(state, kernel, client)
        elif wait == waits.WAIT_THINK and a == 0:
            life[ks.BEGAN] = now
            come(kernel.facts, ks.IN_SYSTEM, now)
        elif wait == waits.WAIT_ARRIVAL:
            if not take_arrival(kernel, client):
                return
            _begin(state, kernel, client)
        else:
            _begin_wait(state, kernel, client, wait, a, b)
            return


@compiled_inside
def _begin_wait(state: State, kernel: Kernel, client: int, wait: int, a: int, b: int) -> None:
    """Start what takes time."""
    life, now = kernel.life[client], kernel.calendar.clock[NOW]
    life[A], life[B] = a, b
    if wait == waits.WAIT_THINK:
        life[STAGE] = ks.THINKING
        after(kernel.calendar, a, client)
    elif wait == waits.WAIT_READ:
        change(kernel.facts, ks.READS_PENDING, now, 1)
        sleep_in_io(kernel, 1)
        call(kernel, client, a, ks.READING)
    elif wait == waits.WAIT_SECTION:
        life[ks.SECTION] = kernel.facts[ks.SECTIONS_FROM] + a
        enter_section(kernel, life[ks.SECTION], client, b)
    elif wait == waits.WAIT_LOCK:
        wait_for_lock(kernel, a, client)
    elif wait == waits.WAIT_VISIT:
        life[A], life[B] = ks.FOR_STATION, 0
        enter(kernel, 1 + a, client, b, False)
    elif wait == waits.WAIT_PAGE:
        life[STAGE] = ks.PAGE_WAIT
        slot = state.tiers.where[POOL, a]
        kernel.waiting[slot] = join_those_who_wait(kernel.life, int(kernel.waiting[slot]), client)
    elif wait == waits.WAIT_BUFFER:
        life[STAGE] = ks.PAGE_WAIT
        kernel.facts[ks.BUFFER_FIRST] = join_those_who_wait(kernel.life, kernel.facts[ks.BUFFER_FIRST], client)
    elif wait == waits.WAIT_FAULT:
        life[STAGE] = ks.FAULT
        size = kernel.facts[ks.PAGE_BYTES]
        sleep_in_io(kernel, 1)
        submit(kernel, 0, kernel.facts[ks.SWAP_START] + a * size, size, 0, ks.SWAP_IN, client)
    elif wait == waits.WAIT_THROTTLE:
        life[STAGE] = ks.THROTTLED
        flush_dirt(state, kernel, now, THROTTLED_BATCH_PAGES)
        wait_for_written(kernel, client)
    elif wait == waits.WAIT_VICTIM:
        page = state.tiers.slots[a, PAGE]
        clear_dirty(state.tiers, POOL, a)
        sleep_in_io(kernel, 1)
        call(kernel, client, page, ks.VICTIM)
    else:
        life[STAGE] = ks.ON_NETWORK
        after(kernel.calendar, a, client)


@compiled_inside
def _page_has_come(state: State, kernel: Kernel, page: int) -> None:
    """A page has been read into the slot that was kept for it."""
    change(kernel.facts, ks.READS_PENDING, kernel.calendar.clock[NOW], -1)
    sleep_in_io(kernel, -1)
    finish_read(state, page, state.tables[COSTS, DIRECT_IO] == 0)
    if state.outbox[0]:
        write_evicted(state, kernel)
    announce(kernel, state.tiers.where[POOL, page])


@compiled_inside
def announce(kernel: Kernel, slot: int) -> None:
    """Wake whoever waits for the page in this slot, and whoever waits for any buffer."""
    facts, first = kernel.facts, kernel.waiting[slot]
    if first != ks.NONE:
        kernel.waiting[slot] = ks.NONE
        at_once(kernel.calendar, ks.LIST << ks.KIND_BITS | first)
    if facts[ks.BUFFER_FIRST] != ks.NONE:
        at_once(kernel.calendar, ks.LIST << ks.KIND_BITS | facts[ks.BUFFER_FIRST])
        facts[ks.BUFFER_FIRST] = ks.NONE


@compiled_inside
def _victim_written(state: State, kernel: Kernel, slot: int) -> None:
    """Direct I/O: a dirty victim is on disk, its slot can be used again."""
    sleep_in_io(kernel, -1)
    state.tiers.slots[slot, FLAGS] &= DIRTY
    announce(kernel, slot)


@compiled_apart
def _swapped_in(state: State, kernel: Kernel, slot: int) -> None:
    """A buffer is back from swap; buffers that lost their memory are written out, a cluster at a time."""
    head, facts = state.tiers.head[POOL], kernel.facts
    head[SWAP_INS] += 1
    sleep_in_io(kernel, -1)
    finish_fault(state, slot)
    cluster = facts[ks.SWAP_CLUSTER]
    while head[SWAP_OUTS] - facts[ks.SWAP_OUTS_ISSUED] >= cluster:
        facts[ks.SWAP_OUTS_ISSUED] += cluster
        place = facts[ks.SWAP_OUTS_ISSUED] % max(facts[ks.POOL_PAGES] - cluster, 1)
        byte = facts[ks.SWAP_START] + place * facts[ks.PAGE_BYTES]
        submit(kernel, 0, byte, cluster * facts[ks.PAGE_BYTES], 1, ks.SWAP_OUT, ks.NOBODY)
    announce(kernel, slot)


@compiled_inside
def release_locks(state: State, kernel: Kernel, client: int) -> None:
    """The transaction is over: every lock goes to the one who has waited longest for it."""
    row, facts = state.client[client], kernel.facts
    held = row[LOCKS_HELD]
    for i in range(held):
        lock = row[FIRST_LOCK + i]
        waiter = next_owner(kernel, kernel.locks[lock])
        if waiter == ks.NONE:
            state.numbers[state.tables[PLACES, LOCK_OWNERS] + lock] = -1
        else:
            own_lock(state, waiter, lock)
            at_once(kernel.calendar, waiter)
    row[LOCKS_HELD] = 0
    facts[ks.LOCKS_ACQUIRED] += held
    if facts[ks.WRITER_SLEEPS] and state.tiers.head[POOL, DIRTY_COUNT] > facts[ks.WRITER_HIGH]:
        facts[ks.WRITER_SLEEPS] = 0
        at_once(kernel.calendar, facts[ks.CLIENTS] + ks.WRITER)


@compiled_inside
def _end(kernel: Kernel, client: int, transaction_class: int, rolled_back: int) -> bool:
    """A transaction has ended now; True if it was the client's last one."""
    facts, life, now = kernel.facts, kernel.life[client], kernel.calendar.clock[NOW]
    response = now - life[ks.BEGAN]
    facts[ks.ENDED] += 1
    if transaction_class == facts[ks.MAIN_CLASS]:
        facts[ks.ENDED_MAIN] += 1
        life[ks.MAIN_DONE] += 1
    if facts[ks.TRACED] < len(kernel.trace):
        row = kernel.trace[facts[ks.TRACED]]
        row[0], row[1], row[2], row[3] = now, client, transaction_class, response
        facts[ks.TRACED] += 1
    if now >= facts[ks.COUNT_FROM]:
        own = kernel.classes[transaction_class]
        own[ks.COMPLETED] += 1
        own[ks.ROLLED] += rolled_back
        own[ks.TOTAL_NS] += response
        own[ks.HISTOGRAM + _bucket(response)] += 1
        for activity in range(ks.ACTIVITY_COUNT):
            own[ks.CLASS_SPENT + activity] += life[SPENT + activity]
    for activity in range(ks.ACTIVITY_COUNT):
        life[SPENT + activity] = 0
    go(facts, ks.IN_SYSTEM, now, life[ks.BEGAN])
    answer_terminal(kernel, client, transaction_class)
    if life[ks.MAIN_DONE] != facts[ks.MAIN_PER_CLIENT] or transaction_class != facts[ks.MAIN_CLASS]:
        return False
    life[STAGE] = ks.STOPPED
    facts[ks.AT_WORK] -= 1
    return True


@compiled_inside
def _bucket(time_ns: int) -> int:
    """As `simulator.results.histogram_bucket`."""
    shift = 0
    while time_ns >> shift >= 2 * HISTOGRAM_SUB_BUCKETS:
        shift += 1
    return shift * HISTOGRAM_SUB_BUCKETS + (time_ns >> shift)
