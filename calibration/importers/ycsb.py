"""YCSB's text (the default exporter), of 0.1 to 0.17.

Traps: latencies are in microseconds, percentiles in milliseconds before 0.3, and the unit is in the name; [CLEANUP] and
the rows of garbage collection are no operations; operations that failed have sections of their own (READ-FAILED) or
Return codes, and are in the throughput; the read and the update of a READ-MODIFY-WRITE count as READ and UPDATE too;
with -target the rate is given, not reached.
"""

import re

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import labelled
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import DAMAGED, SourceFile

KIND = "YCSB result"
ROW = re.compile(r"^\[([A-Z][A-Z0-9_-]*)\], ([^,]+), (\S+)\s*$")
KNOWN_ROW = re.compile(r"^\[(?:OVERALL|READ|UPDATE|INSERT|SCAN)\]")
PERCENTILE = re.compile(r"([\d.]+)(?:th|st|nd|rd)?Percentile(?:Latency)?\((us|ms)\)")
OPERATIONS = {"READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE"}
THREADS = re.compile(r"^Command line: .*-(?:threads |p threadcount=)\s*(\d+)")
TARGET = re.compile(r"^Command line: .*-target (\d+)")
TO_MS = {"us": 1e-3, "ms": 1.0}
RUNS = RunMarks(re.compile(r"^\[OVERALL\], RunTime\(ms\)"), (re.compile(r"^Command line:"),))


def detect(file: SourceFile) -> bool:
    """By the section OVERALL."""
    return bool(re.search(r"^\[OVERALL\], (?:RunTime|Throughput)\(", file.head, re.MULTILINE))


def read(file: SourceFile) -> FileReading:
    """Rate and latencies. Raises InputError without the overall figures, or if the operations don't add up to them."""
    reading = FileReading(KIND, file.name, tool="YCSB")
    rows = _rows(file)
    for pattern, key, unit, means in (
        (THREADS, "workload.clients", "threads", "threads"),
        (TARGET, "outcome.reported.target", "1/s", "rate that was asked for"),
    ):
        for word, place in labelled(file, {key: pattern}).values():
            reading.add(key, float(word), unit, place, means)
    overall = rows.get("OVERALL", {})
    missing = [name for name in ("RunTime(ms)", "Throughput(ops/sec)") if name not in overall]
    done = {name: figures for name, figures in rows.items() if name in OPERATIONS and "Operations" in figures}
    if missing or not done:
        file.truncated(", ".join(missing) or "a section of operations")
    (run_ms, where), (rate, place) = overall["RunTime(ms)"], overall["Throughput(ops/sec)"]
    if run_ms <= 0:
        file.refuse(where, f"{run_ms:g} ms", "a measured time", "run it longer")
    failed = {name: figures for name, figures in rows.items() if name.endswith("-FAILED") and "Operations" in figures}
    errors = sum(figures["Operations"][0] for figures in failed.values())
    counts = {name: figures["Operations"][0] for name, figures in done.items() if name != "READ-MODIFY-WRITE"}
    double = done.get("READ-MODIFY-WRITE", {}).get("Operations", (0.0, ""))[0]
    completed = sum(counts.values()) - double
    if completed <= 0:
        file.refuse(where, f"{completed:g} operations", "some that were done", "look why none was done")
    least, most = completed / run_ms * 1e3, (completed + errors) / run_ms * 1e3
    file.agree("throughput", rate, place, min(max(rate, least), most), "the operations over the run time")
    means = "operations done over the run time"
    reading.set_window("whole", run_ms / 1000.0, "ms", where, means)
    if failed:
        reading.add("outcome.reported.throughput", rate, "ops/sec", place, "YCSB's throughput, failed operations in it")
        reading.add("outcome.transactions_per_s", least, "Operations", where, f"{means}, without failed ones")
    else:
        reading.add("outcome.transactions_per_s", rate, "ops/sec", place, means)
    reading.add_text("workload.driver", "YCSB", where, "load generator; an operation counts as a transaction")
    if failed:
        reading.add("outcome.errors_per_s", errors / run_ms * 1e3, "Operations", "sections -FAILED", "failed, per s")
    for name, figures in done.items():
        _operation(file, reading, name, figures)
    times = [(counts[name], done[name].get("AverageLatency(us)")) for name in counts]
    if all(mean for _, mean in times):
        total_us = sum(count * mean[0] for count, mean in times if mean)
        means = "mean of all operations by their counts, a READ-MODIFY-WRITE counted once"
        reading.add("outcome.mean_ms", total_us / completed / 1e3, "us", "AverageLatency", means)
    return reading


def _rows(file: SourceFile) -> dict[str, dict[str, tuple[float, str]]]:
    """Figures by section and name; the buckets of histograms and series, whose names are numbers, are left out."""
    rows: dict[str, dict[str, tuple[float, str]]] = {}
    for at, line in enumerate(file.lines, 1):
        match = ROW.match(line)
        if match and not match[2].lstrip(">").isdigit():
            rows.setdefault(match[1], {})[match[2]] = file.number(match[3], f"line {at}, {match[2]}"), f"line {at}"
        elif match is None and KNOWN_ROW.match(line):
            file.refuse(f"line {at}", repr(line[:80]), "[SECTION], name, number", DAMAGED)
    return rows


def _operation(file: SourceFile, reading: FileReading, name: str, figures: dict[str, tuple[float, str]]) -> None:
    base = ("outcome", "classes", name.lower().replace("-", "_"))
    count, place = figures["Operations"]
    reading.add((*base, "count"), count, "Operations", place, "operations")
    for key, word in (("mean_ms", "AverageLatency(us)"), ("max_ms", "MaxLatency(us)")):
        if word in figures:
            value, place = figures[word]
            reading.add((*base, key), value / 1e3, "us", place, word)
    least, mean, most = (figures.get(f"{word}Latency(us)") for word in ("Min", "Average", "Max"))
    if least and mean and most and not least[0] <= mean[0] + 1.0 <= most[0] + 2.0:
        file.refuse(mean[1], f"a mean of {mean[0]:g} us", f"{least[0]:g} to {most[0]:g} us", "give the file whole")
    for word, (value, place) in figures.items():
        if match := PERCENTILE.fullmatch(word):
            path = (*base, "percentiles_ms", match[1])
            reading.add(path, value * TO_MS[match[2]], match[2], place, f"{match[1]} % were at most so long")
