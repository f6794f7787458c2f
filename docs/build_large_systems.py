"""Simulate the published large systems, and write docs/large-systems.md's tables and pictures.

Runs are kept in out/large_systems under the hash of their scenario, so that a stopped build goes on where it was. The
figures that `oltpsim validate published` shows go to calibration/published, those of pictures to docs/pictures/data.

python docs/build_large_systems.py          simulate what is missing, and write
python docs/build_large_systems.py --draw   write the page's pictures and table again from what is kept
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from docs.build import replaced
from oltpsim.calibration.fit import scenario_hash
from oltpsim.calibration.judge import (
    FigureRow,
    figure_rows,
    figure_values,
    large_system_key,
    read_large_systems,
    write_large_systems,
)
from oltpsim.calibration.records import simulated_figure
from oltpsim.models.input import write_whole
from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.scenario import FigureSpec, ScenarioSpec
from oltpsim.scenarios.questions.measured import SYSTEMS_SEED, measured_systems
from oltpsim.scenarios.run import (
    SavedRun,
    SimulationTask,
    default_workers,
    read_saved_run,
    run_all,
    write_saved_run,
)
from oltpsim.scenarios.show.chart import BarSeries, Chart, Mark, Scale, Segment
from oltpsim.scenarios.show.large_systems import figure_amount, figure_error
from oltpsim.scenarios.show.palette import SERIES_COLOURS
from oltpsim.scenarios.show.picture import picture_digest, picture_svg
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

DOCS = Path(__file__).resolve().parent
PAGE, PICTURES, DATA = DOCS / "large-systems.md", DOCS / "pictures", DOCS / "pictures" / "data" / "large-systems.json"
STORE = DOCS.parent / "out" / "large_systems"
BEGIN, END = "<!-- begin of {}: python docs/build_large_systems.py -->\n", "<!-- end of {} -->\n"
PERCENT, MS = 100.0, 1000.0
SIZES = (2, 4, 6, 8, 10)
Answers = dict[str, Result | JobResult]


@dataclass(frozen=True)
class BarPanel:
    """One quantity: values of each series by label, and measured values as lines by the name of their series."""

    title: str
    labels: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    measured: dict[str, float] = field(default_factory=dict)


def answers(scenarios: dict[str, ScenarioSpec]) -> Answers:
    """The results of all scenarios, simulated as far as they aren't kept."""
    found: Answers = {name: run_job(each, SYSTEMS_SEED) for name, each in scenarios.items() if each.job is not None}
    files = {name: STORE / f"{scenario_hash(each)}.json" for name, each in scenarios.items() if each.job is None}
    missing = [name for name, file in files.items() if not file.exists()]
    STORE.mkdir(parents=True, exist_ok=True)
    with progress_display(quiet=False) as shown:
        tasks = [SimulationTask(scenarios[name], SYSTEMS_SEED) for name in missing]
        for number, outcome in run_all(tasks, default_workers(), shown):
            if isinstance(outcome, InputError):
                raise outcome
            name = missing[number]
            write_saved_run(files[name], SavedRun(scenarios[name], outcome))
    return found | {name: read_saved_run(file).result for name, file in files.items()}


def panels(scenarios: dict[str, ScenarioSpec], found: Answers) -> dict[str, list[BarPanel]]:
    """What each picture shows."""

    def of(name: str, figure: str, times: float = 1.0) -> float:
        asked = FigureSpec(figure=figure, value=1.0, role="predicted", source="drawn")
        return times * simulated_figure(asked, scenarios[name], found[name])

    def by_partition(names: dict[str, str], measured: dict[str, dict[str, float]]) -> list[BarPanel]:
        parts = {}
        for word, name in names.items():
            result = found[name]
            assert isinstance(result, Result)
            parts[word] = result.devices[: scenarios[name].machine.disks.files]
        labels = tuple(str(number + 1) for number in range(max(map(len, parts.values()))))
        return [
            BarPanel("occupied time of each partition, %", labels,
                  {word: tuple(PERCENT * each.occupied_fraction for each in some) for word, some in parts.items()},
                  measured.get("occupied", {})),
            BarPanel("occupied time by requests (svctm), ms", labels,
                  {word: tuple(MS * each.occupied_per_request_s for each in some) for word, some in parts.items()},
                  measured.get("service", {})),
            BarPanel("requests at each partition", labels,
                  {word: tuple(each.mean_queue for each in some) for word, some in parts.items()},
                  measured.get("queue", {})),
        ]  # fmt: skip

    huge, common, million = "ssd-arrays/noop", "ssd-arrays/common-pages", "million-orders"
    stores = {size: f"scaleout/queries-{size}" if size > SIZES[0] else "scaleout/queries" for size in SIZES}
    machines = tuple(str(size) for size in SIZES)
    shares = {f"under {ms} ms": f"query under {ms} ms, share" for ms in (1, 2, 5)}
    request, interrupts = of(huge, "requests_per_s", 1e-3), of(huge, "interrupts_per_s", 1e-3)
    return {
        "layout": by_partition(
            {"small files": "ssd-arrays/small-files", "by table": "ssd-arrays/by-table"},
            {"occupied": {"small files": 90}, "service": {"small files": 0.3}, "queue": {"small files": 20}},
        ),
        "scheduler": by_partition(
            {"CFQ": "ssd-arrays/cfq", "NOOP": huge},
            {"occupied": {"CFQ": 40, "NOOP": 80}, "service": {"CFQ": 0.24, "NOOP": 0.13}, "queue": {"NOOP": 2}},
        ),
        "memory-pages": [
            BarPanel("user CPU, %", ("huge pages", "common pages"),
                  {"simulated": tuple(of(name, "cpu_user_fraction", PERCENT) for name in (huge, common)),
                   "measured": (37.8, 42.1)}),
            BarPanel("mean transaction time, s (measured: under and over 1 s)", ("huge pages", "common pages"),
                  {"simulated": tuple(of(name, "mean_response_s") for name in (huge, common))}, {"measured": 1.0}),
        ],
        "interrupts": [
            BarPanel("interrupts, thousands a second", ("I/O devices", "network", "together"),
                  {"simulated": (request, interrupts - request, interrupts)}, {"measured": 140}),
        ],
        "million": [
            BarPanel("share of 40 cores, %", ("user", "system", "iowait", "idle"),
                  {"simulated": tuple(of(million, f"cpu_{kind}_fraction", PERCENT)
                                      for kind in ("user", "system", "iowait", "idle")), "measured": (55, 19, 18, 8)}),
            BarPanel("requests of a partition a second", ("reads", "writes"),
                  {"simulated": tuple(of(million, f"{kind}_per_s_per_partition") for kind in ("reads", "writes")),
                   "measured": (10_000, 5_000)}),
        ],
        "scale-out": [
            BarPanel("queries a second, thousands, by servers", machines,
                  {"queries": tuple(of(stores[size], "requests per second", 1e-3) for size in SIZES)}),
            BarPanel("server processors busy, %", machines,
                  {"queries": tuple(of(stores[size], "server processors busy, share", PERCENT) for size in SIZES)},
                  {"measured": 40}),
            BarPanel("share of the queries, % (measured 75, 93, 98)", machines,
                  {word: tuple(of(stores[size], key, PERCENT) for size in SIZES) for word, key in shares.items()}),
        ],
    }  # fmt: skip


