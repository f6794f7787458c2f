"""A server is lost and its standby takes over: two runs, one before and one after, put behind each other."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.models.wiring.sampling import response_s
from oltpsim.simulator.results import Result

RECOVERED = 0.9
"""share of the rate before a loss from which a machine, or a store of several, has recovered"""


@dataclass(frozen=True)
class Failover:
    """Rates per minute of the main class, and times from the loss on in seconds; None: not within the run."""

    before_per_min: float
    failed: float
    """transactions in flight at the loss, which fail and are tried again"""
    down_s: float
    first_per_min: float
    """in the first minute of the standby, or as much of it as there is"""
    recovered_s: float | None
    rates_per_min: list[float]
    """per step of the first run's series: before, none, after"""

    def sentence(self) -> str:
        """The failover in a sentence."""
        share = f"{100 * RECOVERED:.0f} % of the rate before"
        back = (
            f"{share} {self.recovered_s:,.0f} s after the loss" if self.recovered_s else f"{share} not within the run"
        )
        return (
            f"failover: {self.before_per_min:,.0f} per minute before the loss; nobody is served for "
            f"{self.down_s:,.0f} s; {self.failed:,.0f} transactions in flight fail and are tried again; "
            f"{self.first_per_min:,.0f} per minute in the standby's first minute with a cold pool; {back}"
        )


def failover_of(scenario: ScenarioSpec, result: Result, run: Callable[[ScenarioSpec], Result]) -> Failover | None:
    """What a scenario's failover comes to, None if it has none. `result` is its run without it; `run` runs the standby.

    The standby is the same machine; its pool is empty when it is promoted, whatever it has replayed before. All clients
    come to it at once.
    """
    failover = scenario.cluster.failover if scenario.cluster else None
    if scenario.cluster is None or failover is None:
        return None
    step_s, rates = result.series.step_s, np.array(result.series.values[result.series.rate_key])
    first, lost = int(result.warm_up_s // step_s), int(failover.at_s // step_s)
    down_s = failover.detection_s + failover.promotion_s
    left_s = result.warm_up_s + result.duration_s - failover.at_s - down_s
    alone = scenario.cluster.model_copy(update={"failover": None})
    interval = IntervalSpec(start="cold", duration_s=left_s)
    standby = run(scenario.model_copy(update={"interval": interval, "cluster": alone}))
    after = np.array(standby.series.values[standby.series.rate_key])
    before = float(rates[first:lost].mean())
    recovered = np.flatnonzero(after >= RECOVERED * before)
    served_s = standby.series.step_s
    silent = round(down_s / step_s)
    return Failover(
        before_per_min=before,
        failed=result.transactions_per_s * response_s(result),
        down_s=down_s,
        first_per_min=float(after[: max(round(60 / served_s), 1)].mean()),
        recovered_s=down_s + served_s * (int(recovered[0]) + 1) if recovered.size else None,
        rates_per_min=[*rates[:lost].tolist(), *[0.0] * silent, *after.tolist()],
    )
