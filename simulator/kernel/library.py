"""The kernel's compiled library: where it lies, and what the functions of its C interface take and return."""

import ctypes
from pathlib import Path
from typing import Any

from oltpsim.simulator.compiled_library import CompiledLibrary

INTERFACE_VERSION = 2
"""Number of the C interface that this code calls; `oltpsim_interface_version` in kernel.cpp returns the library's."""
PATH_VARIABLE = "OLTPSIM_KERNEL_LIBRARY"
"""Environment variable with the path of a library to load instead, such as the one that checks bounds."""


class CTable(ctypes.Structure):
    """Table that passes through the interface: oltpsim_table in tables.hpp."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("columns", ctypes.c_char_p),
        ("values", ctypes.POINTER(ctypes.c_int64)),
        ("rows", ctypes.c_int64),
        ("width", ctypes.c_int64),
    )


_NUMBER, _TEXT, _HANDLE, _TABLES = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(CTable)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "oltpsim_interface_version": (_NUMBER, []),
    "oltpsim_bytes_needed": (_NUMBER, [_TABLES, _NUMBER, _TEXT, _NUMBER]),
    "oltpsim_create": (_HANDLE, [_TABLES, _NUMBER, _TEXT, _NUMBER]),
    "oltpsim_run": (_NUMBER, [_HANDLE, _NUMBER, _TEXT, _NUMBER]),
    "oltpsim_read": (_NUMBER, [_HANDLE, _TEXT, _TABLES, _TEXT, _NUMBER]),
    "oltpsim_free": (None, [_HANDLE]),
}
"""Type of the result and types of the arguments, by name."""


LIBRARY = CompiledLibrary(Path(__file__).parent / "libkernel.so", PATH_VARIABLE, INTERFACE_VERSION, FUNCTIONS)


def kernel_library() -> ctypes.CDLL:
    """Library with its functions declared. Raises InstallationError if there is none, or not that of this code."""
    return LIBRARY.load()
