"""One system in the compiled library: tables in, time passes, tables out."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from oltpsim.simulator.compiled_library import ERROR_BYTES
from oltpsim.simulator.errors import SMALLER_SYSTEM, InputError, InternalError
from oltpsim.simulator.form import GIB, KIB, IntArray, Table
from oltpsim.simulator.kernel.library import CTable, kernel_library

INTERNAL = "internal: "
"""begins the message of an error that no input explains"""


def available_bytes() -> int | None:
    """Memory that a process may take without swapping, by Linux and by its control group; None if nothing says so."""
    limits = [*_free_on_machine(), *_free_in_group()]
    return min(limits, default=None)


def _free_on_machine() -> list[int]:
    lines = _text(Path("/proc/meminfo")).splitlines()
    return [int(line.split()[1]) * KIB for line in lines if line.startswith("MemAvailable:")]


def _free_in_group() -> list[int]:
    """Of control groups of version 2, as containers have them."""
    limit, used = (_text(Path("/sys/fs/cgroup") / f"memory.{name}").strip() for name in ("max", "current"))
    return [int(limit) - int(used)] if limit.isdigit() and used.isdigit() else []


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


@cache
def _names(columns: bytes) -> tuple[str, ...]:
    return tuple(columns.decode().split())


class CompiledSystem:
    """System that the compiled engine runs. Raises InputError where it is too large, for memory or for its numbers.

    Threads may use one system in turn, and different ones at the same time.
    """

    def __init__(self, tables: dict[str, Table]) -> None:
        self._library = kernel_library()
        self._lock = Lock()
        refuse_what_does_not_fit(tables)
        rows, passed = _passed(tables)
        self._handle = _call(self._library.oltpsim_create, passed, len(rows))

    def run(self, until_ns: int) -> None:
        """Let time pass until an instant, or until the last client has done its work. Other threads go on meanwhile."""
        with self._lock:
            _call(self._library.oltpsim_run, self._handle, until_ns)

    def read(self, name: str) -> Table:
        """A table by its name in report.hpp. Its rows can't be written to."""
        passed = CTable()
        with self._lock:
            _call(self._library.oltpsim_read, self._handle, name.encode(), ctypes.byref(passed))
            values = ctypes.string_at(passed.values, passed.rows * passed.width * ctypes.sizeof(ctypes.c_int64))
        rows = np.frombuffer(values, dtype=np.int64).reshape(passed.rows, passed.width)
        return Table(_names(passed.columns), rows)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.oltpsim_free(self._handle)


def refuse_what_does_not_fit(tables: dict[str, Table], more_bytes: int = 0) -> None:
    """Raises InputError if the system of these tables, and so much beside it, takes more memory than is free."""
    rows, passed = _passed(tables)
    needed_bytes = _call(kernel_library().oltpsim_bytes_needed, passed, len(rows)) + more_bytes
    free_bytes = available_bytes()
    if free_bytes is not None and needed_bytes > free_bytes:
        needed, free = (f"{size / GIB:,.3g} GiB" for size in (needed_bytes, free_bytes))
        raise InputError(
            f"simulating this takes at least {needed} of memory and {free} are free: "
            f"{SMALLER_SYSTEM}, or on another machine"
        )


def _passed(tables: dict[str, Table]) -> tuple[list[IntArray], Any]:
    """Rows, which must live as long as the call, and the tables that point to them."""
    rows = [np.ascontiguousarray(table.rows, dtype=np.int64) for table in tables.values()]
    passed = (CTable * len(tables))()
    for place, values, (name, table) in zip(passed, rows, tables.items(), strict=True):
        place.name, place.columns = name.encode(), " ".join(table.columns).encode()
        place.values = values.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
        place.rows, place.width = values.shape
    return rows, passed


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    error = ctypes.create_string_buffer(ERROR_BYTES)
    result = function(*arguments, error, ERROR_BYTES)
    if result:
        return result
    message = error.value.decode()
    if message.startswith(INTERNAL):
        raise InternalError(message.removeprefix(INTERNAL))
    raise InputError(message)
