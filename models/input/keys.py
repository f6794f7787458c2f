"""Dotted keys, as in `machine.cpu.cores`: the one walker along them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MISSING: Any = object()
"""What `value_at` finds at a key that isn't there, unless another default is given."""


def last_word(key: str) -> str:
    """The field's own name: `cores` of `machine.cpu.cores`."""
    return key.rpartition(".")[2]


def values_along(root: Any, key: str) -> Iterator[Any]:
    """What stands at each word of a key, from the first to the last; ends where nothing does."""
    here = root
    for word in key.split("."):
        here = here.get(word, MISSING) if isinstance(here, Mapping) else getattr(here, word, MISSING)
        if here is MISSING:
            return
        yield here


def value_at(root: Any, key: str, default: Any = None) -> Any:
    """What stands at a key of nested mappings or specs; `default` if there is nothing."""
    values = list(values_along(root, key))
    return values[-1] if len(values) == key.count(".") + 1 else default


def leaves(root: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of nested mappings below which no mapping stands, and its value."""
    for word, value in root.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{word}.")
        else:
            yield f"{prefix}{word}", value


def set_value(root: dict[str, Any], key: str | Sequence[str], value: Any) -> None:
    """Set the value at a key, or at its words, of nested dictionaries, which are made where they are missing."""
    *path, last = key.split(".") if isinstance(key, str) else key
    here = root
    for word in path:
        here = here.setdefault(word, {})
    here[last] = value
