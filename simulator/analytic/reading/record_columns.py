"""Columns of machines: the types of a row's numbers, and what holds for every record of columns.

A record is a dataclass of columns, or of such records. Row i of each column is machine i; a column of one row holds for
all machines. .ci/records.py makes the C++ structs of the records from the same declarations.
"""

from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form import NS_PER_S, FloatArray

QUEUE_POINTS, SHARING_POINTS, SHARE_POINTS = 35, 65, 51

MachineColumn = Annotated[FloatArray, 1]
"""number of each machine, (machines,)"""
ByQueue = Annotated[FloatArray, 35]
"""table by the number of waiting requests, two points for each doubling from 1 on, (machines, QUEUE_POINTS)"""
ByChance = Annotated[FloatArray, 65]
"""table at equal steps of a chance from 0 to 1, (machines, SHARING_POINTS)"""
ByShare = Annotated[FloatArray, 51]
"""table at equal steps of a share from 0 to 1, (machines, SHARE_POINTS)"""
ByClass = Annotated[FloatArray, "classes"]
"""number of each class of transactions, (machines, classes)"""
ByLock = Annotated[FloatArray, "locks"]
"""number of each lock use, (machines, locks)"""
ByGroup = Annotated[FloatArray, "groups"]
"""number of each group of pages, (machines, groups); (machines, 0) where no group has one"""

Record = TypeVar("Record")


def column(value: float) -> FloatArray:
    """MachineColumn of one machine."""
    return np.array([float(value)])


def column_s(value_ns: float) -> FloatArray:
    """MachineColumn of one machine in s, from ns."""
    return column(value_ns / NS_PER_S)


@cache
def layout(record: Any, prefix: str = "") -> tuple[tuple[str, int | str], ...]:
    """Columns of a record in their order: dotted name, and width as in the types above."""
    found: list[tuple[str, int | str]] = []
    for name, (part, width) in _members(record).items():
        found += layout(part, f"{prefix}{name}.") if width is None else [(prefix + name, width)]
    return tuple(found)


@cache
def _members(record: Any) -> dict[str, tuple[Any, int | str | None]]:
    """Fields of a record: type, and width of a column or None of a record."""
    hints = get_type_hints(record, include_extras=True)
    return {name: (hint, getattr(hint, "__metadata__", (None,))[0]) for name, hint in hints.items()}


def columns(record: object) -> tuple[FloatArray, ...]:
    """Columns of a record in the order of its layout; there are several."""
    kind: Any = type(record)
    return _columns_of(kind)(record)


@cache
def _columns_of(record: Any) -> Callable[[object], tuple[FloatArray, ...]]:
    return attrgetter(*(name for name, _ in layout(record)))


def with_columns(record: Record, change: Callable[[FloatArray], FloatArray]) -> Record:
    """The record with every column changed."""
    whole: Any = record
    if isinstance(whole, np.ndarray):
        return cast("Record", change(whole))
    return cast("Record", type(whole)(*(with_columns(value, change) for value in vars(whole).values())))


def from_columns(record: type[Record], values: Iterator[FloatArray]) -> Record:
    """Record of columns that come in the order of its layout."""
    whole: Any = record
    return record(
        *(from_columns(part, values) if width is None else next(values) for part, width in _members(whole).values())
    )


def rows(of: Record, numbers: npt.NDArray[np.int64]) -> Record:
    """These rows of an array, or of every column of a record."""
    return with_columns(of, lambda column: column[numbers])
