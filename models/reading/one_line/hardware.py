"""ProcessorPhrase, memory and disks of a described machine, with what its line leaves open guessed by stated rules."""

import re
from typing import Any

from models.catalogue import (
    FamilySpec,
    ProcessorPhrase,
    catalogue_entry,
    catalogue_names,
    catalogued_cpu,
    families,
    family_of,
    read_processors,
)
from models.reading.one_line.pieces import EXAMPLE, WHERE, Origin, Phrase
from models.reading.one_line.systems import System
from simulator.errors import InputError

AS_THERE = "the catalogue has this machine"
CATALOGUE_FACTOR = 1.1
"""of an entry's relative speed"""
VCPU_FACTOR = 1.4
SHORT_SEEK_FACTOR = 1.5
OVERHEAD_FACTOR = 2.0
"""both as a fit assumes them: calibration/parameters.yaml, calibration/published/parameters.yaml"""
FLASH_FACTOR = 1.3
XEN_SHARE = 0.09
ROTATING = {
    "sata": {5400: "sata-5400", 7200: "sata-7200", 10000: "sas-10k"},
    "ide": {5400: "sata-5400", 7200: "sata-7200"},
    "scsi": {10000: "scsi-10k-73", 15000: "sas-15k", 7200: "sata-7200"},
    "sas": {10000: "sas-10k", 15000: "sas-15k", 7200: "sata-7200"},
}
USUAL_RPM = {"sata": 7200, "ide": 7200, "scsi": 10000, "sas": 10000}
CORE_WORDS = {1: "single-core", 2: "dual-core", 4: "quad-core", 6: "six-core", 8: "eight-core"}


def known_machine(said: dict[str, Phrase]) -> dict[str, Any]:
    """The catalogue's machine of that name, nothing if it has none."""
    name = said["name"].value if "name" in said else ""
    mine = re.sub(r"\W", "", name.lower())
    for entry in catalogue_names("machines"):
        found = catalogue_entry("machines", entry)
        theirs = re.sub(r"\W", "", str(found["name"]).lower())
        if mine == theirs or (re.search(r"\d", mine) and theirs.startswith(mine)):
            return found
    return {}


def cpu_of(said: dict[str, Phrase], known: dict[str, Any]) -> tuple[Any, list[Origin], int]:
    """The processors: a mapping or an entry's name, rows, and the year of their family."""
    rows: list[Origin] = []
    if "virtual" in said:
        cpu, rows, year = _virtual(said)
    elif "words" not in said and known:
        entry = str(known["cpu"])
        cpu, year = _counted(entry, said), _year(entry)
        rows += _catalogue_rows(cpu, entry, said["name"].piece, AS_THERE)
    elif "words" in said or "ghz" in said:
        cpu, rows, year = _named(said)
    else:
        raise InputError(
            f"{WHERE}: the line doesn't say which processors the machine has: add a piece like '2 x dual-core Xeon "
            f"5130 2.0 GHz'; for example '{EXAMPLE}'"
        )
    if "speed" in said:
        cpu = (cpu if isinstance(cpu, dict) else {"base": cpu}) | {"relative_speed": said["speed"].value}
        rows = [row for row in rows if row.key != "machine.cpu.relative_speed"]
        rows.append(_row("processor's speed", "machine.cpu.relative_speed", f"{said['speed'].value:g}", said["speed"]))
    if "threads" in said:
        threads = said["threads"]
        cpu = (cpu if isinstance(cpu, dict) else {"base": cpu}) | {"threads_per_core": threads.value}
        rows = [row for row in rows if row.key != "machine.cpu.threads_per_core"]
        rows.append(_row("hardware threads", "machine.cpu.threads_per_core", str(threads.value), threads))
    return cpu, rows, year


def memory_of(said: dict[str, Phrase], known: dict[str, Any]) -> tuple[Any, Origin]:
    """Memory in GiB, or as an entry has it. Raises InputError if nobody says."""
    if "memory_gib" in said:
        value = said["memory_gib"].value
        return value, _row("memory", "machine.memory_gib", f"{value:g} GiB", said["memory_gib"])
    if known:
        value = known["memory_gib"]
        return value, Origin("memory", "machine.memory_gib", str(value), said["name"].piece, AS_THERE)
    raise InputError(f"{WHERE}: the line doesn't say how much memory there is: add a piece like '8 GB'")


