"""The pieces of a line that describes a machine, and what each of them says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oltpsim.models.catalogue import catalogue_entry, catalogue_names, instance_named, read_processors, read_volume
from oltpsim.models.input import did_you_mean
from oltpsim.models.reading.one_line.row_pieces import row_piece
from oltpsim.models.reading.one_line.systems import NamedEngine, engine_of, system_of
from oltpsim.simulator.errors import InputError

WHERE = "machine"
EXAMPLE = "PostgreSQL 15 on r6i.2xlarge + gp3 500 GiB 3000 IOPS, 500 warehouses, 64 clients"
FORMS = (
    "r6i.2xlarge", "gp3 500 GiB 3000 IOPS", "2 x quad-core Xeon 5410 2.33 GHz", "8 cores",
    "hyper-threading", "under Xen", "8 GB", "4 SATA", "RAID 5 of 4 SCSI 10k", "Solaris 10", "PostgreSQL 15",
    "120,000 buffers", "buffer pool 2 GB", "40 GB of data", "40 warehouses", "80 clients", "30 min",
    "full page writes off", "max_wal_size 2 GB", "in memory", "10,000 new orders each", "load of 20 warehouses",
    "serial read", "HammerDB", "HammerDB all warehouses", "BenchBase", "pgbench select only", "scale 1000",
    "sysbench read-write", "8 tables", "YCSB A", "20 million records", "name db-7",
)  # fmt: skip
WORDS = (
    "memory", "buffers", "buffer", "pool", "warehouses", "clients", "disks", "SATA", "SCSI", "RAID", "NVMe", "Solaris",
    "Windows", "Linux", "Fedora", "Virtuoso", "PostgreSQL", "MySQL", "Xeon", "Opteron", "Pentium", "UltraSPARC",
    "hyper-threading", "orders", "serial", "threads", "cores", "data", "HammerDB", "go-tpc", "tpcc-mysql",
    "sysbench-tpcc", "BenchBase", "pgbench", "sysbench", "YCSB", "scale", "tables", "records",
)  # fmt: skip
N = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,6})?)"
SIZE = rf"{N} ?([kmgt])i?b(?:yte)?s?"
DATA = rf"{N} ?([kmgt]i?)b(?:yte)?s?"
POOL = "(?:shared[_ ]buffers?|buffer pool|buffers?|pool)"
GIB_OF = {"k": 2.0**-20, "m": 2.0**-10, "g": 1.0, "t": 1024.0}
"""of memory and what lies in it, whose GB has 2^30 bytes as it is sold; a GB of data has 10^9"""
GIB_OF_DATA = {"k": 1e3 / 2**30, "m": 1e6 / 2**30, "g": 1e9 / 2**30, "t": 1e12 / 2**30}
TIME = r"(\d{1,6}(?:\.\d{1,3})?) ?(?:(ms)|(s)(?:econds?|ec)?|(m)in(?:utes?)?|(h)(?:ours?)?)"
SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
SPLIT = re.compile(
    r"(?:(?<!\d),|,(?!\d{3}(?!\d)))|;|\s[+/]\s|\swith\s(?=\d)|\srunning\s|\swith\s(?=hyper)|\s(?=under xen)", re.I
)
JOINED = re.compile(r"\s(?:on|with|and|plus)\s(?:an?\s)?", re.I)
"""words between pieces, where both sides are some"""
MOST_LETTERS = 1000
COUNTS = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8}
NOISE = re.compile(r"(?: *(?:of|in|an?|as|independent|x|with|on|each|over|array|set|2\.5|inch)(?= ))* *")
DISK_KINDS = {
    r"nvme(?: ssds?)?": "nvme",
    r"sata ssds?": "sata-ssd",
    r"ssds?|flash": "ssd",
    r"sata(?: hdds?)?|hdds?|(?:spinning|rotating)(?= (?:disk|drive))": "sata",
    r"sas": "sas",
    r"(?:ultra ?(?:160|320) )?scsi": "scsi",
    r"ide|pata|ata": "ide",
}


@dataclass(frozen=True)
class Phrase:
    """What one piece of the line says of one thing."""

    value: Any
    piece: str


@dataclass(frozen=True)
class Origin:
    """What a description comes to for one key of the scenario, and how well that is known.

    `piece`: the words of the line, None for a guess. `factor`: one standard deviation of the value, times or divided
    by, None if it is taken for exact. `others`: settings (key=value) that would have been as good a guess.
    """

    what: str
    key: str
    value: str
    piece: str | None
    source: str
    factor: float | None = None
    others: tuple[str, ...] = ()

    @property
    def uncertain(self) -> bool:
        """Whether the answer's interval has to hold it."""
        return self.factor is not None or bool(self.others)

    @property
    def uncertainty(self) -> str:
        """In words for the table."""
        if self.factor is not None:
            return f"times or divided by {self.factor:.3g}"
        named = [other.partition("=")[2].removeprefix('{"base": "').partition('"')[0] for other in self.others]
        return f"or {' or '.join(named)}" if named else ""


