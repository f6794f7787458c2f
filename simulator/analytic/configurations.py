"""Rows of arrays, and of dataclasses of arrays: one row is a configuration."""

from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

Arrays = TypeVar("Arrays")


def rows(of: Arrays, numbers: npt.NDArray[np.int64]) -> Arrays:
    """These rows of an array, or of each array in a dataclass and in the dataclasses in it."""
    whole: Any = of
    if isinstance(whole, np.ndarray):
        whole = whole[numbers]
    else:
        whole = replace(whole, **{field.name: rows(getattr(whole, field.name), numbers) for field in fields(whole)})
    return cast("Arrays", whole)
