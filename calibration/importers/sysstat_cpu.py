"""sadf -j (sar) and mpstat, JSON or mpstat's text.

Traps: rows of single CPUs stand beside that of all; `Average:` is no sample; sar's interval after a gap is as long
as the gap; times are UTC only if the file says so.
"""

import re
from typing import Any

from oltpsim.calibration.importers.vocabulary import (
    MonitorColumns,
    by_header,
    moment_s,
    sysstat_banner,
    sysstat_statistics,
    with_starts,
)
from oltpsim.calibration.records import FileReading, MonitorSample, MonitorSamples, RecordKey
from oltpsim.models.input import SourceFile

KIND = "sar or mpstat"
UTC_NAMES = {"UTC", "GMT", "Etc/UTC"}
SWAP_COLUMNS, SWAP = ("pswpin", "pswpout"), "pages of the whole machine"


def detect(file: SourceFile) -> bool:
    """By "cpu-load" in JSON or mpstat's line of columns."""
    return ('"sysstat"' in file.head and '"cpu-load"' in file.head) or bool(
        re.search(r"^[\d:]+(?: [AP]M)?\s+CPU\s+%usr", file.head, re.MULTILINE)
    )


def read(file: SourceFile) -> FileReading:
    """Samples of all CPUs together, of devices if sar had them, and of swap."""
    reading = FileReading(KIND, file.name)
    columns = MonitorColumns(file.number)
    from_file = _from_json if file.text.lstrip().startswith("{") else _from_text
    rows = from_file(file, reading, columns)
    if not rows:
        file.refuse("", "no sample of all CPUs", "at least one", "run the tool with an interval")
    reading.samples = MonitorSamples(tuple(rows), columns.meanings)
    return reading


def _from_json(file: SourceFile, reading: FileReading, columns: MonitorColumns) -> list[MonitorSample]:
    host, samples = sysstat_statistics(file, reading, "cpu-load", "write it with sadf -j or mpstat -o JSON")
    rows: list[MonitorSample] = []
    for at, sample in enumerate(samples, 1):
        place = f"sample {at}"
        values: dict[RecordKey, float] = {}
        of_all = [words for words in sample["cpu-load"] if words.get("cpu") in ("all", "-1", -1)]
        if of_all:
            values = columns.cpu(of_all[0], place)
        for disk in sample.get("disk", []):
            values |= columns.device(disk["disk-device"], disk, place)
        values |= columns.swap(sample.get("swap-pages", {}), SWAP_COLUMNS, "pages of 4 KiB/s", 4.0, place, SWAP)
        start_s, end_s = _times(sample.get("timestamp"), str(host.get("date", "")))
        rows.append(MonitorSample(place, values, start_s, end_s))
    stamp = samples[0].get("timestamp") if samples else None
    if isinstance(stamp, dict) and not stamp.get("utc") and host.get("timezone") not in UTC_NAMES:
        reading.notes.append("its times are local and are taken for the harness's own clock")
    return with_starts(rows) if rows and rows[0].start_s is None else rows


def _times(stamp: Any, date: str) -> tuple[float | None, float | None]:
    if isinstance(stamp, dict):
        end_s = moment_s(f"{stamp.get('date')} {stamp.get('time')}")
        interval_s = stamp.get("interval")
        start_s = end_s - float(interval_s) if end_s is not None and isinstance(interval_s, int | float) else None
        return start_s, end_s
    return None, moment_s(f"{date} {stamp}")


def _from_text(file: SourceFile, reading: FileReading, columns: MonitorColumns) -> list[MonitorSample]:
    banner = sysstat_banner(file, reading)
    date = next((word for word in banner.split() if re.fullmatch(r"\d+[/-]\d+[/-]\d+", word)), "")
    rows: list[MonitorSample] = []
    header: list[str] = []
    for at, line in enumerate(file.whole_lines, 1):
        words = line.replace(" AM ", "AM ").replace(" PM ", "PM ").split()
        if len(words) > 2 and words[1] == "CPU":
            header = words
        elif header and len(words) > 2 and words[1] == "all" and not words[0].startswith("Average"):
            values = columns.cpu(by_header(file, at, header, words), f"line {at}")
            clock = words[0].replace("AM", " AM").replace("PM", " PM")
            rows.append(MonitorSample(f"line {at}", values, end_s=moment_s(f"{date} {clock}")))
    return with_starts(rows)
