"""Pieces of a line that name a benchmark of rows, its transactions and its size: pgbench, sysbench, YCSB."""

import re
from collections.abc import Callable, Iterator
from typing import Any

NUMBER = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,6})?)"
COUNT = rf"{NUMBER} ?(k|m|bn?|thousand|million|billion)?"
TIMES = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
RECORDS_OF_UNIT = 1_000_000
NAMES = {"pgbench": "pgbench", "sysbench": "sysbench", "ycsb": "YCSB"}
NAMED = re.compile(r"(?:measured )?(?:by )?(pgbench|sysbench|ycsb)(?: v?[12]\.[\d.]+)?(?:[ _-]|$)", re.I)
VARIANTS = {
    "pgbench": {
        r"(?:select|read)[ _-]only|(?-i:-S)(?![\w-])": "select only",
        r"simple[ _-]update|(?-i:-N)(?![\w-])": "simple update",
        r"tpc-?b(?:[ _-]like)?": "TPC-B-like",
    },
    "sysbench": {
        r"(?:oltp[ _-])?read[ _/-]write": "read-write",
        r"(?:oltp[ _-])?read[ _-]only": "read-only",
        r"(?:oltp[ _-])?write[ _-]only": "write-only",
        r"(?:oltp[ _-])?point[ _-]selects?": "point select",
        r"(?:oltp[ _-])?update[ _-]index": "update index",
        r"oltp": "",
    },
    "YCSB": {r"(?:workload[ _-]?)?([a-f])": ""},
}
"""of each benchmark: words, and the transactions that they name; empty: those of a letter, or the usual ones"""
ALONE = (
    ("pgbench", r"select[ _-]only|(?-i:-S)|simple[ _-]update|(?-i:-N)"),
    ("sysbench", r"oltp[ _-]\w+(?:[ _-]\w+)?|read[ _/-]write|(?:read|write)[ _-]only"),
    ("sysbench", r"point[ _-]selects?|update[ _-]index"),
    ("YCSB", r"workload[ _-]?[a-f]"),
)
"""words that name transactions of one benchmark without its name"""


def row_piece(piece: str) -> dict[str, Any] | None:
    """What a piece says of a benchmark of rows; None if it is no such piece. Raises ValueError for a wrong number."""
    text = re.sub(r"\s+", " ", piece).strip()
    named = NAMED.match(text)
    if named is not None:
        benchmark, text = NAMES[named[1].lower()], text[named.end() :]
    else:
        benchmark = next((name for name, words in ALONE if re.fullmatch(words, text, re.I)), "")
    found = {"driver": benchmark} if benchmark else {}
    for words, read in _read(text, benchmark):
        if words is None:
            return None
        for thing, value in read.items():
            if found.get(thing, value) != value:
                raise ValueError(f"{words!r} and what stands before it say two things; keep one of them")
            found[thing] = value
    return found or None


def _read(text: str, benchmark: str) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """The words of a text one by one, with what they say; None in the place of words that nothing here understands."""
    readers = [*_variants(benchmark), *SIZES, *([THREADS, *OPTIONS[benchmark]] if benchmark else ())]
    while text := text.lstrip():
        for pattern, read in readers:
            if match := re.match(rf"(?:{pattern})(?=\s|$)", text, re.I):
                yield match[0], read(match)
                text = text[match.end() :]
                break
        else:
            yield None, {}
            return


PieceWords = Callable[[re.Match[str]], dict[str, Any]]


def _variants(benchmark: str) -> Iterator[tuple[str, PieceWords]]:
    for words, variant in VARIANTS.get(benchmark, {}).items():
        if variant:
            yield words, lambda _, variant=variant: {"variant": variant}  # type: ignore[misc]
        elif benchmark == "YCSB":
            yield words, lambda match: {"variant": match[1].upper()}
        else:
            yield words, lambda _: {}


def _count(number: str, times: str | None) -> int:
    """A whole number above 0, with or without thousands' commas, or of thousands and millions. Raises ValueError."""
    value = float(number.replace(",", "")) * (TIMES[times[0].lower()] if times else 1.0)
    whole = round(value)
    if whole < 1 or abs(value - whole) > 1e-6 * whole:
        raise ValueError(f"got {number}{times or ''}; must be a whole number, at least 1")
    return whole


def _records(match: re.Match[str]) -> dict[str, Any]:
    records = _count(match[1], match[2])
    if records % RECORDS_OF_UNIT:
        nearest = max(1, round(records / RECORDS_OF_UNIT))
        raise ValueError(f"got {records:,} records, which are counted by the million here; nearest: {nearest} million")
    return {"records": records // RECORDS_OF_UNIT}


def _tables(match: re.Match[str]) -> dict[str, Any]:
    rows = {"table_rows": _count(match[2], match[3])} if match[2] else {}
    return {"tables": _count(match[1], None)} | rows


SIZES: tuple[tuple[str, PieceWords], ...] = (
    (rf"(?:at )?scale(?:[ -]?factor)?(?: of| ?=)? ?{NUMBER}", lambda match: {"scale": _count(match[1], None)}),
    (rf"{NUMBER} tables?(?: (?:of|with|x) {COUNT} rows(?: each)?)?", _tables),
    (
        rf"{COUNT} rows(?: each| per table| a table| in each(?: table)?)?",
        lambda match: {"table_rows": _count(match[1], match[2])},
    ),
    (rf"{COUNT} records", _records),
)
THREADS: tuple[str, PieceWords] = (
    rf"{NUMBER} (?:threads|clients)",
    lambda match: {"clients": _count(match[1], None)},
)
"""behind a benchmark's name; alone they may be a processor's"""
OPTIONS: dict[str, tuple[tuple[str, PieceWords], ...]] = {
    "pgbench": (
        (rf"-s ?{NUMBER}", lambda match: {"scale": _count(match[1], None)}),
        (rf"-c ?{NUMBER}", lambda match: {"clients": _count(match[1], None)}),
        (rf"(?-i:-T) ?{NUMBER}", lambda match: {"seconds": float(_count(match[1], None))}),
        (rf"-j ?{NUMBER}", lambda _: {}),
    ),
    "sysbench": (
        (rf"--tables[= ]{NUMBER}", lambda match: {"tables": _count(match[1], None)}),
        (rf"--table[_-]size[= ]{NUMBER}", lambda match: {"table_rows": _count(match[1], None)}),
        (rf"--threads[= ]{NUMBER}", lambda match: {"clients": _count(match[1], None)}),
        (rf"--time[= ]{NUMBER}", lambda match: {"seconds": float(_count(match[1], None))}),
        (r"--rand-type[= ]uniform|run", lambda _: {}),
    ),
    "YCSB": (),
}
"""of each benchmark: options of its command, of which some (pgbench's -j) say nothing that is modelled"""
