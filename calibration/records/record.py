"""The record of one measured run: what ran on what, for how long, what came out, and what the machine did meanwhile.

Every figure says where it was read, in which unit, and what it counts. All of them may be missing but the window and
one rate. Rates are new orders per minute: "tpmC" belongs to audited results.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import Name, Number, Spec, Text

FORMAT: Literal["oltpsim-run-1"] = "oltpsim-run-1"
MOST_SERIES_POINTS = 120
"""A longer series is stored as means of neighbouring intervals."""


class Observed(Spec):
    """Measured figure. `value` is in the unit that the key's name says; `unit` is the one that was read."""

    value: Number
    unit: Name = Field(description="the unit as read")
    source: Text = Field(description="file and place")
    definition: Text = Field(description="what is counted, over what")


class ObservedText(Spec):
    """Text that a run's files tell, such as a version."""

    value: Text
    source: Text = Field(description="file and place")
    definition: Text = Field(description="what it names")


def sum_observed(figures: Sequence[Observed | None]) -> float | None:
    """Sum of figures of one kind; None if there is none, or if one of them wasn't measured."""
    known = [figure.value for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None


class Positive(Observed):
    """A figure above 0."""

    value: Number = Field(gt=0)


class Counted(Observed):
    """A figure of at least 0."""

    value: Number = Field(ge=0)


class Share(Observed):
    """A share of 1. Tools round, so that 100.16 % are seen of a busy disk."""

    value: Number = Field(ge=0, le=1.05)


class MeasuredSeries(Spec):
    """A figure over time, from the start of what the harness shows, in equal intervals or with the end of each."""

    interval_s: Number = Field(gt=0)
    ends_s: tuple[Number, ...] = Field(
        default=(), max_length=MOST_SERIES_POINTS, description="end of each interval, if some are missing"
    )
    values: tuple[Number, ...] = Field(min_length=1, max_length=MOST_SERIES_POINTS)
    unit: Name
    source: Text
    definition: Text


class MeasuredMachine(Spec):
    """The machine, as far as the run's files tell."""

    cpu_model: ObservedText | None = None
    cores: Positive | None = None
    core_speed_per_s: Positive | None = None
    """events of sysbench cpu, one thread on one of these cores"""
    memory_gib: Positive | None = None
    operating_system: ObservedText | None = None


class DatabaseEngine(Spec):
    """The database engine and its settings."""

    name: ObservedText | None = None
    version: ObservedText | None = None
    buffer_pool_gib: Positive | None = None
    page_kib: Positive | None = None
    settings: dict[Name, ObservedText] = Field(default_factory=dict)


class MeasuredWorkload(Spec):
    """Load that the run put on the database."""

    driver: ObservedText | None = None
    clients: Positive | None = None
    warehouses: Positive | None = None
    scale: Positive | None = None
    think_time_s: Counted | None = None


class MeasuredWindow(Spec):
    """Measured interval. `whole`: from the first transaction; `steady`: after a ramp that is not counted."""

    kind: Literal["whole", "steady"]
    duration_s: Positive | None = None
    rate_definition: Text = Field(description="what the rate divides by what")
    ramp_s: Counted | None = None
    start: ObservedText | None = Field(
        default=None, description="state that the harness began with: cold, after_load, after_prewarm or warm"
    )
    lead_in_transactions: Positive | None = Field(
        default=None, description="transactions at full speed between that state and the ramp"
    )
    lead_in_s: Positive | None = Field(default=None, description="the same by its length")
    start_utc: ObservedText | None = None


PercentileName = Annotated[str, Field(pattern=r"^\d{1,2}(\.\d+)?$")]


class TransactionClass(Spec):
    """Figures of one kind of transaction."""

    count: Counted | None = None
    errors: Counted | None = None
    mean_ms: Counted | None = None
    max_ms: Counted | None = None
    percentiles_ms: dict[PercentileName, Counted] = Field(default_factory=dict)


class Outcome(Spec):
    """Results of the load generator. `reported` keeps figures under names of its own."""

    new_orders_per_minute: Positive | None = None
    transactions_per_s: Positive | None = None
    job_figure: Positive | None = None
    """what another job than transactions is measured by, in its unit: seconds of a load, MB/s of a scan"""
    mean_ms: Counted | None = None
    percentiles_ms: dict[PercentileName, Counted] = Field(default_factory=dict)
    errors_per_s: Counted | None = None
    classes: dict[Name, TransactionClass] = Field(default_factory=dict)
    reported: dict[Name, Observed] = Field(default_factory=dict)
    series: dict[Name, MeasuredSeries] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_rate(self) -> Self:
        if self.new_orders_per_minute is None and self.transactions_per_s is None and self.job_figure is None:
            raise ValueError("a run needs new_orders_per_minute, transactions_per_s or job_figure")
        return self


class MeasuredDevice(Spec):
    """One block device, means over the window; `requests_per_s` and `await_ms` of tools that don't tell reads apart."""

    reads_per_s: Counted | None = None
    writes_per_s: Counted | None = None
    requests_per_s: Counted | None = None
    read_kib_per_s: Counted | None = None
    write_kib_per_s: Counted | None = None
    read_await_ms: Counted | None = None
    write_await_ms: Counted | None = None
    await_ms: Counted | None = None
    queue_length: Counted | None = None
    utilisation_fraction: Share | None = None


class MeasuredProcessGroup(Spec):
    """CPU time of the database's or the load generator's processes: cores that they kept busy, mean over the window."""

    cpu_user_cores: Counted | None = None
    cpu_system_cores: Counted | None = None


class Resources(Spec):
    """Use of the machine and the engine, means over the window."""

    cpu_busy_fraction: Share | None = None
    """user and system together, where they aren't told apart"""
    cpu_user_fraction: Share | None = None
    cpu_system_fraction: Share | None = None
    cpu_iowait_fraction: Share | None = None
    cpu_idle_fraction: Share | None = None
    cpu_steal_fraction: Share | None = None
    process_groups: dict[Name, MeasuredProcessGroup] = Field(default_factory=dict)
    """database, driver (the load generator) and sampler, where they were told apart"""
    devices: dict[Name, MeasuredDevice] = Field(default_factory=dict)
    buffer_hits_per_s: Counted | None = None
    buffer_reads_per_s: Counted | None = None
    buffer_writes_per_s: Counted | None = None
    page_cache_hits_per_s: Counted | None = None
    log_bytes_per_s: Counted | None = None
    log_flushes_per_s: Counted | None = None
    commits_per_s: Counted | None = None
    swap_in_kib_per_s: Counted | None = None
    swap_out_kib_per_s: Counted | None = None


class RunRecord(Spec):
    """Record of one measured run."""

    format: Literal["oltpsim-run-1"] = FORMAT
    name: Name
    source: Text
    scenario: Name | None = Field(default=None, description="scenario of the library that says its whole machine")
    environment: MeasuredMachine = MeasuredMachine()
    engine: DatabaseEngine = DatabaseEngine()
    workload: MeasuredWorkload = MeasuredWorkload()
    window: MeasuredWindow
    outcome: Outcome
    resources: Resources = Resources()
    notes: tuple[Text, ...] = ()
