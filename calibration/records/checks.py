"""Laws that a measured run must satisfy, and signs of a mixed-up counter or unit. Each says what it saw, in numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev

from oltpsim.calibration.records.record import MeasuredDevice, Observed, Outcome, Resources, RunRecord
from oltpsim.models.input import value_at

LITTLE_TOLERANCE = 0.05
"""Clients also spend time between answer and next request, and rates are rounded."""
QUEUE_TOLERANCE = 0.15
MOST_DRIFT = 0.1
DRIFT_SIGMAS = 3.0
MIX = (0.3, 0.6)
"""New orders' share of all transactions: 0.43 to 0.45 in the known drivers."""
TPM_PER_NOPM = {"SQL Server": (2.0, 5.0), "PostgreSQL": (2.0, 2.7), "": (2.0, 3.4)}
"""Commits per new order that HammerDB counts, by engine: 2.3 without rollbacks and reads, 3.0 with them (MySQL to 4.1,
Oracle), 4.6 in batch requests (SQL Server to 3.1)"""
CLOSED_DRIVERS = ("sysbench", "tpcc-mysql", "pgbench <builtin", "pgbench TPC-B", "pgbench SELECT only")
"""Beginnings of the names of harnesses whose clients have no think time, and whose output says if it gave the rate"""
LIMITS = {
    "go-tpc": "--wait",
    "pgbench": "-C, -R or \\sleep",
    "YCSB": "a target in its properties",
    "BenchmarkSQL": "limitTxnsPerMin",
}
"""Options of harnesses that make clients wait, which may be missing from their output"""
GIVEN_RATES = ("latency with schedule lag", "target", "queue length", "limitTxnsPerMin")
"""Reported figures of runs whose rate was given"""
RECONNECTING = "connection time"
"""Reported figure of runs that connect for each transaction"""
MOST_TPMC_WITH_WAITS = 12.86 * 1.05
"""New orders per minute and warehouse that TPC-C's think times allow, and a tolerance"""
LEAST_BUSY = 0.9
"""Share of the clients of a harness without think time that must be at work by Little's law"""
LEAST_WINDOW_S = 60.0
"""A shorter window may hold a stall, whose waiting began before it or ends after it"""
COMMITS = (0.5, 3.0)
"""From mixes with many reads, which some servers don't count, to drivers that ping before each transaction."""
LEAST_HIT_RATIO = 0.5
SECTOR_KIB, MOST_REQUEST_KIB = 0.5, 1024
LEAST_READS_PER_S = 1.0
MOST_STEAL_FRACTION = 0.03


@dataclass(frozen=True)
class Finding:
    """Outcome of one check: `holds` is None where the law can't be judged."""

    law: str
    holds: bool | None
    text: str


def check_record(record: RunRecord) -> list[Finding]:
    """Little's law first, then what can be said of the rest."""
    findings = [
        littles_law(record),
        *_steady(record),
        *_mix(record.outcome, record.engine.name.value if record.engine.name else ""),
        *_percentiles(record.outcome),
        *_cpu(record.resources),
    ]
    for name, device in record.resources.devices.items():
        findings += [*_device(name, device, _value(record.window.duration_s)), *_request_size(name, device, record)]
    return [*findings, *_commits(record), *_pool(record)]


def littles_law(record: RunRecord) -> Finding:
    """Clients = rate * (response + think time). Clients that are more than rate times response leave a think time."""
    law = "Little's law"
    outcome, workload = record.outcome, record.workload
    values = {
        "clients": _value(workload.clients),
        "transactions_per_s": _value(outcome.transactions_per_s),
        "mean_ms": _value(outcome.mean_ms),
    }
    missing = [name for name, value in values.items() if value is None]
    if missing:
        return Finding(law, None, f"can't be checked without {', '.join(missing)}")
    clients, rate, mean_ms = (value for value in values.values() if value is not None)
    response_s = mean_ms / 1000.0
    think_s = workload.think_time_s.value if workload.think_time_s else 0.0
    busy = rate * (response_s + think_s)
    seen = (
        f"{_short(rate)}/s x {_short((response_s + think_s) * 1000)} ms = {_short(busy)} "
        f"of {clients:g} clients ({busy / clients:.0%})"
    )
    if abs(busy / clients - 1.0) <= LITTLE_TOLERANCE:
        return Finding(law, True, seen)
    driver = workload.driver.value if workload.driver else ""
    has_waits = any(name in outcome.reported for name in (*GIVEN_RATES, RECONNECTING))
    if busy > clients and has_waits and driver.startswith("sysbench"):
        return Finding(law, None, f"{seen}: latencies include the wait for a thread at a given rate")
    if busy > clients:
        return Finding(law, False, f"{seen}: more at work than there are; a unit, a count or the clients are wrong")
    if _has_no_think_time(record):
        share = "; clients spend the rest between answer and next request"
        if busy / clients >= LEAST_BUSY:
            return Finding(law, True, f"{seen}{share}")
        return Finding(law, False, f"{seen}: this harness has no think time; a unit, a count or the clients are wrong")
    if workload.think_time_s is None or has_waits:
        left_ms = (clients / rate - response_s) * 1000.0
        causes = f"a think time{_limits(driver)}, or errors that took time"
        return Finding(law, None, f"{seen}: leaves {_short(left_ms)} ms between transactions: {causes}")
    return Finding(law, False, f"{seen}: fewer at work than there are; a unit, a count or the think time is wrong")


