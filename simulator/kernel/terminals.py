"""Terminals: many users who type, send, wait and think, before few connections that do their work.

A terminal is as light as can be, so that a million of them fit: a random stream, the class of its next transaction, and
one event, the arrival of that at the queue for connections. Both engines call what is compiled here.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.form import IntArray, Model, Terminals
from simulator.kernel.compiled import compiled
from simulator.kernel.state import CLASS, REGISTERS, State
from simulator.kernel.streams import draw_alias, exponential_ns, next_bits, seed_streams, uniform_below

# Entries of `facts`: constants, then who is where
COUNT, HOMES, MIX_START, MIX_LENGTH, DEFERRED, LONGEST_THINK, TIER_NS, LONGEST_NS, AWAY, DEFERRED_INSIDE = range(10)
KEYING, THINKING = range(2)
CLASS_BITS = 8
"""a terminal and the class of its transaction as one number: terminal << CLASS_BITS | class"""
_NO_CLASS = -1


class TerminalState(NamedTuple):
    """See the module's text. Without terminals the count is 0."""

    facts: IntArray
    streams: npt.NDArray[np.uint64]
    """one of each terminal, and behind them that of the warm start"""
    classes: npt.NDArray[np.int8]
    """of each terminal's next transaction"""
    times: IntArray
    """(class, [keying, mean thinking])"""
    seats: IntArray
    """(register, factor, divisor): what a register of a connection is set to, home * factor // divisor"""
    alias: IntArray


def new_terminals(model: Model, seed: int) -> TerminalState:
    """The terminals at time 0, all of them away."""
    asked = model.terminals or Terminals(0, 1, (), 0, (0,), (0,))
    classes = len(asked.keying_ns)
    times = np.array([asked.keying_ns, asked.thinking_ns], dtype=np.int64).T.copy()
    facts = np.zeros(10, dtype=np.int64)
    start, length = model.program.tables[asked.mix].tolist() if asked.count else (0, 0)
    longest = int(times[:, KEYING].max() + asked.longest_think * times[:, THINKING].max())
    mix, deferred = (start, length), asked.deferred_class
    facts[:AWAY] = (asked.count, asked.homes, *mix, deferred, asked.longest_think, asked.middle_tier_ns, longest)
    facts[AWAY] = asked.count
    return TerminalState(
        facts=facts,
        streams=seed_streams(seed, "terminals", asked.count + 1),
        classes=np.zeros(max(asked.count, 1), dtype=np.int8),
        times=times.reshape(classes, 2),
        seats=np.array(asked.registers, dtype=np.int64).reshape(-1, 3),
        alias=model.program.alias,
    )


@compiled
def next_arrival_ns(terminals: TerminalState, number: int, ended: int) -> int:
    """From the answer to a transaction of class `ended` (_NO_CLASS: any) to the next one's arrival at the queue."""
    facts, streams, times = terminals.facts, terminals.streams, terminals.times
    if ended == _NO_CLASS:
        ended = draw_alias(streams, number, terminals.alias, facts[MIX_START], facts[MIX_LENGTH])
    mean = times[ended, THINKING]
    thinking = min(exponential_ns(streams, number, mean), facts[LONGEST_THINK] * mean) if mean > 0 else 0
    chosen = draw_alias(streams, number, terminals.alias, facts[MIX_START], facts[MIX_LENGTH])
    terminals.classes[number] = chosen
    return thinking + times[chosen, KEYING] + facts[TIER_NS]


@compiled
def first_arrival_ns(terminals: TerminalState, number: int) -> int:
    """From time 0, amid thinking and keying: long ones are met as often as they are long; some of it is over."""
    facts, streams = terminals.facts, terminals.streams
    longest = facts[LONGEST_NS]
    while True:
        away = next_arrival_ns(terminals, number, _NO_CLASS) - facts[TIER_NS]
        if longest == 0:
            return facts[TIER_NS]
        among = np.int64(np.float64(next_bits(streams, number) >> np.uint64(11)) * 2.0**-53 * longest)
        if among < away:  # evenly within it
            return among + facts[TIER_NS]


@compiled
def seat(terminals: TerminalState, state: State, client: int, whose: int) -> None:
    """A connection takes up a transaction: its class, and the registers of its terminal's home."""
    row = state.client[client]
    row[CLASS] = whose & ((1 << CLASS_BITS) - 1)
    home = (whose >> CLASS_BITS) % terminals.facts[HOMES]
    for i in range(len(terminals.seats)):
        register, factor, divisor = terminals.seats[i]
        row[REGISTERS + register] = home * factor // divisor


@compiled
def seat_anybody(terminals: TerminalState, state: State, client: int) -> None:
    """In a start without time: a transaction by the mix, of any terminal."""
    facts, streams = terminals.facts, terminals.streams
    own = facts[COUNT]
    chosen = draw_alias(streams, own, terminals.alias, facts[MIX_START], facts[MIX_LENGTH])
    seat(terminals, state, client, uniform_below(streams, own, facts[COUNT]) << CLASS_BITS | chosen)
