"""Processors, memory and disks of a described machine, with what its line leaves open guessed by stated rules."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from oltpsim.models.catalogue import (
    DEFAULT_VOLUMES,
    FamilySpec,
    InstanceSpec,
    ProcessorPhrase,
    catalogue_entry,
    catalogued_cpu,
    expand_names,
    keys_of_threads,
    nearest_processors,
    processor_families,
    processor_family,
    read_entry,
    read_processors,
    speed_factor,
    volume_of_service,
)
from oltpsim.models.reading.one_line.pieces import WHERE, Origin, Phrases
from oltpsim.models.reading.one_line.systems import NamedSystem
from oltpsim.simulator.errors import InputError

AS_THERE = "the catalogue has this machine"
CATALOGUE_FACTOR = 1.1
"""one standard deviation of an entry's relative speed, times or divided by"""
YEAR_OF_CURRENT = 2020
"""year of processors that are sold today"""
VCPU_FACTOR = 1.4
"""the same of a core, or of a virtual processor, that has no name, or whose speed is assumed"""
DATA_SHEET_FACTOR = 1.15
"""the same of other named ones; both as of parts in calibration/predict/spreads.yaml"""
SHORT_SEEK_FACTOR = 1.5
OVERHEAD_FACTOR = 2.0
"""one standard deviation, as a fit assumes them: calibration/parameters.yaml, calibration/published/parameters.yaml"""
FLASH = ("flash", "ssd")
"""kinds of disk without an arm"""
FLASH_FACTOR = 1.3
RAM_DISK = "ram-disk"
NAMELESS_FLASH = ("nvme", "sata-ssd")
SLOW_FLUSH_US, WITHOUT_CAPACITORS = 300, "{power_loss_protection: false, flush_us: 2000}"
FLUSH_SOURCE = (
    "a server's drive, whose capacitors keep what is written: most flush in 0.1 ms or less, some in 0.3 and more "
    "(github.com/TheJJ/ceph-diskbench); a consumer drive has none, and takes 1 to 6 ms"
)
XEN_SHARE = 0.09
CORES = (8, 4, 16)
"""assumed of a machine whose processors nobody says, and what would have been as good"""
GIB_PER_CORE = {True: (4, 2, 8), False: (1, 0.5, 2)}
"""memory assumed for each core, and what would have been as good: of today as clouds rent it, and of older machines"""
VOLUME_OF_DATA, VOLUME_STEP_GIB = 3.0, 100.0
"""size of a volume that nobody says: so many times the data, in whole steps"""
LARGEST_SHARE = 0.5
"""share of the disks' room that data take at most if nobody says their size: they grow, and files have spare"""
ROTATING = {
    "sata": {5400: "sata-5400", 7200: "sata-7200", 10000: "sas-10k"},
    "ide": {5400: "sata-5400", 7200: "sata-7200"},
    "scsi": {10000: "scsi-10k-73", 15000: "sas-15k", 7200: "sata-7200"},
    "sas": {10000: "sas-10k", 15000: "sas-15k", 7200: "sata-7200"},
}
WITHOUT_QUEUEING = "sata-7200-2005"
"""SATA disk of 7,200 rpm that is given one request at a time, by reads before writes, with its cache on"""
USUAL_RPM = {"sata": 7200, "ide": 7200, "scsi": 10000, "sas": 10000}
CORE_WORDS = {1: "single-core", 2: "dual-core", 4: "quad-core", 6: "six-core", 8: "eight-core"}
CPU, DISK = "machine.cpu.", "machine.disks.disk"
SPEED = f"{CPU}relative_speed"


