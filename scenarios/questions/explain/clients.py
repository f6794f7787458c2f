"""Rate against clients, with the asymptotes of a closed system."""

from dataclasses import dataclass

from oltpsim.models.reading import numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.machines import MachineSolver, machines
from oltpsim.simulator.errors import InputError

KEY = "workload.arrivals.clients"
OCTAVES, STEPS = 4, 2


@dataclass(frozen=True)
class ClientCurve:
    """Rates by numbers of clients, from 1 to sixteen times as many as now."""

    now: int
    curve: tuple[tuple[int, float], ...]
    refused: str
    """why there are no more clients; empty if there are"""

    @property
    def alone_per_min(self) -> float:
        """Rate of one client that has the machine to itself: so much each would have if none waited for another."""
        number, rate = self.curve[0]
        return rate / number


def rate_over_clients(scenario: ScenarioSpec, solver: MachineSolver) -> ClientCurve | None:
    """The rate with fewer and more clients on the same data; None if their number isn't the scenario's to say."""
    now = numeric_value(scenario, KEY)
    if now is None:
        return None
    around = (now * 2.0 ** (step / STEPS) for step in range(-OCTAVES * STEPS, OCTAVES * STEPS + 1))
    numbers, points, refused = [], [], ""
    for number in sorted({1, *(max(1, round(each)) for each in around)}):
        try:
            points.append(solver.point(with_values(scenario, {KEY: number})))
        except InputError as error:
            refused = str(error)
            break
        numbers.append(number)
    if not points:
        raise InputError(refused)
    rates = [each.rate_per_min for each in machines(points)]
    return ClientCurve(int(now), tuple(zip(numbers, rates, strict=True)), refused)
