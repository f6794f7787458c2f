"""Hold the laboratory's runs against their predictions; write the tables of docs/laboratory.md and its picture.

python docs/build_laboratory.py        seconds
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev

from docs.build import replaced
from docs.build_public import table
from oltpsim.calibration.fit import read_calibration
from oltpsim.calibration.records import RunRecord, load_record, records_in
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.show.chart import Chart, Points, Scale, Segment
from oltpsim.scenarios.show.palette import SERIES_COLOURS
from oltpsim.scenarios.show.picture import write_picture

DOCS = Path(__file__).resolve().parent
CALIBRATION = DOCS.parent / "calibration"
FOLDER = CALIBRATION / "laboratory"
Files = dict[str, tuple[str, tuple[int, ...]]]
"""by model: a file of FOLDER, and the hosts on which it is judged; a machine counts in the last one that names it, and
none names a machine that had been measured before"""
PREDICTIONS: dict[str, Files] = {
    "PostgreSQL": {
        "first": ("predictions.csv", (1,)),
        "second": ("predictions_2.csv", (2,)),
        "third": ("predictions_3.csv", (2,)),
        "fourth": ("predictions_4.csv", (2, 3)),
        "fifth": ("predictions_5.csv", (5,)),
    },
    "pgbench": {"fifth": ("predictions_pgbench.csv", (5,))},
    "MariaDB": {
        "catalogue": ("predictions_mariadb_specification.csv", (2,)),
        "fitted": ("predictions_mariadb.csv", (2,)),
        "second": ("predictions_mariadb_2.csv", (2,)),
        "buffered": ("predictions_mariadb_3.csv", (5,)),
    },
}
EXPLAINED = {"MariaDB": ("explained_mariadb.csv", "calibration_mariadb_2.json")}
"""what a model says of machines that were measured before it, and the model"""
PAGE = DOCS / "laboratory.md"
WITHOUT_SPEED = ("postgresql-pool-70.r2",)
"""of the second host, before records said how fast a core was"""
OF_HOST_4 = tuple(f"postgresql-pool-70.r{number}" for number in (3, 4, 5))
"""of a host whose core computes 2,960 to 3,300 events/s, for the noise of repeats"""
HOST_5_FROM = "2026-11-28T13"
"""UTC, from which on all runs are the fifth host's: its core computes 4,370 to 5,270 events/s (half-core 2,540, by its
quota), the second's 4,040 to 4,460"""
SLOW_PER_S = 2000.0
"""a core of the third host computes 1,300 events/s"""
BEGIN, END = (
    "<!-- begin of {engine}'s tables: python docs/build_laboratory.py -->\n",
    "<!-- end of {engine}'s tables -->\n",
)
FIGURES = {
    "CPU": "cpu_utilisation_fraction",
    "reads": "reads_per_transaction",
    "writes": "writes_per_transaction",
    "pool misses": "pool_misses_per_transaction",
    "p95": "new_order_p95_s",
}
"""a column's name, and that of its prediction"""


@dataclass(frozen=True)
class Machine:
    """A machine with its runs on a host and what a `model` predicted; None of both: it was seen before all of those."""

    name: str
    host: int
    rates: tuple[float, ...]
    figures: dict[str, float]
    prediction: dict[str, str] | None
    model: str | None

    @property
    def rate(self) -> float:
        """Mean of the repeats."""
        return fmean(self.rates)

    @property
    def error(self) -> float:
        """Predicted by measured, less one."""
        assert self.prediction is not None
        return predicted_rate(self.prediction) / self.rate - 1

    @property
    def is_inside(self) -> bool:
        """Whether the mean is inside the prediction's interval."""
        assert self.prediction is not None
        return float(self.prediction["low"]) <= self.rate <= float(self.prediction["high"])


def predicted_rate(row: dict[str, str]) -> float:
    """Of the transactions counted, per minute: new orders, or pgbench's one kind."""
    return float(row.get("new_orders_per_min") or row["main_per_min"])


def measured_rate(record: RunRecord) -> float:
    """The same of a run."""
    outcome = record.outcome
    if outcome.new_orders_per_minute is not None:
        return outcome.new_orders_per_minute.value
    assert outcome.transactions_per_s is not None
    return 60 * outcome.transactions_per_s.value


