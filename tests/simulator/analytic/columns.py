"""Columns of records by their names: `pool.buffers`, or as a keyword `pool_buffers`."""

from collections.abc import Iterator
from typing import TypeVar

from oltpsim.simulator.analytic.reading.record_columns import columns, from_columns, layout
from oltpsim.simulator.form import FloatArray

Record = TypeVar("Record")


def by_name(record: object) -> dict[str, FloatArray]:
    return dict(zip((name for name, _ in layout(record.__class__)), columns(record), strict=True))


def column_of(record: object, name: str) -> FloatArray:
    return by_name(record)[name]


def with_columns(record: Record, **changes: FloatArray) -> Record:
    """The record with these columns in the place of its own."""
    known = by_name(record)
    names = {name.replace(".", "_"): name for name in known} | {name: name for name in known}
    known |= {names[name]: value for name, value in changes.items()}
    values: Iterator[FloatArray] = iter(known.values())
    return from_columns(type(record), values)
