"""Cloud machines and network volumes by the words that people use: `db.r6g.xlarge`, `gp3 500 GiB 3000 IOPS`."""

import difflib
import math
import re
from dataclasses import dataclass
from typing import Any

from oltpsim.models.catalogue.entries import catalogue_entry, catalogue_names, catalogue_places
from oltpsim.models.input import parse_quantity

AWS = re.compile(
    r"(?P<family>[a-z][a-z0-9-]*\d[a-z0-9-]*\.)(?P<times>\d*)(?P<size>x?large|medium|small|micro|nano|metal)"
)
AZURE = re.compile(r"(?P<family>standard_[a-z]{1,3})(?P<times>\d+)(?P<size>(?:-\d+)?[a-z]*_v\d+)")
GOOGLE = re.compile(r"(?P<family>[a-z]\d[a-z]?-(?:standard|highmem|highcpu|megamem)-)(?P<times>\d+)(?P<size>)")
HETZNER_OR_OVH = re.compile(r"(?P<family>c(?:p|a|c)?x|[bcr]\d-)(?P<times>\d{1,3})(?P<size>)")
SPELLINGS = (
    (re.compile(r"^(?:(?:an?|aws|amazon|ec2|rds|azure|gcp|google|cloud|sql|hetzner|ovh) )+"), ""),
    (re.compile(r"^db\.x2g\."), "x2gd."), (re.compile(r"^(?:db\.|db-(?=[a-z]\d)|(?:gp|mo|b|bc)_(?=standard_))"), ""),
    (re.compile(r"^db-perf-optimized-n-"), "n2-highmem-"),
    (re.compile(r"^(?:standard[ _])?([a-z]{1,3}\d+(?:-\d{1,2})?[a-z]{1,4})[ _]?(v\d)$"), r"standard_\1_\2"),
)  # fmt: skip
"""other names of a machine: with its provider, with a database service's prefix, Azure's with blanks or short"""
CUSTOM = re.compile(r"(?:db-|(?P<series>e2|n1|n2|n2d|n4)-)?custom-(?P<vcpus>\d{1,3})-(?P<mib>\d{3,7})")
CLOUD_SQL = re.compile(r"(?:google )?cloud ?sql (?P<vcpus>\d{1,3}) ?v?-?cpus?(?:,| and| with)? (?P<gib>\d{1,4}) ?gi?b")
"""Google's machines of any shape: vCPUs and memory; of a database, which has no series, as N1 (assumption)"""
LIKE_A_NAME = re.compile(r"[a-z](?=.*\d)[a-z\d._-]{4,}")
SIZES = {"nano": 0.1, "micro": 0.2, "small": 0.3, "medium": 0.5, "large": 1.0, "xlarge": 2.0, "metal": 100.0}
"""vCPUs by the size in an AWS name; N of Nxlarge multiplies"""
VOLUMES = {
    r"gp2": "gp2", r"gp3": "gp3", r"io1": "io1", r"io2(?: block express)?": "io2", r"st1": "st1",
    r"(?:azure )?premium ?ssd ?v2(?: disk)?|premiumv2|pv2|azure-premium-ssd-v2": "azure-premium-ssd-v2",
    r"(?:azure )?ultra(?: ?ssd| disk)+|azure-ultra": "azure-ultra",
    r"(?:(?:azure[ -])?(?:premium ?(?:ssd|disk) ?)?)p(10|15|20|30|40|50|60|70|80)": "azure-p",
    r"(?:azure )?premium ?ssd(?: disk)?": "azure-p?",
    r"(?:azure )?standard ?hdd(?: disk)?|azure-standard-hdd": "azure-standard-hdd",
    r"pd[- ]ssd|ssd persistent disk": "pd-ssd", r"pd[- ]balanced|balanced persistent disk": "pd-balanced",
    r"hyperdisk[- ]balanced": "hyperdisk-balanced",
}  # fmt: skip
"""entries by volumes' names; the tier of Azure's premium SSDs is their number, or by their size"""
LIKE_A_VOLUME = re.compile(r" ((?:gp|io|st|sc)\d|premium (?:ssd|disk) p\d{1,2}|p\d\d|pd-[a-z]+|hyperdisk-[a-z]+) ")
NEARLY = 0.88
"""likeness to a cloud machine's name from which on a word is taken for a misspelt one"""
N = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,6})?)"
RATES = {"kb": "kB/s", "mb": "MB/s", "gb": "GB/s", "kib": "KiB/s", "mib": "MiB/s", "gib": "GiB/s"}
RDS_STRIPES_FROM_GIB = 400.0
"""size of MySQL, MariaDB and PostgreSQL from which RDS stripes (AWS's user guide of RDS, gp3 storage)"""
DEFAULT_VOLUMES = {"aws": "gp3", "azure": "azure-premium-ssd-v2", "gcp": "pd-ssd"}
"""volume that nobody names: what a provider gives who doesn't choose, or advises for databases"""


