"""Which processors a few words mean: an entry of the catalogue, or a speed by family and clock."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from oltpsim.models.catalogue.entries import FileState, catalogue_entry, catalogue_files, catalogue_values
from oltpsim.models.catalogue.families import processor_families

CORES = {"single": 1, "dual": 2, "quad": 4, "hexa": 6, "six": 6, "octa": 8, "eight": 8}
COUNTS = {"one": 1, "two": 2, "dual": 2, "three": 3, "four": 4, "eight": 8}
NOISE = {"intel", "amd", "aws", "sun", "cpu", "cpus", "processor", "processors", "of", "at", "with", "the", "a", "@"}
CLOCK = re.compile(r"(?<![\w.])(\d{1,5}(?:\.\d{1,4})?) ?([gm])hz\b")
WORDS_OF_CORES = re.compile(
    rf"\b({'|'.join(CORES)}|\d{{1,4}})[- ]cores?\b(?! (?:2|duo|solo|quad|extreme|i\d))(?: of)?", re.ASCII
)
COUNT = re.compile(rf"^(?:(\d{{1,4}}) ?[x×](?!eon) ?|(\d{{1,4}}) (?=[a-z])|({'|'.join(COUNTS)}) (?=[a-z]))")
ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "iiii": "3i", "iiv": "3i", "piii": "pentium 3", "p3": "pentium 3",
         "p4": "pentium 4", "athlon64": "athlon 64", "x86_64": "x86 64"}  # fmt: skip
MODEL_NUMBER = re.compile(r"[a-z]{0,2}\d{2,5}(?:[a-z]\d?|[a-z]{2,3})?\+?|\d+[a-z]\d{1,2}x?")
YEAR = re.compile(r"20[0-3]\d")
SERIES = {"xeon", "core", "gold", "silver", "platinum", "bronze", "apple", "google", "azure", "ampere", "ryzen",
          "3", "5", "7", "9", "i3", "i5", "i7", "i9"}  # fmt: skip
"""words of a processor's name that a line may leave out"""
JOINED_WORDS = (
    (re.compile(r"(?<!core )\b(?=i[3579][ -]\d)"), "core "),
    (re.compile(r"(?<!xeon )(?<!xeon cpu )\b(?=(?:e[357]|gold|silver|platinum|bronze)[ -]\d{4})"), "xeon "),
    (re.compile(r"\bgraviton (?=\d)"), "graviton"), (re.compile(r"(?<=\d)(?=v\d\b)"), " "),
    (re.compile(r"\b\d\dth gen\b|(?<=[\dlw]) 0(?= @|$)"), ""),
    (re.compile(r"^(.*[a-z\d+])(?<!athlon 64) ?[x×] ?([248])$"), r"\2 x \1"),
)  # fmt: skip
"""spellings of one name that are made one"""
SECOND_THREAD_GAIN = 0.2
"""default of models/machine/cpu.py"""
SAME_CLOCK = 0.02
"""two clocks are the same within this share of them"""


@dataclass(frozen=True)
class ProcessorPhrase:
    """What a piece says of processors; None for what it doesn't. `name`: its words, as `words` in small letters."""

    count: int | None
    cores: int | None
    ghz: float | None
    name: str
    words: tuple[str, ...]

    def says_so(self) -> bool:
        """Whether the piece is about processors at all, be they known or not."""
        named = bool(self.words) and (processor_family(self.words) is not None or catalogued_cpu(self) is not None)
        known = named and not self.left_over()
        return self.ghz is not None or self.cores is not None or known or (not self.words and bool(self.name))

    def left_over(self) -> list[str]:
        """Words that belong to no known processor."""
        best = _best(self.words)
        if catalogued_cpu(self) is not None:
            return []
        known = {word for word in self.words if best and any(_alike(name, word) for name in best[0].split())}
        strange = [word for word in self.words if word not in known]
        models = [word for word in self.words if re.search(r"\d{3}", word) and not YEAR.fullmatch(word)]
        numbers = {word for word in strange if MODEL_NUMBER.fullmatch(word)} if len(models) < 2 else set()
        return [word for word in strange if best is None or word not in SERIES | numbers]


def read_processors(piece: str) -> ProcessorPhrase:
    """What a piece says: '2 x quad-core Xeon 5410 2.33 GHz' is 2 processors of 4 cores at 2.33 GHz."""
    text = " ".join(re.sub(r"\((?:r|tm)\)|®|™|,", " ", piece.lower()).split())
    for pattern, spelling in JOINED_WORDS:
        text = pattern.sub(spelling, text)
    ghz = None
    if clock := CLOCK.search(text):
        ghz = float(clock[1]) / (1.0 if clock[2] == "g" else 1000.0)
        text = f"{text[: clock.start()]} {text[clock.end() :]}"
    if cores := WORDS_OF_CORES.search(text):
        text = f"{text[: cores.start()]} {text[cores.end() :]}"
    text = re.sub(r"\s+", " ", text).strip(" -")
    count = COUNT.match(text + " ")
    if count:
        text = text[count.end() :].strip()
    words = [part for word in re.split(r"[\s-]+", text) for part in ROMAN.get(word, word).split()]
    candidate = next((word for word in (count.groups() if count else ()) if word), None)
    return ProcessorPhrase(
        count=None if candidate is None else COUNTS.get(candidate) or int(candidate),
        cores=None if cores is None else CORES.get(cores[1]) or int(cores[1]),
        ghz=ghz,
        name=_as_written(piece, words),
        words=tuple(word for word in words if word not in NOISE),
    )


