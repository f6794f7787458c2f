"""Frozen records as plain values that JSON has, with their arrays beside them; and back."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from oltpsim.simulator.form.arrays import IntArray

RECORD, ARRAY = "record", "array"
"""keys of an object: the class that it is a record of, or the name of the array that it stands for"""


def plain_of(record: Any) -> tuple[Any, dict[str, IntArray]]:
    """A record as plain values, and its arrays by the path of their fields: program.operations.

    Fields with their default are left out, so that a system without a part doesn't change with the first to have it.
    """
    arrays: dict[str, IntArray] = {}

    def plain(value: Any, path: str) -> Any:
        if is_dataclass(value):
            named = {field: getattr(value, field.name) for field in fields(value)}
            return {RECORD: type(value).__name__} | {
                field.name: plain(part, f"{path}.{field.name}")
                for field, part in named.items()
                if field.default is MISSING or part != field.default
            }
        if isinstance(value, np.ndarray):
            arrays[path[1:]] = value
            return {ARRAY: path[1:]}
        if isinstance(value, tuple):
            return [plain(each, f"{path}.{number}") for number, each in enumerate(value)]
        return value

    return plain(record, ""), arrays


def record_of(value: Any, arrays: Mapping[str, IntArray], records: Mapping[str, type[Any]]) -> Any:
    """What `plain_of` took apart. Raises KeyError for an unknown array or class, TypeError for other fields."""
    if isinstance(value, list):
        return tuple(record_of(each, arrays, records) for each in value)
    if not isinstance(value, dict):
        return value
    if ARRAY in value:
        return arrays[value[ARRAY]]
    record = records[value[RECORD]]
    return record(**{key: record_of(each, arrays, records) for key, each in value.items() if key != RECORD})
