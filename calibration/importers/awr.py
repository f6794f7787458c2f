"""Oracle's AWR or Statspack report, as text or HTML, of which each row of a table is a line.

Trap: a buffer hit ratio of 99.98 % may stand beside 67,000 physical reads per s, for direct reads go past the buffer
cache; misses are the blocks read via the buffer cache. Numbers have commas between thousands. %Idle includes %WIO.
"""

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime

from oltpsim.calibration.importers.vocabulary import moment_s
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "Oracle AWR"
NUMBER = r"[\d,]+(?:\.\d+)?|\.\d+"
HTML_ROW = re.compile(r"<tr[^>]*>(.*?)(?=</tr>|<tr)", re.DOTALL | re.IGNORECASE)
HTML_CELL = re.compile(r"<t[dh][^>]*>(.*?)(?=</t[dh]>|<t[dh])", re.DOTALL | re.IGNORECASE)
HTML_TAG = re.compile(r"<[^>]*>")
SNAP = re.compile(rf"^(Begin|End) Snap:[\s|]+\d+[\s|]+(\d\d-\w\w\w-\d\d \d\d:\d\d:\d\d)[\s|]+({NUMBER})")


def detect(file: SourceFile) -> bool:
    """By the lines of its snapshots and its load profile."""
    return "Begin Snap:" in file.head and "Load Profile" in file.head


def read(file: SourceFile) -> FileReading:
    """The load profile per second. Raises InputError without the elapsed time and the transactions."""
    reading = FileReading(KIND, file.name, tool=KIND, rank=ResultRank.WITNESS)
    rows = _rows(file)

    def number(label: str, column: int = 0) -> float | None:
        if label not in rows or len(rows[label][1]) <= column:
            return None
        at, words = rows[label]
        return file.number(words[column], f"line {at}, {label}", grouped=True)

    minutes, per_s = number("Elapsed"), number("Transactions")
    if minutes is None or per_s is None:
        file.truncated("the lines Elapsed and Transactions")
    _compare(file, minutes, number)
    reading.set_window(
        "steady", minutes * 60.0, "mins", "Elapsed", "commits and rollbacks between two snapshots, per s"
    )
    reading.add("outcome.transactions_per_s", per_s, "1/s", "Load Profile, Transactions", "commits and rollbacks")
    reading.set_database("Oracle", "report")
    logical = number("Logical read (blocks)")
    logical = number("Logical reads") if logical is None else logical
    _buffers(reading, logical, number("Via Buffer Cache (blocks)", 1))
    for label in ("Redo size (bytes)", "Redo size"):
        redo = number(label)
        if redo is not None:
            reading.add("resources.log_bytes_per_s", redo, "B/s", f"Load Profile, {label}", "redo made")
    reading.add("resources.commits_per_s", per_s, "1/s", "Load Profile, Transactions", "commits and rollbacks")
    redo_writes = number("Redo Requests", 2)
    if redo_writes is not None:
        reading.add("resources.log_flushes_per_s", redo_writes, "1/s", "IO Profile, Redo Requests", "writes of redo")
    reads, writes = number("Total Requests", 1), number("Total Requests", 2)
    if reads is not None and writes is not None:
        place = "IO Profile, Total Requests"
        reading.add("resources.devices.all.reads_per_s", reads, "1/s", place, "read requests of the instance")
        reading.add("resources.devices.all.writes_per_s", writes, "1/s", place, "write requests of the instance")
    _host(file, reading)
    return reading


def _compare(file: SourceFile, minutes: float, number: Callable[[str, int], float | None]) -> None:
    """The elapsed time is that between the snapshots; each rate per transaction gives the transactions again."""
    moments = [moment_s(match[2]) for line in _lines(file) if (match := SNAP.match(line.strip()))]
    if len(moments) == 2 and moments[0] is not None and moments[1] is not None:
        file.agree("Elapsed", minutes, "Elapsed", (moments[1] - moments[0]) / 60.0, "the snapshots' times", 0.1)
    for label in ("Redo size", "Redo size (bytes)", "Logical reads", "Logical read (blocks)"):
        per_s, per_transaction, rate = number(label, 0), number(label, 1), number("Transactions", 0)
        if per_s is not None and per_transaction and rate and per_transaction >= 10.0:
            file.agree("Transactions per s", rate, "Load Profile", per_s / per_transaction, f"{label}", 0.06)