@dataclass(frozen=True)
class VolumePhrase:
    """A volume's entry, and what is said of it; None for what isn't. `remainder`: words that say nothing of it."""

    entry: str
    size_gib: float | None
    requests_per_s: float | None
    mib_per_s: float | None
    remainder: str

    def order(self, size_gib: float) -> dict[str, Any]:
        """Keys of a disk, of `size_gib` if no size is said."""
        rates = {"requests_per_s": self.requests_per_s, "mib_per_s": self.mib_per_s}
        return {"volume": self.entry, "size_gib": self.size_gib or size_gib} | {
            key: value for key, value in rates.items() if value is not None
        }


def instance_named(text: str) -> str | None:
    """The cloud machine of that name, as its provider, RDS (db.) or a short form of Azure's writes it; None if none.

    Raises ValueError with the nearest for what can only be such a name.
    """
    names = {name.lower(): name for name in catalogue_places("instances")}
    lower = " ".join(text.lower().split())
    for pattern, spelling in SPELLINGS:
        lower = pattern.sub(spelling, lower)
    if lower in names:
        return names[lower]
    if custom := CUSTOM.fullmatch(lower) or CLOUD_SQL.fullmatch(text.lower().strip()):
        parts = custom.groupdict()
        mib = parts.get("mib") or 1024 * int(parts["gib"])
        return f"{parts.get('series') or 'n1'}-custom-{parts['vcpus']}-{mib}"
    if not any(form.fullmatch(lower) for form in (AWS, AZURE, GOOGLE, HETZNER_OR_OVH)) and not lower.startswith(
        "standard_"
    ):
        alike = [name for name in names if name[0] == lower[0]] if LIKE_A_NAME.fullmatch(lower) else []
        if close := difflib.get_close_matches(lower, alike, n=2, cutoff=NEARLY):
            raise ValueError(f"not in the catalogue; nearest {', '.join(names[each] for each in close)}")
        return None
    near = nearest_instances(lower)
    raise ValueError(f"not in the catalogue; nearest {', '.join(near)}" if near else "not in the catalogue")


def nearest_instances(name: str) -> list[str]:
    """Up to two cloud machines: the next sizes of the same family, or those of names that look alike."""
    wanted, ranked = _rank(name.lower()), []
    for known in catalogue_names("instances"):
        rank = _rank(known.lower())
        if wanted is not None and rank is not None and rank[0] == wanted[0]:
            ranked.append((math.log(rank[1] / wanted[1]), known))
    below, above = [each for each in ranked if each[0] < 0], [each for each in ranked if each[0] > 0]
    if ranked:
        return [known for ends, pick in ((below, max), (above, min)) if ends for _, known in [pick(ends)]]
    names = {known.lower(): known for known in catalogue_names("instances")}
    ranks = {known: rank for known in names if (rank := _rank(known)) is not None}
    alike = [known for known, rank in ranks.items() if wanted is not None and rank[1] == wanted[1]]
    return [names[each] for each in difflib.get_close_matches(name, alike or names, 2, 0.4)]


