"""Figures of a simulated run by the names under which measured ones are given (`measured.figures` of a scenario).

Partitions are the devices that the database stripes over. Their occupied share and service are as iostat has them: the
share of time with a request there (%util), and that share by the rate (svctm), which is no request's latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from models.jobs import JobResult
from models.scenario import FigureSpec, ScenarioSpec
from simulator.errors import InputError
from simulator.results.result import DeviceResult, Result

MS = 1e3
OfResult = Callable[[Result, Sequence[DeviceResult]], float]


def _total(kind: str) -> OfResult:
    return lambda _, partitions: sum(getattr(each, f"{kind}_per_s") for each in partitions)


def _each(value: Callable[[DeviceResult], float], summary: Callable[[list[float]], float]) -> OfResult:
    return lambda _, partitions: summary([value(each) for each in partitions])


def _service_ms(device: DeviceResult) -> float:
    return device.occupied_per_request_s * MS


def _queue(device: DeviceResult) -> float:
    return device.mean_queue


def _occupied(device: DeviceResult) -> float:
    return device.occupied_fraction


def _mean_response_s(result: Result, _: Sequence[DeviceResult]) -> float:
    return sum(each.mean_s * each.completed for each in result.classes) / sum(each.completed for each in result.classes)


OF_RESULT: dict[str, OfResult] = {
    "new_orders_per_minute": lambda result, _: result.rate_per_min.mean,
    "cpu_user_fraction": lambda result, _: result.cpu.user,
    "cpu_system_fraction": lambda result, _: result.cpu.system,
    "cpu_iowait_fraction": lambda result, _: result.cpu.iowait,
    "cpu_idle_fraction": lambda result, _: result.cpu.idle,
    "interrupts_per_s": lambda result, _: result.cpu.interrupts_per_s,
    "requests_per_s": lambda result, partitions: (
        _total("reads")(result, partitions) + _total("writes")(result, partitions)
    ),
    "reads_per_s": _total("reads"),
    "writes_per_s": _total("writes"),
    "reads_by_writes": lambda result, partitions: (
        _total("reads")(result, partitions) / _total("writes")(result, partitions)
    ),
    "reads_per_s_per_partition": _each(lambda each: each.reads_per_s, fmean),
    "writes_per_s_per_partition": _each(lambda each: each.writes_per_s, fmean),
    "partition_occupied_fraction": _each(_occupied, fmean),
    "partition_occupied_fraction_least": _each(_occupied, min),
    "partition_occupied_fraction_most": _each(_occupied, max),
    "partition_service_ms": _each(_service_ms, fmean),
    "partition_service_ms_least": _each(_service_ms, min),
    "partition_service_ms_most": _each(_service_ms, max),
    "partition_queue": _each(_queue, fmean),
    "partition_queue_least": _each(_queue, min),
    "partition_queue_most": _each(_queue, max),
    "log_occupied_fraction": lambda result, partitions: result.devices[len(partitions)].occupied_fraction,
    "mean_response_s": _mean_response_s,
}


def simulated_figure(figure: FigureSpec, scenario: ScenarioSpec, result: Result | JobResult) -> float:
    """The simulated value of a figure. Raises InputError for a name that isn't one, with those that are."""
    if isinstance(result, JobResult):
        known = {result.figure: result.value, **result.also}
        if figure.figure in known:
            return known[figure.figure]
        names = list(known)
    else:
        if figure.figure in OF_RESULT:
            return OF_RESULT[figure.figure](result, result.devices[: scenario.machine.disks.files])
        names = list(OF_RESULT)
    raise InputError(f"{scenario.name}: measured.figures: no figure {figure.figure!r}; allowed: {', '.join(names)}")
