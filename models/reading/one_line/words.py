"""The table of what people write, words.yaml: its forms as patterns, and what a text that matches one says."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field

from oltpsim.models.input import Number, Spec, as_mapping, parse_yaml, validated

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,6})?)"
SEPARATOR = r"(?: ?[=:] ?|[ _]|-(?!\d))?"
"""what a blank of a form stands for"""
BYTES_OF = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}
"""bytes of memory and what lies in it, whose GB has 2^30 as it is sold; a GB of data or of a drive has 10^9"""
DECIMAL_OF = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
TIMES_OF = {"": 1.0, "k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
MICROSECONDS = {"u": 1.0, "µ": 1.0, "mic": 1.0, "ms": 1e3, "mil": 1e3, "mi": 60e6, "s": 1e6, "m": 60e6, "h": 3600e6}
"""us by the first letters of a unit of time"""
SHORT_TIME = r"(?:us|µs|micros(?:econds?)?|ms|milliseconds?)"
TIME = rf"(?:{SHORT_TIME}|s(?:ec(?:onds?)?)?|min(?:utes?)?|(?-i:m)|h(?:(?:ou)?rs?)?)"
MANY = rf"{NUMBER} ?(?:k|m|bn?|thousand|million|billion)?"
SIZE = rf"{NUMBER} ?(?:[kmgt](?:i?b(?:yte)?s?)?)"
RECORDS_OF_UNIT = 1_000_000


class Form(Spec):
    """One form of a piece; see words.yaml."""

    form: str
    says: Mapping[str, Any] = Field(default_factory=dict)
    sets: Mapping[str, Any] = Field(default_factory=dict)
    of: str = ""
    source: str = ""
    factor: Number | None = None
    others: tuple[float, ...] = ()
    disk: str = ""
    refuse: str = ""
    driver: str = ""
    alone: str = ""


@dataclass(frozen=True)
class LineSetting:
    """A value of a scenario's key that a piece says, and the form that it matched."""

    value: Any
    form: Form = field(compare=False)


def _parts(text: str) -> tuple[float, str]:
    """A number above 0, with or without thousands' commas, and its unit. Raises ValueError."""
    digits = text[: len(text) - len(text.lstrip("0123456789.,"))]
    value = float(digits.replace(",", ""))
    if value <= 0:
        raise ValueError(f"got {digits}; must be greater than 0")
    return value, text[len(digits) :].strip()


def _count(text: str) -> int:
    """A whole number above 0, maybe of thousands or millions. Raises ValueError."""
    number, unit = _parts(text)
    value = number * TIMES_OF[unit[:1]]
    if abs(value - round(value)) > 1e-6 * value:
        raise ValueError(f"got {text}; must be a whole number")
    return round(value)


def gib(text: str, of: Mapping[str, float] = BYTES_OF) -> float:
    """GiB of memory, whose GB has 2^30 bytes, or of data and drives, whose hasn't. Raises ValueError."""
    number, unit = _parts(text)
    return number * (BYTES_OF if unit[1:2] == "i" else of)[unit[0]] / 2**30


def _gib_of_logs(text: str) -> float:
    """Log files' size times their number."""
    size = re.search(SIZE, text)
    assert size is not None
    times = re.search(r"\d+", text[: size.start()] + text[size.end() :])
    return gib(size[0]) * (int(times[0]) if times else 1)


def _microseconds(text: str) -> float:
    number, unit = _parts(text)
    return number * next(each for start, each in MICROSECONDS.items() if unit.startswith(start))


def _page_kib(text: str) -> float:
    number, _ = _parts(text)
    return number / 1024 if number >= 1024 else number


def _records(text: str) -> int:
    records = _count(text)
    if records % RECORDS_OF_UNIT:
        nearest = max(1, round(records / RECORDS_OF_UNIT))
        raise ValueError(f"got {records:,} records, which are counted by the million here; nearest: {nearest} million")
    return records // RECORDS_OF_UNIT


def _fraction(text: str) -> float:
    value = _parts(text)[0] / 100
    if value > 1:
        raise ValueError(f"got {text}; at most 100 %")
    return value


def _ghz(text: str) -> float:
    number, unit = _parts(text)
    return number / (1.0 if unit[0] == "g" else 1000.0)


