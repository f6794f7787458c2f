"""HammerDB's log, its result file and its transaction counter's log.

Traps: the counter shows commits per minute (TPM) and not new orders; it goes on in the ramp-up and after the end.
"""

import re

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "HammerDB log"
OPENING = re.compile(r"^(?:HammerDB (?:CLI|v\d)|Vuser \d+:)", re.MULTILINE)
COUNTED = re.compile(r"^(\d+) (\S.*?) tpm(?: @ .*)?\s*$")
PERIOD = re.compile(r"Timing test period of (\d+) in minutes")
RAMP = re.compile(r"(?:Rampup (\d+) minutes? complete|Beginning rampup time of (\d+) minutes?)")
RAMP_OVER = "Rampup complete, Taking start Transaction Count"
END = "Test complete, Taking end Transaction Count"
COUNTER_INTERVAL_S = 10.0


def detect(file: SourceFile) -> bool:
    """By the result line, or by the counter's lines."""
    if file.head.lstrip().startswith(("{", "[")):
        return False
    lines = file.head.splitlines()
    return bool(
        hammerdb.RESULT.search(file.head)
        or OPENING.search(file.head)
        or "Hammerdb Transaction Counter Log" in file.head
        or sum(1 for line in lines[:50] if COUNTED.match(line)) >= 3
    )


def read(file: SourceFile) -> FileReading:
    """NOPM, TPM, the timed period, the counter as a series. Raises InputError for a log that ends before its result."""
    counter_only = "Vuser" not in file.text and "TEST RESULT" not in file.text
    reading = FileReading(
        KIND, file.name, tool=hammerdb.TOOL, rank=ResultRank.DETAIL if counter_only else ResultRank.SUMMARY
    )
    minutes, ramp, found = 0.0, None, False
    counted: list[float] = []
    steady: tuple[int, int] | None = None
    for at, line in enumerate(file.lines, 1):
        place = f"line {at}"
        found = hammerdb.result(file, reading, line, place) or found
        if match := COUNTED.match(line):
            counted.append(file.number(match[1], place))
        elif match := PERIOD.search(line):
            minutes = file.number(match[1], place)
        elif match := RAMP.search(line):
            ramp = max(ramp or 0.0, file.number(match[1] or match[2], place))
        elif match := hammerdb.USERS.search(line):
            hammerdb.users(reading, file.number(match[1], place), place)
        elif RAMP_OVER in line:
            steady = (len(counted), len(counted))
        elif END in line and steady is not None:
            steady = (steady[0], len(counted))
    if not found and not counter_only:
        file.truncated("the line TEST RESULT")
    if minutes:
        hammerdb.period(reading, minutes, ramp, "Timing test period")
    if counted:
        kept = counted[steady[0] : steady[1]] if steady else counted
        means = "commits per minute in the timed period" if steady else "commits per minute, ramp-up and end with them"
        reading.add_series(
            "commits_per_minute",
            COUNTER_INTERVAL_S,
            kept,
            "TPM",
            f"{len(kept)} lines 'tpm'",
            f"{means}; intervals of 10 s assumed",
        )
    return reading
