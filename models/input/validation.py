"""From plain data to a spec: pydantic's errors become sentences here, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from models.input.problems import sentence
from simulator.errors import InputError

Origin = Callable[[Any], str]
"""Who wrote what one of pydantic's errors is about: a file, or an option."""


def validated(kind: Any, data: Any, where: str | Origin) -> Any:
    """`data` as a spec or another type that pydantic knows. Raises InputError with a line for each problem."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        origin = where if callable(where) else lambda _: where
        lines = (f"{origin(each)}: {sentence(each, kind, data)}" for each in error.errors())
        raise InputError("\n".join(lines)) from error
