"""One door to the compiler, so that the rest of the house stays typed and the choice stays in one place.

Compiled functions are plain Python over NumPy arrays and integers. Machine code is kept on disk in a folder named by
a hash of the sources of form/ and kernel/: the compiler itself looks at one file only, and would go on using a changed
callee's old code.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., Any])


def cache_folder() -> Path:
    """Where machine code of exactly these sources is kept: below XDG_CACHE_HOME or else ~/.cache."""
    digest = hashlib.sha256(f"{sys.version}{numba.__version__}".encode())
    simulator = Path(__file__).parents[1]
    for source in sorted([*simulator.glob("form/*.py"), *simulator.glob("kernel/*.py")]):
        digest.update(source.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - no error without a home
    return Path(home) / "oltpsim" / "machine-code" / digest.hexdigest()[:16]


def why_not_kept(folder: Path) -> str:
    """Why nothing can be written into a folder, in words; empty if it can, and then the folder is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return ""


MACHINE_CODE_FOLDER = cache_folder()
MACHINE_CODE_NOT_KEPT = why_not_kept(MACHINE_CODE_FOLDER)
"""Why machine code is compiled anew by every process; empty if it is kept."""
setattr(config, "CACHE_DIR", str(MACHINE_CODE_FOLDER))  # noqa: B010 - numba adds its settings at run time


_OPTIONS: dict[str, Any] = {
    "cache": not MACHINE_CODE_NOT_KEPT,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_IN_LINE: dict[str, Any] = _OPTIONS | {"forceinline": True}
_INSIDE: dict[str, Any] = {"no_cpython_wrapper": True}


def compiled(function: Function) -> Function:
    """Compile `function` on its first call for the argument types that it gets; the GIL is released.

    Arrays are borrowed, never counted (a count is an atomic operation for each array at each call), and callees are
    put in line, so that the state isn't handed over word by word: together 40 times more page references each second.
    So compiled functions can't make arrays, nor call themselves.
    """
    return cast(Function, numba.njit(**_IN_LINE)(function))


def compiled_inside(function: Function) -> Function:
    """As `compiled`, for a function that only compiled code calls: half the work for the compiler."""
    return cast(Function, numba.njit(**(_IN_LINE | _INSIDE))(function))


def compiled_called(function: Function) -> Function:
    """As `compiled`, but called rather than put in line: for what has many callers, so that compiling is faster."""
    return cast(Function, numba.njit(**_OPTIONS)(function))


def compiled_apart(function: Function) -> Function:
    """As `compiled_inside`, but called rather than put in line: for rare things, so that compiling is faster."""
    return cast(Function, numba.njit(**(_OPTIONS | _INSIDE))(function))


def is_compiled_already(engine: str) -> bool:
    """Whether an engine's machine code for these sources is on disk, so that the next run need not wait for it."""
    function = "engine.run" if engine == "kernel" else "interpreter.advance"
    return any(MACHINE_CODE_FOLDER.rglob(f"{function}-*.nbi"))
