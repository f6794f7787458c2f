"""The kernel's compiled library: where it lies, and what the functions of its C interface take and return."""

import ctypes
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from oltpsim.simulator.compiled_library import CompiledLibrary
from oltpsim.simulator.errors import InstallationError
from oltpsim.simulator.kernel.words import WordLayout

INTERFACE_VERSION = 3
"""Number of the C interface that this code calls; `oltpsim_interface_version` in kernel.cpp returns the library's."""
PATH_VARIABLE = "OLTPSIM_KERNEL_LIBRARY"
"""Environment variable with the path of a library to load instead, such as the one that checks bounds."""


_NUMBER, _TEXT, _HANDLE, _RECORD = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "oltpsim_interface_version": (_NUMBER, []),
    "oltpsim_layout": (_TEXT, []),
    "oltpsim_bytes_needed": (_NUMBER, [_RECORD, _NUMBER, _TEXT, _NUMBER]),
    "oltpsim_create": (_HANDLE, [_RECORD, _NUMBER, _RECORD, _NUMBER, _TEXT, _NUMBER]),
    "oltpsim_run": (_NUMBER, [_HANDLE, _NUMBER, ctypes.POINTER(_NUMBER), _TEXT, _NUMBER]),
    "oltpsim_figures": (_RECORD, [_HANDLE, _TEXT, _NUMBER]),
    "oltpsim_values": (_RECORD, [_HANDLE, _TEXT, _NUMBER]),
    "oltpsim_state": (_RECORD, [_HANDLE, _TEXT, _NUMBER]),
    "oltpsim_free": (None, [_HANDLE]),
}
"""Type of the result and types of the arguments, by name."""


LIBRARY = CompiledLibrary(Path(__file__).parent / "libkernel.so", PATH_VARIABLE, INTERFACE_VERSION, FUNCTIONS)


def kernel_library() -> ctypes.CDLL:
    """Library with its functions declared. Raises InstallationError if there is none, or not that of this code."""
    return LIBRARY.load()


SIMULATOR = Path(__file__).resolve().parent.parent


@cache
def layout_of(library: ctypes.CDLL) -> WordLayout:
    """Layout of the records that a library takes and gives. Raises InstallationError if it is that of other records."""
    layout = WordLayout(library.oltpsim_layout())
    modules = [*sorted(SIMULATOR.glob("form/*.py")), *(SIMULATOR / name for name in layout.given)]
    if layout.digest != hashlib.sha256(b"".join(module.read_bytes() for module in modules)).hexdigest()[:16]:
        raise InstallationError("the kernel's compiled library is that of other records; `make demo` compiles it")
    return layout