def _has_no_think_time(record: RunRecord) -> bool:
    """Whether the run's files exclude think time: one request after the other, at no given rate."""
    think, reported = record.workload.think_time_s, record.outcome.reported
    if any(name in reported for name in (*GIVEN_RATES, RECONNECTING)):
        return False
    if think is not None:
        return think.value == 0
    driver = record.workload.driver.value if record.workload.driver else ""
    per_minute, warehouses = reported.get("tpmC"), record.workload.warehouses
    if driver.startswith("go-tpc") and per_minute and warehouses:
        return per_minute.value > MOST_TPMC_WITH_WAITS * warehouses.value
    return driver.startswith(CLOSED_DRIVERS)


def _limits(driver: str) -> str:
    """Options that would explain a wait, in brackets; empty for an unknown harness."""
    option = next((option for name, option in LIMITS.items() if driver.startswith(name)), "")
    return f" ({option})" if option else ""


def _steady(record: RunRecord) -> Iterator[Finding]:
    """Last third against first third of each series: a drift beyond noise. A whole run may well begin slowly."""
    for name, series in record.outcome.series.items():
        third = len(series.values) // 3
        if third < 3:
            continue
        first, last = series.values[:third], series.values[-third:]
        drift = fmean(last) / fmean(first) - 1.0 if fmean(first) > 0 else 0.0
        noise = math.hypot(stdev(first), stdev(last)) / math.sqrt(third) / max(fmean(first), 1e-9)
        text = f"{name}: the last third is {drift:+.1%} from the first, noise {noise:.1%}"
        drifts = abs(drift) > max(MOST_DRIFT, DRIFT_SIGMAS * noise)
        yield Finding("steady", None if drifts and record.window.kind == "whole" else not drifts, text)


def _mix(outcome: Outcome, engine: str) -> Iterator[Finding]:
    if outcome.new_orders_per_minute and outcome.transactions_per_s:
        share = outcome.new_orders_per_minute.value / 60.0 / outcome.transactions_per_s.value
        text = f"new orders are {share:.1%} of all transactions (43 to 50 % in the known drivers)"
        yield Finding("mix", MIX[0] <= share <= MIX[1], text)
    commits, orders = outcome.reported.get("TPM"), outcome.new_orders_per_minute
    if commits and orders:
        ratio = commits.value / orders.value
        least, most = next(limits for name, limits in TPM_PER_NOPM.items() if name in engine)
        text = f"TPM / NOPM = {ratio:.2f} ({least:g} to {most:g} are known of {engine or 'HammerDB'})"
        yield Finding("commits per new order", least <= ratio <= most if commits.value else None, text)
    failed = outcome.reported.get("failed users")
    if failed is not None and failed.value:
        text = (
            f"{failed.value:g} virtual users ended with FINISHED FAILED: the rate is of fewer clients than configured"
        )
        yield Finding("all clients ran to the end", False, text)


def _percentiles(outcome: Outcome) -> Iterator[Finding]:
    everything = {
        "all": outcome.percentiles_ms,
        **{name: each.percentiles_ms for name, each in outcome.classes.items()},
    }
    for name, percentiles in everything.items():
        ordered = sorted(percentiles.items(), key=lambda each: float(each[0]))
        for (low, below), (high, above) in pairwise(ordered):
            if below.value > above.value:
                yield Finding(
                    "percentiles rise", False, f"{name}: p{low} {below.value:g} ms is above p{high} {above.value:g} ms"
                )


def _cpu(resources: Resources) -> Iterator[Finding]:
    shares = {
        "user": resources.cpu_user_fraction,
        "system": resources.cpu_system_fraction,
        "iowait": resources.cpu_iowait_fraction,
        "idle": resources.cpu_idle_fraction,
        "steal": resources.cpu_steal_fraction,
    }
    known = {name: share.value for name, share in shares.items() if share is not None}
    if {"user", "system", "idle"} <= set(known):
        total = sum(known.values())
        text = f"{' + '.join(f'{name} {value:.1%}' for name, value in known.items())} = {total:.1%}"
        complete = len(known) >= 4
        yield Finding(
            "CPU shares add up", 0.97 <= total <= 1.03 if complete else (None if total <= 1.03 else False), text
        )
    if known.get("steal", 0.0) > MOST_STEAL_FRACTION:
        text = f"the hypervisor took {known['steal']:.1%} of all CPUs' time: the run may be slower than its machine is"
        yield Finding("CPUs are the machine's own", None, text)


