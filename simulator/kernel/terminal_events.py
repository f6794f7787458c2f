"""The kernel's terminals, and the queue of transactions for free connections. As in reference/terminals.py."""

# pyright: reportReturnType=false

from simulator.kernel import columns as ks
from simulator.kernel.calendar import NOW, after, at_once
from simulator.kernel.columns import STAGE, Kernel
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.state import State
from simulator.kernel.stations import append, come, take_first
from simulator.kernel.terminals import (
    AWAY,
    CLASS_BITS,
    COUNT,
    DEFERRED,
    DEFERRED_INSIDE,
    TIER_NS,
    first_arrival_ns,
    next_arrival_ns,
    seat,
)


@compiled
def start_terminals(kernel: Kernel, first: int) -> None:
    """All terminals begin; `first` is the first one's entity."""
    for number in range(kernel.terminals.facts[COUNT]):
        after(kernel.calendar, first_arrival_ns(kernel.terminals, number), first + number)


@compiled_inside
def wake_terminal(kernel: Kernel, entity: int, number: int) -> None:
    """A terminal's transaction joins the queue; of a deferred one the terminal has its answer already."""
    terminals = kernel.terminals
    chosen = terminals.classes[number]
    terminals.facts[AWAY] -= 1
    arrive(kernel, kernel.calendar.clock[NOW] - terminals.facts[TIER_NS], number << CLASS_BITS | chosen)
    if chosen == terminals.facts[DEFERRED]:
        terminals.facts[DEFERRED_INSIDE] += 1
        _leave(kernel, entity, number, chosen)


@compiled_inside
def _leave(kernel: Kernel, entity: int, number: int, ended: int) -> None:
    """A terminal has its answer: it thinks, and types the next transaction."""
    kernel.terminals.facts[AWAY] += 1
    after(kernel.calendar, next_arrival_ns(kernel.terminals, number, ended), entity)


@compiled_inside
def arrive(kernel: Kernel, began: int, whose: int) -> None:
    """A transaction goes to a free connection, or waits for one."""
    facts, life = kernel.facts, kernel.life
    come(facts, ks.IN_SYSTEM, began)
    if facts[ks.IDLE_FIRST] != ks.NONE:
        client = take_first(life, facts, ks.IDLE_FIRST)
        life[client, ks.BEGAN], life[client, ks.WHOSE] = began, whose
        at_once(kernel.calendar, client)
        return
    ring = kernel.arrived
    place = (facts[ks.ARRIVED_FIRST] + facts[ks.ARRIVED_COUNT]) % len(ring)
    ring[place, 0], ring[place, 1] = began, whose
    facts[ks.ARRIVED_COUNT] += 1


@compiled_inside
def take_arrival(kernel: Kernel, client: int) -> bool:
    """The next arrival is the client's, or the client waits for it."""
    facts, ring = kernel.facts, kernel.arrived
    if facts[ks.ARRIVED_COUNT]:
        place = facts[ks.ARRIVED_FIRST] % len(ring)
        kernel.life[client, ks.BEGAN], kernel.life[client, ks.WHOSE] = ring[place, 0], ring[place, 1]
        facts[ks.ARRIVED_FIRST] += 1
        facts[ks.ARRIVED_COUNT] -= 1
        return True
    kernel.life[client, STAGE] = ks.ARRIVING
    append(kernel.life, facts, ks.IDLE_FIRST, ks.IDLE_LAST, client)
    return False


@compiled_inside
def seat_client(state: State, kernel: Kernel, client: int) -> None:
    """A client sits down to the arrival that it was given."""
    if kernel.terminals.facts[COUNT]:
        seat(kernel.terminals, state, client, kernel.life[client, ks.WHOSE])


@compiled_inside
def answer_terminal(kernel: Kernel, client: int, transaction_class: int) -> None:
    """A client's transaction has ended; its terminal, if any, has been waiting for that unless it was deferred."""
    facts = kernel.terminals.facts
    if facts[COUNT] == 0:
        return
    if transaction_class == facts[DEFERRED]:
        facts[DEFERRED_INSIDE] -= 1
        return
    number = kernel.life[client, ks.WHOSE] >> CLASS_BITS
    _leave(kernel, kernel.facts[ks.FIRST_TERMINAL] + number, number, transaction_class)
