"""Options of the command line as pieces of a description: each says one thing, as a piece of the line does."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from oltpsim.models.catalogue import catalogue_entry, catalogue_names
from oltpsim.models.input import parse_quantity, value_text
from oltpsim.models.reading.one_line.pieces import Phrases, understood
from oltpsim.models.reading.one_line.systems import NamedEngine, NamedSystem
from oltpsim.models.reading.one_line.words import SIZE, gib
from oltpsim.simulator.errors import InputError


def add_flags(phrases: Phrases, flags: Mapping[str, str]) -> None:
    """Add what options say, `--ram` with its text, to what a line says. Raises InputError, as `read_line` does."""
    for option, text in flags.items():
        try:
            found = READERS[option](text.strip())
        except (ValueError, InputError) as error:
            words = str(error).removeprefix("machine: ")
            raise InputError(f"quick: {option}: {words}") from error
        phrases.add(found, f"{option} {text}")


def _memory(text: str) -> float:
    """GiB of memory. A GB of memory has 2^30 bytes, as it is sold; see `pieces`."""
    _positive(text, "memory", "GiB")
    return gib(text.lower()) if re.fullmatch(SIZE, text.lower()) else _positive(text, "memory", "GiB")


def _positive(text: str, dimension: str, unit: str) -> float:
    """A positive quantity in `unit`. Raises ValueError."""
    try:
        value = float(parse_quantity(text, dimension, unit))
    except ValueError as error:
        raise ValueError(f"got {value_text(text)}; {error}") from error
    if value <= 0:
        raise ValueError(f"got {text!r}; must be greater than 0")
    return value


def positive_quantity(text: str, dimension: str, unit: str, where: str) -> float:
    """A positive quantity from the command line in `unit`. Raises InputError; `where`: command and option."""
    try:
        return _positive(text, dimension, unit)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error


def _time(text: str) -> float:
    try:
        value = float(parse_quantity(text, "time", "s"))
    except ValueError as error:
        raise ValueError(f"got {value_text(text)}; {error}") from error
    if value < 0:
        raise ValueError(f"got {text!r}; must be greater than or equal to 0")
    return value


def _count(text: str) -> int:
    value = int(text) if re.fullmatch(r"-?\d{1,12}", text) else None
    if value is None or value < 1:
        raise ValueError(f"got {value_text(text)}; must be a whole number, at least 1")
    return value


def _part(kind: str, *things: str, named: Callable[[str], Any] = str) -> Callable[[str], dict[str, Any]]:
    """A part by its name in the catalogue, or by words that say one of `things`, the first of which it is."""

    def read(text: str) -> dict[str, Any]:
        if text in catalogue_names(kind):
            return {things[0]: named(text)}
        found = understood(text) or {}
        if not set(things) & found.keys() or found.get("engine") == NamedEngine(""):
            catalogue_entry(kind, text)  # which says what is nearest
        return found

    return read


READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "--ram": lambda text: {"memory_gib": _memory(text)},
    "--cores": lambda text: {"cores": _count(text)},
    "--cpu": _part("cpus", "cpu_entry", "words", "processor", "ghz", "virtual"),
    "--disk": _part("disks", "disk", "volume", "local", "level", "rpm"),
    "--disks": lambda text: {"disks": _count(text)},
    "--warehouses": lambda text: {"warehouses": _count(text)},
    "--data-size": lambda text: {"data_gib": _positive(text, "memory", "GiB")},
    "--clients": lambda text: {"clients": _count(text)},
    "--database": _part("databases", "engine", named=NamedEngine),
    "--os": _part("operating_systems", "system", named=lambda entry: NamedSystem(entry, None)),
    "--buffers": lambda text: {"buffers": _count(text)},
    "--pool": lambda text: {"pool_gib": _memory(text)},
    "--think": lambda text: {"think_s": _time(text)},
    "--warm-up": lambda text: {"warm_up_s": _time(text)},
    "--duration": lambda text: {"seconds": _positive(text, "time", "s")},
}
"""What an option says, by the names of things that `pieces` has."""
