"""Which processors a few words mean: an entry of the catalogue, or a speed by family and clock."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field

from oltpsim.models.catalogue.entries import catalogue_entry, catalogue_names
from oltpsim.models.input import Fraction, Name, Number, Spec, Text, WholeNumber, as_mapping, parse_yaml, validated

CORES = {"single": 1, "dual": 2, "quad": 4, "hexa": 6, "six": 6, "octa": 8, "eight": 8}
COUNTS = {"one": 1, "two": 2, "dual": 2, "three": 3, "four": 4, "eight": 8}
NOISE = {"intel", "amd", "sun", "cpu", "cpus", "processor", "processors", "of", "at", "with", "the", "a"}
CLOCK = re.compile(r"(?<![\w.])(\d{1,5}(?:\.\d{1,4})?) ?([gm])hz\b")
WORDS_OF_CORES = re.compile(
    rf"\b({'|'.join(CORES)}|\d{{1,4}})[- ]cores?\b(?! (?:2|duo|solo|quad|extreme|i\d))(?: of)?", re.ASCII
)
COUNT = re.compile(rf"^(?:(\d{{1,4}}) ?[x×](?!eon) ?|(\d{{1,4}}) (?=[a-z])|({'|'.join(COUNTS)}) (?=[a-z]))")
ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "iiii": "3i", "iiv": "3i", "piii": "pentium 3", "p3": "pentium 3",
         "p4": "pentium 4", "athlon64": "athlon 64", "x86_64": "x86 64"}  # fmt: skip
MODEL_NUMBER = re.compile(r"[a-z]?\d{3,5}[a-z]{0,2}|\d[a-z]\d\d")
SAME_CLOCK = 0.02
"""two clocks are the same within this share of them"""


class FamilySpec(Spec):
    """ProcessorPhrase of one architecture, whose speed follows the clock."""

    names: tuple[Name, ...] = Field(min_length=1)
    speed_per_ghz: Number = Field(gt=0)
    factor: Number = Field(gt=1)
    year: WholeNumber
    cores: WholeNumber = Field(ge=1)
    threads_per_core: WholeNumber = Field(default=1, ge=1, le=2)
    memory_bus_share: Fraction = 0.0
    source: Text


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
        matched = catalogued_cpu(self)
        known = set(read_processors(str(catalogue_entry("cpus", matched)["model"])).words) if matched else set()
        best = _best(self.words)
        if best is None:
            return [word for word in self.words if word not in known]
        known |= {word for word in self.words if any(_alike(candidate, word) for candidate in best[0].split())}
        return [word for word in self.words if word not in known and not MODEL_NUMBER.fullmatch(word)]


@cache
def processor_families() -> dict[str, FamilySpec]:
    """Families of processors, by name."""
    where = "models/catalogue/data/processor_families.yaml"
    text = (
        resources.files("oltpsim.models").joinpath("catalogue/data/processor_families.yaml").read_text(encoding="utf-8")
    )
    return validated(dict[str, FamilySpec], as_mapping(parse_yaml(text, where), where), where)


def read_processors(piece: str) -> ProcessorPhrase:
    """What a piece says: '2 x quad-core Xeon 5410 2.33 GHz' is 2 processors of 4 cores at 2.33 GHz."""
    text = " ".join(re.sub(r"\((?:r|tm)\)|®|™|,", " ", piece.lower()).split())
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
    """The family with the longest name among the words."""
    best = _best(words)
    return None if best is None else best[1]


def catalogued_cpu(phrase: ProcessorPhrase) -> str | None:
    """The entry of the catalogue that is meant: by its number or words, and its clock if that is said."""
    mine = set(phrase.words)
    for name in catalogue_names("cpus"):
        entry = read_processors(str(catalogue_entry("cpus", name)["model"]))
        theirs = set(entry.words)
        if not mine or entry.ghz is None or "virtual" in theirs or "current" in theirs:
            continue
        same = phrase.ghz is not None and abs(phrase.ghz / entry.ghz - 1.0) <= SAME_CLOCK
        numbers = {word for word in theirs if re.fullmatch(r"\d{3,5}", word)}
        named = mine <= theirs and theirs - mine <= numbers  # a bare Xeon is no Xeon Platinum
        if (same and named) or (numbers & mine and (same or phrase.ghz is None)):
            return name
    return None


def _as_written(piece: str, words: list[str]) -> str:
    """The words of a name in the letters that they were written in."""
    written = {word.lower(): word for word in re.split(r"[\s,-]+", piece)}
    plain = {"pentium": "Pentium", "athlon": "Athlon"}
    return " ".join(written.get(word, plain.get(word, word)) for word in words if word not in NOISE - {"intel", "amd"})


def _best(words: tuple[str, ...]) -> tuple[str, str] | None:
    """The longest name of a family that stands among the words, and the family.

    Model numbers may stand between the words of a name: `xeon e5 v3` is in `xeon e5 2680 v3`.
    """
    unnumbered = tuple(word for word in words if not MODEL_NUMBER.fullmatch(word))
    matched = [
        (len(name), name, family)
        for family, spec in processor_families().items()
        for name in spec.names
        if _holds(words, name.split()) or _holds(unnumbered, name.split())
    ]
    return max(matched)[1:] if matched else None


def _holds(words: tuple[str, ...], name: list[str]) -> bool:
    """Whether the words of a name stand among others, one behind the other."""
    starts = range(len(words) - len(name) + 1)
    return any(all(map(_alike, name, words[at : at + len(name)])) for at in starts)


def _alike(pattern: str, word: str) -> bool:
    """Whether a word is what a name says; x stands for a digit in names of digits."""
    if re.fullmatch(r"\d[\dx]*x", pattern):
        return re.fullmatch(pattern.replace("x", r"\d"), word.lstrip("elx")) is not None
    return pattern == word


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


def cpu_by_number(model: str) -> str | None:
    """The catalogue's entry whose number, or name with a digit, is among the words: 8375C, Graviton4."""
    words = set(read_processors(model).words)
    for name in catalogue_names("cpus"):
        numbers = {
            word for word in name.split("-") if re.search(r"[a-z]\d|\d[a-z]", word) or re.fullmatch(r"9\d{3}", word)
        }
        if numbers and numbers <= words:
            return name
    return None