def cpu_of(phrases: Phrases, known: dict[str, Any]) -> tuple[Any, list[Origin], int]:
    """The processors: a mapping or an entry's name, rows, and the year of their family."""
    if "cpu_entry" in phrases:
        _refuse(phrases, ("words", "ghz"), "cpu_entry", "both say which processors")
        cpu, rows, year = _entry(phrases)
    elif "words" not in phrases and "virtual" in phrases:
        cpu, rows, year = _of_a_cloud(phrases)
    elif "words" not in phrases and known:
        cpu, rows, year = _catalogued(str(known["cpu"]), phrases, phrases["name"].piece, AS_THERE)
    elif "words" in phrases or "ghz" in phrases:
        cpu, rows, year = _named(phrases)
    else:
        cpu, rows, year = _only_cores(phrases)
    for thing, what, key in (
        ("speed", "processor's speed", "relative_speed"),
        ("threads", "hardware threads", "threads_per_core"),
    ):
        if thing in phrases:
            value = phrases[thing].value
            cpu = (cpu if isinstance(cpu, dict) else {"base": cpu}) | {key: value}
            rows = [row for row in rows if row.key != CPU + key]
            rows.append(phrases.row(thing, what, CPU + key, f"{value:g}"))
    if "virtual" in phrases:
        return (*_virtual(phrases, cpu, rows), year)
    if "cores" in phrases and phrases["cores"].piece not in {row.piece for row in rows}:
        rows.append(phrases.row("cores", "cores", f"{CPU}cores", str(cores_of(cpu)[0])))
    return cpu, rows, year


def cores_of(cpu: Any) -> tuple[int, int]:
    """Cores of processors as `cpu_of` gives them, and their hardware threads."""
    keys = expand_names(cpu, WHERE, "machine.cpu")
    return int(keys["cores"]), int(keys["cores"]) * int(keys.get("threads_per_core", 1))


def memory_of(phrases: Phrases, known: dict[str, Any], cores: int, current: bool) -> tuple[Any, Origin]:
    """Memory in GiB, or as an entry has it. `current`: of a machine of today."""
    key = "machine.memory_gib"
    if "memory_gib" in phrases:
        value = phrases["memory_gib"].value
        return value, phrases.row("memory_gib", "memory", key, f"{value:g} GiB")
    if known:
        value = known["memory_gib"]
        return value, phrases.row("name", "memory", key, str(value), AS_THERE)
    usual, *others = (each * cores for each in GIB_PER_CORE[current])
    source = "no memory is said: {} GiB for each core, or {}, or {}".format(*GIB_PER_CORE[current])
    return usual, Origin("memory", key, f"{usual:g} GiB", None, source, others=tuple(f"{key}={gib}" for gib in others))


def instance_of(phrases: Phrases) -> tuple[InstanceSpec, list[Origin]]:
    """The cloud machine that is named, and rows. Raises InputError if other pieces say something else of it."""
    name, piece = phrases["instance"].value, phrases["instance"].piece
    spec: InstanceSpec = read_entry("instances", name)
    if piece.lower().startswith("db."):
        spec = spec.model_copy(update={"local_disks": None})  # which hold no tables under RDS
    for thing, allowed, what in (
        ("memory_gib", {spec.memory_gib}, f"{spec.memory_gib:g} GiB of memory"),
        ("virtual", {spec.vcpus}, f"{spec.vcpus} vCPUs"),
        ("cores", {spec.vcpus, spec.cpu.cores}, f"{spec.vcpus} vCPUs"),
        ("words", set(), f"{spec.cpu.model} processors"),
        ("ghz", set(), f"{spec.cpu.model} processors"),
        ("cpu_entry", set(), f"{spec.cpu.model} processors"),
        ("count", set(), f"{spec.cpu.model} processors"),
        ("speed", set(), f"{spec.cpu.model} processors"),
        ("threads", {spec.cpu.threads_per_core}, f"{spec.cpu.threads_per_core} threads for each core"),
    ):
        if thing in phrases and phrases[thing].value not in allowed:
            hint = "; the size of a volume stands beside its kind, as in 'gp3 500 GiB'" if thing == "memory_gib" else ""
            raise InputError(
                f"{WHERE}: '{phrases[thing].piece}' and '{piece}': {name} has {what}; leave one of them out{hint}"
            )
    shape = f"{spec.vcpus} vCPU, {spec.memory_gib:g} GiB, {spec.cpu.model}"
    managed = "" if name.lower() in piece.lower().split() else f"runs on a machine {name} (assumption)"
    speed = f"as the catalogue has the {spec.cpu.model}"
    return spec, [
        Origin("machine", "machine.instance", shape, piece, managed),
        Origin("processor's speed", SPEED, f"{spec.cpu.relative_speed:g}", None, speed, _factor(spec.cpu.source)),
    ]


