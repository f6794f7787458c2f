"""One file that a tool wrote: bounded, unpacked, decoded, with numbers that are refused where they stand.

Traps: PowerShell's `>` writes UTF-16; a terminal's log holds colours; one file may hold several runs, each a part.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol

from oltpsim.models.input.problems import MOST_SHOWN
from oltpsim.simulator.errors import InputError

MOST_BYTES = 64 << 20
"""A day of iostat in 1 s intervals has some tens of MiB; what is larger is a trace and must be summed up first."""
MOST_OPENING = 1 << 16
SQLITE_MAGIC = b"SQLite format 3\x00"
POINT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
COMMA = re.compile(r"[-+]?\d+,\d+")
CUT_OFF = "the file is cut off: copy it again"
DAMAGED = "the file was edited, mixed or damaged: copy it again"


class Readable(Protocol):
    """What unpacks a file."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes."""
        ...


PACKED: dict[bytes, Callable[[BinaryIO], AbstractContextManager[Readable]]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
"""First bytes of packed files that are read, and what unpacks them"""
UNREAD = {
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it with zstd -d"),
    b"PK\x03\x04": ("a zip archive", "unpack it into a folder"),
    b"\x04\x22\x4d\x18": ("lz4", "unpack it with lz4 -d"),
}
WORKBOOK = ("an Excel workbook", "save each sheet as CSV")
"""Form and remedy of a zip archive that is called .xlsx"""
COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
MOST_APART = 0.01
"""Most that two values of one figure may differ beyond their rounding: tools count at slightly other times"""
MOST_PART = 160
"""Most characters of each part of a refusal"""
LOCALE_REMEDY = "run the tool with LC_ALL=C, so that it writes a decimal point"


@dataclass(frozen=True)
class SourceFile:
    """A file by its path; `name` is how messages and records call it."""

    path: Path
    name: str
    most_bytes: int = MOST_BYTES
    remedy: str = "cut it to the measured interval"
    source: "SourceFile | None" = None
    """file that this is a part of"""
    span: tuple[int, int] = (0, 0)
    """lines of the part, the first and the one after the last, from 0"""

    def part(self, number: int, first: int, end: int) -> "SourceFile":
        """Lines of one run out of several, called FILE#number. Its lines have the numbers of the whole file."""
        return SourceFile(self.path, f"{self.name}#{number}", self.most_bytes, self.remedy, self, (first, end))

    @cached_property
    def stored(self) -> bytes:
        """All bytes, unpacked. Raises InputError for what can't be read or is larger than `most_bytes`."""
        with self._opened() as file:
            size = self.path.stat().st_size
            if size > self.most_bytes:
                self.refuse("", f"{size:,} bytes", f"at most {self.most_bytes:,}", self.remedy)
            stored = file.read()
        unpack = next((opened for magic, opened in PACKED.items() if stored.startswith(magic)), None)
        if unpack is None:
            return stored
        try:
            with unpack(io.BytesIO(stored)) as packed:
                content = packed.read(self.most_bytes + 1)
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            self.refuse("", "a packed file that ends early or is damaged", "a whole one", CUT_OFF)
        if len(content) > self.most_bytes:
            self.refuse("", f"more than {self.most_bytes:,} bytes", f"at most {self.most_bytes:,}", self.remedy)
        return content

    @cached_property
    def opening(self) -> bytes:
        """The first bytes, unpacked, by which a file is recognised whatever its size. Raises InputError."""
        if self.unread_form is not None:
            form, remedy = self.unread_form
            self.refuse("", form, "text, JSON, or a file packed by gzip, bzip2 or xz", remedy)
        with self._opened() as file:
            opening = file.read(MOST_OPENING)
        return self.stored[:MOST_OPENING] if opening.startswith(tuple(PACKED)) else opening

    @cached_property
    def unread_form(self) -> tuple[str, str] | None:
        """Form of a packed file that can't be read, and its remedy; None for any other file. Raises InputError."""
        with self._opened() as file:
            opening = file.read(max(map(len, UNREAD)))
        form = next((form for magic, form in UNREAD.items() if opening.startswith(magic)), None)
        return WORKBOOK if form and self.path.suffix.lower() == ".xlsx" else form

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise InputError(f"{self.name}: can't be read: {error.strerror}; check its path and permissions") from error

    @cached_property
    def text(self) -> str:
        """The whole text, without byte order mark and colours. Raises InputError if it is not UTF-8 or UTF-16."""
        if self.source is not None:
            first, end = self.span
            last = "" if self.source.text[-1:] != "\n" and end >= len(self.source.lines) else "\n"
            return "\n" * first + "\n".join(self.source.lines[first:end]) + last
        try:
            return COLOURS.sub("", self.stored.decode(_encoding(self.stored)))
        except UnicodeDecodeError as error:
            self.refuse(f"byte {error.start}", "bytes that are no UTF-8", "UTF-8 text", "convert it with iconv")

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends."""
        return self.text.splitlines()

    @property
    def whole_lines(self) -> list[str]:
        """Lines of a format without an end mark. Raises InputError if the last one has no end."""
        if self.text and not self.text.endswith("\n"):
            remedy = "copy it again; if the last line is whole, add a line end to it"
            self.refuse(f"line {len(self.lines)}", "the end of the file", "the end of its last line", remedy)
        return self.lines

    @property
    def ended_lines(self) -> list[str]:
        """Lines that have an end: a last one without is a sample that is still being written, or cut off."""
        return self.lines if self.text.endswith("\n") else self.lines[:-1]

    @cached_property
    def head(self) -> str:
        """The beginning, to recognise the tool by; bytes that are no text are replaced."""
        if self.source is not None:
            return self.text.lstrip("\n")[:MOST_OPENING]
        return COLOURS.sub("", self.opening.decode(_encoding(self.opening), errors="replace"))

    @cached_property
    def data(self) -> Any:
        """The JSON value. Raises InputError with the line where it ends or breaks."""
        try:
            return json.loads(self.text)
        except RecursionError:
            self.refuse("", "nesting without end", "JSON as the tool writes it", "give the tool's own file")
        except json.JSONDecodeError as error:
            remainder = self.text[error.pos : error.pos + 20].strip()
            before = self.text[max(0, error.pos - 20) : error.pos + 20]
            place = f"line {error.lineno}"
            if not remainder or self.text.rstrip()[-1:] not in ("}", "]"):
                self.refuse(place, "the end of the file", "the rest of the JSON value", CUT_OFF)
            if re.search(r"[:\s]\d+,\d+", before):
                self.refuse(place, short_text(before.strip()), "numbers with a decimal point", LOCALE_REMEDY)
            self.refuse(
                place, short_text(remainder), "JSON as the tool writes it", "give the file as the tool wrote it"
            )

    def refuse(self, place: str, came: str, allowed: str, remedy: str = "correct it") -> NoReturn:
        """One sentence: file, place, what came, what is allowed, what to do. Always raises InputError."""
        place, came, allowed = (short_text(part, MOST_PART) for part in (place, came, allowed))
        raise InputError(f"{self.name}{', ' * bool(place)}{place}: got {came}; expected {allowed}; {remedy}")

    def agree(self, figure: str, value: float, place: str, other: float, where: str, rounding: float = 0.0) -> None:
        """Compare a figure with its second value, said or computed `where`. Raises InputError beyond their rounding.

        `rounding`: what the digits that were printed leave open, in the figure's unit.
        """
        if abs(value - other) > rounding + MOST_APART * max(abs(value), abs(other)):
            self.refuse(place, f"{figure} {value:,.6g}", f"{other:,.6g} by {where}", DAMAGED)

    def within(self, figure: str, value: float, place: str, bounds: tuple[float, float], where: str) -> None:
        """Hold a figure between bounds that other figures set. Raises InputError beyond their rounding."""
        nearest = min(max(value, bounds[0]), bounds[1])
        self.agree(figure, value, place, nearest, where)

    def matched(self, pattern: re.Pattern[str], line: str, at: int, form: str) -> re.Match[str]:
        """A line of a known table. Raises InputError if it doesn't have its form."""
        match = pattern.match(line)
        if match is None:
            self.refuse(f"line {at}", repr(short_text(line.strip())), form, DAMAGED)
        return match

    def truncated(self, missing: str) -> NoReturn:
        """Refuse a file that ends before what it must hold."""
        remedy = "the run was stopped or the file cut off: copy it again"
        self.refuse(f"line {len(self.lines)}", "the end of the file", missing, remedy)

    def number(self, text: Any, place: str, grouped: bool = False) -> float:
        """A finite number from text; `grouped` allows 12,345.6; a decimal comma is refused, never read as a group."""
        if isinstance(text, bool) or text is None:
            self.refuse(place, "nothing" if text is None else str(text).lower(), "a number", "give the tool's own file")
        word = str(text).strip()
        if POINT.fullmatch(word) or (grouped and GROUPED.fullmatch(word)):
            number = float(word.replace(",", ""))
            if math.isfinite(number):
                return number
        elif COMMA.fullmatch(word):
            self.refuse(place, repr(word), "a decimal point", LOCALE_REMEDY)
        return self.refuse(place, repr(short_text(word)), "a finite number", "give the file as the tool wrote it")

    def positive(self, value: Any, place: str, most: float = math.inf) -> float:
        """A number above 0 that is no more than `most`. Raises InputError."""
        number = self.number(value, place)
        if not 0 < number <= most:
            allowed = "a number above 0" if most == math.inf else f"a number above 0, at most {most:g}"
            self.refuse(place, f"{number:g}", allowed, "look whether its unit is the right one")
        return number

    def whole(self, value: Any, place: str) -> int:
        """A whole number above 0. Raises InputError."""
        number = self.positive(value, place, 1e9)
        if number != int(number):
            self.refuse(place, f"{number:g}", "a whole number")
        return int(number)

    def mapping(self, value: Any, place: str) -> Mapping[str, Any]:
        """A JSON object. Raises InputError for anything else."""
        if not isinstance(value, dict):
            self.refuse(place, short_text(json.dumps(value)), "names with values in {}", "give the tool's own file")
        return value

    def rows(self, delimiter: str = ",") -> list[dict[str, str]]:
        """The rows of a table with a header. Raises InputError for a row that is shorter or longer than the header."""
        reader = csv.reader(self.whole_lines, delimiter=delimiter)
        try:
            header = [word.strip().removeprefix("# ") for word in next(reader)]
        except StopIteration:
            self.refuse("", "an empty file", "a table with a header", "export it again")
        rows = []
        for row in reader:
            if row and len(row) != len(header):
                remedy = "the file is cut off or its numbers hold commas: export it again with LC_ALL=C"
                self.refuse(f"line {reader.line_num}", f"{len(row)} columns", f"{len(header)} as in the header", remedy)
            if row:
                rows.append(dict(zip(header, row, strict=True)))
        return rows


def _encoding(content: bytes) -> str:
    """Name of the encoding: UTF-16 by its mark, or by the zeros of its first characters; UTF-8 otherwise."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    odd, even = content[1:64:2], content[0:64:2]
    if len(content) >= 4 and not any(odd) and all(even):
        return "utf-16-le"
    return "utf-16-be" if len(content) >= 4 and not any(even) and all(odd) else "utf-8-sig"


def short_text(text: str, most: int = MOST_SHOWN) -> str:
    """At most so many printable characters."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= most else text[: most - 3] + "..."
