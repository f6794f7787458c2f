"""Named random streams: SplitMix64, one 64-bit state each.

A stream is (purpose, index): ("rows", 17) is what client 17 draws its rows from. Its seed depends on the
run's seed and on that name alone, so adding a part never moves another part's draws, and a million
terminals with three purposes cost 24 MB.
Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

# pyright: reportReturnType=false
# compiled code must say np.int64 where a plain int would become unsigned or float

import hashlib
import math

import numpy as np
import numpy.typing as npt

from simulator.kernel.compiled import compiled, compiled_called

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_32, _SHIFT_11 = np.uint64(32), np.uint64(11)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_TO_MINUS_53 = 2.0**-53


def seed_streams(seed: int, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """Initial states of `count` streams of one purpose."""
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    start = np.uint64(int.from_bytes(digest, "little"))
    with np.errstate(over="ignore"):
        return mix(start + np.arange(1, count + 1, dtype=np.uint64) * _MIX_1)


def mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's finaliser, on arrays."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> _SHIFT_30)) * _MIX_1
        z = (z ^ (z >> _SHIFT_27)) * _MIX_2
        return z ^ (z >> _SHIFT_31)


@compiled
def next_bits(streams: npt.NDArray[np.uint64], stream: int) -> np.uint64:
    """The next 64 random bits of one stream."""
    z = streams[stream] + _GAMMA
    streams[stream] = z
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)


@compiled
def uniform_below(streams: npt.NDArray[np.uint64], stream: int, bound: int) -> int:
    """An integer in 0..bound-1, bound below 2**32; the bias is below bound / 2**32."""
    return np.int64(((next_bits(streams, stream) >> _SHIFT_32) * np.uint64(bound)) >> _SHIFT_32)


@compiled
def chance(streams: npt.NDArray[np.uint64], stream: int, cut: int) -> bool:
    """True with probability cut / 2**32."""
    return np.int64(next_bits(streams, stream) >> _SHIFT_32) < cut


@compiled
def draw_alias(
    streams: npt.NDArray[np.uint64], stream: int, alias: npt.NDArray[np.int64], start: int, length: int
) -> int:
    """A draw from the alias table (simulator/form/samplers.py) in rows start .. start+length-1 of `alias`."""
    bits = next_bits(streams, stream)
    column = np.int64(((bits >> _SHIFT_32) * np.uint64(length)) >> _SHIFT_32)
    if np.int64(bits & _LOW_32) < alias[start + column, 0]:
        return column
    return alias[start + column, 1]


CONSTANT, EXPONENTIAL, UNIFORM, ERLANG = 0, 1, 2, 3

LAYERS = 256
_TAIL, _AREA = 7.69711747013104972, 0.0039496598225815572
"""For 256 layers of equal area below exp(-x): the widest edge, and the area (Marsaglia, Tsang 2000)."""
_LOW_8, _ONE = np.uint64(LAYERS - 1), np.uint64(1)


def _edges() -> npt.NDArray[np.float64]:
    """Where each layer ends, the lowest first; that one has the tail in it, so its edge is the area by its height."""
    edges = [_AREA * math.exp(_TAIL), _TAIL]
    while len(edges) < LAYERS:
        edges.append(-math.log(math.exp(-edges[-1]) + _AREA / edges[-1]))
    return np.array([*edges, 0.0])


EDGES = _edges()
DENSITIES = np.exp(-EDGES)


@compiled
def draw_time_ns(streams: npt.NDArray[np.uint64], stream: int, kind: int, a: int, b: int) -> int:
    """A time from one row of a program's distributions (simulator/form/program.py)."""
    if kind == EXPONENTIAL:
        return exponential_ns(streams, stream, a)
    if kind == UNIFORM:
        return a + np.int64((next_bits(streams, stream) >> _SHIFT_11) * _TWO_TO_MINUS_53 * (b - a))
    if kind == ERLANG:
        total = 0
        for _ in range(b):
            total += exponential_ns(streams, stream, a // b)
        return total
    return a


@compiled_called
def exponential_ns(streams: npt.NDArray[np.uint64], stream: int, mean_ns: int) -> int:
    """An exponential time in whole nanoseconds, by ziggurat: one draw and no logarithm in 99 of 100 cases.

    Source: Marsaglia, Tsang, "The ziggurat method for generating random variables", J. Stat. Software 5(8), 2000.
    """
    passed = 0.0
    while True:
        bits = next_bits(streams, stream)
        layer = bits & _LOW_8
        x = np.int64(bits >> _SHIFT_11) * _TWO_TO_MINUS_53 * EDGES[layer]
        if x < EDGES[layer + _ONE]:
            return np.int64((passed + x) * mean_ns)
        if layer == 0:
            passed += _TAIL  # what comes after the widest edge is distributed like the whole
            continue
        height = np.int64(next_bits(streams, stream) >> _SHIFT_11) * _TWO_TO_MINUS_53
        if DENSITIES[layer] + height * (DENSITIES[layer + _ONE] - DENSITIES[layer]) < math.exp(-x):
            return np.int64((passed + x) * mean_ns)
