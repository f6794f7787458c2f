"""From a solution to a result: the same terms as the simulating engines', without simulating.

A result comes with the laws that it must satisfy; each compares figures that were found in different ways.
"""

import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import pairwise

import numpy as np

from oltpsim.simulator.analytic.answer import device_figures, figures
from oltpsim.simulator.analytic.answer.figures import Case
from oltpsim.simulator.analytic.answer.model_error import (
    MOST_FACTOR,
    PERCENTILES,
    error_model,
    percentile_half_widths,
    rate_half_widths,
)
from oltpsim.simulator.analytic.answer.percentiles import response_quantiles_s
from oltpsim.simulator.form import NS_PER_S, FloatArray, to_s, weighted_sum
from oltpsim.simulator.results import (
    ACTIVITIES,
    RATE_KEY,
    ROW_LOCKS,
    CacheResult,
    ClassResult,
    CpuResult,
    DeviceResult,
    Law,
    PercentileInterval,
    PercentileIntervals,
    Result,
    Series,
    StationResult,
    TableResult,
    bottleneck_of,
    connections_result,
    law_at_most_one,
    law_equal,
    law_of_class_times,
    utilisation_key,
    warnings_of_credits,
    warnings_of_overload,
    warnings_of_swapping,
    with_interrupts,
)

CONVERGED = 0.02
"""relative error that laws of figures from different formulas allow"""
EXACT = 1e-9
"""relative error of sums"""


def check(
    case: Case,
    classes: Sequence[ClassResult],
    cpu: CpuResult,
    devices: Sequence[DeviceResult],
    tables: Sequence[TableResult],
    stations: Sequence[StationResult],
) -> list[Law]:
    """Little's law, utilisation, flow balance, sums of shares."""
    r, rate = case.solution, case.rate
    needed = float(r.cpu.path_s[0] + r.cpu.section_s[0] + r.cpu.background_s[0])
    at_work = rate * needed * float(r.cpu.slowdown[0]) / case.system.processors
    demanded = at_work + min(float(r.cpu.handing_over[0]) / case.system.processors, max(1.0 - at_work, 0.0))
    laws = [
        _population(case, classes),
        law_equal("cpu shares sum to 1", cpu.user + cpu.system + cpu.iowait + cpu.idle, 1.0),
        law_equal("cpu utilisation = rate x demand", cpu.utilisation, demanded, CONVERGED),
        law_at_most_one("cpu utilisation", demanded, CONVERGED),
    ]
    laws += [law_at_most_one(f"{device.name} utilisation", device.utilisation) for device in devices]
    laws += [law_at_most_one(f"{station.name} utilisation", station.utilisation, CONVERGED) for station in stations]
    counted_s = case.transactions / rate
    by_tables = sum(table.disk_reads for table in tables) / counted_s
    asked = devices[: len(case.system.storage.devices)]
    at_devices = sum(device.by_purpose_per_s.get("data read", 0.0) for device in asked)
    rounding = len(tables) / counted_s
    laws.append(
        law_equal("disk reads of tables = reads of devices", by_tables, at_devices, EXACT * at_devices + rounding)
    )
    pending = rate * float(r.paging.reads[0]) * float(r.disks.read_s[0])
    laws.append(
        law_equal("Little: reads pending = reads x response", case.reads_pending, pending, EXACT + EXACT * pending)
    )
    laws += [law_of_class_times(result) for result in classes]
    return laws


def _population(case: Case, classes: Sequence[ClassResult]) -> Law:
    """Closed: every client is thinking or in the system. Open: no more transactions than connections are served."""
    clients = len(case.system.client_registers)
    mix = case.workload.mix.tolist()
    served = sum(
        share * (result.mean_s - result.time_by_s["connection"]) for share, result in zip(mix, classes, strict=True)
    )
    if case.system.arrivals_per_s > 0:
        return law_at_most_one("connections in use", case.rate * served / clients, CONVERGED)
    if case.system.terminals:
        means = np.array([result.mean_s for result in classes]) - case.tier_s
        inside = case.rate * (float(weighted_sum(means, case.workload.awaited)) + case.workload.away_s)
        return law_equal(
            "Little: terminals = rate x (response + time away)",
            case.system.terminals.count,
            inside,
            CONVERGED * case.system.terminals.count,
        )
    inside = case.rate * (served + case.workload.think_s)
    return law_equal("Little: clients = rate x (response + think time)", clients, inside, CONVERGED * clients)


@cache
def _packages() -> dict[str, str]:
    """Versions of the packages that a result rests on; looking them up costs more than the formulas."""
    return {name: version(name) for name in ("oltpsim", "numpy")}