class Phrases(dict[str, Phrase]):
    """What a line says, by the names of things."""

    def value(self, thing: str, default: Any = None) -> Any:
        """What is said of a thing; `default` if nothing is."""
        return self[thing].value if thing in self else default

    def piece(self, *things: str) -> str | None:
        """The words of the line that say the first of some things; None if it says none of them."""
        return next((self[thing].piece for thing in things if thing in self), None)

    def row(self, thing: str, what: str, key: str, value: str, source: str = "") -> Origin:
        """A key whose value the line says."""
        return Origin(what, key, value, self[thing].piece, source)

    def add(self, found: dict[str, Any], piece: str) -> None:
        """What a piece says. Raises InputError if another one says something else of the same thing."""
        for key, value in found.items():
            if key in self and self[key].value != value:
                meaning = MEANINGS.get(key, key.replace("_", " "))
                raise InputError(f"{WHERE}: '{self[key].piece}' and '{piece}' both say {meaning}; keep one of them")
            self.setdefault(key, Phrase(value, piece))


def read_line(line: str) -> Phrases:
    """Every thing that a line says, by its name. Raises InputError for what is not understood or said twice."""
    if not line:
        return Phrases()
    if len(line) > MOST_LETTERS or not line.isprintable():
        raise InputError(
            f"{WHERE}: a line of printable text, of at most {MOST_LETTERS:,} letters; for example '{EXAMPLE}'"
        )
    phrases = Phrases()
    strange: list[str] = []
    for text in SPLIT.split(line):
        pieces = _pieces(text.strip())
        for piece, found in pieces:
            if found is None:
                strange.append(piece)
            phrases.add(found or {}, piece)
    if not phrases and not strange:
        raise InputError(f"{WHERE}: got an empty line; for example '{EXAMPLE}'")
    for piece in strange:
        name = NAME.fullmatch(piece)
        if name is None and not names_a_machine(piece):
            raise InputError(_not_understood(piece))
        phrases.add({"name": name[1] if name else piece}, piece)
    return phrases


NAME = re.compile(r"(?:name|called)[ :=]+(.+)", re.I)
SYSTEMS_OF_MAKERS = {"sunfire": "solaris-10", "sun": "solaris-10", "mac": "mac-os-x-10-4", "imac": "mac-os-x-10-4"}
MAKERS = {
    *SYSTEMS_OF_MAKERS, "acer", "apple", "asus", "cisco", "dell", "fujitsu", "generic", "hp", "hpe", "huawei",
    "lenovo", "poweredge", "proliant", "supermicro", "thinkpad", "box", "desktop", "laptop", "notebook", "pc",
    "workstation",
}  # fmt: skip
"""words by which a piece is a machine's name"""


def system_of_maker(name: str) -> str | None:
    """The operating system that came with a machine of that name; None if no maker of the name had one of its own."""
    return next((SYSTEMS_OF_MAKERS[word] for word in name.lower().split() if word in SYSTEMS_OF_MAKERS), None)


def machine_named(name: str) -> dict[str, Any]:
    """The catalogue's machine whose name begins so (wholly so if the name has no digit), nothing if it has none."""
    mine = re.sub(r"\W", "", name.lower())
    for entry in catalogue_names("machines"):
        named = catalogue_entry("machines", entry)
        theirs = re.sub(r"\W", "", str(named["name"]).lower())
        if mine == theirs or (re.search(r"\d", mine) and theirs.startswith(mine)):
            return named
    return {}


def names_a_machine(piece: str) -> bool:
    """Whether a piece is a machine's name without saying so: the catalogue's, or one with a maker's word."""
    return bool(MAKERS & set(re.split(r"[\s-]+", piece.lower()))) or bool(machine_named(piece))


def _pieces(text: str) -> list[tuple[str, dict[str, Any] | None]]:
    """A piece and what it says, or the pieces that it joins if each of them says something. Raises InputError."""
    if not text:
        return []
    pieces = [(part, understood(part)) for part in map(str.strip, JOINED.split(text))]
    return [(text, understood(text))] if any(each is None for _, each in pieces) else pieces


