"""From snapshots to a result: rates over the measured interval, shares, laws, the bottleneck."""

from __future__ import annotations

import itertools
import math
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
import numpy.typing as npt

from simulator.errors import InputError
from simulator.form import ALL_VOLUMES, NS_PER_S, Model, to_s
from simulator.kernel.rate_limits import limits_of
from simulator.kernel.state import TABLE_CREATED, USAGE
from simulator.results.bottleneck import bottleneck_of, overload, spent_credits, swapping
from simulator.results.interrupts import with_interrupts
from simulator.results.laws import check_laws
from simulator.results.limits import closed_steps, limit_results
from simulator.results.recorder import ACTIVITIES, ClassRecorder, quantile_ns
from simulator.results.result import (
    CacheResult,
    ClassResult,
    CpuResult,
    DeviceResult,
    LockResult,
    LogResult,
    Result,
    Series,
    StationResult,
    TableResult,
)
from simulator.results.statistics import batch_means, steady_from
from simulator.results.terminals import connections_result


@dataclass(frozen=True)
class Snapshot:
    """Cumulative counters at one instant; names ending in `now` are momentary."""

    at_ns: int
    values: dict[str, int]
    table_counts: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """What a run knows besides its snapshots."""

    model: Model
    seed: int
    engine: str
    step_ns: int
    classes: list[ClassRecorder]
    checkpoints_ns: list[tuple[int, int]]


class Window:
    """Differences of counters between the ends of the measured interval."""

    def __init__(self, snapshots: list[Snapshot], from_ns: int) -> None:
        self.inside = [snapshot for snapshot in snapshots if snapshot.at_ns >= from_ns]
        self.first, self.last = self.inside[0], self.inside[-1]
        self.ns = self.last.at_ns - self.first.at_ns
        self.seconds = to_s(self.ns)

    def change(self, name: str) -> int:
        """How much a counter grew."""
        return self.last.values.get(name, 0) - self.first.values.get(name, 0)

    def mean_now(self, name: str) -> float:
        """Average of a momentary value over the snapshots."""
        return float(np.mean([snapshot.values[name] for snapshot in self.inside]))

    def names(self, prefix: str) -> list[str]:
        """What follows a prefix in the names of the last snapshot, sorted."""
        return sorted(name.removeprefix(prefix) for name in self.last.values if name.startswith(prefix))


