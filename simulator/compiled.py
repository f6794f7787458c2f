"""One door to the compiler, so that the rest of the house stays typed and the choice stays in one place.

Compiled functions are plain Python over NumPy arrays and integers: with NUMBA_DISABLE_JIT=1 they run
interpreted, slowly and with the same results. Machine code is cached on disk beside the source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile `function` on its first call for the argument types that it gets; the GIL is released."""
    result: Function = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return result


def inlined(function: Function) -> Function:
    """As `compiled`, for the small functions of the inner loop: their body is put into the caller's."""
    result: Function = numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)
    return result