def understood(piece: str) -> dict[str, Any] | None:
    """What a piece says; None if nothing here understands it. Raises InputError for what it can't say."""
    try:
        return _understood(piece)
    except ValueError as error:
        raise InputError(f"{WHERE}: '{piece}': {error}") from error


def _not_understood(piece: str) -> str:
    words = [word for word in re.split(r"[\s-]+", piece) if len(word) > 3]
    hints = [hint for hint in (did_you_mean(word, WORDS) for word in words) if hint]
    return (
        f"{WHERE}: '{piece}': not understood{hints[0] if hints else ''}; pieces, with commas between, are like "
        f"{', '.join(map(repr, FORMS))}; for example '{EXAMPLE}'"
    )


MEANINGS = {
    "memory_gib": "how much memory there is", "level": "the RAID level", "disks": "how many disks there are",
    "disk": "the kind of disk", "system": "the operating system", "engine": "the database engine",
    "ghz": "the processors' clock", "words": "which processors", "count": "how many processors", "job": "what is run",
    "cores": "how many cores a processor has", "pool_gib": "how large the pool is",
    "data_gib": "how much data there is", "seconds": "how long the run is", "instance": "which machine it is",
    "volume": "which volume it has", "name": "the machine's name",
    "volume_gib": "how large the volume is", "think_s": "how long clients think",
    "whole_pages": "whether the log has whole pages", "wal_gib": "how much log there may be",
    "virtual": "how many virtual processors there are", "cpu_entry": "which processors", "warm_up_s": "the warm-up",
    "driver": "which driver measures", "variant": "which transactions are run", "scale": "how much data there is",
    "tables": "how much data there is", "table_rows": "how many rows a table has", "records": "how much data there is",
    "warehouses": "how much data there is", "clients": "how many clients there are",
}  # fmt: skip


def _number(text: str) -> float:
    """A number above 0 with or without thousands' commas. Raises ValueError."""
    value = float(text.replace(",", ""))
    if value <= 0:
        raise ValueError(f"got {text}; must be greater than 0")
    return value


def _whole(text: str) -> int:
    """A whole number above 0. Raises ValueError."""
    value = _number(text)
    if not value.is_integer():
        raise ValueError(f"got {text}; must be a whole number")
    return int(value)


def _understood(piece: str) -> dict[str, Any] | None:
    """What a piece says; None if nothing here understands it."""
    text = re.sub(r"\s+", " ", piece.lower()).strip()
    for pattern, read in PATTERNS:
        if match := pattern.fullmatch(text):
            return read(match)
    if (rows := row_piece(piece)) is not None:
        return rows
    if (instance := instance_named(text)) is not None:
        return {"instance": instance}
    if (entry := _entry(text)) is not None:
        return entry
    if (engine := engine_of(piece)) is not None:
        return {"engine": engine}
    if (system := system_of(piece)) is not None:
        return {"system": system}
    return _virtual(text) or _volumes(text) or _disks(text) or _processors(piece)


def _entry(name: str) -> dict[str, Any] | None:
    """A part by its name in the catalogue, as options have it; None if it is none's."""
    if "-" not in name:
        return None
    for kind, thing in ENTRIES.items():
        if name in catalogue_names(kind):
            return {thing: NamedEngine(name) if kind == "databases" else name}
    return None


ENTRIES = {"cpus": "cpu_entry", "disks": "disk", "databases": "engine"}


def _volumes(text: str) -> dict[str, Any] | None:
    """Network volumes: a count, a kind, its size and rates, a RAID level, in any order."""
    volume = read_volume(text)
    if volume is None:
        return None
    others = _disks(f"{volume.remainder} disk" if volume.remainder else "disk")
    if others is None:
        return None
    if re.fullmatch(r"\d+", volume.remainder) and not text.startswith(volume.remainder):
        raise ValueError(f"{volume.remainder} of what? write 'gp3 {volume.remainder} GiB', or '3000 IOPS'")
    where = "log_" if any(key.startswith("log_") for key in others) or volume.remainder in LOG_WORDS else ""
    found = {"volume": volume.entry, "volume_gib": volume.size_gib, "requests": volume.requests_per_s,
             "mib": volume.mib_per_s}  # fmt: skip
    return others | {f"{where}{key}": value for key, value in found.items() if value is not None}


LOG_WORDS = ("log", "wal", "redo", "log on", "wal on", "redo on", "log on a")


