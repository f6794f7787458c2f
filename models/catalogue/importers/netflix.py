"""Netflix's service-capacity-modeling: shapes of machines, drives, and their prices for a year.

Source of the form: github.com/Netflix-Skunkworks/service-capacity-modeling, hardware/profiles/shapes and pricing.
net_mbps is Mbit/s, latencies are ms, ram_gib is a little less than the provider says (GB were taken for GiB), and
cpu_ipc_scale is of one hardware thread, work for each clock against that of a Cascade Lake core.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from models.catalogue.entries import catalogue_names
from models.catalogue.importers.entries import (
    HOURS_A_YEAR,
    MONTHS_A_YEAR,
    MOST_USD_AN_HOUR,
    ImportedEntries,
    ListFacts,
    date_of,
    figure,
    flash,
    hourly,
    json_once,
    local_disks,
    mapping,
    positive,
    region_of,
    whole,
)
from models.input import SourceFile, shorten

NAME = "netflix"
SPEED_PER_GHZ = 1.67
"""of a core whose cpu_ipc_scale is 1, as xeon-8259cl of the catalogue"""
WHOLE_CORE = 1.5
"""by how much the scale of a vCPU that is a whole core is larger than that of a core's thread (assumption)"""
TERMS = {"3yr": "3 years reserved", "1yr": "1 year reserved", "on-demand": "on demand", "on_demand": "on demand"}
PER = {
    "annual_cost_per_gib": ("gib_month", MONTHS_A_YEAR),
    "annual_cost_per_io": ("request_per_s_month", MONTHS_A_YEAR),
    "annual_cost_per_throughput": ("mib_per_s_month", MONTHS_A_YEAR),
}
READS, WRITES = "annual_cost_per_read_io", "annual_cost_per_write_io"
KNOWN_DRIVE_KEYS = {*PER, READS, WRITES, "pricing_source", "pricing_region", "pricing_as_of", "lifecycle"}


def detect(source: SourceFile) -> bool:
    """Whether a file looks like shapes or prices of Netflix."""
    head = source.head
    return head.lstrip().startswith("{") and any(
        mark in head for mark in ('"cpu_ipc_scale"', '"read_io_latency_ms"', '"annual_cost', '"cpu_ghz"')
    )


def read(source: SourceFile, wanted: ListFacts) -> ImportedEntries:
    """Shapes, or one region's prices. Raises InputError for a term or a date that nobody says."""
    data = mapping(source, json_once(source), "the file")
    imported = ImportedEntries(NAME, source)
    if "instances" in data or "drives" in data:
        _shapes(imported, data, wanted)
    else:
        _prices(imported, data, wanted)
    return imported


def _shapes(imported: ImportedEntries, data: Mapping[str, Any], wanted: ListFacts) -> None:
    source = imported.source
    unknown = sorted(set(data) - {"instances", "drives", "services"})
    if unknown:
        source.refuse(shorten(unknown[0]), "an unknown key", "instances, drives, services", "give Netflix's own file")
    note = f"imported from {source.name}: Netflix service-capacity-modeling, {date_of(source, wanted, None)}"
    for name, shape in mapping(source, data.get("instances", {}), "instances").items():
        facts = mapping(source, shape, f"instances.{name}")
        if facts.get("lifecycle") == "deprecated":
            imported.leave(name, "deprecated")
        elif any(facts.get(key) for key in ("gpu", "gpus")):
            imported.leave(name, "has accelerators")
        else:
            imported.add_instance(name, _machine(source, name, facts, note))
    for name, drive in mapping(source, data.get("drives", {}), "drives").items():
        facts = mapping(source, drive, f"drives.{name}")
        if name not in catalogue_names("volumes"):
            imported.leave(
                name, "drive: its rules of size and rate are neither in the file nor in the catalogue of volumes"
            )
            continue
        volume: dict[str, Any] = {"base": name, "name": f"{name}, latencies by Netflix"}
        for kind in ("read", "write"):
            latency = _mid(source, facts, f"{kind}_io_latency_ms", f"drives.{name}")
            volume[f"{kind}_latency_us"] = figure(1000 * latency)
        volume["source"] = f"{note}; rules of size and rate as {name} of the catalogue"
        imported.volumes[f"netflix-{name}"] = volume


def _machine(source: SourceFile, name: str, facts: Mapping[str, Any], note: str) -> dict[str, Any]:
    at = f"instances.{name}"
    vcpus, cores = (whole(source, facts.get(key), f"{at}.{key}") for key in ("cpu", "cpu_cores"))
    if vcpus not in (cores, 2 * cores):
        source.refuse(f"{at}.cpu", f"{vcpus} with {cores} cores", "one or two for each core", "correct it")
    ghz = positive(source, facts.get("cpu_ghz"), f"{at}.cpu_ghz", 20)
    scale = positive(source, facts.get("cpu_ipc_scale", 1.0), f"{at}.cpu_ipc_scale", 20)
    of_core = scale / WHOLE_CORE if vcpus == cores and vcpus > 1 and scale > WHOLE_CORE else scale
    speed = f"{ghz:g} GHz x {of_core:g} x {SPEED_PER_GHZ} (xeon-8259cl of the catalogue, itself an assumption)"
    keys: dict[str, Any] = {
        "provider": "aws",
        "cpu": {
            "model": f"processor of {name}, {ghz:g} GHz",
            "cores": cores,
            "relative_speed": float(f"{ghz * of_core * SPEED_PER_GHZ:.4g}"),
            "threads_per_core": vcpus // cores,
            "source": f"{speed}; {note}",
        },
        "memory_gib": figure(positive(source, facts.get("ram_gib"), f"{at}.ram_gib", 65_536)),
    }
    drive = facts.get("drive")
    if drive:
        disk = mapping(source, drive, f"{at}.drive")
        size, reads, writes = (
            positive(source, disk.get(key), f"{at}.drive.{key}")
            for key in ("size_gib", "read_io_per_s", "write_io_per_s")
        )
        latency = 1000 * _mid(source, disk, "read_io_latency_ms", f"{at}.drive")
        local = flash(source, f"local disks of {name}", size, (reads, writes), latency, at, note)
        keys["local_disks"] = local_disks(local, 1)
    if facts.get("net_mbps"):
        keys["network_gbit_per_s"] = figure(positive(source, facts["net_mbps"], f"{at}.net_mbps", 1e7) / 1000)
    return keys | {"source": note}


