"""Outcome of a sweep: a frozen value, the same wherever its runs were run, written to disk and read back."""

import re
from dataclasses import asdict, dataclass

from pydantic import ConfigDict

from oltpsim.calibration.fit import INTERVAL_CONFIDENCE
from oltpsim.models.input import content_of, document_text, validated
from oltpsim.scenarios.questions.sweep.design import Axis, SampledAxis

FORMAT = "oltpsim-sweep-2"
REMEDY = "make one with 'oltpsim sweep SCENARIO --vary KEY=VALUES --output json'"


@dataclass(frozen=True)
class SweepRow:
    """Row of a sweep, one point. `reason` says why it could not be run; every figure is None then.

    Both ends of the interval of chance are None where the rate isn't steady; a warning says why. Those of the interval
    in which a measurement would fall are None where nobody asked, or where it can't be said.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    values: tuple[str, ...]
    reason: str | None = None
    rate_per_min: float | None = None
    low_per_min: float | None = None
    high_per_min: float | None = None
    replications: int | None = None
    bottleneck: str | None = None
    cpu_utilisation: float | None = None
    disk_utilisation: float | None = None
    hit_ratios: dict[str, float] | None = None
    model_hash: str | None = None
    warnings: tuple[str, ...] = ()
    measurement_low_per_min: float | None = None
    measurement_high_per_min: float | None = None

    @property
    def limit(self) -> str:
        """The bottleneck; which one of several equal disks it is makes no difference."""
        return re.sub(r"^disk \d+$", "disk", self.bottleneck or "")


@dataclass(frozen=True)
class Sweep:
    """All points in the order of their design, the last axis fastest; fewer of them after an interruption.

    `samples` is their number for each combination of listed values, None for a grid. `replications` is the most that
    a point could have: fewer where `until_fraction`, half the interval by the mean, was reached before.
    `engine` names every engine that answered.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    scenario: str
    axes: tuple[Axis | SampledAxis, ...]
    seed: int
    replications: int
    engine: str
    versions: dict[str, str]
    confidence: float
    rows: tuple[SweepRow, ...]
    samples: int | None = None
    until_fraction: float | None = None
    main_class: str = "new order"
    """what the rates count"""

    @property
    def is_measurable(self) -> bool:
        """Whether the rows' intervals are those in which measurements would fall, not those of chance."""
        return any(row.measurement_low_per_min is not None for row in self.rows)

    def interval_of(self, row: SweepRow) -> tuple[float, float] | None:
        """A row's interval: that in which a measurement would fall if the sweep has these, else that of chance."""
        measured = (row.measurement_low_per_min, row.measurement_high_per_min)
        low, high = measured if self.is_measurable else (row.low_per_min, row.high_per_min)
        return None if low is None or high is None else (low, high)

    @property
    def interval_kind(self) -> str:
        """What the rows' intervals are, in words."""
        if self.is_measurable:
            return f"{INTERVAL_CONFIDENCE:.0%} interval, predicted"
        return f"{self.confidence:.0%} interval, {'formulas' if self.engine == 'analytic' else 'chance'} alone"


def sweep_json(sweep: Sweep) -> str:
    """The sweep as a JSON document."""
    return document_text(FORMAT, asdict(sweep))


def sweep_from_json(text: str, where: str = "sweep") -> Sweep:
    """Read what `sweep_json` wrote. Raises InputError for anything else."""
    return validated(Sweep, content_of(text, FORMAT, where, "a sweep", REMEDY), where)
