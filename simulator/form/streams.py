"""Named random streams as data: SplitMix64, one 64-bit state each, and the ziggurat of exponential times.

A stream is (purpose, index): ("rows", 17) is what client 17 draws its rows from. Its seed depends on the run's seed and
on that name alone, so adding a part never moves another part's draws. Engines draw; here are the states at time 0.
Sources: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; Marsaglia, Tsang, "The
ziggurat method for generating random variables", J. Stat. Software 5(8), 2000.
"""

import hashlib
import math

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form.arrays import FloatArray

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_BLOCK = 1 << 14


def seed_streams(seed: int, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """Initial states of `count` streams of one purpose."""
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    start = np.uint64(int.from_bytes(digest, "little"))
    with np.errstate(over="ignore"):
        return _mixed(start + np.arange(1, count + 1, dtype=np.uint64) * _MIX_1)


def _mixed(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's finaliser."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return z ^ (z >> np.uint64(31))


def uniforms(seed: int, purpose: str, numbers: npt.NDArray[np.int64]) -> FloatArray:
    """One number of [0, 1) for each thing that has a number of its own, such as a page; any shape."""
    start, flat = seed_streams(seed, purpose, 1)[0], numbers.ravel()
    found = np.empty(len(flat))
    with np.errstate(over="ignore"):
        for first in range(0, len(flat), _BLOCK):  # as many as stay in a processor's cache
            words = _mixed(start + flat[first : first + _BLOCK].astype(np.uint64) * _MIX_1)
            np.multiply(words >> np.uint64(11), 2.0**-53, out=found[first : first + _BLOCK])
    return found.reshape(numbers.shape)


ZIGGURAT_LAYERS = 256
_TAIL, _AREA = 7.69711747013104972, 0.0039496598225815572
"""For 256 layers of equal area below exp(-x): the widest edge, and the area (Marsaglia, Tsang 2000)."""


def _edges() -> FloatArray:
    edges = [_AREA * math.exp(_TAIL), _TAIL]
    while len(edges) < ZIGGURAT_LAYERS:
        edges.append(-math.log(math.exp(-edges[-1]) + _AREA / edges[-1]))
    return np.array([*edges, 0.0])


ZIGGURAT_EDGES = _edges()
"""Where each layer ends, the lowest first; that one has the tail in it, so its edge is its area by its height."""
ZIGGURAT_DENSITIES = np.array([math.exp(-edge) for edge in ZIGGURAT_EDGES.tolist()])
"""exp(-x) at the edges."""
