"""The kernel's stations: gauges, servers (CPU and plain stations), critical sections, row locks, queues."""

# pyright: reportReturnType=false

from simulator.form import Int32Array, IntArray
from simulator.kernel import columns as ks
from simulator.kernel.calendar import NOW, after, at_once
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled, compiled_inside


@compiled_inside
def change(row: IntArray, gauge: int, now: int, by: int) -> None:
    """Add `by` to a gauge from now on."""
    row[gauge] += by
    row[gauge + 1] += by * now


@compiled_inside
def come(row: IntArray, population: int, now: int) -> None:
    """One more is in a population: a gauge, and behind it the sum of the instants at which those inside came."""
    change(row, population, now, 1)
    row[population + 2] += now


@compiled_inside
def go(row: IntArray, population: int, now: int, since: int) -> None:
    """One that came at `since` has left a population."""
    change(row, population, now, -1)
    row[population + 2] -= since


def ages_at(row: IntArray, population: int, now: int) -> int:
    """How long those inside a population have been there, added up."""
    return int(row[population] * now - row[population + 2])


@compiled
def area_until(row: IntArray, gauge: int, now: int) -> int:
    """A gauge's integral from time 0 to now."""
    return row[gauge] * now - row[gauge + 1]


@compiled_inside
def append(life: IntArray, queue: IntArray, first: int, last: int, entity: int) -> None:
    """Put an entity at the end of the list whose ends are entries `first` and `last` of `queue`."""
    life[entity, ks.NEXT] = ks.NONE
    if queue[first] == ks.NONE:
        queue[first] = entity
    else:
        life[queue[last], ks.NEXT] = entity
    queue[last] = entity


@compiled_inside
def take_first(life: IntArray, queue: IntArray, first: int) -> int:
    """Take the first entity of a list that is not empty."""
    entity = queue[first]
    queue[first] = life[entity, ks.NEXT]
    return entity


@compiled_inside
def join_those_who_wait(life: IntArray, first: int, entity: int) -> int:
    """Add an entity to those who are woken together, a list known by its first one; returns the first one."""
    life[entity, ks.NEXT] = ks.NONE
    if first == ks.NONE:
        life[entity, ks.TAIL] = entity
        return entity
    life[life[first, ks.TAIL], ks.NEXT] = entity
    life[first, ks.TAIL] = entity
    return first


@compiled_inside
def enter(kernel: Kernel, station: int, entity: int, burst_ns: int, urgent: bool) -> None:
    """An entity asks a station for a server for `burst_ns`; its stage tells whether it waits or is served."""
    row, life, now = kernel.stations[station], kernel.life, kernel.calendar.clock[NOW]
    change(row, ks.NUMBER, now, 1)
    life[entity, ks.STATION] = station
    life[entity, ks.WAITED] = 0
    life[entity, ks.BURST] = burst_ns
    if row[ks.FREE] > 0:
        row[ks.FREE] -= 1
        change(row, ks.BUSY, now, 1)
        _serve(kernel, entity)
        return
    life[entity, ks.STAGE] = ks.TURN
    life[entity, ks.WAITED] = -now
    if urgent and row[ks.FIRST] != ks.NONE:
        life[entity, ks.NEXT] = row[ks.FIRST]
        row[ks.FIRST] = entity
    else:
        append(life, row, ks.FIRST, ks.LAST, entity)


@compiled_inside
def _serve(kernel: Kernel, entity: int) -> None:
    """A server takes up an entity; a burst on the processors is longer the more of them are busy."""
    life = kernel.life[entity]
    life[ks.STAGE] = ks.SERVING
    if life[ks.STATION] == ks.CPU_STATION:
        busy = kernel.stations[ks.CPU_STATION, ks.BUSY]
        life[ks.BURST] = life[ks.BURST] * kernel.longer_ppm[busy] // ks.PPM
    after(kernel.calendar, life[ks.BURST], entity)


@compiled_inside
def begin_service(kernel: Kernel, entity: int) -> None:
    """It is an entity's turn at its station."""
    kernel.life[entity, ks.WAITED] += kernel.calendar.clock[NOW]
    _serve(kernel, entity)


@compiled_inside
def leave(kernel: Kernel, entity: int) -> None:
    """An entity has been served: its server goes to the next in line."""
    life, now = kernel.life, kernel.calendar.clock[NOW]
    row = kernel.stations[life[entity, ks.STATION]]
    row[ks.SERVED] += 1
    change(row, ks.NUMBER, now, -1)
    if row[ks.FIRST] != ks.NONE:
        begin_service(kernel, take_first(life, row, ks.FIRST))
    else:
        row[ks.FREE] += 1
        change(row, ks.BUSY, now, -1)


@compiled_inside
def enter_section(kernel: Kernel, section: int, client: int, hold_ns: int) -> None:
    """A client asks for a critical section; `hold_ns` of CPU inside it follow."""
    row, life = kernel.stations[section], kernel.life
    row[ks.SERVED] += 1
    life[client, ks.A] = ks.FOR_SECTION
    if row[ks.FREE] > 0:
        row[ks.FREE] = 0
        change(row, ks.BUSY, kernel.calendar.clock[NOW], 1)
        enter(kernel, ks.CPU_STATION, client, hold_ns, True)
        return
    life[client, ks.STAGE] = ks.SECTION_TURN
    append(life, row, ks.FIRST, ks.LAST, client)


@compiled_inside
def hand_over_section(kernel: Kernel, section: int, client: int) -> None:
    """The section is a client's next, once it has woken up."""
    kernel.life[client, ks.STAGE] = ks.SECTION_HANDOVER
    after(kernel.calendar, kernel.stations[section, ks.HANDOVER], client)


@compiled_inside
def has_section(kernel: Kernel, section: int, client: int, hold_ns: int) -> None:
    """The client that was handed the section is inside."""
    row, life = kernel.stations[section], kernel.life
    row[ks.WAITS] += 1
    row[ks.WAITED_NS] += kernel.calendar.clock[NOW] - life[client, ks.ASKED]
    enter(kernel, ks.CPU_STATION, client, hold_ns, True)


@compiled_inside
def leave_section(kernel: Kernel, section: int) -> None:
    """The section goes to the next in line."""
    row = kernel.stations[section]
    if row[ks.FIRST] != ks.NONE:
        at_once(kernel.calendar, take_first(kernel.life, row, ks.FIRST))
    else:
        row[ks.FREE] = 1
        change(row, ks.BUSY, kernel.calendar.clock[NOW], -1)


@compiled_inside
def wait_for_lock(kernel: Kernel, lock: int, client: int) -> None:
    """A client joins the queue of a row lock."""
    life, queue = kernel.life, kernel.locks[lock]
    life[client, ks.STAGE] = ks.LOCK_TURN
    life[client, ks.NEXT] = ks.NONE
    if queue[0] == ks.NONE:
        queue[0] = client
    else:
        life[queue[1], ks.NEXT] = client
    queue[1] = client


@compiled_inside
def next_owner(kernel: Kernel, queue: Int32Array) -> int:
    """Take the client that has waited longest for a lock off its queue; ks.NONE if nobody waits."""
    client = queue[0]
    if client != ks.NONE:
        queue[0] = kernel.life[client, ks.NEXT]
    return client


@compiled_inside
def count_lock_wait(kernel: Kernel, client: int) -> int:
    """A client's wait for a lock is over; returns how long it was."""
    waited = kernel.calendar.clock[NOW] - kernel.life[client, ks.ASKED]
    kernel.facts[ks.LOCK_WAITS] += 1
    kernel.facts[ks.LOCK_WAITED] += waited
    return waited
