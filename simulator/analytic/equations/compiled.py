"""The equations in the compiled library: a workload goes in once, machines that run it as rows of numbers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from oltpsim.simulator.analytic.reading import Workload
from oltpsim.simulator.compiled_library import ERROR_BYTES, CompiledLibrary
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import FloatArray

FEWEST = 64
"""machines that are worth a thread of their own"""


class CNumbers(ctypes.Structure):
    """Table that passes through the interface: oltpsim_numbers in workload.hpp."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("rows", ctypes.c_int64),
        ("width", ctypes.c_int64),
    )


_NUMBER, _TEXT, _HANDLE, _ROWS = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)
LIBRARY = CompiledLibrary(
    path=Path(__file__).parent / "libanalytic.so",
    variable="OLTPSIM_ANALYTIC_LIBRARY",
    interface_version=1,
    functions={
        "oltpsim_names": (_TEXT, [_NUMBER]),
        "oltpsim_create": (_HANDLE, [ctypes.POINTER(CNumbers), _NUMBER, _TEXT, _NUMBER]),
        "oltpsim_solve": (_NUMBER, [_HANDLE, _ROWS, _NUMBER, _NUMBER, _ROWS, _ROWS, _ROWS, _TEXT, _NUMBER]),
        "oltpsim_free": (None, [_HANDLE]),
    },
)


class Names:
    """Names of the columns that pass through the interface, in their order."""

    def __init__(self) -> None:
        library = LIBRARY.load()
        words = [library.oltpsim_names(which).decode().split() for which in range(6)]
        self.machine, self.machine_tables, self.figures, self.by_class, self.by_lock, self.by_group = words


@cache
def names() -> Names:
    """The names, read once."""
    return Names()


class CompiledWorkload:
    """A workload and a replacement policy in the library. Threads may use it at the same time.

    `tables`: arrays by their names in workload.hpp.
    """

    def __init__(self, tables: Mapping[str, FloatArray]) -> None:
        self._library = LIBRARY.load()
        values = {name: np.ascontiguousarray(table, dtype=np.float64).ravel() for name, table in tables.items()}
        passed = (CNumbers * len(values))()
        for place, (name, each) in zip(passed, values.items(), strict=True):
            place.name, place.values, place.rows, place.width = name.encode(), _pointer(each), len(each), 1
        error = ctypes.create_string_buffer(ERROR_BYTES)
        self._handle = self._library.oltpsim_create(passed, len(values), error, ERROR_BYTES)
        if not self._handle:
            raise InternalError(error.value.decode())
        self.classes, self.groups = len(values["mix"]), len(values["rate"])
        self.locks = len(values["locks"]) // 5

    def solve(
        self, machines: FloatArray, rates: FloatArray | None, *, with_groups: bool
    ) -> Iterator[tuple[str, FloatArray]]:
        """Figures by name, of each machine in a row: (machines,), and (machines, classes), locks or groups.

        `rates`: transactions of the mix per second to look at; None: the rate that each machine does. On all cores.
        """
        count, known = len(machines), names()
        if rates is not None and len(rates) != count:
            raise InternalError(f"{len(rates)} rates for {count} machines")
        widths = dict.fromkeys(known.figures, 1) | dict.fromkeys(known.by_class, self.classes)
        widths |= dict.fromkeys(known.by_lock, self.locks)
        figures = np.empty((count, sum(widths.values())))
        of_groups = np.empty((count, len(known.by_group) * self.groups if with_groups else 0))

        def part(begin: int, end: int) -> None:
            error = ctypes.create_string_buffer(ERROR_BYTES)
            at = None if rates is None else _pointer(rates[begin:end])
            passed = _pointer(machines[begin:end]), end - begin, machines.shape[1], at, _pointer(figures[begin:end])
            groups = _pointer(of_groups[begin:end]) if with_groups else None
            if not self._library.oltpsim_solve(self._handle, *passed, groups, error, ERROR_BYTES):
                raise InternalError(error.value.decode())

        threads = max(min(os.cpu_count() or 1, count // FEWEST), 1)
        if threads == 1:
            part(0, count)
        else:
            edges = np.linspace(0, count, 4 * threads + 1).astype(int).tolist()
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(part, edges[:-1], edges[1:]))
        place = 0
        for name, width in widths.items():
            here = figures[:, place : place + width]
            yield name, here[:, 0] if name in known.figures else here
            place += width
        for number, name in enumerate(known.by_group):
            yield name, of_groups[:, number * self.groups : (number + 1) * self.groups]

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.oltpsim_free(self._handle)


_COMPILED: WeakKeyDictionary[Workload, dict[str, CompiledWorkload]] = WeakKeyDictionary()


def compiled(workload: Workload, policy: str) -> CompiledWorkload:
    """Compiled form of a workload under a replacement policy, made when first wanted."""
    by_policy = _COMPILED.setdefault(workload, {})
    if policy not in by_policy:
        by_policy[policy] = CompiledWorkload(workload.tables(policy))
    return by_policy[policy]


def _pointer(values: FloatArray) -> Any:
    return values.ctypes.data_as(_ROWS)
