"""`cockroach workload run`'s text, as pkg/workload/cli/format.go and pkg/workload/tpcc/tpcc.go write it (2019 to 2023).

Traps: the clock begins anew after --ramp; `_errors` counts those of all classes, in each row; TPC-C waits as the
specification says unless --wait=false; efc has one decimal, so that of many warehouses it tells no number.
"""

import re

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import TPCC_CLASSES, class_name
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import DAMAGED, SourceFile

KIND = "cockroach workload"
TICK = re.compile(r"^ *([\d.,]+)s +\d+ +([\d.,]+) +[\d.,]+(?: +[\d.,]+){4} +(\w+)$")
HEADER = re.compile(r"^_elapsed___errors_____ops\(total\).*__(total|result)$")
ROW = re.compile(r"^ *([\d.,]+)s +(\d+) +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)(?: +(\S+))? *$")
TPMC_HEADER = "_elapsed_______tpmC____efc"
TPMC = re.compile(r"^ *([\d.,]+)s +(\S+) +(\S+)%")
MOST_PER_WAREHOUSE = 12.86
RUNS = RunMarks(re.compile(r"^_elapsed___errors_____ops.*__result$"), goes_on=TICK)
TotalsRow = tuple[str, list[float]]


def detect(file: SourceFile) -> bool:
    """By its line of columns."""
    return "_elapsed___errors__" in file.head


def read(file: SourceFile) -> FileReading:
    """Rates and times by class from the totals. Raises InputError without totals, or for figures that differ."""
    reading = FileReading(KIND, file.name, tool="cockroach workload")
    classes, result, ticks, tpmc = _rows(file)
    if not classes or result is None:
        file.truncated("the rows __total and __result")
    place, (seconds, errors, *_) = result
    if seconds <= 0:
        file.refuse(place, f"{seconds:g} s", "a measured time", "run it longer")
    for name, (where, row) in classes.items():
        file.agree(f"ops/sec of {name}", row[3], where, row[2] / seconds, "ops(total) over the time", 0.05)
    total = sum(row[2] for _, row in classes.values())
    file.agree("ops(total)", result[1][2], place, total, "the rows of the classes", 0.5)
    mean_ms = sum(row[2] * row[4] for _, row in classes.values()) / max(total, 1.0)
    file.agree("avg(ms)", result[1][4], place, mean_ms, "the rows of the classes", 0.1)
    ramp = next((at for at in range(1, len(ticks)) if ticks[at][0] < ticks[at - 1][0]), None)
    reading.set_window("whole" if ramp is None else "steady", seconds, "s", place, "operations done over the time")
    if ramp is not None:
        reading.add("window.ramp_s", ticks[ramp - 1][0], "s", "reports before the clock began anew", "--ramp")
    reading.add("outcome.transactions_per_s", total / seconds, "ops", place, "operations done, per s")
    reading.add("outcome.errors_per_s", errors / seconds, "errors", place, "failed, per s")
    reading.add("outcome.mean_ms", mean_ms, "ms", place, "mean of all operations by their counts")
    for name, (where, row) in classes.items():
        base = ("outcome", "classes", name)
        reading.add((*base, "count"), row[2], "ops", where, "operations done")
        reading.add((*base, "mean_ms"), row[4], "ms", where, "mean")
        reading.add((*base, "max_ms"), row[8], "ms", where, "longest")
        for percent, value in zip(("50", "95", "99"), row[5:8], strict=True):
            reading.add((*base, "percentiles_ms", percent), value, "ms", where, f"{percent} % were at most so long")
    is_tpcc = tpmc is not None or set(classes) >= set(TPCC_CLASSES)
    what = "tpcc" if is_tpcc else f"of {', '.join(classes)}"
    reading.add_text("workload.driver", f"cockroach workload {what}", place, "load generator")
    if is_tpcc and "new_order" in classes:
        _tpcc(file, reading, classes["new_order"], seconds, tpmc)
    reading.set_database("CockroachDB", place)
    return reading


def _rows(
    file: SourceFile,
) -> tuple[dict[str, TotalsRow], TotalsRow | None, list[tuple[float, float, str]], tuple[str, list[float]] | None]:
    """Totals by class, the row of all, reports, and the line with tpmC and efc."""
    classes: dict[str, TotalsRow] = {}
    result: TotalsRow | None = None
    ticks: list[tuple[float, float, str]] = []
    tpmc: tuple[str, list[float]] | None = None
    kind = ""
    for at, line in enumerate(file.lines, 1):
        place = f"line {at}"
        if match := HEADER.match(line):
            kind = match[1]
        elif line.startswith(TPMC_HEADER):
            kind = "tpmC"
        elif kind == "tpmC" and (match := TPMC.match(line)):
            tpmc, kind = (place, [file.number(word, place) for word in match.groups()]), ""
        elif kind and line.strip():
            match = file.matched(ROW, line, at, "a row of totals")
            row = place, [file.number(word, place) for word in match.groups()[:9]]
            name = class_name(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[10] or ""))
            if kind == "total" and name in classes:
                file.refuse(place, f"a second row of {name}", "one for each class", DAMAGED)
            if kind == "total":
                classes[name] = row
            else:
                result = row
            kind = ""
        elif match := TICK.match(line):
            ticks.append((file.number(match[1], place), file.number(match[2], place), match[3]))
    return classes, result, ticks, tpmc


def _tpcc(file: SourceFile, reading: FileReading, row: TotalsRow, seconds: float, tpmc: TotalsRow | None) -> None:
    """New orders per minute; the warehouses, where efc tells them."""
    place, figures = row
    per_minute = figures[2] / seconds * 60.0
    means = "new orders done in the window by their count, per minute"
    reading.add("outcome.new_orders_per_minute", per_minute, "ops", place, means)
    if tpmc is None:
        return
    where, (_, reported, efficiency) = tpmc
    file.agree("tpmC", reported, where, per_minute, "the row newOrder", 0.1)
    reading.add("outcome.reported.tpmC", reported, "1/min", where, "cockroach's tpmC; not an audited one")
    warehouses = reported / (MOST_PER_WAREHOUSE * efficiency / 100.0) if efficiency > 0 else 0.0
    if warehouses and warehouses * 0.05 / efficiency < 0.5:
        means = "active warehouses, from tpmC and efc, which is tpmC / (12.86 * warehouses)"
        reading.add("workload.warehouses", round(warehouses), "%", where, means)
