"""ec2-instances-info's instances.json: machines of EC2 with their prices in all regions.

Source of the form: github.com/vantage-sh/ec2instances.info. Memory is in GiB, disks in GB each, ebs_*_bandwidth in
Mbit/s and ebs_*_throughput in MB/s; prices are US dollars for an hour, as text. The file has no date.
"""

import re
from collections.abc import Mapping
from typing import Any

from oltpsim.models.catalogue.entries import catalogue_names
from oltpsim.models.catalogue.importers.entries import (
    MOST_USD_AN_HOUR,
    ImportedEntries,
    ListFacts,
    date_of,
    disk_like,
    figure,
    hourly,
    local_disks,
    region_of,
    with_bursts,
)
from oltpsim.models.catalogue.processors import cpu_keys, threads_per_core
from oltpsim.models.input import SourceFile, short_text
from oltpsim.simulator.form import GIB, MIB

NAME = "ec2instances"
TERMS = {
    "on demand": ("ondemand",),
    "1 year reserved": ("reserved", "yrTerm1Standard.noUpfront"),
    "3 years reserved": ("reserved", "yrTerm3Standard.noUpfront"),
}
"""Where each term's price of an hour stands below the region's Linux; reserved without a payment in advance."""
MOST_INSTANCES = 20_000
EXACT_NETWORK = re.compile(r"(\d+(?:\.\d+)?) Gigabit")


def detect(source: SourceFile) -> bool:
    """Whether a file looks like instances.json."""
    head = source.head
    return head.lstrip().startswith("[") and ('"instance_type"' in head or '"pretty_name"' in head)


def read(source: SourceFile, wanted: ListFacts) -> ImportedEntries:
    """Machines, and one region's prices on demand and reserved. Raises InputError for units that don't fit."""
    data = source.data
    if not isinstance(data, list) or len(data) > MOST_INSTANCES:
        source.refuse("the file", "no list of machines", f"a list of at most {MOST_INSTANCES}", "give instances.json")
    entries = [source.mapping(entry, f"entry {number}") for number, entry in enumerate(data, 1)]
    regions = sorted({region for entry in entries for region in entry.get("pricing", {})})
    region = region_of(source, wanted, regions)
    imported = ImportedEntries(NAME, source, date_of(source, wanted, None))
    rows: dict[str, list[dict[str, Any]]] = {term: [] for term in TERMS}
    for number, entry in enumerate(entries, 1):
        name = str(entry.get("instance_type", ""))
        if not re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", name):
            source.refuse(f"entry {number}: instance_type", repr(short_text(name)), "a name such as m7i.large")
        _machine(imported, name, entry)
        for term, path in TERMS.items():
            amount = _price(imported, entry, region, path, name)
            if amount is not None:
                rows[term].append(hourly(name, amount))
    for term, listed in rows.items():
        imported.add_list(
            f"ec2instances-{region}-{term.replace(' ', '-')}",
            f"AWS, {region}, {term}",
            listed,
            currency="CNY" if region.startswith("cn-") else "USD",
            term=term,
            region=region,
            source=f"imported from {source.name}: ec2-instances-info, Linux, {'.'.join(TERMS[term])}",
        )
    return imported


def _price(
    imported: ImportedEntries, entry: Mapping[str, Any], region: str, path: tuple[str, ...], name: str
) -> float | None:
    node: Any = entry.get("pricing", {}).get(region, {}).get("linux", {})
    for key in path:  # which may hold a point
        node = node.get(key) if isinstance(node, dict) else None
    if node is None or node in ("", "N/A", 0, "0"):
        if path == ("ondemand",):
            imported.leave(name, f"no price on demand of Linux in {region}")
        return None
    return imported.source.positive(node, f"{name}: pricing.{region}.linux.{'.'.join(path)}", MOST_USD_AN_HOUR)


def _machine(imported: ImportedEntries, name: str, entry: Mapping[str, Any]) -> None:
    source = imported.source
    if entry.get("GPU") or entry.get("FPGA"):
        imported.leave(name, "shape: has accelerators")
        return
    if entry.get("burst_minutes") or entry.get("base_performance"):
        imported.leave(name, "shape: CPU credits, which aren't modelled")
        return
    arch = " ".join(map(str, entry.get("arch", []))) if isinstance(entry.get("arch"), list) else str(entry.get("arch"))
    model = str(entry.get("physical_processor", ""))
    vcpus = source.whole(entry.get("vCPU"), f"{name}: vCPU")
    threads = threads_per_core(model, arch)
    cpu = cpu_keys(model, str(entry.get("clock_speed_ghz", "")), vcpus, threads)
    if cpu is None:
        imported.leave_unknown_speed(name, model, "shape: ")
        return
    keys: dict[str, Any] = {
        "provider": "aws",
        "cpu": cpu,
        "memory_gib": figure(source.positive(entry.get("memory"), f"{name}: memory", 65_536)),
    }
    if entry.get("storage"):
        keys["local_disks"] = _local_disks(source, name, entry["storage"])
    keys |= _volume_limits(source, name, entry)
    network = EXACT_NETWORK.fullmatch(str(entry.get("network_performance", "")))
    if network:
        keys["network_gbit_per_s"] = figure(float(network[1]))
    imported.add_instance(name, keys | {"source": imported.note("ec2-instances-info")})


def _local_disks(source: SourceFile, name: str, storage: Any) -> dict[str, Any]:
    facts = source.mapping(storage, f"{name}: storage")
    count = source.whole(facts.get("devices"), f"{name}: storage.devices")
    size = source.positive(facts.get("size"), f"{name}: storage.size")
    unit = facts.get("size_unit", "GB")
    bytes_of = {"GB": 1e9, "GiB": float(GIB)}
    if unit not in bytes_of:
        source.refuse(f"{name}: storage.size_unit", repr(unit), " or ".join(bytes_of))
    known = f"aws-{name.split('.', maxsplit=1)[0]}-nvme"
    if not facts.get("ssd", True):
        base = "sata-7200"
    elif known in catalogue_names("disks"):
        base = known
    else:
        base = "nvme" if facts.get("nvme_ssd") else "sata-ssd"
    return local_disks(disk_like(base, name, size * bytes_of[unit] / GIB), count)


def _volume_limits(source: SourceFile, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Base and most of EBS. The bandwidth must be eight times the throughput, else one unit was taken for another."""
    limits: dict[str, Any] = {}
    for ours, which, iops in (("", "ebs_baseline", "ebs_baseline_iops"), ("burst_", "ebs", "ebs_iops")):
        if entry.get(iops):
            limits[f"volume_{ours}requests_per_s"] = figure(source.positive(entry[iops], f"{name}: {iops}", 1e7))
        throughput = entry.get(f"{which}_throughput")
        bandwidth = entry.get("ebs_baseline_bandwidth" if not ours else "ebs_max_bandwidth")
        if throughput:
            number = source.positive(throughput, f"{name}: {which}_throughput")
            if bandwidth:
                mbit = source.positive(bandwidth, f"{name}: bandwidth of {which}")
                if abs(mbit / 8 / number - 1) > 0.05:
                    came = f"{number:g} MB/s beside a bandwidth of {mbit:g} Mbit/s"
                    remedy = "look which of the two is in another unit"
                    source.refuse(f"{name}: {which}_throughput", came, f"about {mbit / 8:g} MB/s", remedy)
            limits[f"volume_{ours}mib_per_s"] = figure(number * 1e6 / MIB)
    return with_bursts(limits)