TITLES = {
    "layout": "Small files over all partitions, and a tablespace for each table",
    "scheduler": "CFQ and NOOP, each at its measured load",
    "memory-pages": "Huge and common pages of memory",
    "interrupts": "Interrupts of the 16-core machine",
    "million": "A million new orders per minute: CPU and I/O",
    "scale-out": "Queries by primary key on 2 to 10 servers",
}


def table(rows: list[FigureRow]) -> str:
    """All measured figures beside the simulated ones."""
    lines = [
        "| scenario | figure | measured | simulated | error | row is |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    lines += [
        f"| {row.scenario} | {row.figure} | {row.bound.replace('_', ' ') + ' ' if row.holds is not None else ''}"
        f"{figure_amount(row, row.measured)} | {figure_amount(row, row.simulated)} | {figure_error(row)} | {row.role} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def kept_rows(scenarios: dict[str, ScenarioSpec]) -> list[FigureRow]:
    """The rows from the values that are kept."""
    kept = read_large_systems()
    return figure_rows(
        scenarios, {name: kept[large_system_key(each, SYSTEMS_SEED)] for name, each in scenarios.items()}
    )


def charts(name: str) -> list[Chart]:
    """Charts of a picture from its data, one below the other; the first chart with a series names its colour."""
    panels = [BarPanel(**panel) for panel in json.loads(DATA.read_text(encoding="utf-8"))[name]]
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    colours = {name: SERIES_COLOURS[number] for number, name in enumerate(names)}
    above = [{name for panel in panels[:number] for name in panel.series} for number in range(len(panels))]
    return [chart(panel, colours, named) for panel, named in zip(panels, above, strict=True)]


def chart(panel: BarPanel, colours: dict[str, str], named: set[str]) -> Chart:
    """Bars of all series side by side at each label; `named`: series that a chart above has in its legend."""
    width, marks = 0.8 / len(panel.series), list[Mark]()
    for place, (name, values) in enumerate(panel.series.items()):
        left = -0.4 + (place + 0.5) * width
        places = [number + left for number in range(len(values))]
        label = "" if name in named else name
        marks.append(
            BarSeries(places=places, values=values, width=width, upright=True, colour=colours[name], label=label)
        )
    for name, value in panel.measured.items():
        colour, label = colours.get(name, "#222222"), "measured"
        if name in colours and name != label:
            label = f"{name}, measured"
        marks.append(Segment(y=(value, value), width=1.5, dash="dash", colour=colour, label=label))
    every = max(1, round(len(panel.labels) / 23))
    ticks = {float(number): label for number, label in enumerate(panel.labels) if number % every == 0}
    top = max([*(max(values) for values in panel.series.values()), *panel.measured.values(), 1e-12])
    return Chart(
        key=panel.title,
        title=panel.title,
        alternative=panel.title,
        marks=marks,
        x=Scale(low=-0.5, high=len(panel.labels) - 0.5, ticks=ticks, grid=False),
        y=Scale(low=0.0, high=1.08 * top),
        height_px=190,
    )


def drawing(name: str) -> str:
    """A picture from its data."""
    return picture_svg(TITLES[name], charts(name))


def digest(name: str) -> str:
    """Hash of what a picture shows, which its SVG names."""
    return picture_digest(TITLES[name], charts(name))


def simulate(scenarios: dict[str, ScenarioSpec]) -> None:
    """Keep values and data of all systems."""
    found = answers(scenarios)
    write_large_systems(
        {
            large_system_key(each, SYSTEMS_SEED): figure_values(name, scenarios, found[name])
            for name, each in scenarios.items()
        }
    )
    drawn = {name: [asdict(panel) for panel in some] for name, some in panels(scenarios, found).items()}
    write_whole(DATA, json.dumps(drawn, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Simulate, unless only to draw; then write pictures and table."""
    scenarios = measured_systems()
    if "--draw" not in sys.argv:
        simulate(scenarios)
    for name in TITLES:
        write_whole(PICTURES / f"{name}.svg", drawing(name))
    page = replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table(kept_rows(scenarios)), "the figures")
    write_whole(PAGE, page)


if __name__ == "__main__":
    main()
