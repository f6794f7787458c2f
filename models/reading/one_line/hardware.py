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


def known_machine(phrases: dict[str, Phrase]) -> dict[str, Any]:
    """The catalogue's machine of that name, nothing if it has none."""
    name = phrases["name"].value if "name" in phrases else ""
    mine = re.sub(r"\W", "", name.lower())
    for entry in catalogue_names("machines"):
        named = catalogue_entry("machines", entry)
        theirs = re.sub(r"\W", "", str(named["name"]).lower())
        if mine == theirs or (re.search(r"\d", mine) and theirs.startswith(mine)):
            return named
    return {}


def cpu_of(phrases: dict[str, Phrase], known: dict[str, Any]) -> tuple[Any, list[Origin], int]:
    """The processors: a mapping or an entry's name, rows, and the year of their family."""
    rows: list[Origin] = []
    if "virtual" in phrases:
        cpu, rows, year = _virtual(phrases)
    elif "words" not in phrases and known:
        entry = str(known["cpu"])
        cpu, year = _counted(entry, phrases), _year(entry)
        rows += _catalogue_rows(cpu, entry, phrases["name"].piece, AS_THERE)
    elif "words" in phrases or "ghz" in phrases:
        cpu, rows, year = _named(phrases)
    else:
        raise InputError(
            f"{WHERE}: the line doesn't say which processors the machine has: add a piece like '2 x dual-core Xeon "
            f"5130 2.0 GHz'; for example '{EXAMPLE}'"
        )
    if "speed" in phrases:
        cpu = (cpu if isinstance(cpu, dict) else {"base": cpu}) | {"relative_speed": phrases["speed"].value}
        rows = [row for row in rows if row.key != "machine.cpu.relative_speed"]
        rows.append(
            _row("processor's speed", "machine.cpu.relative_speed", f"{phrases['speed'].value:g}", phrases["speed"])
        )
    if "threads" in phrases:
        threads = phrases["threads"]
        cpu = (cpu if isinstance(cpu, dict) else {"base": cpu}) | {"threads_per_core": threads.value}
        rows = [row for row in rows if row.key != "machine.cpu.threads_per_core"]
        rows.append(_row("hardware threads", "machine.cpu.threads_per_core", str(threads.value), threads))
    return cpu, rows, year


def memory_of(phrases: dict[str, Phrase], known: dict[str, Any]) -> tuple[Any, Origin]:
    """Memory in GiB, or as an entry has it. Raises InputError if nobody says."""
    if "memory_gib" in phrases:
        value = phrases["memory_gib"].value
        return value, _row("memory", "machine.memory_gib", f"{value:g} GiB", phrases["memory_gib"])
    if known:
        value = known["memory_gib"]
        return value, Origin("memory", "machine.memory_gib", str(value), phrases["name"].piece, AS_THERE)
    raise InputError(f"{WHERE}: the line doesn't say how much memory there is: add a piece like '8 GB'")


def disks_of(
    phrases: dict[str, Phrase], known: dict[str, Any], system: System, old: bool
) -> tuple[dict[str, Any], list[Origin]]:
    """The data disks, and rows. `old`: of a time when SATA disks were not given queues."""
    if known and not {"disk", "disks", "rpm", "level", "disk_gib"} & phrases.keys():
        text = f"{known['disks']['count']} x {_entry_of(known['disks']['disk'])}"
        return known["disks"], [
            Origin("disks", "machine.disks", text, phrases["name"].piece, AS_THERE),
            *_spread(known["disks"]["disk"]),
        ]
    rows = []
    count = phrases["disks"].value if "disks" in phrases else 1
    if "disks" in phrases:
        rows.append(_row("disks", "machine.disks.count", str(count), phrases["disks"]))
    else:
        rows.append(Origin("disks", "machine.disks.count", "1", None, "no number of disks is said: one"))
    disk, further = _disk(phrases, known, system, old)
    rows += further
    disks: dict[str, Any] = {"disk": disk, "count": count}
    if "level" in phrases:
        level, row = _level(phrases["level"], count)
        disks["level"] = level
        rows.append(row)
    return disks, [*rows, *_spread(disk)]