POINTS, WARMING_POINTS = 2, 60
"""of a constant series, and of a machine's that gets warm"""


def counted_per_min(case: Case) -> float:
    """Rate of the main class in the counted interval."""
    if case.system.work:
        return case.transactions / case.duration_s * case.per_min
    return (case.rate if case.warming is None else case.warming_mean_per_s) * case.per_min


def result_of(case: Case, seed: int, warnings: Sequence[str] = ()) -> Result:
    """The result of a solved machine; `warnings`, the doubts, come first in its own.

    From a cold start the rate is the counted interval's mean, and every other figure that of the moment whose rate is
    nearest to it; counts are what that makes in the counted interval.
    """
    system, w, rate = case.system, case.workload, case.rate
    rate_half_width = rate_half_widths(w, case.parameters, case.solution)
    by_class = zip(percentiles_s(case), _percentile_half_widths(case, rate_half_width), strict=True)
    classes = [_class(case, number, *of_class) for number, of_class in enumerate(by_class)]
    main = classes[w.main_class]
    cpu, devices, caches = figures.cpu(case), device_figures.devices(case), figures.caches(case)
    volume_limits = device_figures.volume_limits(case)
    tables, locks, stations = figures.tables(case), figures.locks(case), figures.stations(case)
    if system.interrupts:
        reads_per_s = sum(
            each.by_purpose_per_s.get("data read", 0.0) for each in devices[: len(system.storage.devices)]
        )
        served_per_s = reads_per_s + system.interrupts.per_transaction * rate
        cpu = with_interrupts(system, system.interrupts, cpu, devices, rate, served_per_s)
    if system.terminals:
        stations.append(connections_result(system, system.terminals, classes, case.duration_s))
    bottleneck = bottleneck_of(cpu, devices[: len(case.system.storage.devices)], locks, stations, main, volume_limits)
    half_width = float(rate_half_width[0])
    rate_per_min = error_model().interval(counted_per_min(case), half_width)
    steady_per_min = main.rate_per_min if case.warming is None else case.warming.steady_per_s * case.per_min
    faults_per_s = rate * float(case.solution.paging.faults[0])
    return Result(
        scenario=system.name,
        engine="analytic",
        seed=seed,
        versions=_packages() | {"python": platform.python_version()},
        model_hash=system.digest(),
        start=system.interval.start,
        warm_up_s=to_s(system.interval.warm_up_ns),
        duration_s=case.duration_s,
        main_class=main.name,
        rate_per_min=rate_per_min,
        steady_rate_per_min=error_model().interval(steady_per_min, half_width),
        steady_from_s=0.0 if case.warming is None else case.warming.steady_from_s,
        transactions_per_s=rate,
        classes=classes,
        cpu=cpu,
        devices=devices,
        reads_pending=case.reads_pending,
        caches=caches,
        tables=tables,
        locks=locks,
        log=figures.log(case),
        swap_in_per_s=faults_per_s,
        swap_out_per_s=faults_per_s,
        checkpoints_s=[],
        bottleneck=bottleneck,
        series=_series(case, cpu, devices, caches),
        laws=check(case, classes, cpu, devices, tables, stations),
        warnings=[
            *warnings,
            *_without_percentiles(classes),
            *warnings_of_swapping(faults_per_s),
            *warnings_of_overload(
                system.arrivals_per_s, case.transactions, case.duration_s, len(system.client_registers)
            ),
            *warnings_of_credits(devices, volume_limits),
        ],
        stations=stations,
        volume_limits=volume_limits,
    )


NO_PERCENTILES = "percentiles of response times"
"""how the warning begins that says why there are none"""


def _without_percentiles(classes: Sequence[ClassResult]) -> list[str]:
    """Sentence that names the classes without p95, none if all have it."""
    unknown = [one.name for one in classes if one.p95_s is None]
    of = "" if len(unknown) == len(classes) else f" of {', '.join(unknown)}"
    why = f"are not printed: the model error of p95 is above a factor of {MOST_FACTOR:g}"
    return [f"{NO_PERCENTILES}{of} {why}; --engine kernel has them"] if unknown else []


def percentiles_s(case: Case) -> FloatArray:
    """Percentiles of response times, (classes, `PERCENTILES`).

    The wait for a connection, which grows through the counted interval of an overloaded machine, is added.
    """
    shares, window = np.array([*PERCENTILES.values()]), case.system.interval
    classes = np.arange(len(case.workload.classes))
    waited_s = case.backlog * (window.warm_up_ns + shares * window.duration_ns) / NS_PER_S + case.connection_s
    times_s = response_quantiles_s(case.workload, case.parameters, case.solution, classes, shares)[0]
    return times_s + waited_s + case.tier_s


