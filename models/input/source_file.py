"""One file that a tool wrote: bounded, decoded, with numbers that are refused where they stand."""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

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
LOCALE_REMEDY = "run the tool with LC_ALL=C, so that it writes a decimal point"


@dataclass(frozen=True)
class SourceFile:
    """A file by its path; `name` is how messages and records call it."""

    path: Path
    name: str
    most_bytes: int = MOST_BYTES
    remedy: str = "cut it to the measured interval"

    @cached_property
    def stored(self) -> bytes:
        """All bytes. Raises InputError for what can't be read or is larger than `most_bytes`."""
        with self._opened() as file:
            size = self.path.stat().st_size
            if size > self.most_bytes:
                self.refuse("", f"{size:,} bytes", f"at most {self.most_bytes:,}", self.remedy)
            return file.read()

    @cached_property
    def opening(self) -> bytes:
        """The first bytes, by which a file is recognised whatever its size. Raises InputError."""
        with self._opened() as file:
            return file.read(MOST_OPENING)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise InputError(f"{self.name}: can't be read: {error.strerror}; check its path and permissions") from error

    @cached_property
    def text(self) -> str:
        """The whole text, without a byte order mark. Raises InputError if it is not UTF-8."""
        try:
            return self.stored.decode("utf-8-sig")
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
            self.truncated("the end of its last line")
        return self.lines

    @cached_property
    def head(self) -> str:
        """The beginning, to recognise the tool by; bytes that are no text are replaced."""
        return self.opening.decode("utf-8-sig", errors="replace")

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
        raise InputError(f"{self.name}{', ' * bool(place)}{place}: got {came}; expected {allowed}; {remedy}")

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


def short_text(text: str) -> str:
    """At most MOST_SHOWN printable characters."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."
