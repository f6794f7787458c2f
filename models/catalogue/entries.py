"""The catalogue: parts, machines, what is for sale and its prices. A file each, or a table (CSV) of many.

Entries that come with the program are in models/catalogue/data/KIND/NAME.yaml. A user's own, in the folder that the
environment variable OLTPSIM_CATALOG names (`oltpsim --catalog FOLDER` sets it), go before them.
"""

import copy
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue.families import listed_cpu
from oltpsim.models.catalogue.tables import TableRows, read_table
from oltpsim.models.input import MOST_BYTES, MOST_COMPARED, as_mapping, did_you_mean, parse_yaml
from oltpsim.simulator.errors import InputError

PARTS = ("machines", "cpus", "disks", "operating_systems", "databases", "workloads", "layouts")
"""Kinds of entries that scenarios consist of."""
FOR_SALE = ("instances", "volumes", "chassis", "prices")
"""Kinds of entries that plans consist of."""
CATALOGUE_KINDS = (*PARTS, *FOR_SALE)
FOLDER_VARIABLE = "OLTPSIM_CATALOG"
CUSTOM = re.compile(r"(?P<series>[a-z]\d[a-z]?)-custom-(?P<vcpus>[1-9]\d{0,2})-(?P<mib>[1-9]\d{2,6})")
"""names of Google's machines of any shape"""
MOST_LISTED = 12
MOST_USER_BYTES = 16 * MOST_BYTES
"""A price list of one region has 1,000 rows."""


@dataclass(frozen=True)
class FileState:
    """A file and what changes with it: nanoseconds since 1970 of its last change, its bytes."""

    path: Path
    changed_ns: int
    size: int


@dataclass(frozen=True)
class EntryPlace:
    """Place of an entry: its file, the file's name in messages, and whether the entry is a row of a table there."""

    file: FileState
    where: str
    in_table: bool
    own: bool
    """whether the file is in the user's folder"""


def catalogue_names(kind: str) -> list[str]:
    """Names of all entries of a kind, sorted. Raises InputError for an unknown kind."""
    return sorted(catalogue_places(kind))


def catalogue_entry(kind: str, name: str) -> dict[str, Any]:
    """An entry as it stands in its file, a row over what its table shares. Raises InputError for an unknown name."""
    places = catalogue_places(kind)
    if kind == "instances" and (custom := CUSTOM.fullmatch(name)) and f"{custom['series']}-standard-2" in places:
        return _custom_shape(name, custom["series"], int(custom["vcpus"]), int(custom["mib"]))
    if name not in places:
        few = len(places) <= MOST_LISTED
        known = (
            f"known: {', '.join(sorted(places))}" if few else f"`oltpsim catalog list {kind}` names all {len(places)}"
        )
        raise InputError(
            f"unknown name {name[:MOST_COMPARED]!r} in the catalogue of {kind}{did_you_mean(name, places)}; {known}"
        )
    place = places[name]
    if place.in_table:
        shared, rows = _table(place.file, place.where)
        entry = merged({"name": name} | shared, rows[name])
    else:
        entry = _parsed(place.file, place.where)
    if kind == "cpus" and "family" in entry:
        return listed_cpu({"name": name} | entry, place.where)
    return copy.deepcopy(entry)