def processor_family(words: tuple[str, ...]) -> str | None:
    """The family with the longest name among the words, or that of the year among them in its line of products."""
    best = _best(words)
    if best is None:
        return next((_listed().families[name] for name in _numbered(words) if name in _listed().families), None)
    line = best[0].split()[0]
    years = [int(word) for word in words if YEAR.fullmatch(word) and word not in best[0]]
    starts = [(spec.lines[line], name) for name, spec in processor_families().items() if line in spec.lines]
    return max(((start, name) for start, name in starts if years and start <= years[0]), default=best)[1]


def catalogued_cpu(phrase: ProcessorPhrase) -> str | None:
    """The entry of the catalogue that is meant: by its number, or by words and the clock of an entry of its own."""
    found = _numbered(phrase.words)
    if phrase.ghz is None:
        return found[0] if found else None
    off = {name: [abs(phrase.ghz / ghz - 1.0) for ghz in _clocks(name)] for name in found or _names_with(phrase.words)}
    return min((name for name in off if min(off[name]) <= SAME_CLOCK), key=lambda name: off[name][0], default=None)


def speed_factor(name: str) -> float | None:
    """One standard deviation of the speed of a processor of the table, times or divided by; None for other entries."""
    family = _listed().families.get(name)
    return None if family is None else processor_families()[family].factor


def nearest_processors(words: tuple[str, ...]) -> list[str]:
    """Up to two processors whose names are like some words: the nearest numbers, then those that share most words."""
    mine = " ".join(words)
    models = {" ".join(read_processors(model).words): model for model in _listed().models.values()}

    def distance(theirs: str) -> tuple[int, int, int]:
        numbers = [int(found[0]) if (found := re.search(r"\d{3,5}", name)) else 0 for name in (mine, theirs)]
        return abs(numbers[0] - numbers[1]), -len(set(words) & set(theirs.split())), len(theirs)

    alike = {*difflib.get_close_matches(mine, models, 50, 0.6)}
    alike |= {theirs for theirs in models if {*words} & {*theirs.split()} - SERIES and distance(theirs)[0] == 0}
    return [models[name].partition(",")[0] for name in sorted(alike, key=lambda name: (distance(name), name))[:2]]


@dataclass(frozen=True)
class ListedProcessors:
    """Processors of the catalogue: models and families by entry, and entries with their words by a word with a digit.

    Entries with a file of their own have no family. Processors without any digit in their names are there by each word.
    """

    models: dict[str, str]
    families: dict[str, str]
    numbers: dict[str, list[tuple[str, set[str]]]]


def _listed() -> ListedProcessors:
    return _listed_in(catalogue_files("cpus"))


@lru_cache(maxsize=8)
def _listed_in(_files: tuple[FileState, ...]) -> ListedProcessors:
    """All processors; the argument is what they come from, so that a changed file is read again."""
    models, families = catalogue_values("cpus", "model"), catalogue_values("cpus", "family")
    numbers: dict[str, list[tuple[str, set[str]]]] = {}
    for name, model in models.items():
        words = set(re.split(r"[\s-]+", model.lower()) if name in families else read_processors(model).words)
        numbered = {word for word in words - SERIES if re.search(r"\d", word)}
        for word in numbered or (words - SERIES if name in families else ()):
            numbers.setdefault(word, []).append((name, words))
            if word.endswith("+"):
                numbers.setdefault(word[:-1], []).append((name, words - {word} | {word[:-1]}))
    return ListedProcessors(models, families, numbers)


def _numbered(words: tuple[str, ...]) -> list[str]:
    """Entries that have all the words, and no other ones than of series; of equally long names the table's first."""
    mine = set(words)
    candidates = [candidate for word in mine for candidate in _listed().numbers.get(word, ())]
    found = {
        name: (len(theirs - mine), name not in _listed().families, name)
        for name, theirs in candidates
        if mine <= theirs and theirs - mine <= SERIES and (len(mine) > 1 or mine == theirs or not words[0].isdigit())
    }
    return sorted(found, key=lambda name: found[name])


def _names_with(words: tuple[str, ...]) -> list[str]:
    """Entries with a file of their own whose words are these, apart from numbers: a bare Xeon is no Xeon Platinum."""
    mine, found = set(words), []
    for name in _listed().models.keys() - _listed().families.keys():
        theirs = set(read_processors(_listed().models[name]).words)
        numbers = {word for word in theirs if re.fullmatch(r"\d{3,5}", word)}
        if mine and mine <= theirs and theirs - mine <= numbers and not theirs & {"virtual", "current"}:
            found.append(name)
    return sorted(found)


