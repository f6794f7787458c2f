"""HammerDB's log, its result file and its transaction counter's log.

Traps: the counter shows commits per minute (TPM) and not new orders; it goes on in the ramp-up and after the end; the
log is appended to, so that one file holds builds of the schema and several runs.
"""

import re

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "HammerDB log"
OPENING = re.compile(r"^(?:Hammerdb Log @|HammerDB (?:CLI|v\d)|Vuser \d+:)", re.MULTILINE)
COUNTED = re.compile(r"^(\d+) (\S.*?) tpm(?: @ .*)?\s*$")
END = "Test complete, Taking end Transaction Count"
COUNTER_INTERVAL_S = 10.0
RUNS = RunMarks(
    re.compile(hammerdb.RESULT_LINE),
    (re.compile("^Hammerdb Log @"), re.compile("Beginning rampup time of"), hammerdb.PERIOD),
    hammerdb.RAMP,
)


def detect(file: SourceFile) -> bool:
    """By the result line, or by the counter's lines."""
    if file.head.lstrip().startswith(("{", "[")):
        return False
    lines = file.head.splitlines()
    return bool(
        hammerdb.RESULT_LINE in file.head
        or OPENING.search(file.head)
        or "Hammerdb Transaction Counter Log" in file.head
        or sum(1 for line in lines[:50] if COUNTED.match(line)) >= 3
    )


def read(file: SourceFile) -> FileReading:
    """NOPM, TPM, the timed period, the counter as a series. Raises InputError for a log that ends before its result."""
    has_counts = any(COUNTED.match(line) for line in file.lines)
    counter_only = has_counts and "Vuser" not in file.text and hammerdb.RESULT_LINE not in file.text
    reading = FileReading(
        KIND, file.name, tool=hammerdb.TOOL, rank=ResultRank.DETAIL if counter_only else ResultRank.SUMMARY
    )
    lines = [(f"line {at}", line) for at, line in enumerate(file.lines, 1)]
    if not hammerdb.virtual_users(file, reading, lines) and not counter_only:
        file.truncated("the line TEST RESULT")
    _counter(file, reading, lines)
    return reading


def _counter(file: SourceFile, reading: FileReading, lines: list[tuple[str, str]]) -> None:
    """The transaction counter's lines, those of the timed period where the log tells it."""
    counted: list[float] = []
    steady: tuple[int, int] | None = None
    for place, line in lines:
        if match := COUNTED.match(line):
            counted.append(file.number(match[1], place))
        elif hammerdb.RAMP_OVER in line:
            steady = (len(counted), len(counted))
        elif END in line and steady is not None:
            steady = (steady[0], len(counted))
    rates = counted[steady[0] : steady[1]] if steady else counted
    means = "commits per minute in the timed period" if steady else "commits per minute, ramp-up and end with them"
    ends_s = [COUNTER_INTERVAL_S * number for number in range(1, len(rates) + 1)]
    place, means = f"{len(rates)} lines 'tpm'", f"{means}; intervals of 10 s assumed"
    reading.add_series("commits_per_minute", ends_s, rates, "TPM", place, means)
