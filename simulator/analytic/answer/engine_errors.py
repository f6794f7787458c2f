"""How far the analytic engine's rates lie from simulated ones, by what limits a machine.

The figures are in engine_errors.json, which is made by comparing both engines on random machines: for each regime their
number, and the median and the 95th percentile of the relative error, |analytic / simulated - 1|.
"""

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import Bottleneck, DeviceResult, Estimate, LimitResult, Result

CONFIDENCE = 0.95
REGIMES = ("cpu", "disk", "light", "locks", "swap", "trusted")
RATE_ERRORS_FILE = Path(__file__).with_name("engine_errors.json")
FAULTS_MATTER = 0.05
"""share of the mean response time from which on waiting for swap decides"""
NEAR_LIMIT = 0.6
"""a machine whose busiest part is busy for less than this is called light"""


class Measured(NamedTuple):
    """Relative errors of the rate on `machines` machines; none have been compared if that is 0."""

    machines: int
    median: float
    p95: float


@cache
def rate_errors() -> dict[str, Measured]:
    """The figures by regime, read once. Raises InternalError if a regime is missing or a figure makes no sense."""
    read = json.loads(RATE_ERRORS_FILE.read_text(encoding="utf-8"))
    if tuple(sorted(read)) != REGIMES:
        raise InternalError(f"{RATE_ERRORS_FILE.name}: regimes {sorted(read)}, expected {list(REGIMES)}")
    table = {regime: Measured(**figures) for regime, figures in read.items()}
    for regime, one in table.items():
        if one.machines < 0 or not 0.0 <= one.median <= one.p95 < 1.0:
            raise InternalError(f"{RATE_ERRORS_FILE.name}: {regime}: {one}")
    return table


def regime_of(
    bottleneck: Bottleneck, disks: Collection[str], locks: Collection[str], swap_share: float, doubted: bool
) -> str:
    """What kind of machine it is: trusted if nothing is in doubt, else by its bottleneck, or swap if faults decide.

    `disks`, `locks`: names of devices, of row locks and critical sections; what is neither is a station, as the cpu is
    one. `swap_share`: waiting for swap as a share of the response time.
    """
    if not doubted:
        return "trusted"
    if swap_share > FAULTS_MATTER:
        return "swap"
    if bottleneck.share < NEAR_LIMIT:
        return "light"
    if bottleneck.name in disks:
        return "disk"
    return "locks" if bottleneck.name in locks else "cpu"


def regime_of_result(result: Result, doubted: bool) -> str:
    """The same of a result."""
    total = sum(one.mean_s * one.completed for one in result.classes)
    faults = sum(one.time_by_s["swap"] * one.completed for one in result.classes)
    return regime_of(
        result.bottleneck,
        names_of_disks(result.devices, result.volume_limits),
        {one.name for one in result.locks},
        faults / total if total > 0 else 0.0,
        doubted,
    )


def names_of_disks(devices: Collection[DeviceResult], volume_limits: Collection[LimitResult]) -> set[str]:
    """By which a bottleneck is known for a disk: devices and their limits."""
    limits = [*(limit for device in devices for limit in device.limits), *volume_limits]
    return {one.name for one in devices} | {one.name for one in limits}


def interval(rate: float, regime: str) -> Estimate:
    """A rate, in any unit, with the interval in which the simulated one lies for 95 % of the regime's machines."""
    measured = rate_errors()[regime]
    words = f"within {measured.p95 * 100:.3g} % of the simulation"
    if measured.machines:
        method = f"95 % of {measured.machines:,} random machines of this kind lay {words}"
    else:
        method = f"assumption, not measured yet: {words}"
    return Estimate(rate, rate / (1.0 + measured.p95), rate / (1.0 - measured.p95), CONFIDENCE, method)