def _virtual(text: str) -> dict[str, Any] | None:
    match = re.fullmatch(
        rf"{N} ?(?:v-?cpus?|virtual (?:cpus?|cores?|processors?))(?: of a cloud vm)?((?: (?:of|at))? ?[\d.]+ ?[gm]hz)?",
        text,
    )
    if not match:
        return None
    clock = read_processors(match[2] or "").ghz
    return {"virtual": _whole(match[1])} | ({"ghz": clock} if clock else {})


def _disks(text: str) -> dict[str, Any] | None:
    """Disks: a count, a kind, its revolutions and room, a RAID level, in any order."""
    phrases: dict[str, Any] = {}
    remainder = f" {re.sub(r'[()]', ' ', text)} "
    where = re.search(r" (?:log|wal|redo)(?: (?:disk|on|on an?|device))? ", remainder)
    named = next((name for name in catalogue_names("disks") if "-" in name and f" {name} " in remainder), None)
    if named is not None:
        phrases["disk"] = named
        remainder = remainder.replace(f" {named} ", " ")
    remainder = remainder.replace(where[0], " ") if where else remainder

    def take(pattern: str, read: Callable[[re.Match[str]], dict[str, Any]]) -> None:
        nonlocal remainder
        if match := re.search(f" (?:{pattern})(?= )", remainder):
            phrases.update(read(match))
            remainder = remainder[: match.start()] + " " + remainder[match.end() :].lstrip()
            remainder = f" {remainder.strip()} "

    take(rf"{N} ?(?:rpm|revolutions per minute)", lambda match: {"rpm": _whole(match[1])})
    take(r"(5\.4|7\.2|10|15) ?k", lambda match: {"rpm": int(1000 * float(match[1]))})
    take(rf"{N} ?([gt])i?b", lambda match: {"disk_gib": _number(match[1]) * {"g": 1e9, "t": 1e12}[match[2]] / 2**30})
    take(r"raid[- ]?(0|10|1\+0|1|5|6)", lambda match: {"level": f"raid{match[1].replace('1+0', '10')}"})
    if "level" not in phrases:
        take(r"raid", lambda _: {"level": ""})
    if named is None:
        take("|".join(DISK_KINDS), lambda match: {"disk": _kind_of(match[0].strip())})
    take(r"(?:hard )?(?:disks?|drives?|discs?|spindles?)", lambda _: {"a_disk": True})
    take(r"(\d{1,4})(?: ?[x×])?", lambda match: {"disks": _whole(match[1])})
    take("one|a single|single", lambda _: {"disks": 1})
    take("|".join(COUNTS), lambda match: {"disks": COUNTS[match[0].strip()]})
    if not {"disk", "level", "a_disk", "rpm"} & phrases.keys() or not NOISE.fullmatch(remainder):
        return None
    phrases.pop("a_disk", None)
    return {f"log_{key}": value for key, value in phrases.items()} if where else phrases


def _kind_of(text: str) -> str:
    return next(kind for pattern, kind in DISK_KINDS.items() if re.fullmatch(pattern, text))


def _processors(piece: str) -> dict[str, Any] | None:
    match = read_processors(piece)
    if not match.says_so():
        return None
    phrases = {"count": match.count, "cores": match.cores, "ghz": match.ghz, "words": match.words or None}
    return {key: value for key, value in phrases.items() if value is not None} | (
        {"processor": match.name} if match.words else {}
    )


Reader = Callable[[re.Match[str]], dict[str, Any]]
BY, ALL = "(?:measured )?(?:by )?", "(?:over |us(?:e|es|ing) )?all warehouses"


def _seconds(match: re.Match[str]) -> float:
    return float(match[1]) * SECONDS_OF[next(unit for unit in match.groups()[1:] if unit)]


def _data_gib(match: re.Match[str]) -> float:
    unit = match[2]
    return _number(match[1]) * (GIB_OF[unit[0]] if unit.endswith("i") else GIB_OF_DATA[unit])


def _gib(match: re.Match[str]) -> float:
    return _number(match[1]) * GIB_OF[match[2]]


