"""The pieces of a line that describes a machine, and what each of them says."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from oltpsim.models.catalogue import (
    ProcessorPhrase,
    catalogue_entry,
    catalogue_names,
    catalogued_cpu,
    instance_named,
    processor_family,
    read_processors,
    read_volume,
    speed_factor,
)
from oltpsim.models.input import did_you_mean
from oltpsim.models.reading.one_line.systems import NamedEngine, engine_of, system_of
from oltpsim.models.reading.one_line.words import disk_terms, matches, table
from oltpsim.simulator.errors import InputError

WHERE = "machine"
EXAMPLE: str = table()["example"]
SPLIT = re.compile(r"(?:(?<!\d),|,(?!\d{3}(?!\d)))|;|\s[+/|]\s")
MOST_LETTERS = 1000
MOST_WORDS = 9
"""words at most of a piece that stands among others without a comma"""
NAME = re.compile(r"(?:name|called)[ :=]+(.+)", re.I)
KINDS = {"nvme", "sata-ssd", "ssd", "sata", "sas", "scsi", "ide"}
"""kinds of disks that a line names without a model"""
ENTRIES = {"cpus": "cpu_entry", "disks": "disk", "databases": "engine"}
LOG_WORDS = ("log", "wal", "redo", "log on", "wal on", "redo on", "log on a")
BENCHMARK = re.compile(r"\b(?:(pgbench)|(sysbench)(?![ _-]tpcc)|(ycsb))\b", re.I)
MEMORY_GB = {
    0.5,
    1.0,
    2.0,
    3.0,
    4.0,
    6.0,
    8.0,
    12.0,
    16.0,
    24.0,
    32.0,
    36.0,
    48.0,
    64.0,
    72.0,
    96.0,
    144.0,
    192.0,
    384.0,
    768.0,
}
EITHER_GB = {128.0, 256.0, 512.0}
"""sizes of memory that few drives have, and sizes that both have"""
CURRENT_GHZ = 1.5
"""clock below which virtual processors without a name are those of a cloud of 2009"""
JOINING = frozenset(("with", "and", "on", "for", "in", "of", "has", "is"))
"""words that stand between pieces, never at the end of one that says what a part is"""
PROCESSORS = {"words", "processor", "ghz", "cores", "count"}
"""things that a piece says of processors"""
COSTS = {"piece": 1.0, "noise": 0.6, "refused": 8.0, "strange": 10.0}
"""costs of the meanings of a text; the cheapest is meant"""


@dataclass(frozen=True)
class Phrase:
    """What one piece of the line says of one thing."""

    value: Any
    piece: str


@dataclass(frozen=True)
class Refusal:
    """A piece that is known, and why it can't be taken."""

    why: str
    cost: str = "refused"


TextMeaning = dict[str, Any] | Refusal | None
"""meaning of a text; None if nothing here understands it"""


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
        if "all_threads" in found and "all_threads" in self:  # the processors' and the benchmark's
            found = {"more_threads" if key == "all_threads" else key: value for key, value in found.items()}
        for key, value in found.items():
            if key == "engine" and key in self and value.is_kin(self[key].value):
                named = [bool(re.search(r"\d", each)) for each in (self[key].piece, piece)]
                if named == [True, False]:
                    continue  # 'PostgreSQL' beside 'PostgreSQL 16' says no more
                if named == [False, True]:
                    del self[key]
            if key in self and self[key].value != value:
                names = table()["meanings"] | table()["keys"]
                meaning = names.get(key, key.replace("_", " "))
                raise InputError(f"{WHERE}: '{self[key].piece}' and '{piece}' both say {meaning}; keep one of them")
            self.setdefault(key, Phrase(value, piece))