def _factor(source: str) -> float:
    """Of the speed of a processor with this source."""
    return VCPU_FACTOR if source.startswith("assumption") else DATA_SHEET_FACTOR


def volumes_of(
    phrases: Phrases, instance: InstanceSpec | None, data_gib: float
) -> tuple[dict[str, Any] | None, list[Origin]]:
    """Network volumes for disks, None for the machine's own disks, and rows. Raises InputError."""
    kind, volume = phrases.value("disk"), "volume" if "volume" in phrases else "disk"
    flash = kind in {None, "ssd", "nvme"}
    if "volume" not in phrases and instance is not None and instance.local_disks is not None and flash:
        local = instance.local_disks
        text = f"{local.count} x {local.disk.name}"
        _refuse(phrases, ("requests", "mib", "level", "rpm", "disk_gib"), "instance", f"its own disks are {text}")
        if phrases.value("disks", local.count) != local.count:
            _refuse(phrases, ("disks",), "instance", f"its own disks are {text}")
        return None, [Origin("disks", "machine.disks", text, phrases.piece("local", "disk"), "that come with it")]
    if "local" in phrases or (instance is not None and "volume" not in phrases and kind not in {None, "ssd"}):
        piece = phrases["local" if "local" in phrases else "disk"].piece
        name = phrases["instance"].value if instance is not None else "this machine"
        raise InputError(
            f"{WHERE}: '{piece}': {name} has no such disks of its own; name a volume, as in 'gp3 500 GiB 3000 IOPS', "
            "or a machine that has them, as i4i.2xlarge"
        )
    _refuse(phrases, ("rpm", *(["disk"] if kind not in {None, "ssd"} else [])), volume, "a volume is no such disk")
    assert instance is not None or "volume" in phrases
    rows, entry, said = list[Origin](), str(phrases.value("volume", "")), phrases.piece("volume")
    if not entry:
        assert instance is not None
        entry, said = DEFAULT_VOLUMES.get(instance.provider, ""), phrases.piece("disk")
        if not entry:
            name = phrases["instance"].piece
            raise InputError(f"{WHERE}: '{name}': say which disks it has, as in 'NVMe' or 'gp3 500 GiB'")
    provider = str(catalogue_entry("volumes", entry)["provider"])
    if instance is not None and provider != instance.provider:
        raise InputError(
            f"{WHERE}: '{phrases['volume'].piece}' and '{phrases['instance'].piece}': a volume of {provider} and a "
            f"machine of {instance.provider}; its own is {DEFAULT_VOLUMES.get(instance.provider, 'not known')}"
        )
    size, further = _volume_size(phrases, data_gib)
    entry = volume_of_service(phrases.piece("instance") or "", entry, size, chosen="volume" in phrases)
    rows.append(Origin("volume", DISK, entry, said, "" if said else f"no volume is said: what {provider} gives"))
    rows += further
    order: dict[str, Any] = {"volume": entry, "size_gib": size}
    for thing, key in (("requests", "requests_per_s"), ("mib", "mib_per_s")):
        if thing in phrases:
            order[key] = phrases[thing].value
            rows.append(phrases.row(thing, "volume's rate", f"{DISK}.{key}", f"{order[key]:g}"))
    rows = [row for row in rows if row.key == DISK or row.piece is None or row.piece != said]
    count = phrases.value("disks", 1)
    disks: dict[str, Any] = {"disk": order, "count": count}
    if "disks" in phrases:
        rows.append(phrases.row("disks", "volumes", "machine.disks.count", str(count)))
    if "level" in phrases:
        disks["level"], row = _level(phrases, count)
        rows.append(row)
    return disks, rows


