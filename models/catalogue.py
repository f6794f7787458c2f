"""The catalogue: known machines, processors, disks, operating systems, databases, workloads, layouts. One file each."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from models.yaml_input import as_mapping, parse_yaml
from simulator.errors import InputError

KINDS = ("machines", "cpus", "disks", "operating_systems", "databases", "workloads", "layouts")
MOST_COMPARED = 100


def catalogue_kinds() -> list[str]:
    """The kinds of entries."""
    return list(KINDS)


def catalogue_names(kind: str) -> list[str]:
    """Names of all entries of a kind, sorted. Raises InputError for an unknown kind."""
    if kind not in KINDS:
        raise InputError(
            f"catalogue: unknown kind {kind[:MOST_COMPARED]!r}{nearest(kind, KINDS)}; known: {', '.join(KINDS)}"
        )
    folder = resources.files("models").joinpath("catalog", kind)
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def catalogue_entry(kind: str, name: str) -> dict[str, Any]:
    """An entry as it stands in its file. Raises InputError for an unknown name."""
    names = catalogue_names(kind)
    if name not in names:
        raise InputError(
            f"unknown name {name[:MOST_COMPARED]!r} in the catalogue of {kind}{nearest(name, names)}; "
            f"known: {', '.join(names)}"
        )
    return copy.deepcopy(_read(kind, name))


@cache
def _read(kind: str, name: str) -> dict[str, Any]:
    """An entry, read once: the points of a sweep name it again and again."""
    file = resources.files("models").joinpath("catalog", kind, f"{name}.yaml")
    where = f"catalog/{kind}/{name}.yaml"
    return as_mapping(parse_yaml(file.read_text(encoding="utf-8"), where), where)


def describe(kind: str, name: str) -> str:
    """An entry for people: its keys and values, one a line, its source last."""
    entry = catalogue_entry(kind, name)
    source = entry.pop("source", "")
    return "\n".join([f"{kind}/{name}", *_lines(entry, 1), f"  source: {source}"])


def _lines(entry: dict[str, Any], depth: int) -> list[str]:
    lines = []
    for key, value in entry.items():
        if isinstance(value, dict):
            lines += [f"{'  ' * depth}{key}:", *_lines(value, depth + 1)]
        else:
            lines.append(f"{'  ' * depth}{key}: {value}")
    return lines


def nearest(name: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)' if something known is near."""
    close = difflib.get_close_matches(name[:MOST_COMPARED], list(known), n=2, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(c) for c in close)}?)" if close else ""