def read_line(line: str) -> Phrases:
    """Every thing that a line says, by its name. Raises InputError for what is not understood or said twice."""
    phrases = Phrases()
    if not line:
        return phrases
    if len(line) > MOST_LETTERS or not line.isprintable():
        raise InputError(
            f"{WHERE}: a line of printable text, of at most {MOST_LETTERS:,} letters; for example '{EXAMPLE}'"
        )
    _meaning.cache_clear()
    benchmark = BENCHMARK.search(line)
    driver = next(filter(None, benchmark.groups()), "").lower().replace("ycsb", "YCSB") if benchmark else ""
    plain = re.sub(r"\((?:r|tm|c)\)|[®™]", "", line, flags=re.I).replace("@", " at ")
    plain = re.sub(r"\b(\d{1,2})[x×](\d)", r"\1 x \2", plain)
    plain = re.sub(r"(?i)(?<=[a-z])/(?=\d+(?!\d) ?(?!t\b))|(?<=\))\s", ", ", plain)
    pieces = [each for text in SPLIT.split(plain) for each in _pieces(" ".join(text.split()), driver)]
    if not pieces:
        raise InputError(f"{WHERE}: got an empty line; for example '{EXAMPLE}'")
    for piece, found in pieces:
        phrases.add(found, piece)
    if "local" in phrases and not {"instance", "volume", "disk"} & phrases.keys():
        local = phrases.pop("local").piece
        phrases["disk"] = Phrase("nvme" if "nvme" in local.lower() else "ssd", local)
    processors = {"words", "cpu_entry", "instance"} & phrases.keys()
    old_cloud = "virtual" in phrases and phrases.value("ghz", CURRENT_GHZ) < CURRENT_GHZ
    if "ghz" in phrases and not processors and not old_cloud and not machine_named(phrases.value("name", "")):
        phrases["clock"] = phrases.pop("ghz")
    _sort_sizes(phrases)
    _sort_threads(phrases)
    return phrases


def understood(piece: str) -> dict[str, Any] | None:
    """What a piece says; None if nothing here understands it. Raises InputError for what it can't say."""
    found = _meaning(" ".join(piece.split()), "")
    if isinstance(found, Refusal):
        raise InputError(f"{WHERE}: '{piece}': {found.why}")
    return found


def system_of_maker(name: str) -> str | None:
    """The operating system that came with a machine of that name; None if no maker of the name had one of its own."""
    known: dict[str, str] = table()["systems_of_makers"]
    return next((known[word] for word in name.lower().split() if word in known), None)


def machine_named(name: str) -> dict[str, Any]:
    """The catalogue's machine whose name begins so (wholly so if the name has no digit), nothing if it has none."""
    mine = re.sub(r"\W", "", name.lower())
    for entry in catalogue_names("machines"):
        named = catalogue_entry("machines", entry)
        theirs = re.sub(r"\W", "", str(named["name"]).lower())
        if mine == theirs or (re.search(r"\d", mine) and theirs.startswith(mine)):
            return named
    return {}


def _names_a_machine(piece: str) -> bool:
    """Whether a piece is a machine's name without saying so: the catalogue's, or one with a maker's word."""
    makers = {*table()["makers"].split(), *table()["systems_of_makers"]}
    return bool(makers & {*re.split(r"[\s-]+", piece.lower())} or machine_named(piece))


