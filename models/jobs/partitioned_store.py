"""A partitioned in-memory store, simulated request by request: the figures of a run."""

from dataclasses import dataclass

import numpy as np

from models.jobs.node_loss import loss_figures
from models.jobs.result import JobResult, most_crowded
from models.jobs.store_program import QUERY, UPDATE
from models.jobs.store_run import StoreRun
from models.scenario import ScenarioSpec
from models.workloads import PartitionedStoreSpec
from simulator.results import Result, histogram_share_below
from simulator.results.recording import batch_means

LIMITS_MS = (1, 2, 5)
"""Response times under which shares of the requests are reported."""


def partitioned_store(scenario: ScenarioSpec, job: PartitionedStoreSpec, run: StoreRun) -> JobResult:
    """Requests per second of a partitioned store and how long they take, of a run of its model."""
    result = run.result
    used = _use_of(result)
    counted = [item for item in (QUERY, UPDATE) if any(one.name == item and one.completed for one in result.classes)]
    steps = np.array(result.series.values["transactions_per_s"])
    lost = loss_figures(job.loss, run.state, result.series) if job.loss else {}
    interval = batch_means(steps[int(job.warm_up_s / result.series.step_s) :])
    return JobResult(
        kind=job.kind,
        figure="requests per second",
        value=result.transactions_per_s,
        unit="requests/s",
        cpu_cores_busy=used.server_cpu * scenario.machine.cpu.cores,
        seconds=None,
        limited_by=most_crowded(
            {
                "client machines' processors": used.client_cpu,
                "servers' processors": used.server_cpu,
                "backplane": used.backplane,
                "servers' network": used.server_network,
                "clients' network": used.client_network,
            },
            "threads: too few, and each waits for its answer",
        ),
        parts_of="a request",
        parts_s=used.parts_s,
        also={
            "requests/s, from (95 %)": interval.low,
            "requests/s, to (95 %)": interval.high,
            **{key: value for name in counted for key, value in _times(run, name).items()},
            "client processors busy, share": used.client_cpu,
            "server processors busy, share": used.server_cpu,
            "backplane busy, share": used.backplane,
            "servers' network busy, share": used.server_network,
            "clients' network busy, share": used.client_network,
            **lost,
        },
        basis=f"simulated, seed {result.seed}: {job.duration_s:g} s after {job.warm_up_s:g} s of warm-up",
        series={
            "seconds": [result.series.step_s * (step + 1) for step in range(len(steps))],
            "requests/s": [float(rate) for rate in steps],
        },
    )


@dataclass(frozen=True)
class _StoreUse:
    """Shares of their capacity that the parts are busy, and the time of a mean request by part."""

    server_cpu: float
    client_cpu: float
    server_network: float
    client_network: float
    backplane: float
    parts_s: dict[str, float]


def _use_of(result: Result) -> _StoreUse:
    """By kinds of stations: mean utilisation, and by Little's law the time that a request is there."""

    def busy(side: str, part: str) -> float:
        return _mean([item.utilisation for item in result.stations if _is(item.name, side, part)])

    def there_s(side: str, part: str) -> float:
        number = sum(item.mean_number for item in result.stations if _is(item.name, side, part))
        return number / result.transactions_per_s

    ended = [item for item in result.classes if item.completed]
    delay_s = sum(item.completed * item.time_by_s["network"] for item in ended) / sum(item.completed for item in ended)
    return _StoreUse(
        server_cpu=busy("server", "core"),
        client_cpu=busy("client", "core"),
        server_network=busy("server", "network"),
        client_network=busy("client", "network"),
        backplane=busy("backplane", ""),
        parts_s={
            "clients' processors, and waiting for them": there_s("client", "core"),
            "servers' processors, and waiting for them": there_s("server", "core"),
            "sending": sum(there_s(side, "network") for side in ("client", "server")) + there_s("backplane", ""),
            "on the way, or waiting for a server that died": delay_s,
            "pauses of clients": there_s("client", "pauses"),
            "pauses of servers": there_s("server", "pauses"),
        },
    )


def _is(station: str, side: str, part: str) -> bool:
    return station.startswith(side) and part in station


def _mean(values: list[float]) -> float:
    return sum(values) / max(len(values), 1)


def _times(run: StoreRun, name: str) -> dict[str, float]:
    """Response times of a class, and the shares below those that people quote."""
    number = run.state.program.classes.index(name)
    response = run.result.classes[number]
    figures = {
        f"{name} ms, mean": response.mean_s,
        "median": response.p50_s,
        "99 %": response.p99_s,
        "99.9 %": response.p999_s,
    }
    named = {key if key.startswith(name) else f"{name} ms, {key}": value * 1e3 for key, value in figures.items()}
    shares = {
        f"{name} under {ms} ms, share": histogram_share_below(run.histograms[number], ms * 1e6) for ms in LIMITS_MS
    }
    return named | shares