def _percentile_half_widths(case: Case, rate_half_width: FloatArray) -> FloatArray:
    """Half widths of the intervals of the percentiles' logarithms, (classes, `PERCENTILES`)."""
    w, classes = case.workload, np.arange(len(case.workload.classes))
    shares = np.array([*PERCENTILES.values()])
    return percentile_half_widths(w, case.parameters, case.solution, classes, shares, rate_half_width)[0]


def _class(case: Case, number: int, percentiles_s: FloatArray, half_widths: FloatArray) -> ClassResult:
    w = case.workload
    time_by_s = _times(case, number)
    per_transaction = float(w.mix[number])
    factors = np.exp(half_widths)
    printed = [factor <= MOST_FACTOR for factor in factors.tolist()]
    p50, p90, p95, p99, p999 = (
        time_s if is_printed else None for time_s, is_printed in zip(percentiles_s.tolist(), printed, strict=True)
    )
    ends = zip(printed, (percentiles_s / factors).tolist(), (percentiles_s * factors).tolist(), strict=True)
    intervals = [
        PercentileInterval(low_s, high_s, "") if is_printed else PercentileInterval(None, None, "model error too large")
        for is_printed, low_s, high_s in ends
    ]
    return ClassResult(
        name=w.classes[number],
        completed=case.counted(per_transaction),
        rolled_back=case.counted(per_transaction * float(w.rollbacks[number])),
        rate_per_min=case.rate * per_transaction * 60.0,
        mean_s=sum(time_by_s.values()),
        p50_s=p50,
        p90_s=p90,
        p95_s=p95,
        p99_s=p99,
        p999_s=p999,
        time_by_s=time_by_s,
        intervals=PercentileIntervals(*intervals),
    )


def _times(case: Case, number: int) -> dict[str, float]:
    """Mean response time of a class by activity, in s. The wait of two clients for one page counts as a read.

    As the simulating engines count it, a critical section is waited for until a processor takes it up. If more arrives
    than is served, whoever ends at time t has waited for the share `backlog` of t.
    """
    r, window = case.solution, case.system.interval
    parts = {
        "cpu": r.classes.cpu_s + r.classes.section_s,
        "cpu queue": r.classes.cpu_queue_s,
        "critical section": r.classes.section_queue_s,
        ROW_LOCKS: r.classes.lock_s,
        "disk read": r.classes.read_s,
        "swap": r.classes.fault_s,
        "write throttle": r.classes.victim_s,
        "log": r.classes.log_s,
        "network": case.parameters.clients.network_s,
        "stations": r.classes.station_s,
    }
    found = dict.fromkeys(ACTIVITIES, 0.0) | {name: float(times[0, number]) for name, times in parts.items()}
    found["connection"] = case.backlog * to_s(window.warm_up_ns + window.duration_ns / 2) + case.connection_s
    found["network"] += case.tier_s
    return found


def _series(case: Case, cpu: CpuResult, devices: list[DeviceResult], caches: list[CacheResult]) -> Series:
    """The simulating engines' series: constant but for the rates of a machine that gets warm."""
    pool, cache = caches
    constants = {
        "cpu_user": cpu.user,
        "cpu_system": cpu.system,
        "reads_pending": case.reads_pending,
        "pool_hit_ratio": pool.hit_ratio,
        "page_cache_hit_ratio": cache.hit_ratio,
        "pool_dirty_fraction": pool.dirty_fraction,
        "page_cache_dirty_fraction": cache.dirty_fraction,
    }
    constants |= {utilisation_key(device.name): device.utilisation for device in devices}
    end_s = case.end_s
    points, rates = POINTS, [case.rate] * POINTS
    if case.warming is not None:
        points = WARMING_POINTS
        edges = np.linspace(0.0, end_s, points + 1)
        rates = [case.warming.mean_per_s(float(a), float(b)) for a, b in pairwise(edges)]
    values = {key: [value] * points for key, value in constants.items()}
    if case.warming is not None:
        middles = np.linspace(0.0, end_s, points, endpoint=False) + end_s / points / 2.0
        for key, hits in (
            ("pool_hit_ratio", case.warming.pool_hits),
            ("page_cache_hit_ratio", case.warming.cache_hits),
        ):
            values[key] = np.interp(middles, case.warming.times_s, hits).tolist()
    values["transactions_per_s"] = rates
    values[RATE_KEY] = [rate * case.per_min for rate in rates]
    return Series(end_s / points, values)
