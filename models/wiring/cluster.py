"""A cluster of servers, of which one is simulated: what transactions do there, and what is told of all of them."""

from collections.abc import Iterator

from oltpsim.models.machine import speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import SINGLE_SERVER, ClusterPaths
from oltpsim.simulator.form import NS_PER_MS, NS_PER_US
from oltpsim.simulator.results import Result


def cluster_paths(scenario: ScenarioSpec) -> ClusterPaths:
    """What a scenario's cluster adds to its transactions."""
    cluster = scenario.cluster
    if cluster is None:
        return SINGLE_SERVER
    units = scenario.workload.loaded
    foreign = cluster.servers * units - 1
    standby, replica = cluster.standby, cluster.read_replica
    return ClusterPaths(
        elsewhere=(cluster.servers - 1) * units / foreign if foreign else 0.0,
        round_trip_ns=round(cluster.round_trip_us * NS_PER_US),
        message_ns=round(cluster.message_us * NS_PER_US / speed_of(scenario.machine)),
        standby_ns=round((standby.round_trip_us + standby.flush_us) * NS_PER_US) if standby else 0,
        replica_ns=round(replica.response_ms * NS_PER_MS) if replica else 0,
        ships=bool(standby or replica),
    )


def cluster_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """What does not fit together, a line each."""
    cluster, interval = scenario.cluster, scenario.interval
    if cluster is None:
        return
    if scenario.engine == "analytic":
        yield "cluster: the analytic engine knows no other servers; take engine: kernel"
    if scenario.job is not None:
        yield "cluster: is for transactions; a job says its own servers"
    elif not scenario.workload.crosses_servers:
        yield (
            f"cluster: got a workload of the kind {scenario.workload.kind}, whose transactions have no paths to other "
            "servers; leave the cluster out, or take TPC-C"
        )
    failover = cluster.failover
    if failover is None:
        return
    if cluster.standby is None:
        yield "cluster.failover: needs a standby that takes over; add cluster.standby"
    if interval.duration_s is None:
        yield "cluster.failover: happens at a time; give interval.duration_s"
        return
    back_s = failover.at_s + failover.detection_s + failover.promotion_s
    end_s = interval.warm_up_s + interval.duration_s
    if not interval.warm_up_s + 1 < failover.at_s <= back_s < end_s - 1:
        yield (
            f"cluster.failover.at_s: got {failover.at_s:g} s, back at {back_s:g} s; both must lie more than 1 s inside "
            f"the counted time, {interval.warm_up_s:g} to {end_s:g} s"
        )


def cluster_remarks(scenario: ScenarioSpec, result: Result) -> list[str]:
    """What a reader must know of a result that stands for several servers; nothing for one alone."""
    if scenario.cluster is None or scenario.cluster.servers == 1:
        return []
    servers, rate = scenario.cluster.servers, result.rate_per_min
    together = f"{servers * rate.mean:,.0f}"
    if rate.low is not None and rate.high is not None:
        together += f" [{servers * rate.low:,.0f} .. {servers * rate.high:,.0f}]"
    together += " of the main class per minute"
    return [f"one of {servers} equal servers is simulated and stands for all: together {together}"]
