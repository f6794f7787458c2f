"""Which processors a list means by a name: an entry of the catalogue, or a speed by family and clock."""

from __future__ import annotations

import re
from typing import Any

from models.catalogue.entries import catalogue_entry, catalogue_names
from models.catalogue.processors import families, family_of, read

CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*GHz", re.IGNORECASE)


def threads_per_core(model: str, arch: str) -> int:
    """Hardware threads of a core, as the catalogue has the processor; by its architecture if it hasn't."""
    entry = entry_of(model)
    if entry is not None:
        return int(catalogue_entry("cpus", entry).get("threads_per_core", 1))
    return 1 if arch.startswith("arm") else 2


def cpu_of(model: str, clock: str, vcpus: int, threads: int) -> dict[str, Any] | None:
    """Processors by their name and clock ('3.5 GHz'), as keys of a cpu; None if their speed can't be told.

    `vcpus`: hardware threads, `threads` of them for each core; an odd thread has a core of its own.
    """
    cores = -(-vcpus // threads)
    threads = threads if vcpus > 1 else 1
    entry = entry_of(model)
    if entry is not None:
        keys = {"base": entry, "cores": cores}
        return keys if catalogue_entry("cpus", entry).get("threads_per_core", 1) == threads else keys | {
            "threads_per_core": threads
        }  # fmt: skip
    family = family_of(read(model).words)
    found = CLOCK.search(clock) or CLOCK.search(model)
    if family is None or found is None:
        return None
    ghz = float(found[1])
    spec = families()[family]
    return {
        "model": model[:150],
        "cores": cores,
        "relative_speed": float(f"{spec.speed_per_ghz * ghz:.4g}"),
        "threads_per_core": threads,
        "source": f"assumption: {ghz:g} GHz x {spec.speed_per_ghz:g}, as {family} processors of the catalogue",
    }


def entry_of(model: str) -> str | None:
    """The catalogue's entry whose number, or name with a digit, is among the words: 8375C, Graviton4."""
    words = set(read(model).words)
    for name in catalogue_names("cpus"):
        numbers = {
            word for word in name.split("-") if re.search(r"[a-z]\d|\d[a-z]", word) or re.fullmatch(r"9\d{3}", word)
        }
        if numbers and numbers <= words:
            return name
    return None
