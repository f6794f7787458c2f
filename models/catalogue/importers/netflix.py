"""Netflix's service-capacity-modeling: shapes of machines, drives, and their prices for a year.

Source of the form: github.com/Netflix-Skunkworks/service-capacity-modeling, hardware/profiles/shapes and pricing.
net_mbps is Mbit/s, latencies are ms, ram_gib is a little less than the provider says (GB were taken for GiB), and
cpu_ipc_scale is of one hardware thread, work for each clock against that of a Cascade Lake core.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oltpsim.models.catalogue.entries import catalogue_names
from oltpsim.models.catalogue.importers.entries import (
    HOURS_A_YEAR,
    MONTHS_A_YEAR,
    MOST_USD_AN_HOUR,
    ImportedEntries,
    ListFacts,
    date_of,
    figure,
    hourly,
    local_disks,
    local_flash,
    region_of,
)
from oltpsim.models.input import SourceFile, short_text

NAME, PROJECT = "netflix", "Netflix service-capacity-modeling"
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
    data = source.mapping(source.data_once, "the file")
    imported = ImportedEntries(NAME, source, date_of(source, wanted, None))
    if "instances" in data or "drives" in data:
        _shapes(imported, data)
    else:
        _prices(imported, data, wanted)
    return imported


def _shapes(imported: ImportedEntries, data: Mapping[str, Any]) -> None:
    source = imported.source
    unknown = sorted(set(data) - {"instances", "drives", "services"})
    if unknown:
        source.refuse(
            short_text(unknown[0]), "an unknown key", "instances, drives, services", "give Netflix's own file"
        )
    note = imported.note(PROJECT)
    for name, shape in source.mapping(data.get("instances", {}), "instances").items():
        facts = source.mapping(shape, f"instances.{name}")
        if facts.get("lifecycle") == "deprecated":
            imported.leave(name, "deprecated")
        elif any(facts.get(key) for key in ("gpu", "gpus")):
            imported.leave(name, "has accelerators")
        else:
            imported.add_instance(name, _machine(source, name, facts, note))
    for name, drive in source.mapping(data.get("drives", {}), "drives").items():
        facts = source.mapping(drive, f"drives.{name}")
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
    vcpus, cores = (source.whole(facts.get(key), f"{at}.{key}") for key in ("cpu", "cpu_cores"))
    if vcpus not in (cores, 2 * cores):
        source.refuse(f"{at}.cpu", f"{vcpus} with {cores} cores", "one or two for each core")
    ghz = source.positive(facts.get("cpu_ghz"), f"{at}.cpu_ghz", 20)
    scale = source.positive(facts.get("cpu_ipc_scale", 1.0), f"{at}.cpu_ipc_scale", 20)
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
        "memory_gib": figure(source.positive(facts.get("ram_gib"), f"{at}.ram_gib", 65_536)),
    }
    drive = facts.get("drive")
    if drive:
        disk = source.mapping(drive, f"{at}.drive")
        size, reads, writes = (
            source.positive(disk.get(key), f"{at}.drive.{key}")
            for key in ("size_gib", "read_io_per_s", "write_io_per_s")
        )
        latency = 1000 * _mid(source, disk, "read_io_latency_ms", f"{at}.drive")
        local = local_flash(source, f"local disks of {name}", size, (reads, writes), latency, at, note)
        keys["local_disks"] = local_disks(local, 1)
    if facts.get("net_mbps"):
        keys["network_gbit_per_s"] = figure(source.positive(facts["net_mbps"], f"{at}.net_mbps", 1e7) / 1000)
    return keys | {"source": note}


def _mid(source: SourceFile, facts: Mapping[str, Any], key: str, at: str) -> float:
    latency = source.mapping(facts.get(key), f"{at}.{key}")
    low, mid, high = (source.positive(latency.get(word), f"{at}.{key}.{word}", 1e4) for word in ("low", "mid", "high"))
    if not low <= mid <= high:
        source.refuse(f"{at}.{key}", f"{low:g}, {mid:g}, {high:g}", "low, mid, high in this order")
    return mid


def _prices(imported: ImportedEntries, data: Mapping[str, Any], wanted: ListFacts) -> None:
    source = imported.source
    region = region_of(source, wanted, sorted(data))
    prices = source.mapping(data[region], region)
    if not set(prices) & {"instances", "drives"}:
        source.refuse(region, short_text(", ".join(prices)), "instances or drives", "give Netflix's own file")
    keys = {"currency": wanted.currency or "USD", "region": region, "source": imported.note(PROJECT)}
    machines = []
    for name, price in source.mapping(prices.get("instances", {}), f"{region}.instances").items():
        facts = source.mapping(price, f"{region}.instances.{name}")
        if facts.get("lifecycle") == "deprecated":
            imported.leave(name, "deprecated")
            continue
        at = f"{region}.instances.{name}.annual_cost"
        yearly = source.positive(facts.get("annual_cost"), at, MOST_USD_AN_HOUR * HOURS_A_YEAR)
        machines.append(hourly(name, figure(yearly / HOURS_A_YEAR)))
    if machines:
        term = wanted.term or _term(source)
        imported.add_list(
            f"netflix-{region}-{term.replace(' ', '-')}", f"AWS, {region}, {term}", machines, term=term, **keys
        )
    drives = []
    for name, price in source.mapping(prices.get("drives", {}), f"{region}.drives").items():
        if name in catalogue_names("volumes"):
            at = f"{region}.drives.{name}"
            drives += _drive(source, name, source.mapping(price, at), at)
        else:
            imported.leave(name, "drive: the catalogue has no such volume")
    imported.add_list(f"netflix-{region}-volumes", f"AWS volumes, {region}", drives, term="on demand", **keys)
    for name in prices.get("services", {}):
        imported.leave(name, "service, neither machine nor volume")


def _term(source: SourceFile) -> str:
    terms = {term for mark, term in TERMS.items() if mark in source.path.name}
    if len(terms) != 1:
        remedy = "add --term '3 years reserved' or what it is"
        source.refuse("its name", repr(source.path.name), f"one of {', '.join(TERMS)} in it", remedy)
    return terms.pop()


def _drive(source: SourceFile, name: str, facts: Mapping[str, Any], at: str) -> list[dict[str, Any]]:
    unknown = sorted(set(facts) - KNOWN_DRIVE_KEYS)
    if unknown:
        source.refuse(
            f"{at}.{short_text(unknown[0])}", "an unknown key", ", ".join(sorted(KNOWN_DRIVE_KEYS)), "correct it"
        )
    reads, writes = facts.get(READS), facts.get(WRITES)
    if reads != writes:
        remedy = "volumes of the catalogue have one price for both"
        source.refuse(f"{at}.{WRITES}", short_text(str(writes)), f"as for reads: {short_text(str(reads))}", remedy)
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
            source.refuse(at, short_text(str(pair)), "[up to, price] in each step")
        up_to, price = (source.number(number, at) for number in pair)
        if up_to <= above or price < 0:
            source.refuse(at, short_text(str(value)), "steps that rise, with prices of 0 or more")
        steps.append((figure(above), price))
        above = up_to
    return steps