def measured_figures(record: RunRecord) -> dict[str, float]:
    """Per transaction; CPU as a share of the database's cores, p95 of new orders, where there are any, in s."""
    resources, per_s = record.resources, record.outcome.transactions_per_s
    group, cores, device = resources.process_groups["database"], record.environment.cores, resources.devices["loop7300"]
    used, asked = (group.cpu_user_cores, group.cpu_system_cores), resources.buffer_reads_per_s
    assert per_s is not None
    assert cores is not None
    found = {
        "CPU": sum(each.value for each in used if each) / cores.value,
        "pool misses": asked.value / per_s.value if asked else 0.0,
    }
    if "new_order" in record.outcome.classes:
        found["p95"] = record.outcome.classes["new_order"].percentiles_ms["95"].value / 1000
    for name, value in (("reads", device.reads_per_s), ("writes", device.writes_per_s)):
        found[name] = value.value / per_s.value if value else 0.0
    return found


def machines(engine: str) -> list[Machine]:
    """All of an engine that were measured, in the order of their names."""
    predicted: dict[tuple[str, int], tuple[dict[str, str], str]] = {}
    for model, (name, hosts) in PREDICTIONS[engine].items():
        with (FOLDER / name).open(encoding="utf-8") as file:
            rows_of_file = list(csv.DictReader(file))
        predicted |= {(row["scenario"], host): (row, model) for row in rows_of_file for host in hosts}
    by_name: dict[tuple[str, int], list[RunRecord]] = {}
    for path in records_in(CALIBRATION / "runs" / f"laboratory_{engine.lower()}"):
        record = load_record(path)
        by_name.setdefault((record.name.rpartition(".")[0], _host(record)), []).append(record)
    found = []
    for (name, host), records in sorted(by_name.items()):
        scenario = load_scenario_file(library_files()[str(records[0].scenario)])
        rates = tuple(measured_rate(each) for each in records)
        figures = [measured_figures(each) for each in records]
        means = {key: fmean(each[key] for each in figures) for key in FIGURES if key in figures[0]}
        found.append(Machine(name, host, rates, means, *predicted.get((scenario.name, host), (None, None))))
    return found


def _host(record: RunRecord) -> int:
    if record.name in OF_HOST_4:
        return 4
    began, speed = record.window.start_utc, record.environment.core_speed_per_s
    if began is not None and str(began.value) >= HOST_5_FROM:
        return 5
    if speed is None:
        return 2 if record.name in WITHOUT_SPEED else 1
    return 3 if speed.value < SLOW_PER_S else 2


def rows(all_machines: Sequence[Machine]) -> list[list[str]]:
    """The table: rates with errors, then figures as measured / predicted."""
    shown = {key: name for key, name in FIGURES.items() if key in all_machines[0].figures}
    head = ["machine", "host", "runs", "measured", "model", "predicted, 90 %", "error", "inside", *shown]
    lines = [head]
    for each in all_machines:
        line = [each.name.partition("-")[2] or each.name, str(each.host), str(len(each.rates)), f"{each.rate:,.0f}"]
        if each.prediction is None:
            lines.append([*line, "", "seen before", "", "", *(f"{value:.3g}" for value in each.figures.values())])
            continue
        said = each.prediction
        low, rate, high = float(said["low"]), predicted_rate(said), float(said["high"])
        pairs = [f"{each.figures[key]:.3g} / {float(said[name] or 'nan'):.3g}" for key, name in shown.items()]
        inside = "yes" if each.is_inside else "no"
        lines.append(
            [*line, str(each.model), f"{rate:,.0f} [{low:,.0f} .. {high:,.0f}]", f"{each.error:+.1%}", inside, *pairs]
        )
    return lines