def _rank(name: str) -> tuple[str, float] | None:
    """A name's family, and its size among that family's."""
    if match := AWS.fullmatch(name):
        return match["family"], SIZES[match["size"]] * float(match["times"] or 1)
    if match := (AZURE.fullmatch(name) or GOOGLE.fullmatch(name) or HETZNER_OR_OVH.fullmatch(name)):
        return match["family"] + match["size"], float(match["times"])
    return None


def read_volume(text: str) -> VolumePhrase | None:
    """What a piece says of a network volume; None if it names none. Raises ValueError for one that isn't known."""
    words = f" {' '.join(re.sub(r'[()]', ' ', text.lower()).split())} "
    size, words = _without(words, rf"{N} ?([gt])i?b")
    requests, words = _without(words, rf"{N} ?(k?) ?(?:iops|io/s|requests/s)|(?:iops) ?=? ?{N}")
    rate, words = _without(words, rf"{N} ?([kmg]i?b)(?:/s|ps|/sec)")
    size_gib = None if size is None else _number(size[1]) * {"g": 1.0, "t": 1024.0}[size[2]]
    for pattern, entry in VOLUMES.items():
        found, others = _without(words, pattern)
        if found is None:
            continue
        if entry == "azure-p":
            entry += found[1]  # noqa: PLW2901 - the tier is a part of the name
            size_gib = size_gib or float(catalogue_entry("volumes", entry)["most_gib"])
        elif entry == "azure-p?":
            entry = _tier(size_gib)  # noqa: PLW2901
        _, others = _without(others, r"(?:network |ebs |cloud )?(?:volumes?|ebs|disks?)")
        return VolumePhrase(
            entry,
            size_gib,
            None if requests is None else _number(requests[1] or requests[3]) * (1000 if requests[2] else 1),
            None
            if rate is None
            else _number(rate[1]) * parse_quantity(f"1 {RATES[rate[2]]}", "transfer rate", "MiB/s"),
            others.strip(),
        )
    if match := LIKE_A_VOLUME.search(words):
        near = difflib.get_close_matches(match[1], catalogue_names("volumes"), 3, 0.4)
        raise ValueError(f"no volume {match[1]} in the catalogue; nearest {', '.join(near) or 'gp3, pd-ssd'}")
    return None


def volume_of_service(machine: str, volume: str, size_gib: float, *, chosen: bool) -> str:
    """The volume's entry under a database service (`db.r6g.xlarge`, `GP_Standard_D4ds_v4`), else as it is.

    RDS stripes gp3 from 400 GiB on over four volumes. Azure's flexible servers have premium SSDs by their size.
    """
    name = machine.lower()
    if name.startswith("db.") and volume == "gp3" and size_gib >= RDS_STRIPES_FROM_GIB:
        return "rds-gp3"
    if not chosen and re.match(r"(?:gp|mo|b|bc)_standard_", name):
        return _tier(size_gib)
    return volume


def _tier(size_gib: float | None) -> str:
    """The tier of an Azure premium SSD of a size: the next larger one. Raises ValueError without a size."""
    tiers = {
        name: catalogue_entry("volumes", name) for name in catalogue_names("volumes") if name.startswith("azure-p")
    }
    sizes = sorted((float(each["most_gib"]), name) for name, each in tiers.items() if re.fullmatch(r"azure-p\d+", name))
    if size_gib is None:
        raise ValueError("add its tier or its size: 'Premium SSD P30', or 'Premium SSD 1024 GiB'")
    return next((name for most, name in sizes if size_gib <= most), sizes[-1][1])


def _without(words: str, pattern: str) -> tuple[re.Match[str] | None, str]:
    """The first match between blanks, and the words without it."""
    match = re.search(rf"(?<= )(?:{pattern})(?= )", words)
    return match, words if match is None else f"{words[: match.start()]}{words[match.end() :].lstrip()}"


def _number(text: str) -> float:
    """A number above 0. Raises ValueError."""
    value = float(text.replace(",", ""))
    if value <= 0:
        raise ValueError(f"got {text}; must be greater than 0")
    return value
