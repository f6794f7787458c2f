"""sadf -j (sar) and mpstat, JSON or the text of sar -u, -d, -W and of mpstat.

Traps: rows of single CPUs stand beside that of all, and other tables have a row "all" too; the averages at the end are
no sample, in any language; a row at the time of its table's head is since boot; sar's interval after a gap is as long
as the gap; times are UTC only if the file says so.
"""

import re
from dataclasses import replace
from typing import Any

from oltpsim.calibration.importers.vocabulary import (
    SINCE_BOOT,
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
ROW = re.compile(r"^(\d\d:\d\d:\d\d(?: [AP]M)?)\s+")
HEADER = re.compile(r"(?:CPU\s+%us|DEV\s+tps|pswpin/s)")
UTC_NAMES = {"UTC", "GMT", "Etc/UTC"}
SWAP_COLUMNS, SWAP = ("pswpin", "pswpout"), "pages of the whole machine"


def detect(file: SourceFile) -> bool:
    """By "cpu-load" in JSON or mpstat's line of columns."""
    return ('"sysstat"' in file.head and '"cpu-load"' in file.head) or any(
        (match := ROW.match(line)) and HEADER.match(line[match.end() :]) for line in file.head.splitlines()
    )


def read(file: SourceFile) -> FileReading:
    """Samples of all CPUs together, of devices if sar had them, and of swap."""
    reading = FileReading(KIND, file.name)
    columns = MonitorColumns(file)
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
    """Rows of one time are one sample; each ends at its time and begins where the table or the row before did."""
    banner = sysstat_banner(file, reading)
    date = next((word for word in banner.split() if re.fullmatch(r"\d+[/-]\d+[/-]\d+", word)), "")
    rows: dict[str, MonitorSample] = {}
    header: list[str] = []
    begin = ""
    since_boot = 0
    for at, line in enumerate(file.ended_lines, 1):
        match = ROW.match(line)
        words = line[match.end() :].split() if match else []
        if match is None or not words:
            continue  # averages, in the words of any language
        if not re.fullmatch(r"[-\d.,]+", words[-1]):
            header, begin = words, match[1]
            continue
        values = _row(columns, by_header(file, at, header, words), f"line {at}") if _is_read(header) else {}
        if match[1] == begin:
            since_boot += bool(values)
        elif values:
            known = rows.setdefault(
                match[1], MonitorSample(f"line {at}", {}, _moment(date, begin), _moment(date, match[1]))
            )
            rows[match[1]] = replace(known, values={**known.values, **values})
    if since_boot and not rows:
        file.refuse("", "one sample, which is since boot", SINCE_BOOT, "run the tool with an interval")
    first, *others = rows.values() if rows else [MonitorSample("", {})]
    return [first, *with_starts([first, *others])[1:]] if rows else []


def _is_read(header: list[str]) -> bool:
    return header[:1] == ["DEV"] or "pswpin/s" in header or (header[:1] == ["CPU"] and "%idle" in header)


def _row(columns: MonitorColumns, named: dict[str, str], place: str) -> dict[RecordKey, float]:
    """Figures of a row: of all CPUs together, of a device, of swap."""
    if "DEV" in named:
        return columns.device(named["DEV"], named, place)
    if "CPU" in named:
        return columns.cpu(named, place) if named["CPU"] == "all" else {}
    return columns.swap(named, ("pswpin/s", "pswpout/s"), "pages of 4 KiB/s", 4.0, place, SWAP)


def _moment(date: str, clock: str) -> float | None:
    return moment_s(f"{date} {clock}")