def _clocks(name: str) -> list[float]:
    """Clocks that belong to an entry: that of its name, then of one busy core and of all."""
    entry = catalogue_entry("cpus", name)
    own = read_processors(str(entry["model"])).ghz
    if name not in _listed().families:
        return [own] if own else []
    turbo = float(entry["relative_speed"]) / processor_families()[_listed().families[name]].speed_per_ghz
    return [own or turbo, turbo, turbo * float(entry["all_core_clock_fraction"])]


def _as_written(piece: str, words: list[str]) -> str:
    """The words of a name in the letters that they were written in."""
    written = {word.lower(): word for word in re.split(r"[\s,-]+", piece)}
    plain = {"pentium": "Pentium", "athlon": "Athlon"}
    return " ".join(written.get(word, plain.get(word, word)) for word in words if word not in NOISE - {"intel", "amd"})


def _best(words: tuple[str, ...]) -> tuple[str, str] | None:
    """The longest name of a family whose words stand among the words, in their order, and the family."""
    matched = [
        (len(name), name, family)
        for family, spec in processor_families().items()
        for name in spec.names
        if _holds(iter(words), name)
    ]
    return max(matched)[1:] if matched else None


def _holds(words: Iterator[str], name: str) -> bool:
    """Whether the words of a name come among others, in their order: `xeon e5 v3` in `xeon e5 2680 v3`."""
    return all(any(_alike(wanted, word) for word in words) for wanted in name.split())


def _alike(pattern: str, word: str) -> bool:
    """Whether a word is what a name says; x stands for a character in names of digits, which letters may surround."""
    if pattern == word:
        return True
    if not re.fullmatch(r"\d[\dx]*x\d?", pattern):
        return False
    return re.fullmatch(f"[elwx]?{pattern.replace('x', '[0-9a-z]')}(?:[a-z][0-9]?|[a-z]{{2,3}})?[+]?", word) is not None


LISTED_CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*GHz", re.IGNORECASE)


def threads_per_core(model: str, arch: str) -> int:
    """Hardware threads of a core, as the catalogue has the processor; by its architecture if it hasn't."""
    entry = cpu_by_number(model)
    if entry is not None:
        return int(catalogue_entry("cpus", entry).get("threads_per_core", 1))
    return 1 if arch.startswith("arm") else 2


def cpu_keys(model: str, clock: str, vcpus: int, threads: int) -> dict[str, Any] | None:
    """Processors by their name and clock ('3.5 GHz'), as keys of a cpu; None if their speed can't be told.

    `vcpus`: hardware threads, `threads` of them for each core; an odd thread has a core of its own.
    """
    cores = -(-vcpus // threads)
    threads = threads if vcpus > 1 else 1
    entry = cpu_by_number(model)
    if entry is not None:
        same = catalogue_entry("cpus", entry).get("threads_per_core", 1) == threads
        return {"base": entry, "cores": cores} | ({} if same else {"threads_per_core": threads})
    family = processor_family(read_processors(model).words)
    matched = LISTED_CLOCK.search(clock) or LISTED_CLOCK.search(model)
    if family is None or matched is None:
        return None
    ghz = float(matched[1])
    spec = processor_families()[family]
    return {
        "model": model[:150],
        "cores": cores,
        "relative_speed": float(f"{spec.speed_per_ghz * ghz:.4g}"),
        "threads_per_core": threads,
        "source": f"assumption: {ghz:g} GHz x {spec.speed_per_ghz:g}, as {family} processors of the catalogue",
    }


def keys_of_threads(cpu: Mapping[str, Any], vcpus: int) -> dict[str, Any]:
    """Changes of a cpu's keys for so many of its hardware threads.

    An odd number is as many cores whose speed falls with their number as if each thread's sibling were busy by chance,
    the odd one's with another guest: all of them busy, each does half of what a core with two does.
    """
    threads = int(cpu.get("threads_per_core", 1))
    if vcpus % threads == 0:
        return {"cores": vcpus // threads}
    alone = 1.0 if vcpus == 1 else (1.0 + float(cpu.get("second_thread_gain", SECOND_THREAD_GAIN))) / 2.0
    fraction = float(cpu.get("all_core_clock_fraction", 1.0)) * alone
    return {"cores": vcpus, "threads_per_core": 1, "all_core_clock_fraction": round(fraction, 4)}


def cpu_by_number(model: str) -> str | None:
    """The catalogue's entry whose words but for its series are among a model's: 8375C, Graviton4.

    Entries with a file of their own go first: clouds' processors, at the clocks that they hold there.
    """
    words, listed = set(read_processors(model).words), _listed()
    found = [
        (name in listed.families, -len(theirs), name)
        for number in words
        for name, theirs in listed.numbers.get(number, ())
        if theirs - SERIES <= words
    ]
    return min(found)[2] if found else None
