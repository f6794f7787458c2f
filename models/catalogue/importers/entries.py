"""Entries and price lists that an importer has read, in the catalogue's form, and what it left out."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from oltpsim.models.input import SourceFile, short_text
from oltpsim.simulator.errors import InputError

MOST_USD_AN_HOUR = 10_000.0
"""beyond it somebody took a year for an hour"""
REGION = re.compile(r"[a-z][a-z0-9-]{1,40}")


@dataclass(frozen=True)
class ListFacts:
    """Facts about a list from options, which the list may lack; None: look in the list."""

    date: dt.date | None = None
    region: str | None = None
    term: str | None = None
    currency: str | None = None


@dataclass
class ImportedEntries:
    """Entries by their names, price lists by the names of their files, and names left out by the reason."""

    importer: str
    source: SourceFile
    day: dt.date
    """date of the figures"""
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    lists: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def note(self, origin: str = "") -> str:
        """Source of entries: file, list and day."""
        return f"imported from {self.source.name}{': ' * bool(origin)}{origin}, {self.day}"

    def leave(self, name: str, reason: str) -> None:
        """Leave something out, and say why."""
        self.left_out.setdefault(reason, []).append(name)

    def leave_unknown_speed(self, name: str, model: str, what: str = "") -> None:
        """Leave a machine out whose processor nobody knows."""
        self.leave(name, f"{what}no speed is known of {short_text(model) or 'its processor'}: add an entry of cpus")

    def add_instance(self, name: str, keys: dict[str, Any]) -> None:
        """A machine, once. Raises InputError if the list has it twice."""
        if name in self.instances:
            self.source.refuse(name, "two entries of that name", "one", "delete one of them")
        self.instances[name] = keys

    def add_list(self, file: str, name: str, rows: Sequence[dict[str, Any]], **keys: str | None) -> None:
        """A price list with its currency, term, region and source as far as they are known, if it has rows at all."""
        if rows:
            known = {key: keys[key] for key in ("currency", "term", "region", "source") if keys.get(key) is not None}
            self.lists[file] = {"name": name, "date": str(self.day), **known, "rows": list(rows)}


def date_of(source: SourceFile, facts: ListFacts, text: str | None) -> dt.date:
    """The day of the prices: the file's, or --date. Raises InputError if neither says it, or both and differently."""
    if text is None:
        if facts.date is None:
            raise InputError(
                f"{source.name}: the file doesn't say from when its figures are; add --date YYYY-MM-DD, the day on "
                "which they were fetched"
            )
        return facts.date
    try:
        value = dt.date.fromisoformat(text)
    except ValueError:
        source.refuse("date", repr(short_text(text)), "YYYY-MM-DD")
    if facts.date is not None and facts.date != value:
        raise InputError(f"{source.name}: is of {value}, --date says {facts.date}; leave --date out")
    return value


def region_of(source: SourceFile, facts: ListFacts, regions: Sequence[str]) -> str:
    """The region whose prices are wanted: the only one, or --region. Raises InputError if it is neither."""
    if facts.region is not None:
        if regions and facts.region not in regions:
            raise InputError(
                f"{source.name}: --region: got {facts.region!r}; allowed: {shorten_list(regions)}, as in the file"
            )
        return checked_region(source, facts.region)
    if len(regions) != 1:
        which = f"has prices of {len(regions)} regions: {shorten_list(regions)}" if regions else "names no region"
        raise InputError(f"{source.name}: {which}; add --region NAME, such as --region us-east-1")
    return checked_region(source, regions[0])


def checked_region(source: SourceFile, region: str) -> str:
    """A region's name, which becomes part of a file's name. Raises InputError if it can't."""
    if not REGION.fullmatch(region):
        source.refuse("region", repr(short_text(region)), "a name such as us-east-1")
    return region


def shorten_list(names: Sequence[str], most: int = 6) -> str:
    """The first names, and the number of the others."""
    further = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(short_text(name) for name in names[:most]) + further


def figure(value: float) -> float | int:
    """A number as a person would write it: seven digits, whole if it is."""
    rounded = float(f"{value:.7g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def hourly(instance: str, amount: float) -> dict[str, Any]:
    """A row of a price list: a machine for an hour."""
    return {"part": f"instances/{instance}", "amount": amount, "per": "hour"}


def local_disks(disk: Any, count: int) -> dict[str, Any]:
    """Disks that come with a machine, striped if they are several (assumption)."""
    return {"disk": disk, "count": count} | ({"level": "raid0"} if count > 1 else {})


def disk_like(base: str, instance: str, gib: float) -> dict[str, Any]:
    """A local disk of which only the capacity is known."""
    source = f"capacity as imported; assumption: the rest as {base} of the catalogue"
    return {"base": base, "name": f"local disk of {instance}", "capacity_gib": figure(gib), "source": source}


def with_bursts(keys: dict[str, Any]) -> dict[str, Any]:
    """Limits of volumes without the bursts that are none; those of AWS hold for 30 minutes at least once a day."""
    for unit in ("requests_per_s", "mib_per_s"):
        if keys.get(f"volume_burst_{unit}", 0) <= keys.get(f"volume_{unit}", 0):
            keys.pop(f"volume_burst_{unit}", None)
    return keys | ({"volume_burst_s": 1800} if any(key.startswith("volume_burst") for key in keys) else {})