def _device(name: str, device: MeasuredDevice, duration_s: float | None) -> Iterator[Finding]:
    """Little's law of the queue: requests inside = rate * time."""
    queue = _value(device.queue_length)
    reads, writes = _value(device.reads_per_s), _value(device.writes_per_s)
    read_ms, write_ms = (
        _value(device.await_ms if way is None else way) for way in (device.read_await_ms, device.write_await_ms)
    )
    if queue is None or reads is None or writes is None or max(queue, 0.0) < 1.0:
        return
    if (reads and read_ms is None) or (writes and write_ms is None):
        return
    inside = (reads * (read_ms or 0.0) + writes * (write_ms or 0.0)) / 1000.0
    text = (
        f"{name}: {_short(reads)} reads/s x {read_ms or 0:.3g} ms + {_short(writes)} writes/s x {write_ms or 0:.3g} ms "
        f"= {inside:.3g}; queue {queue:.3g}"
    )
    holds = abs(inside - queue) <= QUEUE_TOLERANCE * queue
    short = duration_s is not None and duration_s < LEAST_WINDOW_S
    yield Finding("Little's law of the device", None if short and not holds else holds, text)


def _request_size(name: str, device: MeasuredDevice, record: RunRecord) -> Iterator[Finding]:
    """A database reads whole pages, and no system reads a MiB at once for random places.

    A device that reads more than twice as often as the pool misses serves others too, who read sectors of any number.
    """
    reads, kib = _value(device.reads_per_s), _value(device.read_kib_per_s)
    if reads is None or kib is None or reads < LEAST_READS_PER_S:
        return
    misses = _value(record.resources.buffer_reads_per_s)
    page_kib = None if misses is not None and misses < reads / 2 else _value(record.engine.page_kib)
    least = (page_kib or 2 * SECTOR_KIB) / 2
    text = f"{name}: {kib / reads:.3g} KiB a read ({least:g} to {MOST_REQUEST_KIB:,} are possible)"
    yield Finding("size of a read", least <= kib / reads <= MOST_REQUEST_KIB, text)


def _commits(record: RunRecord) -> Iterator[Finding]:
    """Counters of the server and of the harness must be of one window."""
    commits, every = _value(record.resources.commits_per_s), _value(record.outcome.transactions_per_s)
    if commits is None or every is None or every <= 0:
        return
    ratio = commits / every
    text = f"the server counts {ratio:.2f} commits per transaction ({COMMITS[0]:g} to {COMMITS[1]:g} are known)"
    yield Finding("commits per transaction", COMMITS[0] <= ratio <= COMMITS[1], text)


def _pool(record: RunRecord) -> Iterator[Finding]:
    resources = record.resources
    hits, misses = _value(resources.buffer_hits_per_s), _value(resources.buffer_reads_per_s)
    if hits is None or misses is None or hits + misses <= 0:
        return
    ratio = hits / (hits + misses)
    text = f"pool {ratio:.4f}: {misses:,.0f} of {hits + misses:,.0f} pages/s not in it"
    if ratio < LEAST_HIT_RATIO:
        text += "; an index's upper pages alone give more: hits and reads are mixed up, or it read whole tables"
    yield Finding("hit ratio", None if ratio >= LEAST_HIT_RATIO else False, text)
    cached = _value(resources.page_cache_hits_per_s)
    if cached is not None and misses > 0:
        yield Finding(
            "double buffering", None, f"the page cache answered {cached / misses:.0%} of what the pool lacked"
        )
    page_kib = _value(record.engine.page_kib)
    device_kib = max((_value(device.read_kib_per_s) or 0.0 for device in resources.devices.values()), default=0.0)
    if page_kib and device_kib > 0:
        pages = device_kib / page_kib
        text = f"the busiest device reads {_short(pages)} pages/s, the pool asks for {_short(misses)}"
        law = "devices read no more than the pool asks for"
        yield Finding(law, pages <= 1.1 * misses + 50, text)


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _value(observed: Observed | None) -> float | None:
    return None if observed is None else observed.value


SIZE = "workload.warehouses"
USEFUL_KEYS = (
    ("workload.clients", "Little's law, and where on the curve the run lies"),
    (SIZE, "the size of the database"),
    ("engine.buffer_pool_gib", "the pool"),
    ("environment.memory_gib", "what is left for the page cache"),
    ("environment.cores", "the CPU's capacity"),
    ("outcome.mean_ms", "Little's law"),
    ("resources.cpu_user_fraction", "CPU per transaction"),
    ("resources.devices", "reads and writes per transaction, and the device's service"),
    ("resources.buffer_reads_per_s", "the pool's misses"),
    ("resources.log_bytes_per_s", "log per transaction"),
    ("resources.log_flushes_per_s", "group commit"),
    ("resources.swap_in_kib_per_s", "whether the machine swapped"),
)


def missing_keys(record: RunRecord) -> list[str]:
    """Keys that the record lacks and what each would be good for, a line each."""
    has_scale = bool(value_at(record, "workload.scale"))
    useful = [(key, purpose) for key, purpose in USEFUL_KEYS if key != SIZE or not has_scale]
    return [f"{key}: {purpose}" for key, purpose in useful if not value_at(record, key)]
