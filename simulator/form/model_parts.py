"""Parts of a model that few systems have: terminals with a middle tier before the clients, and interrupts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Terminals:
    """Terminals that type, send, wait and think, before the clients, which are the connections that serve them.

    Each belongs to one of `homes`, all in turn; a connection that serves it gets `registers` set: (register, factor,
    divisor) to home * factor // divisor. Classes are drawn by alias table `mix`. Keying takes a constant time, thinking
    an exponential one, `longest_think` means at most. Transactions of `deferred_class` are answered when they are sent.
    """

    count: int
    homes: int
    registers: tuple[tuple[int, int, int], ...]
    mix: int
    keying_ns: tuple[int, ...]
    """by class of the transaction that follows"""
    thinking_ns: tuple[int, ...]
    """mean, by class of the transaction before"""
    longest_think: int = 10
    deferred_class: int = -1
    middle_tier_ns: int = 0
    """network and middle tier, there and back, in each response"""


@dataclass(frozen=True)
class Interrupts:
    """One for each I/O, and `per_transaction` for its messages.

    `station`: -1, or the plain station of processors that are set aside for them: after each read its client passes
    there for `served_ns`. Their time is otherwise a part of requests and messages.
    """

    per_transaction: float
    station: int = -1
    served_ns: int = 0
