"""Parts of the kernel without the others, in a library that is compiled as the kernel is: peers/kernel_parts.cpp."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
import numpy.typing as npt

from benchmarks import others
from oltpsim.simulator.expectation import start_state
from oltpsim.simulator.form import System, run_of
from oltpsim.simulator.kernel import packed

REPLACEMENTS = ("lru", "clock")
"""In the order of cache.hpp."""
Int32Array = npt.NDArray[np.int32]


@cache
def library() -> ctypes.CDLL:
    """The compiled library, with the types of its functions. Raises NotThere."""
    found = ctypes.CDLL(others.compiled_as_kernel("kernel_parts"))
    number, stream = ctypes.c_int64, np.ctypeslib.ndpointer(np.int32, flags="C_CONTIGUOUS")
    found.count_hits.restype = number
    found.count_hits.argtypes = [stream, number, number, number, number, ctypes.POINTER(ctypes.c_double)]
    found.record_reads.restype = None
    found.record_reads.argtypes = [ctypes.c_void_p, ctypes.c_void_p, stream, number]
    return found


def count_hits(stream: Int32Array, pages: int, capacity: int, replacement: str) -> tuple[int, float]:
    """Hits of the kernel's cache on a stream of `pages` different pages, and the CPU time that it took, s."""
    seconds = ctypes.c_double()
    policy = REPLACEMENTS.index(replacement)
    return library().count_hits(stream, len(stream), pages, capacity, policy, ctypes.byref(seconds)), seconds.value


def record_reads(model: System, references: int) -> Int32Array:
    """The first pages that a model's clients read, a transaction of each in turn, without any time passing."""
    run, start = packed(run_of(model, 1)), packed(start_state(model, 1))
    stream = np.empty(references, dtype=np.int32)
    library().record_reads(run.address, start.address, stream, references)
    return stream
