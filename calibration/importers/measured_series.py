"""The series of `oltpsim measure`: counters at even intervals, a line each; the last line may be cut off.

Its window begins where commits per second have become steady, unless a warm-up was given. A rate of its own, commits
per second, counts only where no load generator's result lies beside it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from oltpsim.calibration.importers.kernel_counters import CPU_FIELDS, DISK_FIELDS, SHARES
from oltpsim.calibration.importers.vocabulary import CPU_DEFINITION
from oltpsim.calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey, ResultRank
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results.recording import steady_from

KIND = "measured series"
FORMAT = "oltpsim-series-1"
TOOL = "database's commits"
PAGE_BYTES = 8192.0
RATES = {
    "commits": ("commits_per_s", "commits", 1.0, "commits of all databases"),
    "buffer_hits": ("buffer_hits_per_s", "pages", 1.0, "pages found in the pool"),
    "buffer_reads": ("buffer_reads_per_s", "pages", 1.0, "pages that the pool asked the operating system for"),
    "written_pages": ("buffer_writes_per_s", "pages", 1.0, "pages written by checkpoints, writer and backends"),
    "written_bytes": ("buffer_writes_per_s", "B", 1 / PAGE_BYTES, "pages of 8 KiB written by all backends"),
    "log_bytes": ("log_bytes_per_s", "B", 1.0, "bytes of log made"),
    "log_flushes": ("log_flushes_per_s", "fsyncs", 1.0, "fsyncs of the log"),
}
"""Counters of the database: field, unit as read, factor, definition."""
GROUPS = {
    "database": "the server's processes",
    "driver": "the load generator's processes",
    "sampler": "oltpsim measure and its connection",
}
ALL_COMMITS = ("outcome", "reported", "commits in all")
DEVICE_MEANINGS = {
    "reads_per_s": Meaning("reads", 1.0, "reads completed, after merging"),
    "writes_per_s": Meaning("writes", 1.0, "writes completed, after merging"),
    "read_kib_per_s": Meaning("sectors of 512 bytes", 0.5, "read"),
    "write_kib_per_s": Meaning("sectors of 512 bytes", 0.5, "written"),
    "read_await_ms": Meaning("ms", 1.0, "time of all reads over their number"),
    "write_await_ms": Meaning("ms", 1.0, "time of all writes over their number"),
    "queue_length": Meaning("ms", 1e-3, "requests waiting or in service: weighted time"),
    "utilisation_fraction": Meaning("ms", 1e-3, "time with a request in flight"),
}


@dataclass(frozen=True)
class SeriesLine:
    """A sample with the number of its line."""

    line: int
    at_s: float
    words: Mapping[str, Any]


def detect(file: SourceFile) -> bool:
    """By the format in its first line."""
    return f'"format": "{FORMAT}"' in file.head.partition("\n")[0]


def read(file: SourceFile) -> FileReading:
    """Samples, the counted window, commits per second. Raises InputError for a line that is none but the last."""
    reading = FileReading(KIND, file.name, rank=ResultRank.WITNESS)
    (header, *lines) = _lines(file, reading)
    everything = [_sample(file, at, words) for at, words in lines if "event" not in words]
    events = {words["event"]: words for _, words in lines if "event" in words}
    samples = [each for each in everything if each.at_s <= events.get("end", each.words)["at_s"]]
    if len(samples) < 2:
        file.refuse("", f"{len(samples)} samples", "at least two", "measure for longer")
    reading.notes += [str(lack) for lack in header[1].get("lacks", [])]
    if "lost" in events:
        reading.notes.append(f"the database was lost: {events['lost'].get('reason')}")
    if "end" not in events:
        reading.notes.append("the measurement was ended before its end: this is what there is until then")
    elif events["end"].get("status"):
        reading.notes.append(f"the load generator ended with status {events['end']['status']}")
    ticks_per_s = file.number(header[1].get("ticks_per_s"), "line 1, ticks_per_s")
    rows = [_intervals(a, b, ticks_per_s) for a, b in pairwise(samples)]
    reading.samples = MonitorSamples(tuple(rows), _meanings(rows))
    _window(file, reading, samples, header[1].get("warm_up_s"))
    if reading.tool is not None and "end" in events:
        means = "commits of all databases, from before the load generator to after it"
        reading.add(ALL_COMMITS, _commits(everything), "commits", "all lines", means)
    if header[1].get("database") == "postgresql":
        reading.set_database("PostgreSQL", "line 1")
    return reading


def _lines(file: SourceFile, reading: FileReading) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for at, text in enumerate(file.lines, 1):
        try:
            words = json.loads(text)
        except json.JSONDecodeError:
            words = None
        if isinstance(words, dict):
            found.append((at, words))
        elif at == len(file.lines):
            reading.notes.append(f"line {at} is cut off and left out")
        else:
            file.refuse(f"line {at}", repr(text[:40]), "a JSON object", "the file is damaged: copy it again")
    return found


def _sample(file: SourceFile, at: int, words: dict[str, Any]) -> SeriesLine:
    try:
        disks = words["disks"].values()
        assert len(words["cpu"]) == len(CPU_FIELDS)
        assert len(words["swap"]) == 2
        assert all(len(counters) == len(DISK_FIELDS) for counters in disks)
        return SeriesLine(at, float(words["at_s"]), words)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
        file.refuse(f"line {at}", "a sample of another shape", "at_s, cpu, disks, swap as measured", "copy it again")


def _intervals(before: SeriesLine, after: SeriesLine, ticks_per_s: float) -> MonitorSample:
    """Every rate over the time between two samples. What fell, since a group ended or a server restarted, is left."""
    seconds = after.at_s - before.at_s
    if seconds <= 0:
        raise InputError(f"line {after.line} of a measured series: got a time that isn't later than the one before")
    values = _cpu(before.words["cpu"], after.words["cpu"])
    for name, counters in after.words["disks"].items():
        if name in before.words["disks"]:
            values |= _device(name, before.words["disks"][name], counters, seconds)
    for at, way in enumerate(("in", "out")):
        pages = after.words["swap"][at] - before.words["swap"][at]
        values["resources", f"swap_{way}_kib_per_s"] = pages * 4.0 / seconds
    first, last = (line.words.get("database") or {} for line in (before, after))
    for counter, (key, _, factor, _) in RATES.items():
        if counter in first and counter in last and last[counter] >= first[counter]:
            sampled = 1.0 if counter == "commits" else 0.0  # the sample's own
            values["resources", key] = max(0.0, last[counter] - first[counter] - sampled) * factor / seconds
    for group, (user_s, system_s) in _groups(before, after, ticks_per_s).items():
        if user_s >= 0 and system_s >= 0:
            values["resources", "process_groups", group, "cpu_user_cores"] = user_s / seconds
            values["resources", "process_groups", group, "cpu_system_cores"] = system_s / seconds
    return MonitorSample(f"line {after.line}", values, before.at_s, after.at_s)


def _cpu(before: Sequence[float], after: Sequence[float]) -> dict[RecordKey, float]:
    rises: dict[str, float] = dict(zip(CPU_FIELDS, (b - a for a, b in zip(before, after, strict=True)), strict=True))
    total = sum(rises.values())
    if total <= 0:
        return {}
    return {
        ("resources", f"cpu_{share}_fraction"): max(0.0, sum(rises[key] for key in keys)) / total
        for share, keys in SHARES
    }


def _device(name: str, before: Sequence[float], after: Sequence[float], seconds: float) -> dict[RecordKey, float]:
    rises: dict[str, float] = dict(zip(DISK_FIELDS, (b - a for a, b in zip(before, after, strict=True)), strict=True))
    base = ("resources", "devices", name)
    values: dict[RecordKey, float] = {}
    for kind in ("read", "write"):
        done = rises[f"{kind}s"]
        values[*base, f"{kind}s_per_s"] = done / seconds
        values[*base, f"{kind}_kib_per_s"] = rises[f"{kind}_sectors"] * 0.5 / seconds
        if done > 0:
            values[*base, f"{kind}_await_ms"] = rises[f"{kind}_ms"] / done
    values[*base, "queue_length"] = rises["queue_ms"] * 1e-3 / seconds
    values[*base, "utilisation_fraction"] = min(1.0, rises["busy_ms"] * 1e-3 / seconds)
    return values if all(value >= 0 for value in values.values()) else {}


def _groups(before: SeriesLine, after: SeriesLine, ticks_per_s: float) -> dict[str, tuple[float, float]]:
    """CPU seconds in user and system mode, by group that both samples have."""
    rises: dict[str, list[float]] = {}
    first, last = (line.words.get("groups") or {} for line in (before, after))
    for name in first.keys() & last.keys():
        rises[name] = [(b - a) / ticks_per_s for a, b in zip(first[name], last[name], strict=True)]
    ours, later = (line.words.get("sampler_s") for line in (before, after))
    if ours and later:
        connection = rises.pop("connection", [0.0, 0.0])
        rises["sampler"] = [b - a + c for a, b, c in zip(ours, later, connection, strict=True)]
    return {name: (values[0], values[1]) for name, values in rises.items() if name in GROUPS}


def _meanings(rows: Sequence[MonitorSample]) -> dict[RecordKey, Meaning]:
    known: dict[RecordKey, Meaning] = {}
    for path in dict.fromkeys(path for row in rows for path in row.values):
        key = path[-1]
        if path[1] == "devices":
            known[path] = DEVICE_MEANINGS[key]
        elif path[1] == "process_groups":
            mode = "user" if "user" in key else "system"
            known[path] = Meaning("ticks", 1.0, f"CPU time in {mode} mode per s, of {GROUPS[path[2]]}")
        elif key.startswith("swap_"):
            known[path] = Meaning("pages of 4 KiB", 4.0, f"{key} of the whole machine")
        elif key.startswith("cpu_"):
            known[path] = Meaning("ticks", 1.0, CPU_DEFINITION[key.split("_")[1]])
        else:
            _, unit, factor, definition = next(rate for rate in RATES.values() if rate[0] == key)
            known[path] = Meaning(unit, factor, definition)
    return known


def _window(file: SourceFile, reading: FileReading, samples: Sequence[SeriesLine], warm_up_s: float | None) -> None:
    """The counted time: after the warm-up that was given, or from where commits are steady, or else all of it."""
    times = [sample.at_s for sample in samples]
    first = 0
    rates = _commit_rates(reading)
    if warm_up_s is not None:
        first = next((at for at, time in enumerate(times) if time - times[0] >= warm_up_s), len(times) - 1)
        if first == len(times) - 1:
            file.refuse("", f"{times[-1] - times[0]:.0f} s", f"more than the warm-up of {warm_up_s:g} s", "run longer")
        how = f"after the warm-up of {warm_up_s:g} s that was given"
    elif rates is None:
        how = "no commits are known: all of it, its warm-up too; give --warm-up"
    else:
        steady = steady_from(rates)
        first = steady or 0
        how = "commits per s are steady from there (MSER)" if steady is not None else "commits per s aren't steady"
    start_s, end_s = times[first], times[-1]
    reading.window = (start_s, end_s)
    reading.notes.append(f"counted from {start_s - times[0]:.1f} s to {end_s - times[0]:.1f} s: {how}")
    if rates is None or end_s <= start_s:
        return
    place = f"lines {samples[first].line} to {samples[-1].line}"
    counted = _commits(samples[first:]) / (end_s - start_s)
    if counted <= 0:
        return
    reading.tool = TOOL
    reading.set_window("steady" if first else "whole", end_s - start_s, "s", place, f"commits per s; {how}")
    reading.add("window.ramp_s", start_s - times[0], "s", place, how)
    reading.add("outcome.transactions_per_s", counted, "commits", place, "commits of all databases, per s")
    step_s = (times[-1] - times[0]) / len(rates)
    ends_s = [times[0] + step_s * number for number in range(1, len(rates) + 1)]
    reading.add_series("commits_per_s", ends_s, rates, "commits", "all lines", "commits of all databases, per s")


def _commit_rates(reading: FileReading) -> list[float] | None:
    assert reading.samples is not None
    rates = [row.values.get(("resources", "commits_per_s")) for row in reading.samples.rows]
    known = [rate for rate in rates if rate is not None]
    return known if len(known) == len(rates) else None


def _commits(samples: Sequence[SeriesLine]) -> float:
    """Commits from the first of these samples to the last, without the samples' own."""
    first, last = (float((samples[at].words.get("database") or {}).get("commits", 0.0)) for at in (0, -1))
    return max(0.0, last - first - (len(samples) - 1))