def _lines(file: SourceFile) -> list[str]:
    """Lines of the report; of HTML the rows of its tables, with `|` between cells."""
    if not file.head.lstrip().startswith("<"):
        return file.whole_lines
    if "</html>" not in file.text[-2000:].lower():
        file.truncated("</html>")
    rows = HTML_ROW.findall(file.text)
    cells = ([html.unescape(HTML_TAG.sub(" ", cell)).strip() for cell in HTML_CELL.findall(row)] for row in rows)
    return [" | ".join(words) for words in cells]


def _rows(file: SourceFile) -> dict[str, tuple[int, list[str]]]:
    """The figures behind each label that ends with a colon; the first of a name counts."""
    rows: dict[str, tuple[int, list[str]]] = {}
    for at, line in enumerate(_lines(file), 1):
        label, colon, rest = line.strip().lstrip("|").partition(":")
        if colon and not SNAP.match(line):
            words = [word for word in re.split(r"[\s|]+", rest) if re.fullmatch(r"[-+]?[\d.,]+", word)]
            if words:
                rows.setdefault(label.strip(), (at, words))
    return rows


def _buffers(reading: FileReading, logical: float | None, misses: float | None) -> None:
    if misses is None:
        reading.notes.append("no row 'Via Buffer Cache': misses of the buffer cache can't be told from direct reads")
        return
    definition = "blocks read via the buffer cache; direct reads go past it"
    reading.add("resources.buffer_reads_per_s", misses, "blocks/s", "IO Profile, Via Buffer Cache (blocks)", definition)
    if logical is not None:
        place = "Load Profile, Logical read (blocks), less Via Buffer Cache"
        hits = max(0.0, logical - misses)
        reading.add("resources.buffer_hits_per_s", hits, "blocks/s", place, "blocks found in the buffer cache")


def _host(file: SourceFile, reading: FileReading) -> None:
    """The table below 'Host CPU', by its columns; the start and the sessions."""
    lines = _lines(file)
    for at, line in enumerate(lines, 1):
        names = [word.strip() for word in line.split("|")]
        if "%User" in line and "%Idle" in line and at < len(lines):
            below = [word.strip() for word in lines[at].split("|")]
            if len(names) < 4:
                names, below = re.findall(r"\S+", line), re.findall(r"\S+", lines[at])
            if not any(word.strip("-") for word in below) and at + 1 < len(lines):  # dashes under the header
                below = re.findall(r"\S+", lines[at + 1])
            named = dict(zip(reversed(names), reversed(below), strict=False))
            if named.get("%WIO") and named.get("%Idle"):
                waiting = file.number(named["%WIO"], f"line {at + 1}, %WIO")
                idle = file.number(named["%Idle"], f"line {at + 1}, %Idle")
                named["%Idle"] = str(max(0.0, idle - waiting))
            for name, share in (("%User", "user"), ("%System", "system"), ("%WIO", "iowait"), ("%Idle", "idle")):
                if name in named:
                    place = f"line {at + 1}, {name}"
                    value = file.number(named[name], place) / 100.0
                    reading.add(f"resources.cpu_{share}_fraction", value, "%", place, "of the host's CPUs")
            if "CPUs" in named:
                reading.set_cores(file.number(named["CPUs"], "CPUs"), f"line {at + 1}", "CPUs of the host")
        match = SNAP.match(line)
        if match and match[1] == "Begin":
            begin_s = moment_s(match[2])
            if begin_s is not None:
                begin = datetime.fromtimestamp(begin_s, UTC).isoformat()
                definition = "begin of the report; the server's clock, taken for UTC"
                reading.add_text("window.start_utc", begin, f"line {at}", definition)
