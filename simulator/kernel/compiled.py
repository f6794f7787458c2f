"""One system in the compiled library: tables in, time passes, tables out."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simulator.errors import InputError, InternalError
from simulator.form import GIB, KIB, Table
from simulator.kernel.library import CTable, kernel_library

ERROR_BYTES = 512
INTERNAL = "internal: "
"""begins the message of an error that no input explains"""


def available_bytes() -> int | None:
    """Memory that a process may take without swapping, as Linux estimates it; None where nothing says so."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["MemAvailable"].split()[0]) * KIB if "MemAvailable" in fields else None


class CompiledSystem:
    """System that the compiled engine runs. Raises InputError where it is too large, for memory or for its numbers."""

    def __init__(self, tables: dict[str, Table]) -> None:
        self._library = kernel_library()
        passed = (CTable * len(tables))()
        for place, (name, table) in zip(passed, tables.items(), strict=True):
            place.name, place.columns = name.encode(), " ".join(table.columns).encode()
            place.values = table.rows.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
            place.rows, place.width = table.rows.shape
        self._refuse_what_does_not_fit(self._call(self._library.oltpsim_bytes_needed, passed, len(tables)))
        self._handle = self._call(self._library.oltpsim_create, passed, len(tables))

    def run(self, until_ns: int) -> None:
        """Let time pass until an instant, or until the last client has done its work. Other threads go on meanwhile."""
        self._call(self._library.oltpsim_run, self._handle, until_ns)

    def read(self, name: str) -> Table:
        """A table by its name in report.hpp."""
        passed = CTable()
        self._call(self._library.oltpsim_read, self._handle, name.encode(), ctypes.byref(passed))
        shape = (passed.rows, passed.width)
        rows = np.ctypeslib.as_array(passed.values, shape).copy() if passed.rows else np.zeros(shape, dtype=np.int64)
        return Table(tuple(passed.columns.decode().split()), rows)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.oltpsim_free(self._handle)

    @staticmethod
    def _refuse_what_does_not_fit(needed_bytes: int) -> None:
        free_bytes = available_bytes()
        if free_bytes is not None and needed_bytes > free_bytes:
            needed, free = (f"{size / GIB:,.1f} GiB" for size in (needed_bytes, free_bytes))
            raise InputError(
                f"simulating this takes at least {needed} of memory and {free} are free: "
                "simulate a share of the warehouses (`sampling_fraction`), or on another machine"
            )

    @staticmethod
    def _call(function: Callable[..., Any], *arguments: Any) -> Any:
        error = ctypes.create_string_buffer(ERROR_BYTES)
        result = function(*arguments, error, ERROR_BYTES)
        if result:
            return result
        message = error.value.decode()
        if message.startswith(INTERNAL):
            raise InternalError(message.removeprefix(INTERNAL))
        raise InputError(message)
