"""Parts that HammerDB's log, job pieces, report and database share: the lines of virtual users and the timings.

TPM counts commits (and rollbacks) of the engine, NOPM new orders; TPM is 2 to 5 NOPM by engine and release and is never
a rate of new orders. 2.x and 3.x write TPM before NOPM. A virtual user that failed leaves a result of the others.
Timings are of all virtual users from their first transaction on: the ramp-up is in them.
"""

import re
from collections.abc import Iterable, Mapping

from oltpsim.calibration.importers.vocabulary import CPU_DEFINITION, TPCC_CLASSES, class_name
from oltpsim.calibration.records import FileReading, Meaning, RecordKey
from oltpsim.models.input import SourceFile

TOOL = "HammerDB"
RESULT = re.compile(
    r"TEST RESULT : System achieved (?:([\d.,]+) NOPM from ([\d.,]+) (.+?) TPM|([\d.,]+) (.+?) TPM at ([\d.,]+) NOPM)"
)
RESULT_LINE = "TEST RESULT :"
USERS = re.compile(r"(\d+) Active Virtual Users configured")
PERIOD = re.compile(r"Timing test period of (\d+) in minutes")
RAMP = re.compile(r"(?:Rampup (\d+) minutes? complete|Beginning rampup time of (\d+) minutes?)")
MINUTE = re.compile(r"^(?:Vuser 1:)?(\d+)\s+\.\.\.,")
RAMP_OVER = "Rampup complete, Taking start Transaction Count"
NAMED = re.compile(r"Vuser (\d+):")
BEGUN = ":Processing "
"""in the line with which a virtual user begins its transactions"""
FAILED = re.compile(r"Vuser (\d+):FINISHED FAILED")
NOPM_MEANS = "NOPM: new orders of the timed period, per minute, by the district table's next order number"
TPM_MEANS = "TPM: commits and rollbacks of the engine in the timed period, per minute"
TIMING_MEANS = "all virtual users, the ramp-up with it"
PERCENTILES = {"p25_ms": "25", "p50_ms": "50", "p75_ms": "75", "p95_ms": "95", "p99_ms": "99"}
CPU = {"usr": "user", "sys": "system", "irq": "system", "idle": "idle"}
CPU_MEANINGS: dict[RecordKey, Meaning] = {
    ("resources", f"cpu_{share}_fraction"): Meaning("%", 0.01, CPU_DEFINITION[share]) for share in CPU.values()
}
RATE_MEANS = "new orders counted from the end of the ramp-up to the end of the timed period"


def virtual_users(file: SourceFile, reading: FileReading, lines: Iterable[tuple[str, str]]) -> bool:
    """Read what virtual users say, in (place, line); False without a result. Raises InputError for two of them."""
    minutes: tuple[float, str] | None = None
    ramp, last_minute, found = None, (0.0, ""), ""
    failed: set[str] = set()
    lines = list(lines)
    _compare_users(file, lines)
    for place, line in lines:
        if match := PERIOD.search(line):
            minutes = file.number(match[1], place), place
        elif match := RAMP.search(line):
            ramp = max(ramp or 0.0, file.number(match[1] or match[2], place))
        elif minutes and (match := MINUTE.match(line)):
            last_minute = file.number(match[1], place), place
        elif match := USERS.search(line):
            users(reading, file.number(match[1], place), place)
        elif match := FAILED.search(line):
            failed.add(match[1])
        elif RESULT_LINE in line:
            match = RESULT.search(line)
            if match is None or found:
                came = f"a second result beside {found}" if found else repr(line.strip()[:80])
                file.refuse(place, came, "one line TEST RESULT with NOPM and TPM", "give the log of one run")
            nopm, tpm, engine = (match[1], match[2], match[3]) if match[1] else (match[6], match[4], match[5])
            rates(reading, file.number(nopm, f"{place}, NOPM"), file.number(tpm, f"{place}, TPM"), place)
            reading.set_database(engine, place)
            found = place
    if minutes:
        if last_minute[1]:
            file.agree("timed minutes", *last_minute, *minutes)
        period(reading, minutes[0], ramp, "Timing test period")
    if failed:
        means = "virtual users that ended with FINISHED FAILED: the result is of the others"
        reading.add("outcome.reported.failed users", len(failed), "virtual users", "FINISHED FAILED", means)
    return bool(found)


