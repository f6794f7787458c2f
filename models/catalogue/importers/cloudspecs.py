"""Cloudspecs of TU Munich: machines of seven clouds, as CSV with a header, exported from its DuckDB file.

Source of the columns: github.com/TUM-DIS/cloudspecs (datagen, 27 columns in every cloud's table, and `cloud` in the
joint views). Memory is GiB, disks GB in all, networks Gbit/s, prices US dollars for an hour, on demand.
"""

from typing import Any

from oltpsim.models.catalogue.importers.entries import (
    MOST_USD_AN_HOUR,
    ImportedEntries,
    ListFacts,
    date_of,
    disk_like,
    figure,
    hourly,
    local_disks,
    local_flash,
    with_bursts,
)
from oltpsim.models.catalogue.processors import cpu_keys
from oltpsim.models.input import SourceFile, short_text
from oltpsim.simulator.form import GIB, MIB

NAME = "cloudspecs"
NEEDED = ("instance", "ram_gib", "vcpus", "cores", "price_hour")
REGIONS = {"aws": "us-east-1", "gcp": "us-central1", "azure": "eastus", "stackit": "eu01", "hetzner": "fsn1",
           "ovh": "standard", "oracle": "uniform"}  # fmt: skip
"""of the prices, as the project's README says"""
DUCKDB_MAGIC = b"DUCK"
EXPORT = "COPY (SELECT * FROM cloudspecs_all) TO 'cloudspecs.csv' (HEADER)"
READ_US = 100.0
"""latency of a read from a local disk whose list says only the rate (assumption)"""


def detect(source: SourceFile) -> bool:
    """Whether a file is an export of cloudspecs, or its DuckDB file."""
    first = source.head.partition("\n")[0]
    columns = {word.strip().strip('"') for word in first.split(",")}
    return source.opening[8:12] == DUCKDB_MAGIC or {"instance", "ram_gib", "vcpus", "price_hour"} <= columns


def read(source: SourceFile, wanted: ListFacts) -> ImportedEntries:
    """All clouds of the file, a price list for each. Raises InputError for a DuckDB file and for missing columns."""
    if source.opening[8:12] == DUCKDB_MAGIC:
        source.refuse("", "a DuckDB file", "CSV", f'run: duckdb {source.path.name} -c "{EXPORT}"')
    rows = source.rows()
    missing = [column for column in NEEDED if rows and column not in rows[0]]
    if not rows or missing:
        lacking = f"no {', '.join(missing) or 'rows'}"
        remedy = f'export all columns: duckdb cloudspecs.duckdb -c "{EXPORT}"'
        source.refuse("the header", lacking, f"the columns {', '.join(NEEDED)}", remedy)
    if wanted.region is not None:
        source.refuse("--region", repr(short_text(wanted.region)), "none: prices are of one region", "leave it out")
    imported = ImportedEntries(NAME, source, date_of(source, wanted, None))
    note = imported.note("cloudspecs (TU Munich)")
    prices: dict[str, list[dict[str, Any]]] = {}
    for line, row in enumerate(rows, 2):
        cloud = _cloud(source, row, line)
        name = row["instance"].strip()
        if not name or not name.isprintable() or len(name) > 100 or "/" in name:
            source.refuse(f"line {line}: instance", repr(short_text(name)), "a name of at most 100 letters")
        reason = _unfit(row)
        if reason:
            imported.leave(name, reason)
            continue
        _machine(imported, row, name, cloud, f"line {line}", note)
        if row["price_hour"].strip() in ("", "NULL"):
            imported.leave(name, "no price")
            continue
        amount = source.positive(row["price_hour"], f"line {line}: price_hour", MOST_USD_AN_HOUR)
        prices.setdefault(cloud, []).append(hourly(name, amount))
    for cloud, listed in prices.items():
        region, term = REGIONS[cloud], "on demand"
        keys = {"currency": "USD", "term": term, "region": region, "source": note}
        imported.add_list(f"cloudspecs-{cloud}", f"{cloud}, {region}, {term}", listed, **keys)
    return imported


