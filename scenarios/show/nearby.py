"""Measured runs beside an answer: what they change in it, and the nearest of them."""

from oltpsim.calibration.predict import MeasurementInterval
from oltpsim.scenarios.show.numbers import significant
from oltpsim.scenarios.show.table import flow

MOST_LETTERS = 52
"""Letters of a run's line beside its rates"""
LEAST_CHANGE = 0.01
"""logarithm of the factor below which measured runs change nothing worth a line"""


def digits(rate: float) -> str:
    """A rate with three significant digits."""
    return f"{float(f'{rate:.3g}'):,.0f}"


def nearby_lines(expected: MeasurementInterval, width: int) -> list[str]:
    """Lines of the factor that measured runs give the rate, and of the nearest runs; none where it is 1."""
    nearby, alone = expected.nearby, expected.engine_rate_per_min
    if nearby is None or alone is None or abs(nearby.log) < LEAST_CHANGE:
        return []
    words = [f"x{significant(expected.correction, 3)} on the model's {digits(alone)}"]
    for each in nearby.nearest:
        machine, _, rest = each.run.line.partition(";")[0].partition(", ")
        what = f"{machine}, {rest.rpartition(', ')[2]}" if rest else machine
        rates = f"{digits(each.run.measured_per_min)} (model {digits(each.run.calculated_per_min)})"
        words.append(f"{what[:MOST_LETTERS]}: {rates}")
    return flow("measured nearby", words, width)
