"""sadf -j (sar) and mpstat, JSON or mpstat's text.

Traps: rows of single CPUs stand beside that of all; `Average:` is no sample; sar's interval after a gap is as long
as the gap; times are UTC only if the file says so.
"""

from __future__ import annotations

import re
from typing import Any

from calibration.importers.columns import cpu_values, device_values, moment_s
from calibration.importers.iostat import BANNER, cores, timed
from calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey
from models.input import SourceFile

KIND = "sar or mpstat"
UTC_NAMES = {"UTC", "GMT", "Etc/UTC"}
SHAPE = "sysstat.hosts[0].statistics with cpu-load"


def detect(file: SourceFile) -> bool:
    """By "cpu-load" in JSON or mpstat's line of columns."""
    return ('"sysstat"' in file.head and '"cpu-load"' in file.head) or bool(
        re.search(r"^[\d:]+(?: [AP]M)?\s+CPU\s+%usr", file.head, re.MULTILINE)
    )


def read(file: SourceFile) -> FileReading:
    """Samples of all CPUs together, of devices if sar had them, and of swap."""
    reading = FileReading(KIND, file.name)
    meanings: dict[RecordKey, Meaning] = {}
    rows = (
        _from_json(file, reading, meanings)
        if file.text.lstrip().startswith("{")
        else _from_text(file, reading, meanings)
    )
    if not rows:
        file.refuse("", "no sample of all CPUs", "at least one", "run the tool with an interval")
    reading.samples = MonitorSamples(tuple(rows), meanings)
    return reading


def _from_json(file: SourceFile, reading: FileReading, meanings: dict[RecordKey, Meaning]) -> list[MonitorSample]:
    try:
        host = file.data["sysstat"]["hosts"][0]
        statistics = [each for each in host["statistics"] if "cpu-load" in each]
    except (KeyError, IndexError, TypeError):
        file.refuse("", "JSON of another shape", SHAPE, "write it with sadf -j or mpstat -o JSON")
    cores(reading, file, host.get("number-of-cpus"))
    rows: list[MonitorSample] = []
    for at, each in enumerate(statistics, 1):
        place = f"sample {at}"
        every = [words for words in each["cpu-load"] if words.get("cpu") in ("all", "-1", -1)]
        values: dict[RecordKey, float] = {}
        found: dict[RecordKey, Meaning] = {}
        for words in every[:1]:
            values, found = cpu_values(words, file.number, place)
        for disk in each.get("disk", []):
            more = device_values(disk["disk-device"], disk, file.number, place)
            values, found = values | more[0], found | more[1]
        _swap(file, each, place, values, found)
        meanings.update(found)
        start_s, end_s = _times(each.get("timestamp"), str(host.get("date", "")))
        rows.append(MonitorSample(place, values, start_s, end_s))
    stamp = statistics[0].get("timestamp") if statistics else None
    if isinstance(stamp, dict) and not stamp.get("utc") and host.get("timezone") not in UTC_NAMES:
        reading.notes.append("its times are local and are taken for the harness's own clock")
    return timed(rows) if rows and rows[0].start_s is None else rows


def _swap(
    file: SourceFile, each: dict[str, Any], place: str, values: dict[RecordKey, float], found: dict[RecordKey, Meaning]
) -> None:
    for word, key in (("pswpin", "swap_in_kib_per_s"), ("pswpout", "swap_out_kib_per_s")):
        if word in each.get("swap-pages", {}):
            path = ("resources", key)
            values[path] = file.number(each["swap-pages"][word], f"{place}, {word}") * 4.0
            found[path] = Meaning("pages of 4 KiB/s", 4.0, f"{word}: pages of the whole machine")


def _times(stamp: Any, date: str) -> tuple[float | None, float | None]:
    if isinstance(stamp, dict):
        end_s = moment_s(f"{stamp.get('date')} {stamp.get('time')}")
        interval_s = stamp.get("interval")
        start_s = end_s - float(interval_s) if end_s is not None and isinstance(interval_s, int | float) else None
        return start_s, end_s
    return None, moment_s(f"{date} {stamp}")


def _from_text(file: SourceFile, reading: FileReading, meanings: dict[RecordKey, Meaning]) -> list[MonitorSample]:
    banner = BANNER.match(file.lines[0])
    date = next((word for word in file.lines[0].split() if re.fullmatch(r"\d+[/-]\d+[/-]\d+", word)), "")
    if banner:
        cores(reading, file, banner[1])
    rows: list[MonitorSample] = []
    header: list[str] = []
    for at, line in enumerate(file.whole_lines, 1):
        words = line.replace(" AM ", "AM ").replace(" PM ", "PM ").split()
        if len(words) > 2 and words[1] == "CPU":
            header = words
        elif header and len(words) > 2 and words[1] == "all" and not words[0].startswith("Average"):
            if len(words) != len(header):
                file.refuse(
                    f"line {at}",
                    f"{len(words)} columns",
                    f"{len(header)} as in the header",
                    "the file is cut off: copy it again",
                )
            values, found = cpu_values(dict(zip(header[2:], words[2:], strict=True)), file.number, f"line {at}")
            meanings.update(found)
            clock = words[0].replace("AM", " AM").replace("PM", " PM")
            rows.append(MonitorSample(f"line {at}", values, end_s=moment_s(f"{date} {clock}")))
    return timed(rows)