def explained(all_machines: Sequence[Machine], predictions: str, model: str) -> str:
    """A later model's answers for machines that it isn't a prediction of, those apart that it was fitted to."""
    with (FOLDER / predictions).open(encoding="utf-8") as file:
        said = {row["scenario"]: row for row in csv.DictReader(file)}
    fitted = {run.name.rpartition(".")[0] for run in read_calibration(FOLDER / model).runs}
    lines, errors = [["machine", "measured", "model", "error", "row is", "pool misses", "p95"]], []
    for each in all_machines:
        row = said.get(load_scenario_file(library_files()[f"laboratory/{each.name}"]).name)
        if row is None:
            continue
        rate = float(row["new_orders_per_min"])
        error = rate / each.rate - 1
        role = "fitted" if each.name in fitted else "explained"
        errors += [abs(error)] if role == "explained" else []
        pairs = [f"{each.figures[key]:.3g} / {float(row[FIGURES[key]] or 'nan'):.3g}" for key in ("pool misses", "p95")]
        name = each.name.partition("-")[2] or each.name
        lines.append([name, f"{each.rate:,.0f}", f"{rate:,.0f}", f"{error:+.1%}", role, *pairs])
    words = (
        f"The second model's answers for machines that were measured before it: {len(errors)} that it wasn't fitted "
        f"to, mean error {fmean(errors):.1%}, median {median(errors):.1%}, worst {max(errors):.1%}."
    )
    return f"{words}\n\n{table(lines)}"


def summary(all_machines: Sequence[Machine], models: Files) -> str:
    """Errors over the machines that each model predicted, and the noise of repeats."""
    text = ""
    for model in models:
        predicted = [each for each in all_machines if each.model == model]
        if not predicted:
            continue
        errors = sorted(abs(each.error) for each in predicted)
        text += (
            f"The {model} model, {len(predicted)} machines predicted before they were measured: mean error "
            f"{fmean(errors):.1%}, median {median(errors):.1%}, worst {errors[-1]:.1%}; "
            f"{sum(each.is_inside for each in predicted)} inside their 90 % intervals.\n\n"
        )
    repeated = [each for each in all_machines if len(each.rates) > 1]
    noise = ", ".join(
        f"{each.name} on host {each.host} {stdev(each.rates) / each.rate:.1%} ({len(each.rates)} runs)"
        for each in repeated
    )
    return text + f"Standard deviation of repeats: {noise or 'not measured yet'}.\n"


def chart(all_machines: Sequence[Machine], key: str, models: Sequence[str]) -> Chart:
    """Predicted against measured, with the interval, on logarithmic axes; a colour for each model."""
    colours = dict(zip(models, SERIES_COLOURS, strict=False))
    marks: list[Points | Segment] = []
    ends: list[float] = []
    for model, colour in colours.items():
        at, rates = [], []
        for each in all_machines:
            if each.model != model or each.prediction is None:
                continue
            low, high = (float(each.prediction[name]) for name in ("low", "high"))
            rate = predicted_rate(each.prediction)
            marks.append(Segment(x=(each.rate, each.rate), y=(low, high), width=1.0, colour=colour, below=True))
            at.append(each.rate)
            rates.append(rate)
            ends += [each.rate, low, high]
        marks.append(Points(x=at, y=rates, size=7, colour=colour, label=model))
    low, high = min(ends) / 1.2, max(ends) * 1.2
    return Chart(
        key=key,
        title=f"predicted by measured, {'transactions' if key.endswith('pgbench') else 'new orders'} per minute",
        alternative="predicted and measured rates of the laboratory's machines, with 90 % intervals",
        marks=[Segment(y=(low, high), x=(low, high), width=1.0, colour="#888888", below=True), *marks],
        x=Scale(low=low, high=high, log=True, title="measured"),
        y=Scale(low=low, high=high, log=True),
        height_px=420,
    )


def main() -> None:
    """Compare, write."""
    for engine, models in PREDICTIONS.items():
        found, key = machines(engine), f"laboratory-{engine.lower()}"
        text = summary(found, models) + "\n" + table(rows(found)) + f"\n![predicted by measured](pictures/{key}.svg)\n"
        if engine in EXPLAINED:
            text += "\n" + explained(found, *EXPLAINED[engine])
        begin, end = BEGIN.format(engine=engine), END.format(engine=engine)
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), begin, end, text), encoding="utf-8")
        title = f"{engine} in the laboratory, predicted before it was measured"
        write_picture(DOCS / "pictures" / f"{key}.svg", title, [chart(found, key, list(models))])


if __name__ == "__main__":
    main()