def disks_of(
    said: dict[str, Phrase], known: dict[str, Any], system: System, old: bool
) -> tuple[dict[str, Any], list[Origin]]:
    """The data disks, and rows. `old`: of a time when SATA disks were not given queues."""
    if known and not {"disk", "disks", "rpm", "level", "disk_gib"} & said.keys():
        shown = f"{known['disks']['count']} x {_entry_of(known['disks']['disk'])}"
        return known["disks"], [
            Origin("disks", "machine.disks", shown, said["name"].piece, AS_THERE),
            *_spread(known["disks"]["disk"]),
        ]
    rows = []
    count = said["disks"].value if "disks" in said else 1
    if "disks" in said:
        rows.append(_row("disks", "machine.disks.count", str(count), said["disks"]))
    else:
        rows.append(Origin("disks", "machine.disks.count", "1", None, "no number of disks is said: one"))
    disk, more = _disk(said, known, system, old)
    rows += more
    disks: dict[str, Any] = {"disk": disk, "count": count}
    if "level" in said:
        level, row = _level(said["level"], count)
        disks["level"] = level
        rows.append(row)
    return disks, [*rows, *_spread(disk)]


def log_disk_of(said: dict[str, Phrase]) -> tuple[Any, list[Origin]]:
    """The log's own disk, None if there is none."""
    mine = {key.removeprefix("log_"): each for key, each in said.items() if key.startswith("log_")}
    if not mine:
        return None, []
    if mine.get("disks", Phrase(1, "")).value != 1 or "level" in mine:
        raise InputError(f"{WHERE}: '{next(iter(mine.values())).piece}': the log has one disk here")
    entry, _, _ = _kind(mine)
    return entry, [_row("log disk", "machine.log_disk", entry, next(iter(mine.values())))]


def _row(what: str, key: str, value: str, said: Phrase, source: str = "") -> Origin:
    return Origin(what, key, value, said.piece, source)


def _named(said: dict[str, Phrase]) -> tuple[Any, list[Origin], int]:
    count, cores, ghz, name, words = (
        said[key].value if key in said else None for key in ("count", "cores", "ghz", "processor", "words")
    )
    found = ProcessorPhrase(count=count, cores=cores, ghz=ghz, name=name or "", words=words or ())
    piece = said["words" if "words" in said else "ghz"].piece
    entry = catalogued_cpu(found)
    if entry is not None:
        cpu = _counted(entry, said)
        return cpu, _catalogue_rows(cpu, entry, piece, f"catalogue entry {entry}"), _year(entry)
    if "ghz" not in said and "speed" not in said:
        raise InputError(f"{WHERE}: '{piece}': add the clock, such as '2.0 GHz'; the catalogue has no such processor")
    name = family_of(found.words)
    if name is None:
        known = ", ".join(spec.names[0] for spec in families().values())
        raise InputError(
            f"{WHERE}: '{piece}': no processor of a known family; families: {known}; or add 'core speed 1.5', the "
            "speed of a core relative to an Opteron of 1.8 GHz"
        )
    return _by_family(name, families()[name], found, piece)


def _by_family(name: str, family: FamilySpec, found: ProcessorPhrase, piece: str) -> tuple[Any, list[Origin], int]:
    cores, count, ghz = found.cores or family.cores, found.count or 1, found.ghz or 1.0
    speed = round(family.speed_per_ghz * ghz, 3)
    title = f"{count} x {CORE_WORDS.get(cores, f'{cores}-core')} {found.name}, {_clock(ghz)}"
    source = f"{family.speed_per_ghz:g} for each GHz of {name} processors, {family.source}"
    cpu = {
        "model": title,
        "cores": count * cores,
        "relative_speed": speed,
        "threads_per_core": family.threads_per_core,
        "memory_bus_share": family.memory_bus_share,
        "source": source,
    }
    where = "machine.cpu."
    rows = [Origin("processor's speed", f"{where}relative_speed", f"{speed:g}", None, source, family.factor)]
    said = "" if found.cores else f"; {cores} in a processor, as usual in {name} ones"
    rows.append(Origin("cores", f"{where}cores", str(count * cores), piece, f"{count} x {cores}{said}"))
    if family.threads_per_core > 1:
        key, why = f"{where}threads_per_core", f"as {name} processors come"
        rows.append(Origin("hardware threads", key, "2", None, why, others=(f"{key}=1",)))
    return cpu, rows, family.year


