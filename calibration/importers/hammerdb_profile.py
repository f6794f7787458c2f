"""HammerDB's time profile (xtprof and etprof): response times of each procedure.

Traps: a section for each virtual user stands beside the summary of all, and percentiles of users can't be added up; the
log is appended to; times are from the first transaction on, the ramp-up with them; SD is in microseconds.
"""

import re

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "HammerDB time profile"
REPORT = re.compile(r"Time Profile Report @", re.IGNORECASE)
SECTION = re.compile(
    r">>>>>\s+(VIRTUAL USER \d+|SUMMARY OF (\d+) ACTIVE VIRTUAL USERS) : (?:MEDIAN )?ELAPSED TIME : (\S+?)ms"
)
PROCEDURE = re.compile(r">>>>>\s+PROC: (\w+)")
FIGURE = re.compile(r"\b(CALLS|MIN|AVG|MAX|TOTAL|P99|P95|P75|P50|P25): ([-\d.,]+)(?:ms)?")
NAMES = {"CALLS": "calls", "AVG": "avg_ms", "MAX": "max_ms", "TOTAL": "total_ms"}
RUNS = RunMarks(REPORT)
SUMMARY = "SUMMARY"

ProcedureRows = dict[str, dict[str, object]]
"""Figures of each procedure under the names of HammerDB's other formats"""


def detect(file: SourceFile) -> bool:
    """By its banner, or a section's line."""
    return bool(REPORT.search(file.head[:2000]) or (SECTION.search(file.head) and PROCEDURE.search(file.head)))


def read(file: SourceFile) -> FileReading:
    """Times of all virtual users. Raises InputError for a report without a section, or one of another form."""
    reading = FileReading(KIND, file.name, tool=hammerdb.TOOL, rank=ResultRank.TIMES)
    sections: dict[str, ProcedureRows] = {}
    rows: ProcedureRows = {}
    row: dict[str, object] = {}
    elapsed_ms = 0.0
    for at, line in enumerate(file.whole_lines, 1):
        if match := SECTION.search(line):
            name = SUMMARY if match[2] else match[1]
            if match[2]:
                hammerdb.users(reading, file.number(match[2], f"line {at}"), f"line {at}")
            rows = sections.setdefault(name, {})
            elapsed_ms = file.number(match[3], f"line {at}, ELAPSED TIME")
        elif match := PROCEDURE.search(line):
            row = rows.setdefault(match[1], {"elapsed_ms": elapsed_ms})
        else:
            for word, text in FIGURE.findall(line):
                row[NAMES.get(word, f"{word.lower()}_ms")] = file.number(text, f"line {at}, {word}")
    if not sections or not any(sections.values()):
        file.truncated("a section of virtual users with procedures")
    users = [section for name, section in sections.items() if name != SUMMARY]
    if SUMMARY not in sections:
        hammerdb.users(reading, len(users), "sections of virtual users")
    rows = sections.get(SUMMARY) or (users[0] if len(users) == 1 else _together(users))
    hammerdb.timings(file, reading, rows, "time profile")
    elapsed_s = max(file.number(each["elapsed_ms"], "ELAPSED TIME") for each in rows.values()) / 1000.0
    reading.set_window("whole", elapsed_s, "ms", "ELAPSED TIME", "calls over the users' time, ramp-up with it")
    if "NEWORD" in rows:
        calls, means = file.number(rows["NEWORD"]["calls"], "NEWORD, CALLS"), "new orders over the users' time"
        reading.add("outcome.new_orders_per_minute", calls / elapsed_s * 60.0, "calls", "NEWORD, CALLS", means)
    return reading


def _together(users: list[ProcedureRows]) -> ProcedureRows:
    """Counts, totals and means of all users; no percentiles."""
    rows: ProcedureRows = {}
    for section in users:
        for name, row in section.items():
            known = rows.setdefault(name, {"calls": 0.0, "total_ms": 0.0, "max_ms": 0.0, "elapsed_ms": 0.0})
            for key in ("calls", "total_ms"):
                known[key] = float(str(known[key])) + float(str(row[key]))
            for key in ("max_ms", "elapsed_ms"):
                known[key] = max(float(str(known[key])), float(str(row[key])))
            known["avg_ms"] = float(str(known["total_ms"])) / max(float(str(known["calls"])), 1.0)
    return rows
