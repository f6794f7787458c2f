"""blkparse's text: requests as the kernel queued (Q), dispatched (D) and completed (C) them, and its totals.

Traps: numbers have commas between thousands; a trace that was cut shows fewer events than its totals, so that rates
are made only from a trace that holds all its completions.
"""

import re

from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "blkparse"
EVENT = re.compile(r"^\s*(\d+,\d+)\s+\d+\s+\d+\s+(\d+\.\d+)\s+\d+\s+([QDC])\s+([A-Z]+)\s+(\d+) \+ (\d+)")
TOTAL = re.compile(r"^Total \((\S+)\):")
COMPLETED = re.compile(
    r"Reads Completed:\s+([\d,]+),\s+([\d,]+)([KM])iB\s+Writes Completed:\s+([\d,]+),\s+([\d,]+)([KM])iB"
)
SCALE = {"K": 1.0, "M": 1024.0}


def detect(file: SourceFile) -> bool:
    """By events of its form or its totals."""
    return bool(re.search(r"^ Reads Queued:", file.head, re.MULTILINE)) or any(
        map(EVENT.match, file.head.splitlines()[:20])
    )


def read(file: SourceFile) -> FileReading:
    """Latencies from the events; rates if all completions are there. Raises InputError for a file without totals."""
    reading = FileReading(KIND, file.name)
    queued: dict[tuple[str, str], float] = {}
    times_ms: dict[tuple[str, str], list[float]] = {}
    moments: dict[str, list[float]] = {}
    totals: dict[str, tuple[int, re.Match[str]]] = {}
    device = ""
    for at, line in enumerate(file.lines, 1):
        if match := EVENT.match(line):
            name, moment, kind, way = match[1], float(match[2]), match[3], "write" if "W" in match[4] else "read"
            if kind == "C":
                begun = queued.pop((name, match[5]), None)
                moments.setdefault(name, []).append(moment)
                if begun is not None:
                    times_ms.setdefault((name, way), []).append((moment - begun) * 1000.0)
            else:
                queued.setdefault((name, match[5]), moment)
        elif match := TOTAL.match(line):
            device = match[1]
        elif device and (match := COMPLETED.search(line)):
            totals[device] = (at, match)
    if not totals:
        file.truncated("the totals with 'Reads Completed' at the end")
    for name, (at, match) in totals.items():
        _device(file, reading, name, at, match, moments.get(name, []))
    for (name, way), found in times_ms.items():
        mean_ms = sum(found) / len(found)
        place, means = (
            f"{len(found)} completions",
            "from queueing (or dispatch, if that isn't in the trace) to completion",
        )
        reading.add(("resources", "devices", name, f"{way}_await_ms"), mean_ms, "s", place, means)
    return reading


def _device(
    file: SourceFile, reading: FileReading, name: str, at: int, match: re.Match[str], moments: list[float]
) -> None:
    place = f"line {at}"
    reads, writes = (file.number(match[group], place, grouped=True) for group in (1, 4))
    seconds = max(moments) - min(moments) if moments else 0.0
    if len(moments) < 0.99 * (reads + writes) or seconds <= 0:
        reading.notes.append(
            f"{name}: {len(moments):,} of {reads + writes:,.0f} completions are in the file: no rates; "
            f"{reads:,.0f} reads and {writes:,.0f} writes in all"
        )
        return
    for way, count, size in (("read", reads, 2), ("write", writes, 5)):
        means = f"{way}s completed over the time of the trace"
        reading.add(("resources", "devices", name, f"{way}s_per_s"), count / seconds, f"{way}s", place, means)
        kib = file.number(match[size], place, grouped=True) * SCALE[match[size + 1]]
        reading.add(
            ("resources", "devices", name, f"{way}_kib_per_s"),
            kib / seconds,
            f"{match[size + 1]}iB",
            place,
            f"of {way}s",
        )
