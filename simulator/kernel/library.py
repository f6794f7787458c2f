"""The compiled library of the kernel, loaded by ctypes."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simulator.errors import InputError
from simulator.form import IntArray
from simulator.form.tables import Table

INTERFACE_VERSION = 1
ERROR_BYTES = 512


class CTable(ctypes.Structure):
    """As oltpsim_table in tables.hpp."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("columns", ctypes.c_char_p),
        ("values", ctypes.POINTER(ctypes.c_int64)),
        ("rows", ctypes.c_int64),
        ("width", ctypes.c_int64),
    ]


def _load() -> ctypes.CDLL:
    place = Path(os.environ.get("OLTPSIM_KERNEL_LIBRARY") or Path(__file__).with_name("libkernel.so"))
    library = ctypes.CDLL(str(place))
    number, text, handle = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "oltpsim_interface_version": (number, []),
        "oltpsim_create": (handle, [ctypes.POINTER(CTable), number, text, number]),
        "oltpsim_run": (number, [handle, number, text, number]),
        "oltpsim_read": (number, [handle, text, ctypes.POINTER(CTable), text, number]),
        "oltpsim_free": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = _load()


class CompiledKernel:
    """One system in the compiled engine. Raises InputError where the engine gives up."""

    def __init__(self, tables: dict[str, Table]) -> None:
        rows = {name: np.ascontiguousarray(table.rows) for name, table in tables.items()}
        given = (CTable * len(tables))()
        for place, (name, table) in zip(given, tables.items(), strict=True):
            place.name, place.columns = name.encode(), " ".join(table.columns).encode()
            place.values = rows[name].ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
            place.rows, place.width = rows[name].shape
        self._handle = self._call(LIBRARY.oltpsim_create, given, len(tables))

    def run(self, until_ns: int) -> None:
        """Let time pass; the lock of the interpreter is released meanwhile."""
        self._call(LIBRARY.oltpsim_run, self._handle, until_ns)

    def read(self, name: str) -> Table:
        """A table that the engine reports (report.hpp)."""
        table = CTable()
        self._call(LIBRARY.oltpsim_read, self._handle, name.encode(), ctypes.byref(table))
        shape = (table.rows, table.width)
        rows: IntArray = np.zeros(shape, dtype=np.int64)
        if rows.size:
            rows[:] = np.ctypeslib.as_array(table.values, shape)
        return Table(tuple(table.columns.decode().split()), rows)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            LIBRARY.oltpsim_free(self._handle)

    @staticmethod
    def _call(function: Callable[..., Any], *arguments: Any) -> Any:
        error = ctypes.create_string_buffer(ERROR_BYTES)
        result = function(*arguments, error, ERROR_BYTES)
        if not result:
            raise InputError(error.value.decode())
        return result
