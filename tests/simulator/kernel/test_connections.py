"""Open arrivals on few connections: the wait for a free one is part of the response, and is told apart."""

from collections.abc import Callable

import pytest

from oltpsim.simulator import kernel
from oltpsim.simulator.form import System
from oltpsim.simulator.reference import simulate

MS = 1_000_000
Network = Callable[..., System]


def test_waiting_for_a_connection_is_part_of_the_response(network: Network) -> None:
    """Two connections to one server: the queue beyond them waits outside, and all laws hold."""
    result = simulate(network([("server", "exponential", 10 * MS, 0)], arrivals_per_s=70, clients=2, duration_s=60), 1)
    spent = result.classes[0].time_by_s
    assert result.broken_laws == []
    assert spent["connection"] > 0.2 * result.classes[0].mean_s
    assert spent["connection"] + spent["stations"] == pytest.approx(result.classes[0].mean_s)


def test_where_one_waits_does_not_change_how_long(network: Network) -> None:
    """One server's mean response is that of M/M/1, with two connections or 400 that nobody has to wait for."""
    visits = [("server", "exponential", 10 * MS, 0)]
    few, many = (
        kernel.simulate(network(visits, arrivals_per_s=70, clients=clients, duration_s=6000), 1) for clients in (2, 400)
    )
    assert many.classes[0].time_by_s["connection"] == 0.0
    assert few.classes[0].mean_s == pytest.approx(0.01 / (1 - 0.7), rel=0.03)
    assert many.classes[0].mean_s == pytest.approx(0.01 / (1 - 0.7), rel=0.03)
    assert few.classes[0].mean_s - few.classes[0].time_by_s["connection"] < 0.02


def test_arrivals_that_are_more_than_can_be_served_are_reported(network: Network) -> None:
    """A server of 100 transactions/s: with 130 arriving the response time depends on the duration; 95 are fine."""

    def warnings(arrivals_per_s: float) -> list[str]:
        visits = [("server", "exponential", 10 * MS, 0)]
        result = kernel.simulate(network(visits, arrivals_per_s=arrivals_per_s, clients=20, duration_s=200), 1)
        return [warning for warning in result.warnings if "overloaded" in warning]

    (warning,) = warnings(130.0)
    assert warning.startswith("overloaded: of 130 transactions/s that arrive 99.")
    assert warnings(95.0) == []


def test_a_short_interval_after_a_long_warm_up_is_reported(network: Network) -> None:
    """One second after 20 minutes is shorter than a step of the series, and says that its interval is unknown."""
    visits = [("server", "exponential", 10 * MS, 0)]
    result = simulate(network(visits, think_s=1.0, clients=5, warm_up_s=1200, duration_s=1), 1)
    assert result.rate_per_min.mean > 0
    assert result.rate_per_min.method.startswith("not steady: too short to tell")
