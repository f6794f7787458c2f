"""Dotted keys, as in `machine.cpu.cores`: the one walker along them.

A member of a list is named by its number from 0 or by its name in brackets, as in `machine.volume_limits[0].per_s`. The
name is what the member's key `name` says, or its key `of`, if no other member's does.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

MISSING: Any = object()
"""What `value_at` finds at a key that isn't there, unless another default is given."""


def last_word(key: str) -> str:
    """The field's own name: `cores` of `machine.cpu.cores`."""
    return key.rpartition(".")[2]


@lru_cache(maxsize=1024)
def key_words(key: str) -> tuple[str, ...]:
    """Words of a key; that of a list's member is `[0]` or `[name]`."""
    return tuple(piece for word in key.split(".") for piece in re.findall(r"\[[^\[\]]*\]|[^\[\]]+", word) or [word])


def values_along(root: Any, key: str) -> Iterator[Any]:
    """What stands at each word of a key, from the first to the last; ends where nothing does."""
    here = root
    for word in key_words(key):
        if word.startswith("["):
            number = _number_of_member(here, word)
            here = MISSING if number is None else here[number]
        else:
            here = here.get(word, MISSING) if isinstance(here, Mapping) else getattr(here, word, MISSING)
        if here is MISSING:
            return
        yield here


def numbered_words(root: Any, key: str) -> tuple[str, ...]:
    """Words of a key, members by their numbers as far as they are there: two keys of one value have the same."""
    words, holder = [], root
    for word, value in itertools.zip_longest(key_words(key), values_along(root, key)):
        number = _number_of_member(holder, word) if word.startswith("[") else None
        words.append(word if number is None else f"[{number}]")
        holder = value
    return tuple(words)


def _number_of_member(members: Any, word: str) -> int | None:
    """Place in a list of the member that `[number]` or `[name]` means; None if there is none, or several."""
    if not isinstance(members, list | tuple):
        return None
    name = word[1:-1]
    if name.isdecimal():
        return int(name) if int(name) < len(members) else None
    found = [number for number, each in enumerate(members) if name in {value_at(each, "name"), value_at(each, "of")}]
    return found[0] if len(found) == 1 else None


def value_at(root: Any, key: str, default: Any = None) -> Any:
    """What stands at a key of nested mappings or specs; `default` if there is nothing."""
    values = list(values_along(root, key))
    return values[-1] if len(values) == len(key_words(key)) else default


def leaves(root: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of nested mappings below which no mapping stands, and its value."""
    for word, value in root.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{word}.")
        else:
            yield f"{prefix}{word}", value


def set_value(root: dict[str, Any], key: str | Sequence[str], value: Any) -> None:
    """Set the value at a key, or at its words, of nested dictionaries, which are made where they are missing.

    Lists and their members aren't. Raises KeyError where there is no such member.
    """
    *path, last = key_words(key) if isinstance(key, str) else key
    here: Any = root
    for word in path:
        here = here[_member(here, word)] if word.startswith("[") else here.setdefault(word, {})
    here[_member(here, last) if last.startswith("[") else last] = value


def _member(members: Any, word: str) -> int:
    number = _number_of_member(members, word)
    if number is None:
        raise KeyError(word)
    return number
