"""Random streams (simulator/form/streams.py): SplitMix64, one 64-bit state each, and what is drawn from them.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

import math
from collections.abc import Sequence

from oltpsim.simulator.form import ZIGGURAT_DENSITIES, ZIGGURAT_EDGES, ZIGGURAT_LAYERS, seed_streams

AliasTable = Sequence[Sequence[int]]
"""rows (cut, other), see simulator/form/samplers.py"""

_ALL_BITS = (1 << 64) - 1
_LOW_32 = (1 << 32) - 1
_GAMMA, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

EDGES, DENSITIES = ZIGGURAT_EDGES.tolist(), ZIGGURAT_DENSITIES.tolist()


class Stream:
    """A random stream, which every draw moves on by a step or more."""

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        self.state = state

    def bits(self) -> int:
        """The next 64 random bits."""
        self.state = (self.state + _GAMMA) & _ALL_BITS
        bits = (self.state ^ (self.state >> 30)) * _MIX_1 & _ALL_BITS
        bits = (bits ^ (bits >> 27)) * _MIX_2 & _ALL_BITS
        return bits ^ (bits >> 31)

    def fraction(self) -> float:
        """A number in [0, 1), of 53 bits."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, bound: int) -> int:
        """An integer in 0..bound-1, bound below 2**32; the bias is below bound / 2**32."""
        return ((self.bits() >> 32) * bound) >> 32

    def chance(self, cut: int) -> bool:
        """True with probability cut / 2**32."""
        return self.bits() >> 32 < cut

    def alias(self, table: AliasTable) -> int:
        """A row's number, with the probability that the table was made for."""
        bits = self.bits()
        column = ((bits >> 32) * len(table)) >> 32
        cut, other = table[column]
        return column if bits & _LOW_32 < cut else other

    def exponential_ns(self, mean_ns: int) -> int:
        """An exponential time, by ziggurat: one draw and no logarithm in 99 of 100 cases.

        Source: Marsaglia, Tsang, "The ziggurat method for generating random variables", J. Stat. Software 5(8), 2000.
        """
        passed = 0.0
        while True:
            bits = self.bits()
            layer = bits % ZIGGURAT_LAYERS
            x = (bits >> 11) * 2.0**-53 * EDGES[layer]
            if x < EDGES[layer + 1]:
                return int((passed + x) * mean_ns)
            if layer == 0:
                passed += EDGES[1]  # what comes after the widest edge is distributed like the whole
                continue
            height = self.fraction()
            if DENSITIES[layer] + height * (DENSITIES[layer + 1] - DENSITIES[layer]) < math.exp(-x):
                return int((passed + x) * mean_ns)

    def time_ns(self, kind: str, a: int, b: int) -> int:
        """A time by one row of a program's distributions (simulator/form/program.py)."""
        if kind == "exponential":
            return self.exponential_ns(a)
        if kind == "uniform":
            return a + int(self.fraction() * (b - a))
        if kind == "erlang":
            return sum(self.exponential_ns(a // b) for _ in range(b))
        return a


def streams_of(seed: int, purpose: str, count: int) -> list[Stream]:
    """`count` streams of one purpose, at their beginning."""
    return [Stream(state) for state in seed_streams(seed, purpose, count).tolist()]