def summarise(facts: Facts, snapshots: list[Snapshot]) -> Result:
    """Add up a run."""
    model = facts.model
    window = Window(snapshots, model.interval.warm_up_ns)
    series = _series(facts, snapshots)
    rates = np.array(series.values["new_orders_per_min" if "new_orders_per_min" in series.values else "main_per_min"])
    rates = rates[: _steps_of_all(facts, snapshots)]
    counted = rates[min(int(to_s(model.interval.warm_up_ns) // series.step_s), len(rates) - 1) :]
    steady = steady_from(rates)
    rate = batch_means(counted)
    exact = window.change("ended main") * 60 / window.seconds
    shift = exact - rate.mean
    classes = [
        _class(name, recorder, window) for name, recorder in zip(model.program.classes, facts.classes, strict=True)
    ]
    cpu, devices, locks = _cpu(model, window), _devices(model, window), _locks(model, window)
    stations, main = _stations(model, window), classes[model.program.main_class]
    if model.interrupts:
        served_per_s = stations[model.interrupts.station].visits_per_s if model.interrupts.station >= 0 else 0.0
        per_s = window.change("ended") / window.seconds
        cpu = with_interrupts(model, model.interrupts, cpu, devices, per_s, served_per_s)
    if model.terminals:
        stations.append(connections_result(model, model.terminals, classes, window.seconds))
    limits = limits_of(model.storage, model.volume_limits, model.controllers)
    volume_limits = limit_results(model, window, ALL_VOLUMES, limits.shared)
    for number, rows in enumerate(limits.controllers, 1):
        volume_limits += limit_results(model, window, f"controller {number}", rows)
    return Result(
        scenario=model.name,
        engine=facts.engine,
        seed=facts.seed,
        versions=_versions(),
        model_hash=model.digest(),
        start=model.interval.start,
        warm_up_s=to_s(model.interval.warm_up_ns),
        duration_s=window.seconds,
        main_class=main.name,
        rate_per_min=type(rate)(exact, max(0.0, rate.low + shift), rate.high + shift, rate.confidence, rate.method),
        steady_rate_per_min=batch_means(rates[steady:]),
        steady_from_s=steady * series.step_s,
        transactions_per_s=window.change("ended") / window.seconds,
        classes=classes,
        cpu=cpu,
        devices=devices,
        reads_pending=window.change("reads pending") / window.ns,
        caches=_caches(window),
        tables=_tables(model, window),
        locks=locks,
        log=LogResult(
            bytes_per_s=window.change("log bytes") / window.seconds,
            commits_per_s=window.change("log commits") / window.seconds,
            flushes_per_s=window.change("log flushes") / window.seconds,
        ),
        swap_in_per_s=window.change("pool swap ins") / window.seconds,
        swap_out_per_s=window.change("pool swap outs") / window.seconds,
        checkpoints_s=[[to_s(begin), to_s(end)] for begin, end in facts.checkpoints_ns],
        bottleneck=bottleneck_of(cpu, devices[: len(model.storage.devices)], locks, stations, main, volume_limits),
        series=series,
        laws=check_laws(model, window, classes, cpu),
        warnings=[
            *_warnings(window, rates, steady),
            *_overloaded(model, window, classes),
            *spent_credits(devices, volume_limits),
        ],
        stations=stations,
        volume_limits=volume_limits,
    )


def _versions() -> dict[str, str]:
    versions = {name: version(name) for name in ("oltpsim", "numpy", "numba", "simpy")}
    return versions | {"python": platform.python_version()}


def _class(name: str, recorder: ClassRecorder, window: Window) -> ClassResult:
    histogram = np.array(recorder.histogram, dtype=np.int64)
    count = max(recorder.completed, 1)
    p50, p90, p95, p99, p999 = (quantile_ns(histogram, share) / NS_PER_S for share in (0.5, 0.9, 0.95, 0.99, 0.999))
    return ClassResult(
        name=name,
        completed=recorder.completed,
        rolled_back=recorder.rolled_back,
        rate_per_min=recorder.completed * 60 / window.seconds,
        mean_s=to_s(recorder.total_ns / count),
        p50_s=p50,
        p90_s=p90,
        p95_s=p95,
        p99_s=p99,
        p999_s=p999,
        time_by_s={
            activity: to_s(spent / count) for activity, spent in zip(ACTIVITIES, recorder.spent_ns, strict=True)
        },
    )


def _cpu(model: Model, window: Window) -> CpuResult:
    capacity = model.processors * window.ns
    at_work = window.change("cpu busy") / capacity
    handed = sum(window.change(f"section {n} waits") * each.handover_ns for n, each in enumerate(model.sections))
    handing = min(handed / capacity, max(1.0 - at_work, 0.0))
    busy = at_work + handing
    used = {name: window.change(f"usage {name}") for name in USAGE}
    total = max(sum(used.values()), 1)
    shares = {name: ns / total * at_work for name, ns in used.items()} | {"hand-over": handing}
    user = shares["transaction"] + shares["client program"]
    waiting = min(window.change("io wait") / capacity, 1.0 - busy)
    return CpuResult(
        cores=model.cpu.cores,
        user=user,
        system=busy - user,
        iowait=waiting,
        idle=1.0 - busy - waiting,
        by_activity=shares,
    )


def _devices(model: Model, window: Window) -> list[DeviceResult]:
    """Devices as the operating system sees them, and behind them RAID sets' disks. A set is as busy as its disks."""
    storage, results = model.storage, []
    own = limits_of(storage, model.volume_limits, model.controllers).own
    limits = [limit_results(model, window, each.name, own[n]) for n, each in enumerate(storage.with_disks)]
    for number, device in enumerate(storage.with_disks):
        disks = storage.disks_of(number)
        parallel = sum(getattr(storage.with_disks[disk], "parallel", 1) for disk in disks)
        busy = sum(window.change(f"{disk} busy") for disk in disks)
        closed = sum(max((limit.utilisation for limit in limits[disk]), default=0.0) for disk in disks)
        service = sum(window.change(f"{disk} service") for disk in disks)
        count = window.change(f"{number} reads") + window.change(f"{number} writes")
        results.append(
            DeviceResult(
                name=device.name,
                kind=device.kind,
                reads_per_s=window.change(f"{number} reads") / window.seconds,
                writes_per_s=window.change(f"{number} writes") / window.seconds,
                utilisation=max(busy / window.ns / parallel, closed / len(disks)),
                mean_queue=window.change(f"{number} queue") / window.ns,
                mean_service_s=to_s(service / max(count, 1)),
                mean_response_s=to_s(window.change(f"{number} response") / max(count, 1)),
                by_purpose_per_s={
                    purpose: window.change(f"{number} purpose {purpose}") / window.seconds
                    for purpose in window.names(f"{number} purpose ")
                },
                limits=limits[number],
                occupied_fraction=window.change(f"{number} occupied") / window.ns,
                occupied_per_request_s=to_s(window.change(f"{number} occupied") / max(count, 1)),
            )
        )
    return results


def _caches(window: Window) -> list[CacheResult]:
    results = []
    for key, name in (("pool", "buffer pool"), ("cache", "page cache")):
        references, hits = window.change(f"{key} references"), window.change(f"{key} hits")
        if key == "cache":
            created = int((window.last.table_counts - window.first.table_counts)[:, TABLE_CREATED].sum())
            references = window.change("pool references") - window.change("pool hits") - created
        capacity = window.last.values[f"{key} capacity"]
        resident = window.mean_now(f"{key} resident now") if key == "pool" else window.mean_now("cache used now")
        results.append(
            CacheResult(
                name=name,
                capacity_pages=capacity,
                references=references,
                hits=hits,
                hit_ratio=hits / max(references, 1),
                evictions=window.change(f"{key} evictions"),
                dirty_evictions=window.change(f"{key} dirty evictions"),
                dirty_fraction=window.mean_now(f"{key} dirty now") / max(capacity, 1),
                resident_fraction=resident / max(window.mean_now(f"{key} used now"), 1),
            )
        )
    return results


def _tables(model: Model, window: Window) -> list[TableResult]:
    counts = window.last.table_counts - window.first.table_counts
    return [
        TableResult(name, *(int(count) for count in row))
        for name, row in zip(model.program.region_names, counts, strict=True)
    ]


def _locks(model: Model, window: Window) -> list[LockResult]:
    waits = window.change("lock waits")
    results = [
        LockResult(
            name="row locks",
            acquisitions=window.change("lock acquired"),
            waits=waits,
            mean_wait_s=to_s(window.change("lock waited") / max(waits, 1)),
            utilisation=0.0,
        )
    ]
    for number, section in enumerate(model.sections):
        waits = window.change(f"section {number} waits")
        results.append(
            LockResult(
                name=section.name,
                acquisitions=window.change(f"section {number} entries"),
                waits=waits,
                mean_wait_s=to_s(window.change(f"section {number} waited") / max(waits, 1)),
                utilisation=window.change(f"section {number} busy") / window.ns,
            )
        )
    return results


def _stations(model: Model, window: Window) -> list[StationResult]:
    return [
        StationResult(
            name=station.name,
            servers=station.servers,
            visits_per_s=window.change(f"station {number} served") / window.seconds,
            utilisation=window.change(f"station {number} busy") / window.ns / station.servers,
            mean_number=window.change(f"station {number} number") / window.ns,
        )
        for number, station in enumerate(model.stations)
    ]


def _series(facts: Facts, snapshots: list[Snapshot]) -> Series:
    steps = [s for s in snapshots if s.at_ns % facts.step_ns == 0]
    pairs = list(itertools.pairwise(steps))
    seconds, processors = to_s(facts.step_ns), facts.model.processors

    def per(name: str, scale: float) -> list[float]:
        return [(b.values.get(name, 0) - a.values.get(name, 0)) * scale for a, b in pairs]

    def ratio(part: Callable[[Snapshot], int], whole: Callable[[Snapshot], int]) -> list[float]:
        return [(part(b) - part(a)) / max(whole(b) - whole(a), 1) for a, b in pairs]

    main = facts.model.program.classes[facts.model.program.main_class]
    values = {
        "new_orders_per_min" if main == "new order" else "main_per_min": per("ended main", 60 / seconds),
        "transactions_per_s": per("ended", 1 / seconds),
        "cpu_user": _cpu_share(pairs, USER_USAGE, facts.step_ns * processors),
        "cpu_system": _cpu_share(pairs, SYSTEM_USAGE, facts.step_ns * processors),
        "reads_pending": per("reads pending", 1 / facts.step_ns),
        "pool_hit_ratio": ratio(lambda s: s.values["pool hits"], lambda s: s.values["pool references"]),
        "page_cache_hit_ratio": ratio(
            lambda s: s.values["cache hits"], lambda s: s.values["pool references"] - s.values["pool hits"]
        ),
        "pool_dirty_fraction": [b.values["pool dirty now"] / b.values["pool capacity"] for _, b in pairs],
        "page_cache_dirty_fraction": [
            b.values["cache dirty now"] / max(b.values["cache capacity"], 1) for _, b in pairs
        ],
    }
    storage = facts.model.storage
    for number, device in enumerate(storage.with_disks):
        disks = storage.disks_of(number)
        parallel = sum(getattr(storage.with_disks[disk], "parallel", 1) for disk in disks)
        each = [per(f"{disk} busy", 1 / facts.step_ns / parallel) for disk in disks]
        closed = closed_steps(facts.model, pairs, disks)
        values[f"{device.name} utilisation"] = [max(sum(step), c) for *step, c in zip(*each, closed, strict=True)]
    return Series(seconds, values)


def _steps_of_all(facts: Facts, snapshots: list[Snapshot]) -> int:
    """Steps of the series before the first client has done its work, at least one: there the rate is steady or not.

    Raises InputError if a run of fixed work was shorter than a step.
    """
    if facts.model.work is None:
        return len(snapshots)
    clients = len(facts.model.client_registers)
    ends = [each.values["clients at work"] for each in snapshots if each.at_ns % facts.step_ns == 0]
    if len(ends) < 2:
        raise InputError(
            f"interval.new_orders_per_client: the last client was through after {to_s(snapshots[-1].at_ns):.2g} s, too "
            "short for a rate; ask for more of them"
        )
    return max(sum(at_work == clients for at_work in ends) - 1, 1)


DRIFT_STEPS, DRIFT_SHARE = 5, 0.02
"""A rate is called unsteady if its last two quarters differ by more than this share and three standard errors."""
USER_USAGE = ("transaction", "client program")
SYSTEM_USAGE = tuple(name for name in USAGE if name not in USER_USAGE)


def _cpu_share(pairs: list[tuple[Snapshot, Snapshot]], activities: tuple[str, ...], capacity_ns: int) -> list[float]:
    """Busy time of each step, split in proportion to the CPU time that was handed out in it."""

    def handed_out(names: tuple[str, ...], a: Snapshot, b: Snapshot) -> int:
        return sum(b.values[f"usage {name}"] - a.values[f"usage {name}"] for name in names)

    return [
        (b.values["cpu busy"] - a.values["cpu busy"])
        / capacity_ns
        * handed_out(activities, a, b)
        / max(handed_out(USAGE, a, b), 1)
        for a, b in pairs
    ]


def _overloaded(model: Model, window: Window, classes: list[ClassResult]) -> list[str]:
    done = sum(each.completed for each in classes)
    return overload(model.arrivals_per_s, done, window.seconds, len(model.client_registers))


def _warnings(window: Window, rates: npt.NDArray[np.float64], steady: int) -> list[str]:
    warnings = []
    if window.change("ended main") < 1000:
        warnings.append(f"only {window.change('ended main')} transactions of the main class were counted")
    warnings += swapping(window.change("pool swap ins") / window.seconds)
    before, after = np.array_split(rates[len(rates) // 2 :], 2)
    if not after.size:
        return warnings
    noise = math.sqrt(before.var() / before.size + after.var() / after.size)
    drift = float(after.mean() - before.mean())
    if steady >= len(rates) // 2 > DRIFT_STEPS or abs(drift) > max(3 * noise, DRIFT_SHARE * float(after.mean())):
        direction = "rises" if drift > 0 else "falls"
        warnings.append(f"the rate still {direction} at the end of the run; a longer run would report another figure")
    return warnings