ATOMS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "n": (NUMBER, lambda text: _parts(text)[0]),
    "count": (rf"{NUMBER}k?", _count),
    "few": (r"\d{1,3}(?:,\d{3})*", _count),
    "threads": (NUMBER, _count),
    "bare": (NUMBER, lambda text: float(_count(text))),
    "many": (MANY, _count),
    "requests": (rf"{NUMBER} ?k?", lambda text: float(_count(text))),
    "records": (MANY, _records),
    "gib": (rf"{NUMBER} ?(?:[kmgt]i?b(?:yte)?s?|[gt]i?|mi|(?-i:M))", gib),
    "size": (SIZE, gib),
    "data": (rf"{NUMBER} ?[kmgt]i?b(?:yte)?s?", lambda text: gib(text, DECIMAL_OF)),
    "disk": (rf"{NUMBER} ?[gt](?:i?b)?", lambda text: gib(text.replace("i", ""), DECIMAL_OF)),
    "redo": (rf"(?:\d+ ?[x×*] ?)?{SIZE}(?: ?[x×*] ?\d+)?", _gib_of_logs),
    "s": (rf"{NUMBER} ?{TIME}", lambda text: _microseconds(text) / 1e6),
    "us": (rf"{NUMBER} ?{SHORT_TIME}", _microseconds),
    "zero": (r"(?:0|[2-9]|\d{2,7})", lambda _: 0),
    "pagekib": (rf"(?:{NUMBER} ?ki?b?|4096|8192|16384|32768|65536)", _page_kib),
    "percent": (rf"{NUMBER} ?(?:%|percent|per cent)", _fraction),
    "level": (r"(?:0|10|1\+0|1|5|6)", lambda text: f"raid{text.replace('1+0', '10')}"),
    "krpm": (r"(?:5\.4|7\.2|10|15)", lambda text: int(1000 * float(text))),
    "ghz": (rf"{NUMBER} ?[gm]hz", _ghz),
    "letter": ("[a-f]", str.upper),
    "value": (r"\S+(?: (?:[kmg]i?b|min|m?s))?", str),
    "on": ("(?:on|true|1|yes|enabled)", lambda _: True),
}
"""What stands in angle brackets in a form: its pattern, and its value. Values raise ValueError."""


@dataclass(frozen=True)
class Pattern:
    """A form as a pattern; `atoms`: what each of its groups holds."""

    expression: re.Pattern[str]
    atoms: tuple[str, ...]
    form: Form

    def says(self, match: re.Match[str]) -> dict[str, Any]:
        """What a match says, keys of the scenario as settings. Raises ValueError."""
        values: dict[str, Any] = {}
        for atom, text in zip(self.atoms, match.groups(), strict=True):
            if text is not None and atom not in values:
                values[atom] = ATOMS[atom][1](text.lower())

        def value(of: Any) -> Any:
            return values[of[1:-1]] if isinstance(of, str) and of[:1] == "<" else of

        settings = {key: LineSetting(value(of), self.form) for key, of in self.form.sets.items()}
        driver = {"driver": self.form.alone} if self.form.alone else {}
        return driver | {key: value(of) for key, of in self.form.says.items()} | settings


def pattern_of(form: Form) -> Pattern:
    """The pattern of a form."""
    text = form.form
    for name, macro in table()["macros"].items():
        text = text.replace(f"{{{name}}}", macro)
    text = re.sub(r"(?<!\\)\((?!\?)", "(?:", re.sub(" (?!\\?)", lambda _: SEPARATOR, text))
    text = re.sub(r"(?<![-\w\\])-([A-Z])\b", r"(?-i:-\1)", text)
    atoms = tuple(re.findall(r"<([a-z]+)>", text))
    return Pattern(re.compile(re.sub(r"<([a-z]+)>", lambda atom: f"({ATOMS[atom[1]][0]})", text), re.I), atoms, form)


@cache
def table() -> dict[str, Any]:
    """The table as it is written."""
    text = resources.files("oltpsim.models").joinpath("reading/one_line/words.yaml").read_text(encoding="utf-8")
    return as_mapping(parse_yaml(text, "words.yaml"), "words.yaml")


@cache
def patterns() -> tuple[Pattern, ...]:
    """Forms of whole pieces; those of a benchmark's lines stand first."""
    forms = validated(list[Form], table()["pieces"], "words.yaml")
    return tuple(map(pattern_of, sorted(forms, key=lambda form: not form.driver)))


@cache
def disk_terms() -> tuple[Pattern, ...]:
    """Forms of what a piece about disks is made of."""
    return tuple(map(pattern_of, validated(list[Form], table()["disks"]["terms"], "words.yaml")))


def matches(text: str, driver: str) -> Iterator[tuple[Pattern, re.Match[str]]]:
    """Forms that a whole text has, in a line of this benchmark; empty: of none."""
    for pattern in patterns():
        owner, alone = pattern.form.driver or pattern.form.alone, bool(pattern.form.alone)
        fits = not owner or driver == owner or (alone and not driver)
        if fits and (match := pattern.expression.fullmatch(text)):
            yield pattern, match
