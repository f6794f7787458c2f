"""DBT-2's summary (dbt2-post-process).

Traps: response times are in seconds; NOTPM is over the measured time without the ramp; rolled-back new orders are
in the total; the duration is rounded to 0.1 minutes.
"""

import math
import re

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import class_name
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import DAMAGED, SourceFile

KIND = "DBT-2 summary"
CLASSES = "Delivery|New Order|Order Status|Payment|Stock Level"
NAMED_ROW = re.compile(rf"^\s*(?:{CLASSES})\s+[\d.,]")
ROW = re.compile(rf"^\s*({CLASSES})\s+([\d.,]+)\s+([\d.,]+)\s+([\d.,]+)\s+(\d+)\s+(\d+)\s+[\d.,]+")
LINES = {
    "notpm": re.compile(r"^\s*\* Throughput: ([\d.,]+) new-order transactions per minute"),
    "minutes": re.compile(r"^\s*\* Duration: ([\d.,]+) minute"),
    "errors": re.compile(r"^\s*\* Unknown Errors: (\d+)"),
    "ramp": re.compile(r"^\s*\* Ramp Up Time: ([\d.,]+) minute"),
}
RUNS = RunMarks(LINES["notpm"], (re.compile(r"Response Time \(s\)"),), NAMED_ROW)


def detect(file: SourceFile) -> bool:
    """By the unit of its throughput, or its table's head."""
    return "(NOTPM)" in file.head or "Response Time (s)" in file.head


def read(file: SourceFile) -> FileReading:
    """NOTPM, latencies in ms. Raises InputError for a summary that is not whole."""
    reading = FileReading(KIND, file.name, tool="DBT-2")
    figures: dict[str, tuple[float, str]] = {}
    total = weighted = 0.0
    shares: dict[str, tuple[float, str]] = {}
    done: dict[str, tuple[float, float]] = {}
    for at, line in enumerate(file.lines, 1):
        place = f"line {at}"
        for name, pattern in LINES.items():
            if match := pattern.match(line):
                figures[name] = (file.number(match[1], place), place)
        if NAMED_ROW.match(line):
            match = file.matched(ROW, line, at, "a row of seven columns")
            shares[class_name(match[1])] = file.number(match[2], f"{place}, %"), place
            base = ("outcome", "classes", class_name(match[1]))
            if base[2] in done:
                file.refuse(place, f"a second row {match[1]}", "one for each class", DAMAGED)
            mean_s, p90_s = file.number(match[3], f"{place}, Average"), file.number(match[4], f"{place}, 90th")
            file.within("average", mean_s, place, (0.1 * p90_s, math.inf), "a tenth of the 90th percentile, at least")
            count = float(match[5])
            done[base[2]] = count, float(match[6])
            total, weighted = total + count, weighted + count * mean_s
            reading.add((*base, "count"), count, "Total", place, "transactions, rolled-back ones with them")
            reading.add((*base, "errors"), float(match[6]), "Rollbacks", place, "rolled back")
            reading.add((*base, "mean_ms"), mean_s * 1000.0, "s", place, "mean response time")
            reading.add((*base, "percentiles_ms", "90"), p90_s * 1000.0, "s", place, "90 % were at most so long")
    if not {"notpm", "minutes"} <= set(figures) or not total:
        file.truncated("the table and the lines Throughput and Duration")
    minutes, where = figures["minutes"]
    _compare(file, figures, shares, done)
    reading.set_window("steady", minutes * 60.0, "min", where, "NOTPM: new orders per minute after the ramp")
    if "ramp" in figures:
        reading.add("window.ramp_s", figures["ramp"][0] * 60.0, "min", figures["ramp"][1], "ramp-up")
    reading.add("outcome.new_orders_per_minute", figures["notpm"][0], "NOTPM", figures["notpm"][1], "DBT-2's NOTPM")
    reading.add(
        "outcome.transactions_per_s", total / minutes / 60.0, "Total", where, "all transactions over the duration"
    )
    reading.add("outcome.mean_ms", weighted / total * 1000.0, "s", "table", "mean response of all by their totals")
    reading.add_text("workload.driver", "DBT-2", "table", "load generator")
    return reading


def _compare(
    file: SourceFile,
    figures: dict[str, tuple[float, str]],
    shares: dict[str, tuple[float, str]],
    done: dict[str, tuple[float, float]],
) -> None:
    """Shares and NOTPM are written beside the counts; the duration is rounded to 0.1 minutes."""
    total = max(sum(count for count, _ in done.values()), 1.0)
    for name, (share, place) in shares.items():
        file.agree(f"share of {name}", share, place, done[name][0] / total * 100.0, "the column Total", 0.05)
    minutes = figures["minutes"][0]
    if "new_order" in done and minutes > 0:
        count, rolled_back = done["new_order"]
        per_minute = (count - rolled_back) / minutes
        rounding = per_minute * 0.05 / minutes + rolled_back / minutes
        file.agree("NOTPM", *figures["notpm"], per_minute, "new orders over the duration", rounding)
