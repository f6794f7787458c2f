"""The catalogue: parts, machines, what is for sale and its prices. One file each; of instances one for each family.

Entries that come with the program are in models/catalogue/data/KIND/NAME.yaml. A user's own, in the folder that the
environment variable OLTPSIM_CATALOG names (`oltpsim --catalog FOLDER` sets it), go before them.
"""

import copy
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from models.input import MOST_BYTES, MOST_COMPARED, as_mapping, nearest, parse_yaml
from simulator.errors import InputError

PARTS = ("machines", "cpus", "disks", "operating_systems", "databases", "workloads", "layouts")
"""What scenarios are made of."""
FOR_SALE = ("instances", "volumes", "chassis", "prices")
"""What plans are made of."""
KINDS = (*PARTS, *FOR_SALE)
FOLDER_VARIABLE = "OLTPSIM_CATALOG"
SIZES = "sizes"
"""A file with this key is a family: each of its entries is what stands below it over the file's other keys."""
MOST_LISTED = 12
MOST_USER_BYTES = 16 * MOST_BYTES
"""A price list of one region has 1,000 rows."""
_PARSED: dict[tuple[str, str, int, int], dict[str, Any]] = {}
"""Files by path, name in messages, time of their last change and size."""


@dataclass(frozen=True)
class EntryPlace:
    """Where an entry stands: its file, how messages name that, and its key if the file is a family."""

    file: Traversable
    where: str
    size: str | None
    own: bool
    """in the user's folder"""


def catalogue_kinds() -> list[str]:
    """The kinds of entries."""
    return list(KINDS)


def catalogue_names(kind: str) -> list[str]:
    """Names of all entries of a kind, sorted. Raises InputError for an unknown kind."""
    return sorted(catalogue_places(kind))


def catalogue_entry(kind: str, name: str) -> dict[str, Any]:
    """An entry as it stands in its file, sizes of a family over the family. Raises InputError for an unknown name."""
    places = catalogue_places(kind)
    if name not in places:
        few = len(places) <= MOST_LISTED
        known = (
            f"known: {', '.join(sorted(places))}" if few else f"`oltpsim catalog list {kind}` names all {len(places)}"
        )
        raise InputError(
            f"unknown name {name[:MOST_COMPARED]!r} in the catalogue of {kind}{nearest(name, places)}; {known}"
        )
    place = places[name]
    data = _read(place.file, place.where)
    if place.size is None:
        return copy.deepcopy(data)
    family = {key: value for key, value in data.items() if key != SIZES}
    return copy.deepcopy(merged({"name": name} | family, data[SIZES][place.size]))


def catalogue_places(kind: str) -> Mapping[str, EntryPlace]:
    """Where each entry of a kind is; not to be changed. Raises InputError for an unknown kind or a name there twice."""
    if kind not in KINDS:
        raise InputError(
            f"catalogue: unknown kind {kind[:MOST_COMPARED]!r}{nearest(kind, KINDS)}; known: {', '.join(KINDS)}"
        )
    folder = own_folder()
    own = folder / kind if folder is not None else None
    if own is None or not own.is_dir():
        return _shipped(kind)
    with os.scandir(own) as files:
        state = tuple(sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files))
    return _shipped(kind) | _users(own, kind, state)


def shadowed_names(kind: str) -> list[str]:
    """Names that come with the program and that the user's folder has too."""
    own = {name for name, place in catalogue_places(kind).items() if place.own}
    return sorted(own & set(_shipped(kind)))


def own_folder() -> Path | None:
    """The user's catalogue, if one is named. Raises InputError if it isn't there."""
    text = os.environ.get(FOLDER_VARIABLE)
    if not text:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise InputError(
            f"{FOLDER_VARIABLE} (or --catalog): {text}: no such folder; expected one with folders such as instances "
            "and prices, as `oltpsim catalog import` makes it"
        )
    return folder


def merged(base: Any, changes: Any) -> Any:
    """`base` with `changes` over it, key by key; anything but two mappings is replaced."""
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    if "kind" in changes and changes["kind"] != base.get("kind"):
        return changes
    return base | {key: merged(base.get(key), value) for key, value in changes.items()}


@cache
def _shipped(kind: str) -> dict[str, EntryPlace]:
    return _places(resources.files("models").joinpath("catalogue", "data", kind), f"catalog/{kind}", kind, own=False)


@lru_cache(maxsize=16)
def _users(folder: Path, kind: str, state: tuple[tuple[str, int, int], ...]) -> dict[str, EntryPlace]:
    """The user's entries, as long as no file of the folder changes: `state` is all of them."""
    del state
    return _places(folder, str(folder), kind, own=True)


def _places(folder: Traversable, where: str, kind: str, *, own: bool) -> dict[str, EntryPlace]:
    places: dict[str, EntryPlace] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".yaml"):
            continue
        for name, place in _entries(file, f"{where}/{file.name}", kind, own=own):
            if name in places:
                raise InputError(f"{place.where}: {name}: is in {places[name].where} too; keep one of them")
            places[name] = place
    return places


def _entries(file: Traversable, where: str, kind: str, *, own: bool) -> Iterator[tuple[str, EntryPlace]]:
    sizes = _read(file, where).get(SIZES) if kind == "instances" else None
    if sizes is None:
        yield file.name.removesuffix(".yaml"), EntryPlace(file, where, None, own)
        return
    for name, keys in as_mapping(sizes, f"{where}: {SIZES}").items():
        as_mapping(keys, f"{where}: {SIZES}.{name}")
        yield str(name), EntryPlace(file, where, name, own)


def _read(file: Traversable, where: str) -> dict[str, Any]:
    """A file, parsed once as long as nobody changes it: the points of a sweep name it again and again."""
    changed_ns, size = 0, 0
    if isinstance(file, Path):
        status = file.stat()
        changed_ns, size = status.st_mtime_ns, status.st_size
        if size > MOST_USER_BYTES:
            raise InputError(f"{where}: got {size} bytes; a file of the catalogue has at most {MOST_USER_BYTES}")
    key = (str(file), where, changed_ns, size)
    if key not in _PARSED:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: can't be read as UTF-8 text: {error}") from error
        _PARSED[key] = as_mapping(parse_yaml(text, where), where)
    return _PARSED[key]


def describe(kind: str, name: str) -> str:
    """An entry for people: its keys and values, one a line, its source last."""
    entry = catalogue_entry(kind, name)
    source = entry.pop("source", "")
    return "\n".join([f"{kind}/{name}", *_lines(entry, "  "), f"  source: {source}"])


def _lines(entry: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in entry.items():
        yield f"{indent}{key}:" + ("" if isinstance(value, dict) else f" {value}")
        if isinstance(value, dict):
            yield from _lines(value, f"{indent}  ")
