"""A partitioned in-memory store, simulated request by request: the figures of a run."""

import numpy as np

from oltpsim.models.jobs.node_loss import loss_figures
from oltpsim.models.jobs.result import JobResult, most_crowded
from oltpsim.models.jobs.store_program import QUERY, UPDATE
from oltpsim.models.jobs.store_run import StoreRun
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import PartitionedStoreSpec
from oltpsim.simulator.results import Estimate, StationResult, histogram_share_below
from oltpsim.simulator.results.recording import batch_means

LIMITS_MS = (1, 2, 5)
"""Response times under which shares of the requests are reported."""


def partitioned_store(scenario: ScenarioSpec, job: PartitionedStoreSpec, run: StoreRun) -> JobResult:
    """Requests per second of a partitioned store and how long they take, of a run of its model.

    The time of a mean request by part is by Little's law: how many are there, divided by the rate.
    """
    result = run.result

    def stations_of(side: str, part: str) -> list[StationResult]:
        return [item for item in result.stations if item.name.startswith(side) and part in item.name]

    def busy(side: str, part: str) -> float:
        stations = stations_of(side, part)
        return sum(item.utilisation for item in stations) / max(len(stations), 1)

    def residence_s(side: str, part: str) -> float:
        return sum(item.mean_number for item in stations_of(side, part)) / result.transactions_per_s

    servers, clients, backplane = busy("server", "core"), busy("client", "core"), busy("backplane", "")
    server_network, client_network = busy("server", "network"), busy("client", "network")
    ended = [item for item in result.classes if item.completed]
    delay_s = sum(item.completed * item.time_by_s["network"] for item in ended) / sum(item.completed for item in ended)
    counted = [item for item in (QUERY, UPDATE) if any(one.name == item for one in ended)]
    steps = np.array(result.series.values["transactions_per_s"])
    interval = batch_means(steps[int(job.warm_up_s / result.series.step_s) :], result.series.step_s)
    return JobResult(
        kind=job.kind,
        figure="requests per second",
        value=result.transactions_per_s,
        unit="requests/s",
        cpu_cores_busy=servers * scenario.machine.cpu.cores,
        limited_by=most_crowded(
            {
                "client machines' processors": clients,
                "servers' processors": servers,
                "backplane": backplane,
                "servers' network": server_network,
                "clients' network": client_network,
            },
            "threads: too few, and each waits for its answer",
        ),
        parts_of="a request",
        parts_s={
            "clients' processors, and waiting for them": residence_s("client", "core"),
            "servers' processors, and waiting for them": residence_s("server", "core"),
            "sending": sum(residence_s(side, "network") for side in ("client", "server"))
            + residence_s("backplane", ""),
            "on the way, or waiting for a server that died": delay_s,
            "pauses of clients": residence_s("client", "pauses"),
            "pauses of servers": residence_s("server", "pauses"),
        },
        also={
            **_interval_figures(interval),
            **{key: value for name in counted for key, value in _times(run, name).items()},
            "client processors busy, share": clients,
            "server processors busy, share": servers,
            "backplane busy, share": backplane,
            "servers' network busy, share": server_network,
            "clients' network busy, share": client_network,
            **(loss_figures(job.loss, run.state, result.series) if job.loss else {}),
        },
        basis=f"simulated, seed {result.seed}: {job.duration_s:g} s after {job.warm_up_s:g} s of warm-up"
        + ("" if interval.is_steady else f"; {interval.method}"),
        series={
            "seconds": [result.series.step_s * (step + 1) for step in range(len(steps))],
            "requests/s": [float(rate) for rate in steps],
        },
    )


def _interval_figures(rate: Estimate) -> dict[str, float]:
    if rate.low is None or rate.high is None:
        return {}
    level = f"{100 * rate.confidence:.3g} %"
    return {f"requests/s, from ({level})": rate.low, f"requests/s, to ({level})": rate.high}


def _times(run: StoreRun, name: str) -> dict[str, float]:
    """Response times of a class, and the shares below those that people quote."""
    number = run.state.program.classes.index(name)
    response = run.result.classes[number]
    times = {"mean": response.mean_s, "median": response.p50_s, "99 %": response.p99_s, "99.9 %": response.p999_s}
    return {f"{name} ms, {key}": value * 1e3 for key, value in times.items() if value is not None} | {
        f"{name} under {ms} ms, share": histogram_share_below(run.histograms[number], ms * 1e6) for ms in LIMITS_MS
    }
