"""Measured runs beside an answer: what they change in it, and the nearest of them."""

from oltpsim.calibration.predict import MeasurementInterval
from oltpsim.scenarios.show.numbers import count, significant
from oltpsim.scenarios.show.table import flow

MOST_LETTERS = 52
"""of a run's line beside its rates"""
LEAST_LEARNED = 0.1
"""share of the variance below which measured runs say nothing worth a line"""


def nearby_lines(expected: MeasurementInterval, width: int) -> list[str]:
    """Lines of the factor that measured runs give the rate, and of the nearest runs; none without a run nearby."""
    nearby, alone = expected.nearby, expected.engine_rate_per_min
    if nearby is None or alone is None or nearby.learned < LEAST_LEARNED or not nearby.nearest:
        return []
    words = [f"× {significant(expected.rate.value / alone, 3)} on the model's {count(alone)}"]
    for each in nearby.nearest:
        line = each.run.line if len(each.run.line) <= MOST_LETTERS else f"{each.run.line[: MOST_LETTERS - 3]}..."
        words.append(f"{line}: {count(each.run.measured_per_min)} (model {count(each.run.calculated_per_min)})")
    return flow("measured alike", words, width)