def _counted(entry: str, said: dict[str, Phrase]) -> Any:
    """An entry's processors, or so many others of its cores as the line says; then under a name that is true."""
    found = catalogue_entry("cpus", entry)
    own = read_processors(str(found["model"]))
    of_each = said["cores"].value if "cores" in said else own.cores
    count = said["count"].value if "count" in said else None
    cores = (count or own.count or 1) * of_each if of_each else count
    if cores is None or cores == int(found["cores"]):
        return entry
    named = own.count is None and own.cores is None
    first, last = CORE_WORDS.get(of_each or 1, f"{of_each}-core"), f"{own.name}, {_clock(own.ghz)}"
    return {"base": entry, "cores": cores} | ({} if named else {"model": f"{count or own.count or 1} x {first} {last}"})


def _clock(ghz: float | None) -> str:
    text = f"{ghz or 0:g}"
    return f"{text if '.' in text else text + '.0'} GHz"


def _catalogue_rows(cpu: Any, entry: str, piece: str, source: str) -> list[Origin]:
    found = catalogue_entry("cpus", entry) | (cpu if isinstance(cpu, dict) else {})
    shown = f"{found['model']}: {found['cores']} cores"
    known, key = f"catalogue entry {entry}, known to a tenth", "machine.cpu.relative_speed"
    return [
        Origin("processors", "machine.cpu", shown, piece, source),
        Origin("processor's speed", key, str(found["relative_speed"]), None, known, CATALOGUE_FACTOR),
    ]


def _year(entry: str) -> int:
    family = family_of(read_processors(str(catalogue_entry("cpus", entry)["model"])).words)
    if family is None:
        return 2020 if entry.startswith("server-20") else 2008
    return families()[family].year