def log_disk_of(phrases: dict[str, Phrase]) -> tuple[Any, list[Origin]]:
    """The log's own disk, None if there is none."""
    mine = {key.removeprefix("log_"): value for key, value in phrases.items() if key.startswith("log_")}
    if not mine:
        return None, []
    if mine.get("disks", Phrase(1, "")).value != 1 or "level" in mine:
        raise InputError(f"{WHERE}: '{next(iter(mine.values())).piece}': the log has one disk here")
    entry, _, _ = _kind(mine)
    return entry, [_row("log disk", "machine.log_disk", entry, next(iter(mine.values())))]


def _row(what: str, key: str, value: str, phrase: Phrase, source: str = "") -> Origin:
    return Origin(what, key, value, phrase.piece, source)


def _named(phrases: dict[str, Phrase]) -> tuple[Any, list[Origin], int]:
    count, cores, ghz, name, words = (
        phrases[key].value if key in phrases else None for key in ("count", "cores", "ghz", "processor", "words")
    )
    named = ProcessorPhrase(count=count, cores=cores, ghz=ghz, name=name or "", words=words or ())
    piece = phrases["words" if "words" in phrases else "ghz"].piece
    entry = catalogued_cpu(named)
    if entry is not None:
        cpu = _counted(entry, phrases)
        return cpu, _catalogue_rows(cpu, entry, piece, f"catalogue entry {entry}"), _year(entry)
    if "ghz" not in phrases and "speed" not in phrases:
        raise InputError(f"{WHERE}: '{piece}': add the clock, such as '2.0 GHz'; the catalogue has no such processor")
    name = family_of(named.words)
    if name is None:
        known = ", ".join(spec.names[0] for spec in families().values())
        raise InputError(
            f"{WHERE}: '{piece}': no processor of a known family; families: {known}; or add 'core speed 1.5', the "
            "speed of a core relative to an Opteron of 1.8 GHz"
        )
    return _by_family(name, families()[name], named, piece)


def _by_family(name: str, family: FamilySpec, named: ProcessorPhrase, piece: str) -> tuple[Any, list[Origin], int]:
    cores, count, ghz = named.cores or family.cores, named.count or 1, named.ghz or 1.0
    speed = round(family.speed_per_ghz * ghz, 3)
    title = f"{count} x {CORE_WORDS.get(cores, f'{cores}-core')} {named.name}, {_clock(ghz)}"
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
    usual = "" if named.cores else f"; {cores} in a processor, as usual in {name} ones"
    rows.append(Origin("cores", f"{where}cores", str(count * cores), piece, f"{count} x {cores}{usual}"))
    if family.threads_per_core > 1:
        key, why = f"{where}threads_per_core", f"as {name} processors come"
        rows.append(Origin("hardware threads", key, "2", None, why, others=(f"{key}=1",)))
    return cpu, rows, family.year


def _counted(entry: str, phrases: dict[str, Phrase]) -> Any:
    """An entry's processors, or so many others of its cores as the line says; then under a name that is true."""
    named = catalogue_entry("cpus", entry)
    catalogued = read_processors(str(named["model"]))
    of_each = phrases["cores"].value if "cores" in phrases else catalogued.cores
    count = phrases["count"].value if "count" in phrases else None
    cores = (count or catalogued.count or 1) * of_each if of_each else count
    if cores is None or cores == int(named["cores"]):
        return entry
    unnumbered = catalogued.count is None and catalogued.cores is None
    first, last = CORE_WORDS.get(of_each or 1, f"{of_each}-core"), f"{catalogued.name}, {_clock(catalogued.ghz)}"
    return {"base": entry, "cores": cores} | (
        {} if unnumbered else {"model": f"{count or catalogued.count or 1} x {first} {last}"}
    )


def _clock(ghz: float | None) -> str:
    text = f"{ghz or 0:g}"
    return f"{text if '.' in text else text + '.0'} GHz"


def _catalogue_rows(cpu: Any, entry: str, piece: str, source: str) -> list[Origin]:
    named = catalogue_entry("cpus", entry) | (cpu if isinstance(cpu, dict) else {})
    text = f"{named['model']}: {named['cores']} cores"
    known, key = f"catalogue entry {entry}, known to a tenth", "machine.cpu.relative_speed"
    return [
        Origin("processors", "machine.cpu", text, piece, source),
        Origin("processor's speed", key, str(named["relative_speed"]), None, known, CATALOGUE_FACTOR),
    ]


def _year(entry: str) -> int:
    family = family_of(read_processors(str(catalogue_entry("cpus", entry)["model"])).words)
    if family is None:
        return 2020 if entry.startswith("server-20") else 2008
    return families()[family].year


