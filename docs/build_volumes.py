"""Write the tables of docs/volumes.md: InnoDB on cloud volumes under sysbench-tpcc, measured and simulated.

python docs/build_volumes.py               simulate what docs/volumes.yaml lacks, one run after the other, and draw
python docs/build_volumes.py --draw        write the tables again from docs/volumes.yaml

Which rows calibrate says calibration/runs/mappings/sysbench_tpcc_io1.yaml.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from docs.build import head, line, replaced
from oltpsim.calibration.fit import measured_runs, read_mapping_file
from oltpsim.calibration.records import RunRecord, load_record, records_in
from oltpsim.models.input import as_mapping, parse_yaml, write_whole, yaml_text
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.results import Result

DOCS = Path(__file__).resolve().parent
RUNS, PAGE, ANSWERS = DOCS.parent / "calibration" / "runs", DOCS / "volumes.md", DOCS / "volumes.yaml"
BEGIN, END = "<!-- begin of {}: python docs/build_volumes.py -->\n", "<!-- end of {} -->\n"
FITTED = (*(f"pool-{size}-gib" for size in (5, 10, 15, 20, 25)), "warehouses-1000")
"""the series of the pool of 5 GB says the opening credits; what a stock level reads was chosen with all pools in sight;
the last is the machine of the one with 25 GB"""
IN_SIGHT = "io1-", "gp2-", "warm-up-io1-", "warehouses-500"
"""how names of rows begin that a mechanism or a number was chosen with"""
SEED, BIN_S, STEADY = 1, 60, 0.95
CAP_KEY = "machine.disks.disk.limits[requests].per_s"


@dataclass(frozen=True)
class RunSet:
    """Records of one source, and what they are simulated with. `is_capped`: by requests/s that each run names."""

    folder: str
    base: str
    is_capped: bool = False

    @property
    def mapping(self) -> Path:
        """What its records don't say."""
        return RUNS / "mappings" / f"{self.folder}.yaml"


SETS = (
    RunSet("sysbench_tpcc_io1", "innodb/sysbench-tpcc-io1", is_capped=True),
    RunSet("sysbench_tpcc_gp2", "innodb/sysbench-tpcc-gp2"),
    RunSet("sysbench_tpcc_mysql8", "innodb/sysbench-tpcc-mysql8"),
)


def answer_of(result: Result) -> dict[str, Any]:
    """What the page shows of a result."""
    device = result.devices[0]
    per_s = result.transactions_per_s
    capped = next((each for each in device.limits if each.of == "requests"), None)
    found: dict[str, Any] = {
        "transactions_per_s": round(per_s, 2),
        "io_per_transaction": round((device.reads_per_s + device.writes_per_s) / per_s, 2),
        "reads_per_transaction": round(device.reads_per_s / per_s, 2),
    }
    if capped is not None and capped.credits:
        found["credits_lasted_s"] = round(capped.credits_lasted_s)
    values = result.series.values["transactions_per_s"] if result.series else []
    step = round(BIN_S / result.series.step_s) if result.series else 1
    if values:
        found["series"] = [round(fmean(values[i : i + step]), 1) for i in range(0, len(values), step)]
    return found


def simulated(which: Sequence[str]) -> None:
    """Simulate what isn't in the file of answers, run by run."""
    known = answers()
    for of in SETS:
        records = [load_record(path) for path in records_in(RUNS / of.folder)]
        base = load_scenario_file(scenario_path(of.base))
        for run in measured_runs(records, base, {}, read_mapping_file(of.mapping, records)):
            if which and run.name not in which:
                continue
            for name, engine in (("kernel", kernel), ("analytic", analytic)):
                if name in known.get(run.name, {}):
                    continue
                result = engine.simulate(build(run.scenario), SEED)
                known = answers()
                known.setdefault(run.name, {})[name] = answer_of(result)
                write_whole(ANSWERS, yaml_text(dict(sorted(known.items())), leaves_on_a_line=True))


def answers() -> dict[str, dict[str, Any]]:
    """What was simulated, by run and engine."""
    if not ANSWERS.exists():
        return {}
    return dict(as_mapping(parse_yaml(ANSWERS.read_text(encoding="utf-8"), ANSWERS.name), ANSWERS.name))


