"""Ranges in which numbers are varied, by what is known of them or by 25 %, and the rate at any of their values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oltpsim.calibration.fit import (
    SIGMAS_OF_90_PERCENT,
    Calibration,
    Parameter,
    apply_calibration,
    default_parameters,
    parse_limits,
    unapplied_keys,
)
from oltpsim.models.input import did_you_mean, repeated_name
from oltpsim.models.reading import numeric_keys, numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain import MachineSolver, for_analytic_engine, with_busy_connections
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray

AROUND = 0.25
TRIALS = 12
"""of the search for an end that is possible"""
HARDWARE = (
    "machine.cpu.relative_speed",
    "machine.memory_gib",
    "machine.disks.disk.rpm",
    "machine.disks.disk.seek_average_ms",
    "machine.disks.disk.transfer_mib_per_s",
    "machine.log_disk.write_latency_us",
    "machine.network.round_trip_us",
    "database.pool.buffers",
)
"""varied by a quarter where the scenario has them, and no parameter of the fit is the same"""


@dataclass(frozen=True)
class ParameterRange:
    """Range of a number, in the unit that its key names; even steps are of its logarithm if `log`."""

    key: str
    low: float
    middle: float
    high: float
    log: bool
    whole: bool
    """a whole number: what comes between is rounded"""
    source: str

    def at(self, share: float) -> float:
        """The value at a share of the way from low to high."""
        if self.log:
            return self._rounded(self.low * math.exp(share * math.log(self.high / self.low)))
        return self._rounded(self.low + share * (self.high - self.low))

    def _rounded(self, value: float) -> float:
        return round(value) if self.whole else value


def default_ranges(scenario: ScenarioSpec) -> list[ParameterRange]:
    """The fit's parameters over 90 % of what is known of them before any run, and hardware by a quarter."""
    try:
        known = [prior_range(each) for each in default_parameters(scenario)]
    except InputError:
        known = []
    return [*known, *_hardware(scenario, {each.key for each in known})]


def calibrated_ranges(calibration: Calibration, scenario: ScenarioSpec) -> tuple[ScenarioSpec, list[ParameterRange]]:
    """The scenario with calibrated values, their intervals (of those that no run tells, the prior's), and hardware."""
    machine = apply_calibration(calibration, scenario)
    out = unapplied_keys(calibration, scenario)
    found = []
    for each in calibration.parameters:
        middle = numeric_value(machine, each.key)
        if each.key in out or middle is None:
            continue
        if each.identified and each.low is not None and each.high is not None:
            log = each.low > 0 and each.parameter.factor is not None
            words = f"{calibration.confidence:.0%} interval of the calibration"
            found.append(ParameterRange(each.key, each.low, middle, each.high, log, False, words))
        else:
            found.append(prior_range(each.parameter, middle))
    keys = {each.key.partition("@")[0] for each in found}
    return machine, [*found, *_hardware(machine, keys)]


def prior_range(parameter: Parameter, middle: float | None = None) -> ParameterRange:
    """The middle 90 % of a prior, within the parameter's bounds."""
    low = max(parameter.at(-SIGMAS_OF_90_PERCENT), parameter.low)
    high = min(parameter.at(SIGMAS_OF_90_PERCENT), parameter.high)
    at = parameter.value if middle is None else middle
    log = parameter.factor is not None and low > 0
    return ParameterRange(parameter.key, min(low, at), at, max(high, at), log, False, "90 % of the prior")


def parse_range(text: str, scenario: ScenarioSpec) -> ParameterRange:
    """Read `KEY=LOW..HIGH`, two numbers in the key's unit. Raises InputError."""
    key, low, high = parse_limits(text, "machine.memory_gib=8..32")
    found = _number(scenario, key)
    if found is None:
        raise InputError(f"--vary {text}: the scenario has no such number{did_you_mean(key, numeric_keys(scenario))}")
    value, whole = found
    middle = value if low <= value <= high else (low + high) / 2.0
    log = low > 0 and high / low > 2.0
    return ParameterRange(key, low, round(middle) if whole else middle, high, log, whole, "--vary")


def ranges_of(texts: Sequence[str], scenario: ScenarioSpec) -> list[ParameterRange]:
    """The ranges of --vary, each key once. Raises InputError."""
    found = [parse_range(text, scenario) for text in texts]
    if twice := repeated_name(each.key for each in found):
        raise InputError(f"--vary {twice}: stands twice; keep one")
    return found


def _hardware(scenario: ScenarioSpec, known: set[str]) -> list[ParameterRange]:
    found = []
    for key in HARDWARE:
        number = _number(scenario, key)
        if key in known or number is None or number[0] <= 0:
            continue
        value, whole = number
        wanted = [value * (1.0 - AROUND), value * (1.0 + AROUND)]
        if whole:
            wanted = [round(end) for end in wanted]
        least, most = (_possible(scenario, key, value, end, whole) for end in wanted)
        if least < most:
            clipped = "" if [least, most] == wanted else ", as far as there is such a machine"
            found.append(ParameterRange(key, least, value, most, True, whole, f"± {AROUND:.0%}{clipped}"))
    return found


def _possible(scenario: ScenarioSpec, key: str, value: float, end: float, whole: bool) -> float:
    """The end, or else about the farthest number on the way to it that the scenario can have."""
    good, bad = value, end
    for trial in range(TRIALS):
        at = bad if not trial else (good + bad) / 2.0
        at = round(at) if whole else at
        try:
            with_values(scenario, {key: at})
        except InputError:
            bad = at
        else:
            good = at
            if not trial:
                break
    return good


def _number(scenario: ScenarioSpec, key: str) -> tuple[float, bool] | None:
    """A number and whether it is a whole one."""
    value = numeric_value(scenario, key)
    return None if value is None else (value, isinstance(value, int))


class RateFunction:
    """New orders per minute of the warm machine by the analytic engine; NaN where there is no such machine."""

    def __init__(self, scenario: ScenarioSpec, ranges: Sequence[ParameterRange]) -> None:
        self._scenario, self._solver = with_busy_connections(for_analytic_engine(scenario)), MachineSolver()
        self._ranges = tuple(ranges)
        self.reasons: dict[int, str] = {}
        """why the last call's points have no machine"""

    def __call__(self, values: FloatArray) -> FloatArray:
        """Rates at values of shape (points, ranges)."""
        found = np.full(len(values), np.nan)
        self.reasons = {}
        machines: dict[int, ScenarioSpec] = {}
        for number, row in enumerate(values):
            changes = {
                each.key: int(value) if each.whole else float(value)
                for each, value in zip(self._ranges, row, strict=True)
            }
            try:
                machines[number] = with_values(self._scenario, changes)
            except InputError as error:
                self.reasons[number] = str(error)
        for number, machine in zip(machines, self._solver(*machines.values()), strict=True):
            found[number] = machine.rate_per_min
        return found