def _custom_shape(name: str, series: str, vcpus: int, memory_mib: int) -> dict[str, Any]:
    """A machine of any shape: that of its series with as many vCPUs or the next more, with its own cores and memory."""
    prefix = f"{series}-standard-"
    sizes = sorted(int(each.removeprefix(prefix)) for each in catalogue_places("instances") if each.startswith(prefix))
    entry = catalogue_entry("instances", f"{prefix}{next((size for size in sizes if size >= vcpus), sizes[-1])}")
    threads = 2 if vcpus % 2 == 0 else 1
    cpu = entry["cpu"] | {"cores": vcpus // threads, "threads_per_core": threads}
    source = f"{vcpus} vCPUs and {memory_mib:,} MiB as its name says; the rest as {entry['name']}: {entry['source']}"
    return entry | {"name": name, "cpu": cpu, "memory_gib": memory_mib / 1024, "source": source}


def catalogue_values(kind: str, key: str) -> dict[str, Any]:
    """A key's value as it stands in each entry of a kind that has it, by the entries' names."""
    values = {}
    for name, place in catalogue_places(kind).items():
        entry = _table(place.file, place.where)[1][name] if place.in_table else _parsed(place.file, place.where)
        if key in entry:
            values[name] = entry[key]
    return values


def catalogue_places(kind: str) -> Mapping[str, EntryPlace]:
    """Places of a kind's entries; not to be changed. Raises InputError for an unknown kind or a name there twice."""
    if kind not in CATALOGUE_KINDS:
        known = f"{did_you_mean(kind, CATALOGUE_KINDS)}; known: {', '.join(CATALOGUE_KINDS)}"
        raise InputError(f"catalogue: unknown kind {kind[:MOST_COMPARED]!r}{known}")
    own = _own_folder_of(kind)
    return _shipped(kind) if own is None else {**_shipped(kind), **places_in(own)}


def catalogue_files(kind: str) -> tuple[FileState, ...]:
    """Files of a kind, the program's and the user's; other ones as soon as somebody changes one."""
    own = _own_folder_of(kind)
    return _shipped_files(kind) + (() if own is None else _files_in(own))


def _own_folder_of(kind: str) -> Path | None:
    folder = own_folder()
    own = folder / kind if folder is not None else None
    return own if own is not None and own.is_dir() else None


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
    return _places(f"models/catalogue/data/{kind}", own=False, files=_shipped_files(kind))


@cache
def _shipped_files(kind: str) -> tuple[FileState, ...]:
    return _files_in(Path(str(resources.files("oltpsim.models"))) / "catalogue" / "data" / kind)


def _files_in(folder: Path) -> tuple[FileState, ...]:
    with os.scandir(folder) as files:
        known = [(Path(file.path), file.stat()) for file in files if file.name.endswith((".yaml", ".csv"))]
    return tuple(FileState(path, status.st_mtime_ns, status.st_size) for path, status in sorted(known))


def places_in(folder: Path) -> Mapping[str, EntryPlace]:
    """Places of the entries of a folder that holds one kind. Raises InputError for a name there twice."""
    return _places(str(folder), own=True, files=_files_in(folder))


@lru_cache(maxsize=64)
def _places(where: str, *, own: bool, files: tuple[FileState, ...]) -> dict[str, EntryPlace]:
    places: dict[str, EntryPlace] = {}
    for file in files:
        for name, place in _places_in(file, f"{where}/{file.path.name}", own=own):
            if name in places:
                raise InputError(f"{place.where}: {name}: is in {places[name].where} too; keep one of them")
            places[name] = place
    return places


def _places_in(file: FileState, where: str, *, own: bool) -> Iterator[tuple[str, EntryPlace]]:
    if file.path.suffix == ".csv":
        yield from ((name, EntryPlace(file, where, True, own)) for name in _table(file, where)[1].cells)
    else:
        yield file.path.name.removesuffix(".yaml"), EntryPlace(file, where, False, own)


@lru_cache(maxsize=64)
def _table(file: FileState, where: str) -> tuple[dict[str, Any], TableRows]:
    """A table, parsed once as long as nobody changes it."""
    return read_table(_text(file, where), where)


@lru_cache(maxsize=4096)
def _parsed(file: FileState, where: str) -> dict[str, Any]:
    """A file, parsed once as long as nobody changes it: the points of a sweep name it again and again."""
    return as_mapping(parse_yaml(_text(file, where), where), where)


def _text(file: FileState, where: str) -> str:
    """A file's text. Raises InputError for one that is too large or can't be read."""
    if file.size > MOST_USER_BYTES:
        raise InputError(f"{where}: got {file.size} bytes; a file of the catalogue has at most {MOST_USER_BYTES}")
    try:
        return file.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: can't be read as UTF-8 text: {error}") from error
