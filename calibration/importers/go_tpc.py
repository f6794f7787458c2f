"""go-tpc's output: plain, table or JSON, and the plain one of 2019, which tiup had too.

Traps: `tpmTotal` adds rates of classes that were counted over different times, so rates are made from counts anew;
`_ERR` rows are failures and no throughput; all values of the JSON form are text; the warehouses stand nowhere but in
the efficiency, tpmC / (12.86 * warehouses). In 2019 there was no such line, and neither 50th, 95th nor Max.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import TPCC_CLASSES, class_name, moment_s
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import DAMAGED, SourceFile, repeated_name

KIND = "go-tpc result"
MOST_NEW_ORDERS_PER_WAREHOUSE = 12.86
PLAIN = re.compile(r"^\[(Current|Summary)\] (\w+) - (Takes\(s\): .*)$")
TABLE = re.compile(r"^\|\s*\[(Current|Summary)\]\s*\|\s*(\w+)\s*\|(.*)\|\s*$")
COLUMNS = (
    "Takes(s)", "Count", "TPM", "Sum(ms)", "Avg(ms)", "50th(ms)", "90th(ms)", "95th(ms)", "99th(ms)", "99.9th(ms)",
    "Max(ms)",
)  # fmt: skip
OLD_COLUMNS = {"Takes(s)", "Count", "TPM", "Sum(ms)", "Avg(ms)", "90th(ms)", "99th(ms)", "99.9th(ms)"}
PERCENTILES = ("50", "90", "95", "99", "99.9")
SUMMARY_ROW = re.compile(r"^\|?\s*\[Summary\]")
RUNS = RunMarks(
    re.compile(r'^\|?\s*\[Summary\] *\|? *NEW_ORDER\b|"Operation":"NEW_ORDER","Prefix":"\[Summary\]'),
    goes_on=re.compile(r'^\|?\s*\[(?:Current|Summary)\] *\|? *DELIVERY\b|"Prefix":"\[Current\]|^\|?\s*\[Current\]'),
)
TOTALS = re.compile(r"^tpmC: (\S+), tpmTotal: (\S+), efficiency: (\S+)%")
STOPPED = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] run worker (\d+) stopped")
WARM = re.compile(r"^WARMUP_DONE (\d+\.\d+)")
NEW_ORDERS = "new orders done in the window by their count, rolled-back ones with them, per minute"


@dataclass(frozen=True)
class ClassRow:
    """Row of one transaction class, in one interval or in all."""

    line: int
    summary: bool
    operation: str
    words: dict[str, str]


def detect(file: SourceFile) -> bool:
    """By the first line of results."""
    return any(
        PLAIN.match(line)
        or TABLE.match(line)
        or (line.startswith("[{") and '"Takes(s)"' in line and '"Prefix"' in line)
        for line in file.head.splitlines()[:60]
    )


def read(file: SourceFile) -> FileReading:
    """Rates from counts, percentiles by class, a series. Raises InputError without summary rows."""
    reading = FileReading(KIND, file.name, tool="go-tpc")
    rows = list(_rows(file))
    summary = [row for row in rows if row.summary]
    if not summary:
        file.truncated("[Summary] rows")

    def number(row: ClassRow, column: str) -> float:
        if column not in row.words:
            file.refuse(f"line {row.line}", f"no {column}", "all columns of go-tpc", "copy the file again")
        return file.number(row.words[column], f"line {row.line}, {row.operation} {column}")

    names = [row.operation for row in summary]
    if twice := repeated_name(names):
        file.refuse(f"line {summary[names.index(twice)].line}", f"two [Summary] rows {twice}", "one of each", DAMAGED)
    done = [row for row in summary if not row.operation.endswith("_ERR")]
    old = all(set(row.words) == OLD_COLUMNS for row in summary)
    counts = {class_name(row.operation): number(row, "Count") for row in done}
    if old and set(counts) != set(TPCC_CLASSES):
        file.truncated("[Summary] rows of the five classes")
    duration_s = max(_seconds(number(row, "Takes(s)"), number(row, "Count"), number(row, "TPM")) for row in done)
    place = f"lines {summary[0].line} to {summary[-1].line}"
    definition = "count of transactions done over the longest time of a class (its count over its TPM)"
    reading.set_window("whole" if _warm_s(file) is None else "steady", duration_s, "s", place, definition)
    total = sum(counts.values())
    reading.add(
        "outcome.transactions_per_s", total / duration_s, "count", place, "transactions done, without _ERR, per s"
    )
    if "new_order" in counts:
        rate = counts["new_order"] / duration_s * 60.0
        reading.add("outcome.new_orders_per_minute", rate, "count", place, NEW_ORDERS)
    mean_ms = sum(number(row, "Sum(ms)") for row in done) / max(total, 1.0)
    reading.add("outcome.mean_ms", mean_ms, "ms", place, "Sum(ms) of all classes over their counts")
    failed = 0.0
    for row in summary:
        name = class_name(row.operation.removesuffix("_ERR"))
        at, base = f"line {row.line}", ("outcome", "classes", name)
        if row.operation.endswith("_ERR"):
            failed += number(row, "Count")
            reading.add((*base, "errors"), number(row, "Count"), "count", at, "transactions that failed")
            continue
        reading.add((*base, "count"), number(row, "Count"), "count", at, "transactions done")
        mean_ms = number(row, "Sum(ms)") / max(number(row, "Count"), 1.0)
        reading.add((*base, "mean_ms"), mean_ms, "ms", at, "Sum(ms) over Count")
        per_minute = number(row, "Count") / max(number(row, "Takes(s)"), 0.1) * 60.0
        rounding = per_minute * 0.1 / max(number(row, "Takes(s)"), 0.1) + 0.1
        file.agree(f"TPM of {name}", number(row, "TPM"), at, per_minute, "Count over Takes", rounding)
        file.agree(
            f"Avg of {name}",
            number(row, "Avg(ms)"),
            at,
            mean_ms,
            "Sum over Count",
            2.0 * mean_ms / max(number(row, "Count"), 1.0) + old,
        )
        if not old:
            reading.add((*base, "max_ms"), number(row, "Max(ms)"), "ms", at, "longest")
        for each in PERCENTILES:
            if old and f"{each}th(ms)" not in row.words:
                continue
            value = number(row, f"{each}th(ms)")
            reading.add((*base, "percentiles_ms", each), value, "ms", at, f"{each} % were at most so long")
    reading.add("outcome.errors_per_s", failed / duration_s, "count", place, "_ERR rows, per s")
    reading.add_text("workload.driver", "go-tpc tpcc", place, "load generator")
    classes = {class_name(row.operation): number(row, "TPM") for row in done}
    _totals(file, reading, {} if old else classes)
    _series(rows, reading, number)
    _times(file, reading, duration_s)
    return reading


def _seconds(takes_s: float, count: float, per_minute: float) -> float:
    """Takes(s) with the digits that its print lacks, from count and TPM, if the two agree."""
    exact = count * 60.0 / per_minute if per_minute > 0 else takes_s
    return exact if count >= 100 and abs(exact - takes_s) <= 0.1 else takes_s


def _rows(file: SourceFile) -> Iterator[ClassRow]:
    for at, line in enumerate(file.lines, 1):
        plain, table = PLAIN.match(line), TABLE.match(line)
        if plain:
            words = dict(each.split(": ", 1) for each in re.split(r", (?=[A-Z0-9])", plain[3]) if ": " in each)
            yield ClassRow(at, plain[1] == "Summary", plain[2], words)
        elif table:
            cells = [cell.strip() for cell in table[3].split("|")]
            yield ClassRow(at, table[1] == "Summary", table[2], dict(zip(COLUMNS, cells, strict=False)))
        elif SUMMARY_ROW.match(line):
            file.refuse(f"line {at}", repr(line[:80]), "a [Summary] row of go-tpc", DAMAGED)
        elif line.startswith("[{"):
            yield from _json_rows(file, at, line)


def _json_rows(file: SourceFile, at: int, line: str) -> Iterator[ClassRow]:
    try:
        values = json.loads(line)
    except json.JSONDecodeError:
        file.refuse(f"line {at}", "a line that is cut off", "one JSON value a line", "copy the file again")
    for value in values:
        if isinstance(value, dict) and "Operation" in value:
            yield ClassRow(at, "Summary" in str(value.get("Prefix")), str(value["Operation"]), value)


def _totals(file: SourceFile, reading: FileReading, classes: dict[str, float]) -> None:
    """The last line: kept as reported, because its rates are of different times; the warehouses are hidden in it.

    `classes`: transactions per minute of each; empty if no such line is to be expected.
    """
    found = False
    for at, line in enumerate(file.lines, 1):
        plain = TOTALS.match(line)
        table = re.match(r"^\|\s*([\d.]+)\s*\|\s*([\d.]+)\s*\|\s*([\d.]+)%\s*\|$", line)
        match = plain or table
        words = list(match.groups()) if match else []
        if line.startswith(('[{"efficiency"', '[{"tpmC"')):
            totals = json.loads(line)[0]
            words = [totals["tpmC"], totals["tpmTotal"], totals["efficiency"].rstrip("%")]
        if not words:
            continue
        found = True
        per_minute, total, efficiency = (file.number(word, f"line {at}") for word in words)
        where = f"line {at}"
        if classes:
            file.agree("tpmC", per_minute, where, classes.get("new_order", 0.0), "TPM of the row NEW_ORDER", 0.1)
            file.agree("tpmTotal", total, where, sum(classes.values()), "the rows' TPM", 0.5)
        means = "go-tpc's tpmC: new orders per minute of its own time; not an audited tpmC"
        reading.add("outcome.reported.tpmC", per_minute, "1/min", where, means)
        means = "sum of the classes' rates, each over its own time: too high in short runs"
        reading.add("outcome.reported.tpmTotal", total, "1/min", where, means)
        if efficiency > 0:
            warehouses = per_minute / (MOST_NEW_ORDERS_PER_WAREHOUSE * efficiency / 100.0)
            rounding = 0.01 + warehouses * (0.05 / max(per_minute, 0.1) + 0.05 / efficiency)
            if abs(warehouses - round(warehouses)) > rounding:
                file.refuse(where, f"tpmC and efficiency of {warehouses:.3g} warehouses", "a whole number", DAMAGED)
            means = "from tpmC and efficiency, which is tpmC / (12.86 * warehouses)"
            reading.add("workload.warehouses", round(warehouses), "%", where, means)
    if not found and classes:
        file.truncated("the last line with tpmC and tpmTotal")


def _series(rows: list[ClassRow], reading: FileReading, number: Callable[[ClassRow, str], float]) -> None:
    points = [row for row in rows if not row.summary and class_name(row.operation) == "new_order"]
    if len(points) >= 2:
        takes = [number(row, "Takes(s)") for row in points]
        rates = [number(row, "Count") / max(took, 0.1) * 60.0 for row, took in zip(points, takes, strict=True)]
        place = f"lines {points[0].line} to {points[-1].line}"
        ends_s = list(accumulate(takes))
        reading.add_series("new_orders_per_minute", ends_s, rates, "count", place, "[Current] NEW_ORDER rows")


def _warm_s(file: SourceFile) -> float | None:
    """When a script said that the warm-up is over; go-tpc itself has no ramp."""
    for line in file.lines[:200]:
        match = WARM.match(line)
        if match:
            return float(match[1])
    return None


def _times(file: SourceFile, reading: FileReading, duration_s: float) -> None:
    stops = [(at, match) for at, line in enumerate(file.lines, 1) if (match := STOPPED.match(line))]
    if stops:
        clients = max(int(match[2]) for _, match in stops) + 1
        means = "threads that send one transaction after the other"
        reading.add("workload.clients", clients, "number of the last worker", f"line {stops[0][0]}", means)
    start_s = _warm_s(file)
    if start_s is None and stops and (end_s := moment_s(stops[0][1][1])) is not None:
        start_s = end_s - duration_s
        reading.notes.append("its clock is taken for UTC: the log names no time zone")
    if start_s is not None:
        reading.window = (start_s, start_s + duration_s)
