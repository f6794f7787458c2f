"""Where measurements of a sweep's points would fall."""

from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from oltpsim.calibration.fit import Calibration, apply_calibration
from oltpsim.calibration.predict import MeasurementInterval, guesses_of, measurement_interval
from oltpsim.calibration.workers import finished_calls
from oltpsim.models.reading import Description, numeric_value
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import DescriptionLoader
from oltpsim.scenarios.questions.sweep.answer import Sweep, SweepRow
from oltpsim.scenarios.questions.sweep.design import SweepPoint
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Estimate

MOST_MEASURED = 256
"""points of which it is calculated; it takes as long as a few dozen answers of the analytic engine each"""


def calibrated_points(
    points: Sequence[SweepPoint], calibration: Calibration | None, swept: Collection[str] = ()
) -> list[SweepPoint]:
    """The points with calibrated values, where they take them.

    Raises InputError where one of the `swept` keys would be replaced.
    """
    if calibration is None:
        return list(points)
    for scenario in (point.scenario for point in points if isinstance(point.scenario, ScenarioSpec)):
        modelled = apply_calibration(calibration, scenario)
        for key in swept:
            before, after = numeric_value(scenario, key), numeric_value(modelled, key)
            if before is not None and before != after:
                raise InputError(
                    f"--vary {key}: {before:g} is the number of the model's base, in whose place it has fitted "
                    f"{after:g}; leave that value out, or sweep without --model"
                )
    return [
        replace(point, scenario=apply_calibration(calibration, point.scenario))
        if isinstance(point.scenario, ScenarioSpec)
        else point
        for point in points
    ]


def with_measurements(
    sweep: Sweep,
    points: Sequence[SweepPoint],
    executor: Executor | None = None,
    calibration: Calibration | None = None,
    describe: DescriptionLoader | None = None,
) -> Sweep:
    """The sweep with the interval of each of its rows in which a measurement would fall, where that can be said.

    `points`: as they were asked for, without calibrated values. `describe`: what their line leaves open.
    """
    scenarios = {point.values: point.scenario for point in points}
    keys = [axis.key for axis in sweep.axes]

    def described(row: SweepRow) -> Description | None:
        return describe and describe([f"{key}={value}" for key, value in zip(keys, row.values, strict=True)])

    calls = {
        str(number): (scenario, _estimate(row, sweep.confidence), calibration, described(row))
        for number, row in enumerate(sweep.rows)
        if row.rate_per_min and isinstance(scenario := scenarios[row.values], ScenarioSpec)
    }
    found = dict(finished_calls(executor, _measurement, calls))
    rows = []
    for number, row in enumerate(sweep.rows):
        expected = found.get(str(number))
        if isinstance(expected, str):
            rows.append(replace(row, warnings=(*row.warnings, expected)))
        elif expected is not None:
            low, high = expected.rate.interval
            rows.append(
                replace(_as_expected(row, expected), measurement_low_per_min=low, measurement_high_per_min=high)
            )
        else:
            rows.append(row)
    return replace(sweep, rows=tuple(rows))


def _as_expected(row: SweepRow, expected: MeasurementInterval) -> SweepRow:
    """The row with the rate of its interval, which measured runs may have changed."""
    if expected.nearby is None or not row.rate_per_min:
        return row
    factor = expected.rate.value / row.rate_per_min
    ends = (None if end is None else end * factor for end in (row.low_per_min, row.high_per_min))
    low, high = ends
    return replace(row, rate_per_min=expected.rate.value, low_per_min=low, high_per_min=high)


def _estimate(row: SweepRow, confidence: float) -> Estimate:
    return Estimate(row.rate_per_min or 0.0, row.low_per_min, row.high_per_min, confidence, "")


def _measurement(
    scenario: ScenarioSpec, rate: Estimate, calibration: Calibration | None, description: Description | None
) -> MeasurementInterval | str:
    """Where a measurement would fall, or why that can't be said."""
    try:
        guesses = None if description is None else guesses_of(description, calibration)
        return measurement_interval(scenario, rate, calibration, guesses)
    except InputError as error:
        return f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}"