def _compare_users(file: SourceFile, lines: Iterable[tuple[str, str]]) -> None:
    """Every virtual user but the first, who watches, runs transactions, and says so when it begins."""
    named: set[str] = set()
    begun: set[str] = set()
    active: tuple[float, str] | None = None
    for place, line in lines:
        if match := NAMED.match(line):
            named |= {match[1]} - {"1"}
            begun |= {match[1]} if BEGUN in line else set()
        if match := USERS.search(line):
            active = file.number(match[1], place), place
    workers = len(begun) or len(named)
    if active and (workers > active[0] or begun):
        file.agree("virtual users", *active, float(workers), "the users that are named, without the first")


def rates(reading: FileReading, nopm: float, tpm: float, place: str) -> None:
    """The two rates: one of new orders, one of commits."""
    reading.add("outcome.new_orders_per_minute", nopm, "NOPM", place, NOPM_MEANS)
    reading.add("outcome.reported.TPM", tpm, "TPM", place, TPM_MEANS)
    reading.add_text("workload.driver", "HammerDB TPROC-C", place, "load generator; 43.5 % new orders")


def cpu_shares(file: SourceFile, words: Mapping[str, object], ending: str, place: str) -> dict[RecordKey, float]:
    """The CPU's shares, from columns that are named alike but for an ending; iowait is not among them."""
    values: dict[RecordKey, float] = {}
    for column, share in CPU.items():
        if (name := f"{column}{ending}") in words:
            path = ("resources", f"cpu_{share}_fraction")
            values[path] = values.get(path, 0.0) + file.number(words[name], f"{place}, {name}") / 100.0
    return values


def users(reading: FileReading, count: float, place: str) -> None:
    """The clients."""
    reading.add("workload.clients", count, "virtual users", place, "virtual users that run transactions")


def timings(file: SourceFile, reading: FileReading, rows: Mapping[str, Mapping[str, object]], place: str) -> None:
    """Latencies by procedure, and the rate and mean of all; each key says its unit, ms."""
    calls = total_ms = elapsed_ms = 0.0
    for name, row in rows.items():
        base = ("outcome", "classes", class_name(name))

        def number(key: str, row: Mapping[str, object] = row, name: str = name) -> float:
            return file.number(row.get(key), f"{place}, {name} {key}")

        mean_ms = number("total_ms") / max(number("calls"), 1.0)
        file.agree(f"avg of {name}", number("avg_ms"), place, mean_ms, "its total over its calls", 0.01)
        calls, total_ms = calls + number("calls"), total_ms + number("total_ms")
        elapsed_ms = max(elapsed_ms, number("elapsed_ms"))
        where = f"{place}, {name}"
        reading.add((*base, "count"), number("calls"), "calls", where, f"calls of {TIMING_MEANS}")
        reading.add((*base, "mean_ms"), number("avg_ms"), "ms", where, f"mean of {TIMING_MEANS}")
        reading.add((*base, "max_ms"), number("max_ms"), "ms", where, f"longest of {TIMING_MEANS}")
        for key, percentile in PERCENTILES.items():
            if row.get(key) is not None:
                reading.add((*base, "percentiles_ms", percentile), number(key), "ms", where, f"of {TIMING_MEANS}")
    if calls > 0 and elapsed_ms > 0 and {class_name(name) for name in rows} >= set(TPCC_CLASSES):
        reading.add("outcome.mean_ms", total_ms / calls, "ms", place, f"mean of all procedures, {TIMING_MEANS}")
        means = f"calls of all procedures over elapsed_ms, {TIMING_MEANS}"
        reading.add("outcome.transactions_per_s", calls / elapsed_ms * 1000.0, "calls", place, means)


def period(reading: FileReading, minutes: float, ramp_minutes: float | None, place: str) -> None:
    """The timed period and the ramp-up before it."""
    reading.set_window("steady", minutes * 60.0, "min", place, RATE_MEANS)
    if ramp_minutes is not None:
        reading.add("window.ramp_s", ramp_minutes * 60.0, "min", place, "ramp-up before the timed period")