def rates_table(records: Sequence[RunRecord], cap_per_s: dict[str, float]) -> str:
    """Rates, and requests per transaction where the cap on requests is what holds them."""
    known = answers()
    text = head(
        "run", "row is", "measured /s", "kernel", "error", "formulas", "error", "I/O measured", "kernel", "error"
    )
    for record in records:
        if record.name not in known:
            continue
        kernel, formulas = known[record.name]["kernel"], known[record.name].get("analytic")
        measured = record.outcome.transactions_per_s
        assert measured is not None
        seen = "in sight" if record.name.startswith(IN_SIGHT) else "predicted"
        role = "fitted" if record.name in FITTED else seen
        cells = [record.name, role, f"{measured.value:,.1f}", *_against(kernel["transactions_per_s"], measured.value)]
        cells += _against(formulas["transactions_per_s"], measured.value) if formulas else ["", ""]
        cap = cap_per_s.get(record.name)
        per_transaction = cap / measured.value if cap else None
        cells.append(f"{per_transaction:.1f}" if per_transaction else "")
        cells += _against(kernel["io_per_transaction"], per_transaction) if per_transaction else ["", ""]
        text += line(*cells)
    return text


def _against(value: float, measured: float) -> list[str]:
    return [f"{value:,.1f}", f"{value / measured - 1:+.1%}"]


def credits_end_s(series: Sequence[float]) -> float:
    """End of the last minute whose rate is a tenth above the last third's mean, of credits; infinite if none is."""
    late = fmean(series[-(len(series) // 3) :])
    faster = [i for i, each in enumerate(series) if each > 1.1 * late]
    return float((faster[-1] + 1) * BIN_S) if faster else float("inf")


def warm_up_s(series: Sequence[float]) -> float:
    """From when on the rate is at 95 % of the last third's mean for the first time, to a minute."""
    wanted = STEADY * fmean(series[-(len(series) // 3) :])
    return float(next(i for i, each in enumerate(series) if each >= wanted) * BIN_S + BIN_S / 2)


def series_table(records: Sequence[RunRecord]) -> str:
    """Warm-up and the end of credits of runs that have a series."""
    known = answers()
    text = head("run", "95 % of the last third after, measured", "kernel", "mean error along the curve",
                "credits end after, measured", "kernel", "error")  # fmt: skip
    for record in records:
        series = record.outcome.series.get("transactions_per_s")
        found = known.get(record.name, {}).get("kernel", {}).get("series")
        if series is None or not found:
            continue
        length = min(len(series.values), len(found))
        real, ours = series.values[:length], found[:length]
        error = fmean(abs(b / a - 1.0) for a, b in zip(real, ours, strict=True))
        cells = [record.name, f"{warm_up_s(series.values):,.0f} s", f"{warm_up_s(found):,.0f} s", f"{error:.1%}"]
        lasted = known[record.name]["kernel"].get("credits_lasted_s")
        end = credits_end_s(real)
        has_end = lasted is not None and lasted < length * BIN_S and end < length * BIN_S
        cells += [f"{end:,.0f} s", *_against(lasted, end)] if has_end else ["", "", ""]
        text += line(*cells)
    return text


def caps(of: RunSet, records: Sequence[RunRecord]) -> dict[str, float]:
    """Requests/s of rows that the cap on requests holds, as the rule of the page has it, by run."""
    file = read_mapping_file(of.mapping, records)
    found = {}
    for record in records:
        kernel = answers().get(record.name, {}).get("kernel")
        settings = file.runs[record.name].settings if record.name in file.runs else {}
        cap = settings.get(CAP_KEY)
        if isinstance(cap, int | float) and kernel is not None:
            used = kernel["io_per_transaction"] * kernel["transactions_per_s"] / cap
            if used >= STEADY:
                found[record.name] = float(cap)
    return found


def page(text: str) -> str:
    """The page with its tables."""
    for of in SETS:
        records = sorted((load_record(path) for path in records_in(RUNS / of.folder)), key=_order)
        capped = caps(of, records) if of.is_capped else {}
        text = replaced(text, BEGIN, END, rates_table(records, capped) + "\n", of.folder)
        text = replaced(text, BEGIN, END, series_table(records) + "\n", f"{of.folder} series")
    return text


def _order(record: RunRecord) -> tuple[str, float]:
    words = record.name.split("-")
    return words[0], float(next((word for word in words if word.isdigit()), 0))


def main() -> None:
    """Simulate what is missing, then draw."""
    if "--draw" not in sys.argv:
        simulated([word for word in sys.argv[1:] if not word.startswith("-")])
    write_whole(PAGE, page(PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