def _virtual(said: dict[str, Phrase]) -> tuple[Any, list[Origin], int]:
    """Virtual processors: those of the catalogue's cloud of 2009 by their clock, else threads of a current core."""
    threads, piece = said["virtual"].value, said["virtual"].piece
    key = "machine.cpu.relative_speed"
    if "ghz" in said and said["ghz"].value < 1.5:
        entry, cpu, year = "cloud-vm-2009", {"base": "cloud-vm-2009", "cores": threads}, 2008
        source = "catalogue entry cloud-vm-2009"
    else:
        paired = threads % 2 == 0
        entry, year, source = (
            "server-2020s",
            2020,
            "catalogue entry server-2020s; a virtual processor is a hardware thread",
        )
        cpu = {"base": entry, "cores": threads // 2 if paired else threads, "threads_per_core": 2 if paired else 1}
    speed = str(catalogue_entry("cpus", entry)["relative_speed"])
    cores = Origin("cores", "machine.cpu.cores", str(cpu["cores"]), piece, source)
    return cpu, [Origin("processor's speed", key, speed, None, source, VCPU_FACTOR), cores], year


def _entry_of(disk: Any) -> str:
    return str(disk["base"] if isinstance(disk, dict) else disk)


def _kind(said: dict[str, Phrase]) -> tuple[str, list[Origin], str]:
    """The entry of a kind of disk, rows of what was guessed for it, and the kind."""
    key = "machine.disks.disk"
    kind = said["disk"].value if "disk" in said else "sata"
    if kind in {"nvme", "sata-ssd"}:
        if "rpm" in said:
            raise InputError(
                f"{WHERE}: '{said['disk'].piece}' and '{said['rpm'].piece}': flash doesn't turn; leave one out"
            )
        return kind, [_row("disk", key, kind, said["disk"])], kind
    rpm = said["rpm"].value if "rpm" in said else USUAL_RPM[kind]
    if "rpm" in said and "disk" not in said and rpm >= 10000:
        kind = "scsi"
    if rpm not in ROTATING[kind]:
        known = ", ".join(f"{each:,}" for each in ROTATING[kind])
        raise InputError(
            f"{WHERE}: '{said['rpm'].piece}': no such {kind.upper()} disk in the catalogue; it has {known} rpm"
        )
    entry = ROTATING[kind][rpm]
    if "disk" not in said and "rpm" not in said:
        source = "no kind of disk is said: SATA of 7,200 rpm"
        return entry, [Origin("disk", key, entry, None, source, others=(f"{key}=scsi-10k-73",))], kind
    piece = said["disk" if "disk" in said else "rpm"]
    rows = [_row("disk", key, entry, piece)]
    if "rpm" not in said and kind in {"scsi", "sas"}:
        source = f"no speed is said: {rpm:,} rpm, as was usual"
        rows = [Origin("disk", key, entry, piece.piece, source, others=(f"{key}=sas-15k",))]
    return entry, rows, kind


def _disk(said: dict[str, Phrase], known: dict[str, Any], system: System, old: bool) -> tuple[Any, list[Origin]]:
    entry, rows, kind = _kind(said)
    changes: dict[str, Any] = {}
    if "disk_gib" in said:
        changes["capacity_gib"] = round(said["disk_gib"].value, 1)
        rows.append(
            _row("room of a disk", "machine.disks.disk.capacity_gib", f"{changes['capacity_gib']:g}", said["disk_gib"])
        )
    key = "machine.disks.disk.queue_depth"
    own = known["disks"]["disk"] if known else None
    if isinstance(own, dict) and own["base"] == entry and "queue_depth" in own:
        changes["queue_depth"] = own["queue_depth"]
        rows.append(Origin("disk's queue", key, str(changes["queue_depth"]), said["name"].piece, AS_THERE))
    elif kind == "ide" or (kind == "sata" and (system.queues is False or (system.queues is None and old))):
        changes["queue_depth"] = 1
        source, others = "systems of that time gave SATA disks one request at a time, unless a driver knew better", "32"
        if kind == "ide":
            source, others = "IDE disks are given one request at a time", ""
        elif system.queues is False:
            source, others = "Linux before 2.6.19 gives SATA disks one request at a time", ""
        rows.append(Origin("disk's queue", key, "1", None, source, others=(f"{key}={others}",) if others else ()))
    return ({"base": entry, **changes} if changes else entry), rows


def _level(said: Phrase, count: int) -> tuple[str, Origin]:
    key, level = "machine.disks.level", said.value
    if level:
        return level, _row("RAID level", key, level, said)
    if count == 2:
        return "raid1", Origin("RAID level", key, "raid1", None, "two disks in a set: RAID 1", others=(f"{key}=raid0",))
    others = (f"{key}=raid10",) if count >= 4 and count % 2 == 0 else (f"{key}=raid0",)
    return "raid5", Origin("RAID level", key, "raid5", None, "no level is said: RAID 5, the usual one", others=others)


def _spread(disk: Any) -> list[Origin]:
    """How much disks of one kind differ: in what a deep queue of requests comes to, not in the average seek."""
    entry, where = catalogue_entry("disks", _entry_of(disk)), "machine.disks.disk."
    if entry["kind"] == "flash":
        key, source = "read_latency_us", "flash of one kind differs by a third"
        return [Origin("disk's speed", where + key, str(entry[key]), None, source, FLASH_FACTOR)]
    short, overhead = "seek_track_to_track_ms", "overhead_ms"
    why = "data sheets of one kind of disk differ by half, and a deep queue makes seeks short"
    return [
        Origin("disk's short seeks", where + short, str(entry[short]), None, why, SHORT_SEEK_FACTOR),
        Origin(
            "disk's overhead", where + overhead, str(entry[overhead]), None, "no data sheet says it", OVERHEAD_FACTOR
        ),
    ]