def _virtual(phrases: dict[str, Phrase]) -> tuple[Any, list[Origin], int]:
    """Virtual processors: those of the catalogue's cloud of 2009 by their clock, else threads of a current core."""
    threads, piece = phrases["virtual"].value, phrases["virtual"].piece
    key = "machine.cpu.relative_speed"
    if "ghz" in phrases and phrases["ghz"].value < 1.5:
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


def _kind(phrases: dict[str, Phrase]) -> tuple[str, list[Origin], str]:
    """The entry of a kind of disk, rows of what was guessed for it, and the kind."""
    key = "machine.disks.disk"
    kind = phrases["disk"].value if "disk" in phrases else "sata"
    if kind in {"nvme", "sata-ssd"}:
        if "rpm" in phrases:
            raise InputError(
                f"{WHERE}: '{phrases['disk'].piece}' and '{phrases['rpm'].piece}': flash doesn't turn; leave one out"
            )
        return kind, [_row("disk", key, kind, phrases["disk"])], kind
    rpm = phrases["rpm"].value if "rpm" in phrases else USUAL_RPM[kind]
    if "rpm" in phrases and "disk" not in phrases and rpm >= 10000:
        kind = "scsi"
    if rpm not in ROTATING[kind]:
        known = ", ".join(f"{value:,}" for value in ROTATING[kind])
        raise InputError(
            f"{WHERE}: '{phrases['rpm'].piece}': no such {kind.upper()} disk in the catalogue; it has {known} rpm"
        )
    entry = ROTATING[kind][rpm]
    if "disk" not in phrases and "rpm" not in phrases:
        source = "no kind of disk is said: SATA of 7,200 rpm"
        return entry, [Origin("disk", key, entry, None, source, others=(f"{key}=scsi-10k-73",))], kind
    piece = phrases["disk" if "disk" in phrases else "rpm"]
    rows = [_row("disk", key, entry, piece)]
    if "rpm" not in phrases and kind in {"scsi", "sas"}:
        source = f"no speed is said: {rpm:,} rpm, as was usual"
        rows = [Origin("disk", key, entry, piece.piece, source, others=(f"{key}=sas-15k",))]
    return entry, rows, kind


def _disk(phrases: dict[str, Phrase], known: dict[str, Any], system: System, old: bool) -> tuple[Any, list[Origin]]:
    entry, rows, kind = _kind(phrases)
    changes: dict[str, Any] = {}
    if "disk_gib" in phrases:
        changes["capacity_gib"] = round(phrases["disk_gib"].value, 1)
        rows.append(
            _row(
                "room of a disk", "machine.disks.disk.capacity_gib", f"{changes['capacity_gib']:g}", phrases["disk_gib"]
            )
        )
    key = "machine.disks.disk.queue_depth"
    catalogued = known["disks"]["disk"] if known else None
    if isinstance(catalogued, dict) and catalogued["base"] == entry and "queue_depth" in catalogued:
        changes["queue_depth"] = catalogued["queue_depth"]
        rows.append(Origin("disk's queue", key, str(changes["queue_depth"]), phrases["name"].piece, AS_THERE))
    elif kind == "ide" or (kind == "sata" and (system.queues is False or (system.queues is None and old))):
        changes["queue_depth"] = 1
        source, alternatives = (
            "systems of that time gave SATA disks one request at a time, unless a driver knew better",
            "32",
        )
        if kind == "ide":
            source, alternatives = "IDE disks are given one request at a time", ""
        elif system.queues is False:
            source, alternatives = "Linux before 2.6.19 gives SATA disks one request at a time", ""
        rows.append(
            Origin("disk's queue", key, "1", None, source, others=(f"{key}={alternatives}",) if alternatives else ())
        )
    return ({"base": entry, **changes} if changes else entry), rows


def _level(phrase: Phrase, count: int) -> tuple[str, Origin]:
    key, level = "machine.disks.level", phrase.value
    if level:
        return level, _row("RAID level", key, level, phrase)
    if count == 2:
        return "raid1", Origin("RAID level", key, "raid1", None, "two disks in a set: RAID 1", others=(f"{key}=raid0",))
    alternatives = (f"{key}=raid10",) if count >= 4 and count % 2 == 0 else (f"{key}=raid0",)
    return "raid5", Origin(
        "RAID level", key, "raid5", None, "no level is said: RAID 5, the usual one", others=alternatives
    )


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