def _volume_size(phrases: Phrases, data_gib: float) -> tuple[float, list[Origin]]:
    """A volume's size, and a row for it."""
    what, key = "volume's size", f"{DISK}.size_gib"
    thing = next((thing for thing in ("volume_gib", "disk_gib") if thing in phrases), None)
    if thing is not None:
        size = float(phrases[thing].value)
        return size, [phrases.row(thing, what, key, f"{size:g} GiB")]
    size = max(VOLUME_STEP_GIB, -(-VOLUME_OF_DATA * data_gib // VOLUME_STEP_GIB) * VOLUME_STEP_GIB)
    source = f"no size is said: {VOLUME_OF_DATA:g} times the data, in steps of {VOLUME_STEP_GIB:g} GiB"
    return size, [Origin(what, key, f"{size:g} GiB", None, source)]


def _refuse(phrases: Phrases, things: Sequence[str], thing: str, why: str) -> None:
    """Raises InputError for the first of some things that is said beside another one, which leaves no place for it."""
    for other in things:
        if other in phrases and other != thing:
            pieces = dict.fromkeys((phrases[other].piece, *([phrases[thing].piece] if thing in phrases else [])))
            raise InputError(f"{WHERE}: {' and '.join(map(repr, pieces))}: {why}; leave one of them out")


def room_gib(disks: dict[str, Any] | None, instance: InstanceSpec | None) -> float:
    """What disks hold; a volume of no size anything."""
    if disks is None:
        assert instance is not None
        assert instance.local_disks is not None
        spec = instance.local_disks
        return float(spec.disk.capacity_gib * spec.count)
    disk, count = disks["disk"], int(disks["count"])
    if isinstance(disk, dict) and "volume" in disk:
        each = float(disk["size_gib"])
    else:
        said = disk.get("capacity_gib") if isinstance(disk, dict) else None
        each = float(said or catalogue_entry("disks", _entry_of(disk))["capacity_gib"])
    lost = {"raid1": count - 1, "raid10": count / 2, "raid5": 1, "raid6": 2}.get(str(disks.get("level")), 0)
    return each * (count - lost)


def is_flash(disks: dict[str, Any] | None) -> bool:
    """Whether data lie on flash or volumes; None: a cloud machine's own disks, which are."""
    if disks is None:
        return True
    disk = disks["disk"]
    if isinstance(disk, dict) and "volume" in disk:
        return True
    return catalogue_entry("disks", _entry_of(disk))["kind"] in FLASH


def disks_of(
    phrases: Phrases, known: dict[str, Any], system: NamedSystem, old: bool
) -> tuple[dict[str, Any], list[Origin]]:
    """The data disks, and rows. `old`: of a time when SATA disks were not given queues."""
    _refuse(phrases, ("requests", "mib"), "disk", "requests/s are bought with a volume, as in 'gp3 500 GiB 3000 IOPS'")
    _refuse(phrases, ("local",), "disk", "only a cloud machine has disks of its own beside volumes")
    if known and not {"disk", "disks", "rpm", "level", "disk_gib"} & phrases.keys():
        disks = known["disks"]
        text = f"{disks['count']} x {_entry_of(disks['disk'])}"
        return disks, [phrases.row("name", "disks", "machine.disks", text, AS_THERE), *_spread(disks["disk"], phrases)]
    count = phrases.value("disks", 1)
    source = "" if "disks" in phrases else "no number of disks is said: one"
    rows = [Origin("disks", "machine.disks.count", str(count), phrases.piece("disks"), source)]
    disk, further = _disk(phrases, known, system, old)
    rows += further
    disks = {"disk": disk, "count": count}
    if "level" in phrases:
        disks["level"], row = _level(phrases, count)
        rows.append(row)
    return disks, [*rows, *_spread(disk, phrases)]


def log_disk_of(phrases: Phrases, old: bool) -> tuple[Any, list[Origin]]:
    """The log's own disk, None if there is none. `old`: as of the data disks."""
    mine = Phrases({key.removeprefix("log_"): value for key, value in phrases.items() if key.startswith("log_")})
    if not mine:
        return None, []
    first = next(iter(mine))
    if "volume" in mine:
        if "volume_gib" not in mine:
            raise InputError(f"{WHERE}: '{mine[first].piece}': add the volume's size, as in 'log on gp3 100 GiB'")
        rates = {"requests_per_s": mine.value("requests"), "mib_per_s": mine.value("mib")}
        order = {"volume": mine["volume"].value, "size_gib": mine["volume_gib"].value}
        order |= {key: value for key, value in rates.items() if value is not None}
        return order, [mine.row("volume", "log disk", "machine.log_disk", str(mine["volume"].value))]
    if mine.value("disks", 1) != 1 or "level" in mine:
        raise InputError(f"{WHERE}: '{mine[first].piece}': the log has one disk here")
    entry, _, _ = _kind(mine, old)
    return entry, [mine.row(first, "log disk", "machine.log_disk", entry)]


def _named(phrases: Phrases) -> tuple[Any, list[Origin], int]:
    count, cores, ghz = (phrases.value(key) for key in ("count", "cores", "ghz"))
    named = ProcessorPhrase(count, cores, ghz, phrases.value("processor", ""), phrases.value("words", ()))
    piece = phrases["words" if "words" in phrases else "ghz"].piece
    entry = catalogued_cpu(named)
    if entry is not None:
        return _catalogued(entry, phrases, piece, f"catalogue entry {entry}")
    if "ghz" not in phrases and "speed" not in phrases:
        near = f"; nearest {', '.join(models)}" if (models := nearest_processors(named.words)) else ""
        raise InputError(
            f"{WHERE}: '{piece}': add the clock, such as '2.0 GHz'; the catalogue has no such processor{near}"
        )
    name = processor_family(named.words)
    if name is None:
        known = ", ".join(spec.names[0] for spec in processor_families().values())
        raise InputError(
            f"{WHERE}: '{piece}': no processor of a known family; families: {known}; or add 'core speed 1.5', the "
            "speed of a core relative to an Opteron of 1.8 GHz"
        )
    return _by_family(name, processor_families()[name], named, piece)


def _by_family(name: str, family: FamilySpec, named: ProcessorPhrase, piece: str) -> tuple[Any, list[Origin], int]:
    cores, count, ghz = named.cores or family.cores, named.count or 1, named.ghz or 1.0
    speed, factor = family.at_clock(ghz)
    source = f"{family.speed_per_ghz:g} for each GHz of {name} processors, {family.source}"
    cpu = {
        "model": f"{count} x {_core_word(cores)} {named.name}, {_clock(ghz)}",
        "cores": count * cores,
        "relative_speed": speed,
        "threads_per_core": family.threads_per_core,
        "memory_bus_share": family.memory_bus_share,
        "source": source,
    }
    rows = [Origin("processor's speed", SPEED, f"{speed:g}", None, source, factor)]
    usual = "" if named.cores else f"; {cores} in a processor, as usual in {name} ones"
    rows.append(Origin("cores", f"{CPU}cores", str(count * cores), piece, f"{count} x {cores}{usual}"))
    if family.threads_per_core > 1:
        key, why = f"{CPU}threads_per_core", f"as {name} processors come"
        rows.append(Origin("hardware threads", key, "2", None, why, others=(f"{key}=1",)))
    return cpu, rows, family.year


def _catalogued(entry: str, phrases: Phrases, piece: str, source: str) -> tuple[Any, list[Origin], int]:
    """An entry's processors, or so many others of its cores as the line says; then under a name that is true."""
    named = catalogue_entry("cpus", entry)
    model = read_processors(str(named["model"]))
    family = processor_family(model.words)
    year = processor_families()[family].year if family else YEAR_OF_CURRENT if entry.startswith("server-20") else 2008
    of_each, count = phrases.value("cores", model.cores), phrases.value("count")
    own = int(named["cores"]) // (model.count or 1)
    if count and of_each == count * own:  # "2 x Xeon Gold 6230, 40 cores": all of them
        of_each = own
    if of_each is None and model.count is None and family is not None and processor_families()[family].cores > 1:
        of_each = int(named["cores"])  # the entry is one processor
    cores = (count or model.count or 1) * of_each if of_each else count
    changes: dict[str, Any] = {}
    if cores is not None and cores != int(named["cores"]):
        changes["cores"] = cores
        if model.count is not None or model.cores is not None:
            number = count or model.count or 1
            changes["model"] = f"{number} x {_core_word(of_each or 1)} {model.name}, {_clock(model.ghz)}"
    named |= changes
    factor = speed_factor(entry) or CATALOGUE_FACTOR
    known = f"catalogue entry {entry}, times or divided by {factor:g}"
    rows = [
        Origin("processors", "machine.cpu", f"{named['model']}: {named['cores']} cores", piece, source),
        Origin("processor's speed", SPEED, str(named["relative_speed"]), None, known, factor),
    ]
    return ({"base": entry, **changes} if changes else entry), rows, year


def _core_word(cores: int) -> str:
    return CORE_WORDS.get(cores, f"{cores}-core")


def _clock(ghz: float | None) -> str:
    text = f"{ghz or 0:g}"
    return f"{text if '.' in text else text + '.0'} GHz"


def _entry(phrases: Phrases) -> tuple[Any, list[Origin], int]:
    """The catalogue's processors by the entry's name, so many cores of them as are said."""
    entry, piece = phrases["cpu_entry"].value, phrases["cpu_entry"].piece
    named = catalogue_entry("cpus", entry)
    family = processor_family(read_processors(str(named["model"])).words)
    year = processor_families()[family].year if family else 2008 if "2009" in entry else YEAR_OF_CURRENT
    cores = phrases.value("cores", int(named["cores"])) * phrases.value("count", 1)
    speed, factor = str(named["relative_speed"]), speed_factor(entry) or _factor(str(named["source"]))
    rows = [
        Origin("processor's speed", SPEED, speed, piece, f"catalogue entry {entry}", factor),
        Origin("cores", f"{CPU}cores", str(cores), phrases.piece("cores") or piece, ""),
    ]
    return {"base": entry, "cores": cores}, rows, year


def _of_a_cloud(phrases: Phrases) -> tuple[Any, list[Origin], int]:
    """Virtual processors without a name: the catalogue's of the cloud of 2009 by their clock, else current ones."""
    entry, year, changes = "server-2020s", YEAR_OF_CURRENT, {"threads_per_core": 2}
    if "ghz" in phrases:
        entry, year, changes = "cloud-vm-2009", 2008, {}
    speed = str(catalogue_entry("cpus", entry)["relative_speed"])
    row = Origin("processor's speed", SPEED, speed, None, f"catalogue entry {entry}", VCPU_FACTOR)
    return {"base": entry, **changes}, [row], year


def _virtual(phrases: Phrases, cpu: Any, rows: Sequence[Origin]) -> tuple[dict[str, Any], list[Origin]]:
    """So many hardware threads of processors, and rows. Raises InputError where cores are said that don't fit them."""
    threads, piece = phrases["virtual"].value, phrases["virtual"].piece
    keys = expand_names(cpu, WHERE, "machine.cpu")
    if "cores" in phrases and phrases["cores"].piece != phrases.piece("words"):
        known = int(keys.get("threads_per_core", 1)) * phrases["cores"].value * phrases.value("count", 1)
        if threads not in {phrases["cores"].value, known}:
            _refuse(phrases, ("cores",), "virtual", "a virtual processor is a hardware thread of a core")
    changes = keys_of_threads(keys, threads)
    why = "a virtual processor is a hardware thread"
    if "all_core_clock_fraction" in changes:
        why += "; the odd one's core has another guest's beside it"
    kept = [row for row in rows if row.key not in {f"{CPU}cores", f"{CPU}threads_per_core"}]
    kept = [replace(row, value=str(keys["model"])) if row.key == "machine.cpu" else row for row in kept]
    row = Origin("cores", f"{CPU}cores", str(changes["cores"]), piece, why)
    return (cpu if isinstance(cpu, dict) else {"base": cpu}) | changes, [*kept, row]


def _only_cores(phrases: Phrases) -> tuple[Any, list[Origin], int]:
    """Processors of which the line says no more than their cores: current ones."""
    usual, *others = CORES
    count, piece = phrases.value("cores", usual) * phrases.value("count", 1), phrases.piece("cores", "count")
    entry = "server-2020s"
    speed = str(catalogue_entry("cpus", entry)["relative_speed"])
    source = f"no processor is named: a core as in current servers, catalogue entry {entry}"
    key = f"{CPU}cores"
    cores = Origin("cores", key, str(count), piece, "")
    if piece is None:
        why = "no number of cores is said: {}, or {}, or {}".format(*CORES)
        cores = Origin("cores", key, str(count), None, why, others=tuple(f"{key}={each}" for each in others))
    return (
        {"base": entry, "cores": count},
        [Origin("processor's speed", SPEED, speed, None, source, VCPU_FACTOR), cores],
        YEAR_OF_CURRENT,
    )


def _entry_of(disk: Any) -> str:
    return str(disk["base"] if isinstance(disk, dict) else disk)


def _kind(phrases: Phrases, old: bool) -> tuple[str, list[Origin], str]:
    """The entry of a kind of disk, rows of what was guessed for it, and the kind. `old`: of a time before flash."""
    kind = phrases.value("disk", "sata" if old or "rpm" in phrases else "ssd")
    if kind not in {*ROTATING, "nvme", "sata-ssd", "ssd"}:  # an entry's own name
        row = phrases.row("disk", "disk", DISK, kind)
        return kind, [row], "entry"
    if kind in {"nvme", "sata-ssd", "ssd"}:
        if "rpm" in phrases:
            raise InputError(
                f"{WHERE}: '{phrases['disk'].piece}' and '{phrases['rpm'].piece}': flash doesn't turn; leave one out"
            )
        entry, source, alternatives = ("sata-ssd" if kind == "ssd" else kind), "", tuple[str, ...]()
        if kind == "ssd" and not old:
            source, alternatives = "no kind of SSD is said: SATA, the slower", (f"{DISK}=nvme",)
        piece = phrases.piece("disk")
        return entry, [Origin("disk", DISK, entry, piece, source, others=alternatives)], entry
    rpm = phrases.value("rpm", USUAL_RPM[kind])
    if "rpm" in phrases and "disk" not in phrases and rpm >= 10000:
        kind = "scsi"
    if rpm not in ROTATING[kind]:
        known = ", ".join(f"{value:,}" for value in ROTATING[kind])
        raise InputError(
            f"{WHERE}: '{phrases['rpm'].piece}': no such {kind.upper()} disk in the catalogue; it has {known} rpm"
        )
    entry, source, alternatives = ROTATING[kind][rpm], "", tuple[str, ...]()
    if "disk" not in phrases and "rpm" not in phrases:
        source, alternatives = "no kind of disk is said: SATA of 7,200 rpm", (f"{DISK}=scsi-10k-73",)
    elif "rpm" not in phrases and kind in {"scsi", "sas"}:
        source, alternatives = f"no speed is said: {rpm:,} rpm, as was usual", (f"{DISK}=sas-15k",)
    return entry, [Origin("disk", DISK, entry, phrases.piece("disk", "rpm"), source, others=alternatives)], kind


def _disk(phrases: Phrases, known: dict[str, Any], system: NamedSystem, old: bool) -> tuple[Any, list[Origin]]:
    entry, rows, kind = _kind(phrases, old)
    changes: dict[str, Any] = {}
    if "disk_gib" in phrases:
        changes["capacity_gib"] = round(phrases["disk_gib"].value, 1)
        rows.append(phrases.row("disk_gib", "room of a disk", f"{DISK}.capacity_gib", f"{changes['capacity_gib']:g}"))
    key, one = f"{DISK}.queue_depth", "one request at a time"
    catalogued = known["disks"]["disk"] if known else None
    if isinstance(catalogued, dict) and catalogued["base"] == entry and "queue_depth" in catalogued:
        changes["queue_depth"] = catalogued["queue_depth"]
        rows.append(phrases.row("name", "disk's queue", key, str(changes["queue_depth"]), AS_THERE))
    elif kind == "ide" or (kind == "sata" and (system.queues is False or (system.queues is None and old))):
        alternatives = tuple[str, ...]()
        if entry == "sata-7200":
            entry = WITHOUT_QUEUEING
            rows[0] = replace(rows[0], value=entry)
        else:
            changes["queue_depth"] = 1
        if kind == "ide":
            source = f"IDE disks are given {one}"
        elif system.queues is False:
            source = f"Linux before 2.6.19 gives SATA disks {one}"
        else:
            source = f"systems of that time gave SATA disks {one}, unless a driver knew better"
            alternatives = (f"{key}=32",)
        rows.append(Origin("disk's queue", key, "1", None, source, others=alternatives))
    return ({"base": entry, **changes} if changes else entry), rows


def _level(phrases: Phrases, count: int) -> tuple[str, Origin]:
    what, key, level = "RAID level", "machine.disks.level", phrases["level"].value
    if level:
        return level, phrases.row("level", what, key, level)
    if count == 2:
        return "raid1", Origin(what, key, "raid1", None, "two disks in a set: RAID 1", others=(f"{key}=raid0",))
    alternatives = (f"{key}=raid10",) if count >= 4 and count % 2 == 0 else (f"{key}=raid0",)
    return "raid5", Origin(what, key, "raid5", None, "no level is said: RAID 5, the usual one", others=alternatives)


def _spread(disk: Any, phrases: Phrases) -> list[Origin]:
    """How much disks of one kind differ: in what a deep queue of requests comes to, not in the average seek."""
    entry = catalogue_entry("disks", _entry_of(disk))
    if _entry_of(disk) == RAM_DISK:
        return []

    def guess(what: str, key: str, source: str, factor: float) -> Origin:
        return Origin(what, f"{DISK}.{key}", str(entry[key]), None, source, factor)

    if _entry_of(disk) in NAMELESS_FLASH:
        others = (f"{DISK}.flush_us={SLOW_FLUSH_US}", f"{DISK}={WITHOUT_CAPACITORS}")
        count = 1 if f"{DISK}.power_loss_protection" in phrases else 2
        flush = Origin(
            "drive's flush",
            f"{DISK}.flush_us",
            f"{entry.get('flush_us', 0):g} us",
            None,
            FLUSH_SOURCE,
            None,
            others[:count],
        )
        return [flush, guess("disk's speed", "read_latency_us", "flash of one kind differs by a third", FLASH_FACTOR)]
    if entry["kind"] in FLASH:
        return [guess("disk's speed", "read_latency_us", "flash of one kind differs by a third", FLASH_FACTOR)]
    why = "data sheets of one kind of disk differ by half, and a deep queue makes seeks short"
    return [
        guess("disk's short seeks", "seek_track_to_track_ms", why, SHORT_SEEK_FACTOR),
        guess("disk's overhead", "overhead_ms", "no data sheet says it", OVERHEAD_FACTOR),
    ]
