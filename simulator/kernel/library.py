"""The kernel's compiled library: where it lies, and what the functions of its C interface take and return."""

import ctypes
import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

from simulator.errors import InstallationError

INTERFACE_VERSION = 2
"""Number of the C interface that this code calls; `oltpsim_interface_version` in kernel.cpp returns the library's."""
PATH_VARIABLE = "OLTPSIM_KERNEL_LIBRARY"
"""Environment variable with the path of a library to load instead, such as the one that checks bounds."""
FOLDER = Path(__file__).parent


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


@cache
def kernel_library() -> ctypes.CDLL:
    """Library with its functions declared. Raises InstallationError if there is none, or not that of this code."""
    named = os.environ.get(PATH_VARIABLE)
    path = Path(named) if named else FOLDER / "libkernel.so"
    if not path.exists():
        remedy = f"{PATH_VARIABLE} names it: unset it for the program's own" if named else _remedy()
        raise InstallationError(f"the compiled kernel {path} is missing; {remedy}")
    if not named and _sources_digest() not in path.read_bytes():
        raise InstallationError(f"the compiled kernel {path} is older than its sources; {_remedy()}")
    return load(path)


def load(path: Path) -> ctypes.CDLL:
    """Library at a path with its functions declared. Raises InstallationError if it can't be used."""
    try:
        library = ctypes.CDLL(str(path))
        version = library.oltpsim_interface_version()
        if version != INTERFACE_VERSION:
            wanted = f"has interface {version} where {INTERFACE_VERSION} is needed"
            raise InstallationError(f"the compiled kernel {path} {wanted}; {_remedy()}")
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise InstallationError(f"the compiled kernel {path} can't be used ({error}); {_remedy()}") from error
    return library


def _sources_digest() -> bytes:
    """First half of the build identifier that .ci/libraries.py had the linker write into the library."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.[ch]pp")):
        digest.update(path.read_bytes())
    return digest.digest()[:16]


def _remedy() -> str:
    in_a_checkout = (FOLDER.parents[1] / "Makefile").exists()
    return "`make demo` compiles it" if in_a_checkout else "install oltpsim again, from a wheel for this machine"
