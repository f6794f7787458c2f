"""Result of a job (load, scan, look-ups, store): its figure, its bottleneck, and the parts of its time."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version

from oltpsim.calibration.predict import MeasurementInterval
from oltpsim.models.input import document_text
from oltpsim.models.jobs import JobResult
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import LoadSpec, PartitionedStoreSpec, ScanSpec
from oltpsim.scenarios.show.model import model_lines
from oltpsim.scenarios.show.numbers import count, four_digits, plural, share, signed_share, significant, time_text
from oltpsim.scenarios.show.table import LABEL, WIDTH, aligned, csv_text, flow
from oltpsim.scenarios.show.words import hardware, uncertainty_words

FORMAT = "oltpsim-job-1"


def job_json(
    result: JobResult,
    scenario: ScenarioSpec,
    interval: MeasurementInterval | None = None,
    described: Sequence[Mapping[str, object]] | None = None,
) -> str:
    """Result and measured figure as an oltpsim-job-1 document; `error`: predicted over measured, less 1.

    `interval`: where a measured figure would fall, by a calibrated model. `described`: what a line came to.
    """
    measured = scenario.measured
    content = {
        "scenario": scenario.name,
        "versions": {name: version(name) for name in ("oltpsim", "numpy")},
        **asdict(result),
        "measured": measured and {**measured.model_dump(mode="json"), "error": _error(result.value, scenario)},
    }
    content |= {} if interval is None else {"measurement": interval.to_json()}
    return document_text(FORMAT, content if described is None else content | {"described": list(described)})


def job_csv(result: JobResult, scenario: ScenarioSpec, interval: MeasurementInterval | None = None) -> str:
    """Figure, interval by a calibrated model and bottleneck as a line of CSV."""
    low, high = ("", "") if interval is None else interval.rate.interval
    row = {"scenario": scenario.name, "figure": result.figure, "value": result.value, "unit": result.unit,
           "low": low, "high": high, "limited_by": result.limited_by}  # fmt: skip
    return csv_text(row, [row])


def job_text(
    result: JobResult, scenario: ScenarioSpec, width: int = WIDTH, interval: MeasurementInterval | None = None
) -> str:
    """Result as lines of at most `width` columns: data, figure beside a measured one, bottleneck, parts of time."""
    measured, whole_s = scenario.measured, sum(result.parts_s.values())
    threads = scenario.machine.cpu.threads
    busy = [f"{result.cpu_cores_busy:.2f} of {plural(threads, 'processor')} busy"]
    if measured is not None and measured.cpu_cores_busy is not None:
        busy.append(f"measured by others: {measured.cpu_cores_busy:.2f}")
    lines = flow("", [*hardware(scenario), *_data(scenario)], width, separator=" · ", indent=0)
    ends = (
        []
        if interval is None or interval.model is None
        else [
            f"[{four_digits(interval.rate.low)} .. {four_digits(interval.rate.high)}]",
            f"{interval.rate.confidence:.0%} interval, {interval.model.role}",
        ]
    )
    figure = [f"{four_digits(result.value)} {result.unit}", *ends, *_measured(result, scenario)]
    lines += flow(result.figure, figure, width)
    if interval is not None and interval.model is not None:
        lines += flow("uncertain by", uncertainty_words(interval.rate), width)
        lines += model_lines(interval.model, width)
    longest = max((len(name) for name in result.also), default=0)
    for name, value in result.also.items():
        number = count(value) if isinstance(value, int) else significant(value, 4)
        lines.append(f"  {name:<{max(longest + 2, LABEL)}}{number}")
    lines += flow("limited by", [result.limited_by], width)
    lines += flow("cpu", busy, width)
    lines += flow(result.parts_of, [time_text(whole_s)], width)
    spent = [[name, time_text(s), share(s / whole_s)] for name, s in result.parts_s.items() if s]
    lines += aligned(spent, "<>", indent=4)
    basis = textwrap.fill(result.basis, width, initial_indent="  ", subsequent_indent="    ")
    return "\n".join([*lines, basis]) + "\n"


def _data(scenario: ScenarioSpec) -> list[str]:
    """Database and size of the data; of a partitioned store its servers, clients and threads."""
    if isinstance(scenario.job, PartitionedStoreSpec):
        servers, clients = (plural(number, "machine") for number in (scenario.job.servers, scenario.job.clients))
        return [scenario.job.name, f"{servers} like this", f"{clients} of clients, {scenario.job.threads:,} threads"]
    sized = isinstance(scenario.job, LoadSpec | ScanSpec)
    return [scenario.database.name, *([scenario.workload.size_words] if sized else [])]


def _measured(result: JobResult, scenario: ScenarioSpec) -> list[str]:
    measured, error = scenario.measured, _error(result.value, scenario)
    if measured is None or measured.job_figure is None or error is None:
        return []
    figure = f"{four_digits(measured.job_figure)} {result.unit}"
    return [f"measured by others: {figure} ({signed_share(error)}, {measured.role})"]


def _error(value: float, scenario: ScenarioSpec) -> float | None:
    figure = None if scenario.measured is None else scenario.measured.job_figure
    return None if figure is None else value / figure - 1.0
