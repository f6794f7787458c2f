"""The connections that serve terminals, as a station of a result."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.form import Model, Terminals, to_s
from simulator.results.result import ClassResult, StationResult

CONNECTIONS = "connections"


def connections_result(
    model: Model, terminals: Terminals, classes: Sequence[ClassResult], seconds: float
) -> StationResult:
    """Little's law for what ended: each transaction queues for a connection, then holds it until its end."""
    count, served = len(model.client_registers), sum(each.completed for each in classes)
    number = sum(each.completed * each.mean_s for each in classes) - served * to_s(terminals.middle_tier_ns)
    busy = number - sum(each.completed * each.time_by_s["connection"] for each in classes)
    return StationResult(
        name=CONNECTIONS,
        servers=count,
        visits_per_s=served / seconds,
        utilisation=min(busy / seconds / count, 1.0),
        mean_number=number / seconds,
    )