def _pieces(text: str, driver: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Pieces between two commas, and what each says. Raises InputError for what is not understood or refused."""
    if not text:
        return
    if name := NAME.fullmatch(text):
        yield text, {"name": name[1]}
        return
    parsed = [(text, _meaning(text, driver))]
    if not isinstance(parsed[0][1], dict):
        parts = _split(text.split(" "), driver)
        parsed = parts if parsed[0][1] is None or all(isinstance(found, dict) for _, found in parts) else parsed
    for piece, found in parsed:
        if isinstance(found, Refusal):
            raise InputError(f"{WHERE}: '{piece}': {found.why}")
    strange = [piece for piece, found in parsed if found is None]
    said = {thing for _, found in parsed if isinstance(found, dict) for thing in found}
    nameless = next((piece for piece in strange if not _names_a_machine(piece)), None)
    listed = (catalogued_cpu(read_processors(piece)) for piece, found in parsed if found is not None)
    is_listed = any(entry is not None and speed_factor(entry) for entry in listed)
    if strange and not is_listed and said <= {"words", "processor"} and _names_a_machine(text):
        parsed = [(text, {"name": text})]
    elif nameless is not None:
        processors = read_processors(text)
        known = catalogued_cpu(processors) or processor_family(processors.words)
        lenient = _processors(processors)
        if lenient is None or not said or known or not said <= PROCESSORS:
            raise InputError(_not_understood(nameless))
        parsed = [(text, lenient)]  # of no known family, which their own part says
    for piece, found in parsed:
        yield piece, found if isinstance(found, dict) else {"name": piece}


def _split(words: list[str], driver: str) -> list[tuple[str, TextMeaning]]:
    """Pieces without commas: the way to part the words that leaves the fewest strange, and has the fewest pieces."""
    best: list[tuple[float, list[tuple[str, TextMeaning]]]] = [(0.0, [])]
    for end in range(1, len(words) + 1):
        ways = []
        for start in range(max(0, end - MOST_WORDS), end):
            cost, before = best[start]
            text = " ".join(words[start:end]).strip("().:")
            found = _meaning(text, driver)
            if found is not None:
                kind = found.cost if isinstance(found, Refusal) else "piece"
                ways.append((cost + COSTS[kind], [*before, (text, found)]))
            elif start == end - 1 and {words[start].lower(), text.lower()} & _noise():
                ways.append((cost + COSTS["noise"], before))
            elif start == end - 1:
                *others, last = before or [("", {})]
                strange = [*others, (f"{last[0]} {text}", None)] if last[1] is None else [*before, (text, None)]
                ways.append((cost + COSTS["strange"], strange))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]


@cache
def _noise() -> frozenset[str]:
    return frozenset(table()["noise"].split())


@lru_cache(maxsize=8192)
def _meaning(piece: str, driver: str) -> TextMeaning:
    """What a piece says in a line of this benchmark."""
    try:
        return _understood(piece, driver)
    except ValueError as error:
        return Refusal(str(error))


def _understood(piece: str, driver: str) -> TextMeaning:
    """What a piece says; None if nothing here understands it. Raises ValueError for what it can't say."""
    text = piece.lower()
    for pattern, match in matches(piece, driver):
        return Refusal(pattern.form.refuse, "piece") if pattern.form.refuse else pattern.says(match)
    if (instance := instance_named(text)) is not None:
        managed = re.search(r"\bdb[.-]|\b(?:rds|sql)\b|^(?:gp|mo|b|bc)_", text)
        return {"instance": instance} | ({"managed": True} if managed else {})
    if (entry := _entry(text)) is not None:
        return entry
    if (engine := engine_of(piece)) is not None:
        return {"engine": engine}
    if (system := system_of(piece)) is not None:
        return {"system": system}
    words = text.split(" ")
    if {words[0], words[-1]} & JOINING:
        return None
    strange = JOINING & {*words} - {"of"} or re.search(r"\d ?[gt]i?b\b", text)  # in a processor's name
    if (parts := _volumes(text) or _disks(text)) or strange:
        return parts
    processors = read_processors(piece)
    return None if processors.left_over() else _processors(processors)


def _not_understood(piece: str) -> str:
    """Three lines: what is not understood, the nearest to write, and an example."""
    examples = [example for line in table()["examples"] for example in line]
    words = [word for word in re.split(r"[\s-]+", piece) if len(word) > 3]
    hints = [hint for hint in (did_you_mean(word, table()["hints"]) for word in words) if hint]
    near = [each for each in examples if any(f"'{word}'" in "".join(hints) for word in each.split())][:3]
    nearest = ", ".join(map(repr, near or examples[:9]))
    return (
        f"{WHERE}: '{piece}': not understood{hints[0] if hints else ''}\n"
        f"{WHERE}: pieces are like {nearest}; or leave it out (docs/how-to/describe-a-machine.md has all)\n"
        f"{WHERE}: for example '{EXAMPLE}'"
    )


def _entry(name: str) -> dict[str, Any] | None:
    """A part by its name in the catalogue, as options have it; None if it is none's."""
    kind = next((kind for kind in ENTRIES if "-" in name and name in catalogue_names(kind)), None)
    return None if kind is None else {ENTRIES[kind]: NamedEngine(name) if kind == "databases" else name}


def _volumes(text: str) -> dict[str, Any] | None:
    """Network volumes: a count, a kind, its size and rates, a RAID level, in any order."""
    volume = read_volume(text)
    if volume is None:
        return None
    others = _disks(f"{volume.remainder} disk" if volume.remainder else "disk")
    if others is None or (volume.size_gib is not None and "disk_gib" in others):
        return None
    if re.fullmatch(r"\d+", volume.remainder) and not text.startswith(volume.remainder):
        raise ValueError(f"{volume.remainder} of what? write 'gp3 {volume.remainder} GiB', or '3000 IOPS'")
    where = "log_" if any(key.startswith("log_") for key in others) or volume.remainder in LOG_WORDS else ""
    found = {"volume": volume.entry, "volume_gib": volume.size_gib, "requests": volume.requests_per_s,
             "mib": volume.mib_per_s}  # fmt: skip
    return others | {f"{where}{key}": value for key, value in found.items() if value is not None}


def _disks(text: str) -> dict[str, Any] | None:
    """Disks: a count, a kind, its revolutions and room, a RAID level, in any order, but the room behind the count."""
    found: dict[str, Any] = {}
    remainder = f" {re.sub(r'[()]', ' ', text)} "
    named = next((name for name in catalogue_names("disks") if "-" in name and f" {name} " in remainder), None)
    if named is not None:
        found["disk"], remainder = named, remainder.replace(f" {named} ", " ")
    places: dict[str, int] = {}
    for term in disk_terms():
        of_model = "disk" in term.form.says and found.get("disk", "ssd") not in KINDS  # whose kind may be said too
        if term.form.says.keys() | term.form.sets.keys() <= found.keys() and not of_model:
            continue
        match = re.search(f" (?:{term.expression.pattern})(?= )", remainder, re.I)
        if match is None:
            continue
        said = {} if of_model else term.says(match)
        places |= dict.fromkeys(said, match.start())
        found |= said
        remainder = remainder[: match.start()] + " " * len(match[0]) + remainder[match.end() :]
    noise = re.fullmatch(rf"(?: *(?:{table()['disks']['any']})(?= ))* *", remainder)
    if not {"disk", "level", "a_disk", "rpm"} & found.keys() or not noise:
        return None
    if "disks" in places and places.get("disk_gib", len(text)) < places["disks"]:
        return None
    found.pop("a_disk", None)
    is_log = found.pop("log", False)
    return {_log_thing(key): value for key, value in found.items()} if is_log else found


def _log_thing(thing: str) -> str:
    return thing.replace("disks.disk", "log_disk") if "." in thing else f"log_{thing}"


def _processors(phrase: ProcessorPhrase) -> dict[str, Any] | None:
    """Processors, known or not; None if the words aren't about any."""
    if not phrase.says_so():
        return None
    found = {"count": phrase.count, "cores": phrase.cores, "ghz": phrase.ghz, "words": phrase.words or None}
    return {key: value for key, value in found.items() if value is not None} | (
        {"processor": phrase.name} if phrase.words else {}
    )


def _sort_sizes(phrases: Phrases) -> None:
    """Take '32 GB SSD' for memory and a kind of disk where nothing else says the memory.

    Raises InputError where the size may be the one or the other, or a drive is smaller than the memory.
    """
    thing = next((thing for thing in ("disk_gib", "volume_gib") if thing in phrases), None)
    flash = phrases.value("disk", "ssd") in {"ssd", "sata-ssd", "nvme"}
    if (
        thing is None
        or not flash
        or {"instance", "managed"} & phrases.keys()
        or machine_named(phrases.value("name", ""))
    ):
        return
    piece, size = phrases[thing].piece, phrases[thing].value
    gb = round(size * (2**30 / 1e9 if thing == "disk_gib" else 1.0), 3)
    kind = re.sub(r"(?i)\d[\d.,]* ?[gt]i?b ?", "", piece).strip() or "SSD"
    either = f"{WHERE}: '{piece}': write '{gb:g} GB RAM, {kind}', or '32 GB RAM, {gb:g} GB {kind}': it"
    if "memory_gib" in phrases:
        count = phrases.value("disks", 1)
        if size * count < phrases["memory_gib"].value / 2 and thing == "disk_gib":
            raise InputError(f"{either} and '{phrases['memory_gib'].piece}' make a drive smaller than the memory")
    elif phrases.value("disks", 1) == 1 and gb in EITHER_GB:
        raise InputError(f"{either} may be the memory's size or the drive's")
    elif phrases.value("disks", 1) == 1 and gb in MEMORY_GB:
        del phrases[thing]
        phrases["memory_gib"] = Phrase(gb, piece)


def _sort_threads(phrases: Phrases) -> None:
    """Take '16 threads' for the processors' or the benchmark's. Raises InputError where they may be either's."""
    if "all_threads" not in phrases:
        return
    cores = phrases.value("cores", 0) * phrases.value("count", 1)
    said = [phrases.pop(thing) for thing in ("all_threads", "more_threads") if thing in phrases]
    of_cores = [each for each in said if cores and each.value in {cores, 2 * cores}]
    of_clients = "driver" in phrases and "clients" not in phrases
    if len(said) == 1 and of_cores and said[0].piece == phrases.piece("cores"):
        of_clients = False
    if len(said) - bool(of_cores) != of_clients:
        count, piece = said[-1].value, said[-1].piece
        raise InputError(
            f"{WHERE}: '{piece}': of the processors, or clients? write '2 threads per core', or '{count} clients'"
        )
    if of_cores:
        phrases["threads"] = Phrase(of_cores[0].value // cores, of_cores[0].piece)
        said.remove(of_cores[0])
    if said:
        phrases["clients"] = said[0]
