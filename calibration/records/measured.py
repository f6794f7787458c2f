"""Scenarios that somebody has measured: their run records, and the simulated figures beside the measured ones.

A simulated figure has the name under which a measured one is given (`measured.figures` of a scenario).

Partitions are the devices that the database stripes over. Their occupied share and service are as iostat has them: the
share of time with a request there (%util), and that share by the rate (svctm), which is no request's latency.
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from oltpsim.calibration.records.record import RunRecord
from oltpsim.models.input import set_value, validated
from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.scenario import FigureSpec, ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import DeviceResult, Result

MS = 1e3


def mean_response_s(result: Result) -> float:
    """Mean response time of all transactions, s."""
    completed = sum(each.completed for each in result.classes)
    return sum(each.mean_s * each.completed for each in result.classes) / completed


OfResult = Callable[[Result, Sequence[DeviceResult], DeviceResult], float]
"""a figure of a result, of the devices that the data are on and of the log's"""


def _total(kind: str) -> OfResult:
    return lambda _, partitions, __: sum(getattr(each, f"{kind}_per_s") for each in partitions)


def _over_devices(field: str, summary: Callable[[list[float]], float], factor: float = 1.0) -> OfResult:
    return lambda _, partitions, __: summary([getattr(each, field) * factor for each in partitions])


OF_RESULT: dict[str, OfResult] = {
    "new_orders_per_minute": lambda result, *_: result.rate_per_min.mean,
    "transactions_per_s": lambda result, *_: result.transactions_per_s,
    "cpu_user_fraction": lambda result, *_: result.cpu.user,
    "cpu_system_fraction": lambda result, *_: result.cpu.system,
    "cpu_iowait_fraction": lambda result, *_: result.cpu.iowait,
    "cpu_idle_fraction": lambda result, *_: result.cpu.idle,
    "interrupts_per_s": lambda result, *_: result.cpu.interrupts_per_s,
    "requests_per_s": lambda *args: _total("reads")(*args) + _total("writes")(*args),
    "reads_per_s": _total("reads"),
    "writes_per_s": _total("writes"),
    "reads_by_writes": lambda *args: _total("reads")(*args) / _total("writes")(*args),
    "reads_per_s_per_partition": _over_devices("reads_per_s", fmean),
    "writes_per_s_per_partition": _over_devices("writes_per_s", fmean),
    "partition_occupied_fraction": _over_devices("occupied_fraction", fmean),
    "partition_occupied_fraction_least": _over_devices("occupied_fraction", min),
    "partition_occupied_fraction_most": _over_devices("occupied_fraction", max),
    "partition_service_ms": _over_devices("occupied_per_request_s", fmean, MS),
    "partition_service_ms_least": _over_devices("occupied_per_request_s", min, MS),
    "partition_service_ms_most": _over_devices("occupied_per_request_s", max, MS),
    "partition_queue": _over_devices("mean_queue", fmean),
    "partition_queue_least": _over_devices("mean_queue", min),
    "partition_queue_most": _over_devices("mean_queue", max),
    "log_occupied_fraction": lambda _, __, log: log.occupied_fraction,
    "mean_response_s": lambda result, *_: mean_response_s(result),
}


FIGURES_OF_A_RECORD = {
    "cpu_user_fraction": ("cpu_user_fraction", "share"),
    "cpu_system_fraction": ("cpu_system_fraction", "share"),
    "reads_per_s": ("devices.data.reads_per_s", "1/s"),
    "writes_per_s": ("devices.data.writes_per_s", "1/s"),
}
"""measured figures that a record's resources have, by their key there, and their unit; `data`: all data devices"""


def simulated_figure(figure: FigureSpec, scenario: ScenarioSpec, result: Result | JobResult) -> float:
    """The simulated value of a figure. Raises InputError for a name that isn't one, with those that are."""
    if isinstance(result, JobResult):
        known = {result.figure: result.value, **result.also}
        if figure.figure in known:
            return known[figure.figure]
        names = list(known)
    else:
        if figure.figure in OF_RESULT:
            files, own_log = scenario.machine.disks.files, scenario.machine.log_disk is not None
            log = result.devices[files if own_log else 0]
            return OF_RESULT[figure.figure](result, result.devices[:files], log)
        names = list(OF_RESULT)
    raise InputError(f"{scenario.name}: measured.figures: no figure {figure.figure!r}; allowed: {', '.join(names)}")


def record_of_scenario(name: str, scenario: ScenarioSpec, where: str | None = None) -> RunRecord:
    """The record of a scenario's measured figures. It names no setting: the scenario is the run's own base.

    `where`: the file for messages, the name if None. Of `measured.figures` it has those of `FIGURES_OF_A_RECORD`, which
    a fit compares. Raises InputError if nobody has measured it, or not what a fit needs first.
    """
    measured, place = scenario.measured, where or name
    key = scenario.measured_key
    if measured is None:
        remedy = f"give it measured.{key}, role and source, or a run record"
        raise InputError(f"{place}: nobody has measured this scenario; {remedy}")
    figure: float | None = getattr(measured, key)
    if figure is None:
        raise InputError(f"{place}: measured.{key}: missing; a run is compared by it first, so give it")

    def read(value: float, unit: str, definition: str, source: str = measured.source) -> dict[str, Any]:
        return {"value": value, "unit": unit, "source": source, "definition": definition}

    interval = scenario.interval
    resources: dict[str, Any] = {}
    if measured.cpu_cores_busy is not None:
        busy = measured.cpu_cores_busy / scenario.machine.cpu.threads
        resources["cpu_busy_fraction"] = read(busy, "processors", "processors busy, over all of the machine")
    if scenario.job is not None:
        result = run_job(scenario)
        window: dict[str, Any] = {"kind": "whole", "rate_definition": result.figure}
        outcome = {"job_figure": read(figure, result.unit, result.figure)}
    else:
        steady = interval.start == "warm" or interval.warm_up_s > 0
        window = {"kind": "steady" if steady else "whole", "rate_definition": "what ended in it"}
        if interval.duration_s is not None:
            window["duration_s"] = read(interval.duration_s, "s", "what is counted")
        unit, means = ("1/min", "new orders per minute") if key == "new_orders_per_minute" else ("1/s", "transactions")
        outcome = {key: read(figure, unit, means)}
        for each in measured.figures:
            if is_of_a_record(each):
                path, unit = FIGURES_OF_A_RECORD[each.figure]
                set_value(resources, path, read(each.value, unit, each.figure, each.source))
    return validated(
        RunRecord,
        {
            "name": name,
            "source": measured.source,
            "window": window,
            "outcome": outcome,
            "resources": resources,
            "notes": scenario.notes,
        },
        place,
    )


def is_of_a_record(figure: FigureSpec) -> bool:
    """Whether a measured figure of transactions is one of a record, as it stands: a value, no bound and no multiple."""
    return figure.figure in FIGURES_OF_A_RECORD and figure.bound == "about" and figure.times_that_of is None