def _cloud(source: SourceFile, row: dict[str, str], line: int) -> str:
    cloud = row.get("cloud", "").strip().lower()
    if not cloud and "." in row["instance"] and " " not in row["instance"] and "VM." not in row["instance"]:
        cloud = "aws"
    if cloud not in REGIONS:
        source.refuse(f"line {line}: cloud", repr(cloud), ", ".join(REGIONS), f"export with the cloud's name: {EXPORT}")
    return cloud


def _unfit(row: dict[str, str]) -> str | None:
    if _filled(row, "accelerators"):
        return "has accelerators"
    if row.get("is_current", "").strip().lower() == "false":
        return "no longer current"
    base = row.get("vcpus_base", "").strip()
    if base.replace(".", "", 1).isdigit() and float(base) < float(row["vcpus"] or 0):
        return "CPU credits or constrained cores, which aren't modelled"
    return None


def _machine(imported: ImportedEntries, row: dict[str, str], name: str, cloud: str, at: str, note: str) -> None:
    source = imported.source
    vcpus, cores = (source.whole(row[key], f"{at}: {key}") for key in ("vcpus", "cores"))
    if vcpus not in (cores, 2 * cores, 2 * cores - 1):
        source.refuse(f"{at}: vcpus", f"{vcpus} with {cores} cores", "one or two for each core")
    model = row.get("processor_model", "")
    cpu = cpu_keys(model, "", vcpus, 2 if vcpus > cores else 1)
    if cpu is None:
        imported.leave_unknown_speed(name, model)
        return
    keys: dict[str, Any] = {
        "provider": cloud,
        "cpu": cpu,
        "memory_gib": figure(source.positive(row["ram_gib"], f"{at}: ram_gib", 65_536)),
    }
    if _filled(row, "storage_gb"):
        keys["local_disks"] = _local_disks(source, row, name, at, note)
    for ours, theirs, factor in (
        ("volume_requests_per_s", "ebs_iops", 1.0),
        ("volume_burst_requests_per_s", "ebs_peak_iops", 1.0),
        ("volume_mib_per_s", "ebs_gbitps", 1e9 / 8 / MIB),
        ("volume_burst_mib_per_s", "ebs_peak_gbitps", 1e9 / 8 / MIB),
        ("network_gbit_per_s", "net_gbitps", 1.0),
    ):
        if text := _filled(row, theirs):
            keys[ours] = figure(source.positive(text, f"{at}: {theirs}") * factor)
    imported.add_instance(name, with_bursts(keys) | {"source": note})


def _filled(row: dict[str, str], column: str) -> str:
    """The text of a column; empty for what stands there for nothing."""
    text = row.get(column, "").strip()
    return "" if text in ("NULL", "0", "0.0") else text


def _local_disks(source: SourceFile, row: dict[str, str], name: str, at: str, note: str) -> dict[str, Any]:
    number = source.whole(row.get("storage_count", "").strip(), f"{at}: storage_count")
    gib = source.positive(_filled(row, "storage_gb"), f"{at}: storage_gb") * 1e9 / GIB / number
    reads, writes = _filled(row, "storage_read_iops"), _filled(row, "storage_write_iops")
    if not (reads and writes):
        rotates = _filled(row, "storage_is_ssd").lower() == "false"
        flash_kind = "nvme" if _filled(row, "storage_is_nvme").lower() == "true" else "sata-ssd"
        base = "sata-7200" if rotates and flash_kind != "nvme" else flash_kind
        return local_disks(disk_like(base, name, gib), number)
    reads_per_s = source.positive(reads, f"{at}: storage_read_iops") / number
    writes_per_s = source.positive(writes, f"{at}: storage_write_iops") / number
    assumed = f"{note}; assumption: {READ_US:g} us for a read"
    disk = local_flash(source, f"local disk of {name}", gib, (reads_per_s, writes_per_s), READ_US, at, assumed)
    return local_disks(disk, number)
