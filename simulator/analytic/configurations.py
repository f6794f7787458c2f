"""Rows of arrays, and of dataclasses of arrays: one row is a configuration."""

from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

Arrays = TypeVar("Arrays")


def rows(of: Arrays, some: npt.NDArray[np.int64]) -> Arrays:
    """These rows of an array, or of each array in a dataclass and in the dataclasses in it."""
    whole: Any = of
    if isinstance(whole, np.ndarray):
        whole = whole[some]
    else:
        whole = replace(whole, **{field.name: rows(getattr(whole, field.name), some) for field in fields(whole)})
    return cast("Arrays", whole)


def with_rows(of: Arrays, some: npt.NDArray[np.int64], new: Arrays) -> Arrays:
    """`of` with these rows replaced by those of `new`; both as in `rows`."""
    whole: Any = of
    if isinstance(whole, np.ndarray):
        whole = whole.copy()
        whole[some] = new
    else:
        pairs = {field.name: (getattr(of, field.name), getattr(new, field.name)) for field in fields(whole)}
        whole = replace(whole, **{name: with_rows(old, some, changed) for name, (old, changed) in pairs.items()})
    return cast("Arrays", whole)
