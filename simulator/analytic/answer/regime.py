"""Regime of a machine: the part that limits its rate."""

from oltpsim.simulator.results import Result

FAULTS_MATTER = 0.05
"""share of the mean response time from which on waiting for swap decides"""
NEAR_LIMIT = 0.6
"""utilisation of the busiest part below which a machine is called light"""


def regime_of(result: Result) -> str:
    """Regime: swap if page faults decide, light, disk, locks (row locks, critical sections) or cpu (stations too)."""
    total_s = sum(one.mean_s * one.completed for one in result.classes)
    faults_s = sum(one.time_by_s["swap"] * one.completed for one in result.classes)
    if faults_s > FAULTS_MATTER * total_s:
        return "swap"
    bottleneck = result.bottleneck
    if bottleneck.share < NEAR_LIMIT:
        return "light"
    limits = [*(limit for device in result.devices for limit in device.limits), *result.volume_limits]
    if bottleneck.name in {device.name for device in result.devices} | {limit.name for limit in limits}:
        return "disk"
    return "locks" if bottleneck.name in {one.name for one in result.locks} else "cpu"