def _mid(source: SourceFile, facts: Mapping[str, Any], key: str, at: str) -> float:
    latency = mapping(source, facts.get(key), f"{at}.{key}")
    low, mid, high = (positive(source, latency.get(word), f"{at}.{key}.{word}", 1e4) for word in ("low", "mid", "high"))
    if not low <= mid <= high:
        source.refuse(f"{at}.{key}", f"{low:g}, {mid:g}, {high:g}", "low, mid, high in this order", "correct it")
    return mid


def _prices(imported: ImportedEntries, data: Mapping[str, Any], wanted: ListFacts) -> None:
    source = imported.source
    region = region_of(source, wanted, sorted(data))
    prices = mapping(source, data[region], region)
    if not set(prices) & {"instances", "drives"}:
        source.refuse(region, shorten(", ".join(prices)), "instances or drives", "give Netflix's own file")
    day = date_of(source, wanted, None)
    note = f"imported from {source.name}: Netflix service-capacity-modeling, {day}"
    currency = wanted.currency or "USD"
    machines = []
    for name, price in mapping(source, prices.get("instances", {}), f"{region}.instances").items():
        facts = mapping(source, price, f"{region}.instances.{name}")
        if facts.get("lifecycle") == "deprecated":
            imported.leave(name, "deprecated")
            continue
        at = f"{region}.instances.{name}.annual_cost"
        yearly = positive(source, facts.get("annual_cost"), at, MOST_USD_AN_HOUR * HOURS_A_YEAR)
        machines.append(hourly(name, figure(yearly / HOURS_A_YEAR)))
    if machines:
        term = wanted.term or _term(source)
        file, title = f"netflix-{region}-{term.replace(' ', '-')}", f"AWS, {region}, {term}"
        imported.add_list(file, title, day, machines, currency=currency, term=term, region=region, source=note)
    drives = []
    for name, price in mapping(source, prices.get("drives", {}), f"{region}.drives").items():
        if name in catalogue_names("volumes"):
            drives += _drive(
                imported, name, mapping(source, price, f"{region}.drives.{name}"), f"{region}.drives.{name}"
            )
        else:
            imported.leave(name, "drive: the catalogue has no such volume")
    file, title = f"netflix-{region}-volumes", f"AWS volumes, {region}"
    imported.add_list(file, title, day, drives, currency=currency, term="on demand", region=region, source=note)
    for name in prices.get("services", {}):
        imported.leave(name, "service, neither machine nor volume")


def _term(source: SourceFile) -> str:
    terms = {term for mark, term in TERMS.items() if mark in source.path.name}
    if len(terms) != 1:
        remedy = "add --term '3 years reserved' or what it is"
        source.refuse("its name", repr(source.path.name), f"one of {', '.join(TERMS)} in it", remedy)
    return terms.pop()


def _drive(imported: ImportedEntries, name: str, facts: Mapping[str, Any], at: str) -> list[dict[str, Any]]:
    source = imported.source
    unknown = sorted(set(facts) - KNOWN_DRIVE_KEYS)
    if unknown:
        source.refuse(
            f"{at}.{shorten(unknown[0])}", "an unknown key", ", ".join(sorted(KNOWN_DRIVE_KEYS)), "correct it"
        )
    reads, writes = facts.get(READS), facts.get(WRITES)
    if reads != writes:
        remedy = "volumes of the catalogue have one price for both"
        source.refuse(f"{at}.{WRITES}", shorten(str(writes)), f"as for reads: {shorten(str(reads))}", remedy)
    by_key = {key: facts.get(key) for key in PER}
    if reads and by_key["annual_cost_per_io"]:
        source.refuse(
            f"{at}.annual_cost_per_io", "a price of requests beside one of reads", "one of the two", "correct it"
        )
    by_key["annual_cost_per_io"] = by_key["annual_cost_per_io"] or reads
    rows = []
    for key, value in by_key.items():
        per, months = PER[key]
        rows += [
            {"part": f"volumes/{name}", "amount": figure(yearly / months), "per": per}
            | ({"above": above} if above else {})
            for above, yearly in _steps(source, value, f"{at}.{key}")
            if yearly
        ]
    return rows


def _steps(source: SourceFile, value: Any, at: str) -> Sequence[tuple[float, float]]:
    """(above, price of a year) of each step, from a number or [[up to, price], ...]."""
    if value is None or value == []:
        return []
    if not isinstance(value, list):
        return [(0.0, source.number(value, at))]
    steps, above = [], 0.0
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            source.refuse(at, shorten(str(pair)), "[up to, price] in each step", "correct it")
        up_to, price = (source.number(number, at) for number in pair)
        if up_to <= above or price < 0:
            source.refuse(at, shorten(str(value)), "steps that rise, with prices of 0 or more", "correct it")
        steps.append((figure(above), price))
        above = up_to
    return steps