PATTERNS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"{SIZE}(?: of)?(?: ram| memory)?", lambda match: {"memory_gib": _gib(match)}),
        (rf"(?:ram|memory) (?:of )?{SIZE}", lambda match: {"memory_gib": _gib(match)}),
        (rf"{POOL}(?: of| ?=)? {SIZE}", lambda match: {"pool_gib": _gib(match)}),
        (rf"{SIZE}(?: of)? {POOL}", lambda match: {"pool_gib": _gib(match)}),
        (rf"{DATA}(?: of)? (?:data|database)", lambda match: {"data_gib": _data_gib(match)}),
        (rf"(?:data|database)(?: size)?(?: of)? {DATA}", lambda match: {"data_gib": _data_gib(match)}),
        (r"full[-_ ]page[-_ ]writes?(?: ?= ?| )(?:(on|true)|off|false)", lambda match: {"whole_pages": bool(match[1])}),
        (rf"max_wal_size(?: of | ?= ?| ){SIZE}", lambda match: {"wal_gib": _gib(match)}),
        (rf"{N} ?(k?) buffers", lambda match: {"buffers": int(_number(match[1]) * (1000 if match[2] else 1))}),
        (rf"{N} cpus?", lambda match: {"cores": _whole(match[1])}),
        (rf"(?:number ?of ?)?buffers ?[= ] ?{N}", lambda match: {"buffers": _whole(match[1])}),
        (rf"{N} ?(?:warehouses?|wh|w)", lambda match: {"warehouses": _whole(match[1])}),
        (rf"(?:each of )?{N} (?:clients?|users?|terminals?|sessions?)", lambda match: {"clients": _whole(match[1])}),
        (rf"{N} new orders(?: each| per client| by each(?: client)?)?", lambda match: {"new_orders": _whole(match[1])}),
        (rf"(?:bulk )?load(?:ing)?(?: of {N} warehouses?)?",
         lambda match: {"job": "load"} | ({"warehouses": _whole(match[1])} if match[1] else {})),
        (r"(?:cold )?serial (?:read|scan)|table scan|scan", lambda _: {"job": "scan"}),
        (r"(?:all )?in (?:memory|ram)", lambda _: {"in_memory": True}),
        (rf"{TIME} (?:of )?think(?:ing)?(?: time)?", lambda match: {"think_s": _seconds(match)}),
        (rf"think(?:ing)? ?(?:time)?(?: of)? {TIME}", lambda match: {"think_s": _seconds(match)}),
        (rf"{TIME} (?:of )?warm-?up", lambda match: {"warm_up_s": _seconds(match)}),
        (rf"warm-?up(?: of)? {TIME}", lambda match: {"warm_up_s": _seconds(match)}),
        (rf"{N} ?(k?) ?(?:iops|io/s)", lambda match: {"requests": _number(match[1]) * (1000 if match[2] else 1)}),
        (r"(?:on )?(?:its |the )?(?:own|local|instance)[- ](?:nvme|ssds?|disks?|stor(?:e|age))(?: disks?| ssds?)?",
         lambda _: {"local": True}),
        (rf"(?:run of )?{N} ?(?:(s)|s(?:econds?|ec)?|(m)in(?:utes?)?|(h)(?:ours?)?)(?: run)?",
         lambda match: {"seconds": _number(match[1]) * SECONDS_OF[match[3] or match[4] or "s"]}),
        (r"(?:with )?(?:hyper-?\s?threading|smt|(?:2|two) (?:hardware )?threads (?:per|a|each) core|ht)",
         lambda _: {"threads": 2}),
        (r"(?:no|without) (?:hyper-?\s?threading|smt)|(?:1|one) thread (?:per|a) core", lambda _: {"threads": 1}),
        (r"(?:under |in |on )?(?:a )?(?:xen|vmware|kvm|hyper-v|virtual machine|vm)(?: guest| vm)?",
         lambda _: {"virtualised": True}),
        (rf"{BY}hammer[- ]?db(?: v?[\d.]+)?(?: tproc-c)?(?: {ALL})?",
         lambda match: {"driver": "HammerDB"} | ({"home": "drawn"} if "all" in match[0] else {})),
        (ALL, lambda _: {"home": "drawn"}),
        (r"as shipped|(?:with )?defaults?(?: settings)?", lambda _: {"as_shipped": True}),
        (rf"{BY}(go[- ]?tpc|tpcc[- ]mysql|sysbench[- ]tpcc)",
         lambda match: {"driver": match[1].replace(" ", "-").replace("gotpc", "go-tpc")}),
        (rf"{BY}bench[- ]?base(?: tpc-?c)?", lambda _: {"driver": "BenchBase"}),
        (r"(?:core |relative )speed (?:of )?(\d{1,3}(?:\.\d{1,4})?)", lambda match: {"speed": _number(match[1])}),
    )
)  # fmt: skip
"""Forms of pieces that stand for themselves; the first that matches counts."""
