"""The certificate of a calibration: how well it has met runs, as a file that travels with every later prediction.

It names the calibration by task and content, so that it can't be put beside another one, and holds no date: the same
calibration and runs give the same bytes.
"""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Literal

from pydantic import Field

from oltpsim.models.input import Name, Number, Spec, Text

FORMAT: Literal["oltpsim-certificate-1"] = "oltpsim-certificate-1"
UNSURE = 0.4
"""width of the interval of a share from which on it says little"""


NEW_ORDERS = "new orders/min"
ANSWERS = "answers"


class JudgedRate(Spec):
    """A rate by the model beside the measured one, or a job's figure, in `unit`. `error`: model / measured - 1."""

    name: Name
    unit: Name = NEW_ORDERS
    measured: Number
    model: Number
    low: Number
    high: Number
    error: Number
    inside: bool
    """whether the interval from `low` to `high` holds what was measured"""


class JudgedRun(JudgedRate):
    """Rate of a run beside its prediction. `regime`: what limits the model there, `bottleneck` is its name."""

    source: Text
    scenario_hash: Name
    role: Literal["fitted", "predicted"]
    regime: Name
    bottleneck: Name
    outside: tuple[Text, ...] = ()
    """how far it is from the calibrated range"""
    not_applied: tuple[Name, ...] = ()
    """parameters whose calibrated value the run's scenario doesn't take"""
    doubts: tuple[Text, ...] = ()
    """where the analytic engine's assumptions don't hold, unless the rate is simulated"""


class Errors(Spec):
    """Errors of several rates: mean and median of their absolute values, and the one that is farthest from 0."""

    count: int
    mean: Number
    median: Number
    worst: Number
    worst_name: Name


class RegimeErrors(Errors):
    """Errors of runs of one role that are limited by the same."""

    role: Literal["fitted", "predicted"]
    regime: Name


class LeaveOut(Spec):
    """Refits without some runs that predict them: each run, each machine or each device in turn."""

    kind: Literal["run", "machine", "device"]
    rows: tuple[JudgedRate, ...] = ()
    errors: Errors | None = None
    not_done: tuple[Text, ...] = ()
    """what could not be left out, and why"""


class Coverage(Spec):
    """How many intervals held the left-out rate; `low`, `high`: Clopper and Pearson's interval of the share.

    `groups`: machines that were left out one after the other, if rows of one machine were left out together.
    """

    inside: int
    count: int
    groups: int | None = None
    half_width: Number | None = None
    """median of half the intervals' logarithms"""
    low: Number
    high: Number
    claimed: Number

    @property
    def verdict(self) -> str:
        """Whether the share agrees with what the intervals claim."""
        if self.high < self.claimed:
            return f"too narrow: fewer than {self.claimed:.0%} are inside"
        if self.low > self.claimed:
            return f"too wide: more than {self.claimed:.0%} are inside"
        few = ", though so few runs say little" if self.high - self.low > UNSURE else ""
        return f"compatible with {self.claimed:.0%}{few}"


class BaselineRow(Spec):
    """Baseline's prediction of a left-out run; without a rate, why there is none."""

    name: Name
    rate: Number | None = None
    error: Number | None = None
    why: Text
    """from which runs it is, or why it isn't applicable"""


class Baseline(Spec):
    """A simple predictor. Errors of it and of the model are those of the runs that it is applicable to."""

    name: Name
    rows: tuple[BaselineRow, ...]
    errors: Errors | None = None
    model: Errors | None = None
    """of the model's own left-out predictions of the same runs"""
    nearer: int = 0
    """of these runs, on how many the model is nearer"""

    @property
    def beaten(self) -> bool | None:
        """Whether the model is nearer by the median and on most runs; None if the baseline is applicable to no run."""
        if self.errors is None or self.model is None:
            return None
        return self.model.median < self.errors.median and 2 * self.nearer > self.model.count


class GapPart(Spec):
    """A part of a gap. `log` is its share of log(model / measured); figures are per transaction, times in s."""

    name: Name
    log: Number
    measured: Number
    model: Number
    note: Text | None = None


class Gap(Spec):
    """log(model / measured) of a run, split: `parts` and `not_told_log` sum to `log`."""

    name: Name
    measured: Number
    model: Number
    log: Number
    parts: tuple[GapPart, ...]
    not_told_log: Number
    not_told: tuple[Name, ...]
    """parts that the record has no figure for; contention never has one"""


class Certificate(Spec):
    """Certificate of a calibration: what `oltpsim validate` has found."""

    format: Literal["oltpsim-certificate-1"] = FORMAT
    task_hash: Name
    calibration_hash: Name
    versions: dict[Name, Text]
    """of the program and its libraries, and under ANSWERS what the program answered then (answers.py)"""
    confidence: Number = Field(gt=0, lt=1)
    runs: tuple[JudgedRun, ...] = Field(min_length=1)
    not_judged: tuple[Text, ...] = ()
    regimes: tuple[RegimeErrors, ...]
    left_out: tuple[LeaveOut, ...]
    coverage: Coverage | None = None
    """of runs that were left out with their repeats"""
    coverage_by_machine: Coverage | None = None
    """of runs whose machine was left out"""
    baselines: tuple[Baseline, ...] = ()
    gaps: tuple[Gap, ...] = ()
    calibrated_range: dict[Name, tuple[Number, Number]]
    """least and most of each condition of the fitted runs"""

    def left_out_by(self, kind: str) -> LeaveOut:
        """Refits that left out each run, machine or device."""
        return next(each for each in self.left_out if each.kind == kind)

    @property
    def line(self) -> str:
        """The whole in one line, for every prediction."""
        by_run, cover = self.left_out_by("run"), self.coverage
        if by_run.errors is None or cover is None:
            return f"validated on {plural(len(self.runs), 'run')}, none of which could be left out"
        judged = [each.beaten for each in self.baselines if each.beaten is not None]
        against = f"; beats {sum(judged)} of {plural(len(judged), 'baseline')}" if judged else "; no baseline applies"
        machine = self.coverage_by_machine
        by_machine = "" if machine is None else f", {machine.inside} of {machine.count} with their machine left out"
        return (
            f"validated by leaving out each of {plural(by_run.errors.count, 'run')}: median error "
            f"{by_run.errors.median:.1%}, worst {by_run.errors.worst:+.1%}; {cover.inside} of {cover.count} inside "
            f"{cover.claimed:.0%} intervals{by_machine}{against}"
        )


def plural(count: int, thing: str) -> str:
    """1 run, 2 runs."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def judged_rate(name: str, measured: float, rate: tuple[float, float, float], unit: str = NEW_ORDERS) -> JudgedRate:
    """A row from the model's rate with the ends of its interval."""
    model, low, high = rate
    return JudgedRate(
        name=name,
        unit=unit,
        measured=measured,
        model=model,
        low=low,
        high=high,
        error=model / measured - 1.0,
        inside=low <= measured <= high,
    )


def error_summary(named: Sequence[tuple[str, float]]) -> Errors | None:
    """Errors by name, summed up; None if there are none."""
    if not named:
        return None
    worst_name, worst = max(named, key=lambda each: abs(each[1]))
    sizes = [abs(error) for _, error in named]
    return Errors(count=len(named), mean=fmean(sizes), median=median(sizes), worst=worst, worst_name=worst_name)
