"""Single changes planted in results of load generators: which of them move a figure without a word.

    python -m tests.planting --changes 10000

A change is silent if rate, time, clients, size or mean moves by 2 % or more, while the file is read and no law is
broken. A figure that is missing is told by `import`.
`SAID_ONCE` names the figures that a format says only once, so that nobody could tell; tests/test_fuzzing.py holds that
no other is silent.
"""

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.records import RunRecord, check_record, merge_readings
from oltpsim.models.input import value_at
from oltpsim.simulator.errors import InputError

SAMPLES = Path(__file__).resolve().parent / "samples"
FIGURES = (
    "outcome.new_orders_per_minute",
    "outcome.transactions_per_s",
    "window.duration_s",
    "workload.clients",
    "workload.warehouses",
    "workload.scale",
    "outcome.mean_ms",
)
LEAST_MOVE = 0.02
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
FACTORS = (0.5, 0.9, 0.97, 1.03, 1.1, 2.0, 10.0, 0.1)
RESULTS = (
    "go-tpc/tpcc_run_plain.txt", "go-tpc/tpcc_run_table.txt", "go-tpc/tpcc_run_json.txt", "hammerdb/run.log",
    "hammerdb/report.json", "sysbench/tpcc_1.0.15.txt",
    "sysbench/oltp_rw_histogram.txt", "sysbench/tpcc_kit.txt", "pgbench/tpcb_summary.txt", "pgbench/rate_limited.txt",
    "benchbase/run.summary.json", "tpcc-mysql/run.txt", "dbt2/summary.rst", "oracle/awr.txt",
)  # fmt: skip
SIZE, USERS, MEAN, ORDERS = "workload.warehouses", "workload.clients", "outcome.mean_ms", FIGURES[0]
SAID_ONCE: dict[str, tuple[str, ...]] = {
    "go-tpc/tpcc_run_plain.txt": (SIZE,),
    "go-tpc/tpcc_run_table.txt": (SIZE,),
    "go-tpc/tpcc_run_json.txt": (SIZE,),
    "hammerdb/run.log": (USERS, ORDERS),
    "hammerdb/report.json": (SIZE, ORDERS),
    "sysbench/tpcc_kit.txt": (SIZE,),
    "pgbench/tpcb_summary.txt": ("workload.scale",),
    "pgbench/rate_limited.txt": ("workload.scale", USERS, MEAN),
    "benchbase/run.summary.json": (SIZE, USERS, MEAN),
    "tpcc-mysql/run.txt": (SIZE, MEAN),
    "dbt2/summary.rst": (MEAN,),
}
"""Figures that a format says once, or leaves open by a few per cent, by its sample: NOPM beside commits, a class's mean
beside a percentile; this log was shortened, and names one of its users"""


@dataclass(frozen=True)
class Change:
    """A text with one change, and the line that it is in."""

    text: str
    line: str
    what: str


def planted(text: str, draw: random.Random) -> Change:
    """One number changed by a factor or in a digit, one line lost, doubled, or changed with its neighbour."""
    numbers = list(NUMBER.finditer(text))
    kind = draw.randrange(10)
    if kind == 0:
        lines = text.splitlines(keepends=True)
        at = draw.randrange(len(lines))
        changed = lines[:at] + (lines[at : at + 1] * 2 if draw.random() < 0.5 else []) + lines[at + 1 :]
        return Change("".join(changed), lines[at], "line lost or doubled")
    match = draw.choice(numbers)
    word = match[0]
    if kind < 5:
        value = float(word) * draw.choice(FACTORS)
        new = f"{value:.{len(word.partition('.')[2])}f}" if "." in word else str(round(value))
    else:
        at = draw.choice([place for place, letter in enumerate(word) if letter.isdigit()])
        new = word[:at] + (str(draw.randrange(10)) if kind < 8 else "") + word[at + 1 :]
    start = text.rfind("\n", 0, match.start()) + 1
    line = text[start : text.find("\n", match.end())]
    return Change(text[: match.start()] + new + text[match.end() :], line, f"{word} to {new or 'nothing'}")


def record_of(path: Path) -> RunRecord | None:
    """The record of a file; None if it is refused, isn't one run, or breaks a law."""
    try:
        runs = [run for run in find_runs([path]) if run.has_result]
        if len(runs) != 1 or runs[0].unread_results:
            return None
        record = merge_readings(runs[0].name, runs[0].readings).record
    except InputError:
        return None
    return None if any(finding.holds is False for finding in check_record(record)) else record


def moved(record: RunRecord, original: RunRecord) -> list[str]:
    """Figures that differ by 2 % or more."""
    found = []
    for key in FIGURES:
        ours, theirs = value_at(record, key), value_at(original, key)
        if theirs and ours and abs(ours.value - theirs.value) >= LEAST_MOVE * abs(theirs.value):
            found.append(key)
    return found


def silent_changes(sample: str, changes: int, seed: int, folder: Path) -> list[tuple[str, Change]]:
    """Changes of a sample that moved a figure which isn't among `SAID_ONCE` without a word, with that figure."""
    draw = random.Random(f"{seed} {sample}")  # noqa: S311 - no secret
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    path = folder / Path(sample).name
    path.write_text(text, encoding="utf-8")
    original = record_of(path)
    assert original is not None, sample
    found = []
    for _ in range(changes):
        change = planted(text, draw)
        path.write_text(change.text, encoding="utf-8")
        record = record_of(path)
        if record is not None:
            found += [(key, change) for key in moved(record, original) if key not in SAID_ONCE.get(sample, ())]
    return found


def main(words: Sequence[str]) -> int:
    """Plant changes in all samples, and print those that are silent; 1 if some are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    silent = 0
    for sample in RESULTS:
        with tempfile.TemporaryDirectory() as folder:
            found = silent_changes(sample, options.changes // len(RESULTS), options.seed, Path(folder))
        silent += len(found)
        print(f"{sample}: {len(found)} silent")  # noqa: T201
        kinds = Counter((key, re.sub(r"\d+", "#", change.line.strip())[:70]) for key, change in found)
        examples = {(key, re.sub(r"\d+", "#", change.line.strip())[:70]): change.what for key, change in found}
        for (key, line), count in kinds.most_common():
            print(f"  {count} {key}: {line!r} ({examples[key, line]})")  # noqa: T201
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
