"""A scenario: machine + operating system + database + workload + measured interval."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from models.quantities import Fraction, Number, Seconds, WholeNumber
from models.specs.base import Name, Spec, Text
from models.specs.database import DatabaseSpec
from models.specs.machine import MachineSpec
from models.specs.operating_system import OperatingSystemSpec
from models.specs.workload import WorkloadSpec


class IntervalSpec(Spec):
    """What the reported rate counts: `duration_s` of simulated time after `warm_up_s` that is not counted.

    Or, in place of `duration_s`, a fixed amount of work: every client stops when it has ended `new_orders_per_client`
    new orders, with the rest of its mix between them; the run lasts from the first start to the last end.

    `start` is the state at time 0: `cold` (empty caches), `after_load` (what a bulk load and a checkpoint leave) or
    `warm` (after_load followed by transactions that cost no time until the caches have turned over; as many buffers
    are dirty as the background writer leaves).
    """

    start: Literal["cold", "after_load", "warm"]
    warm_up_s: Seconds = Field(default=0.0, ge=0, le=10 * 86400)
    duration_s: Seconds | None = Field(default=None, gt=0, le=10 * 86400)
    new_orders_per_client: WholeNumber | None = Field(default=None, ge=1, le=100_000_000)

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.duration_s is None) == (self.new_orders_per_client is None):
            raise ValueError(
                "give the length of the run, either duration_s or new_orders_per_client"
                + (", not both (null takes one away that a base gives)" if self.duration_s is not None else "")
            )
        if self.new_orders_per_client is not None and self.warm_up_s > 0:
            raise ValueError("a run of new_orders_per_client counts all of them: leave warm_up_s out")
        return self


class MeasuredSpec(Spec):
    """A figure that somebody measured on the real machine."""

    new_orders_per_minute: Number = Field(gt=0)
    cpu_cores_busy: Number | None = Field(default=None, ge=0)
    role: Literal["fitted", "predicted"] = Field(description="whether a fit of the parameters has seen it")
    source: Text


class ScenarioSpec(Spec):
    """One question, whole: everything that an engine needs to answer it."""

    name: Name
    machine: MachineSpec
    operating_system: OperatingSystemSpec
    database: DatabaseSpec
    workload: WorkloadSpec
    interval: IntervalSpec
    engine: Literal["kernel", "reference", "analytic"] = Field(
        default="kernel",
        description="kernel: compiled; reference: SimPy, the definition, with the same result; "
        "analytic: calculated from mean values, in milliseconds, with an error that was measured against the kernel",
    )
    sampling_fraction: Fraction = Field(
        default=1.0,
        gt=0,
        le=1,
        description="share of the warehouses whose pages are held and stand for all; 1: page level, nothing sampled",
    )
    measured: MeasuredSpec | None = None
    notes: tuple[Text, ...] = ()
