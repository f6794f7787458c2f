"""A scenario: machine + operating system + database + workload + measured interval."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.database import DatabaseSpec
from oltpsim.models.input import Fraction, Gib, Name, Number, Seconds, Spec, Text, WholeNumber
from oltpsim.models.machine import MachineSpec
from oltpsim.models.operating_system import OperatingSystemSpec
from oltpsim.models.scenario.cluster import ClusterSpec
from oltpsim.models.workloads import KINDS_WITH_UNIT_USERS, AnyWorkloadSpec, JobSpec, JobTables
from oltpsim.simulator.errors import InputError


class PrewarmSpec(Spec):
    """What a prewarm reads from start to end into the page cache and the pool, as pg_prewarm does file by file."""

    into: Literal["pool", "page_cache"] = Field(
        default="pool",
        description="pool: by way of the page cache (pg_prewarm's mode buffer); page_cache: no further (its modes read "
        "and prefetch)",
    )

    tables: tuple[Name, ...] = Field(
        default=(),
        max_length=100,
        description="tables and 'NAME index pages' in the order in which they are read; "
        "if empty all that the load makes, in its order",
    )
    most_gib: Gib | None = Field(default=None, gt=0, description="where it stops; if absent all is read")


class LeadInSpec(Spec):
    """Transactions between the start and what is counted, as a harness does them to fill caches.

    So many, or for so long. `speed`: `full`, as a harness without slowed disks (nobody waits for a disk, a lock or the
    log, only processors hold it up), or `clients`, as the run itself.
    """

    transactions: WholeNumber | None = Field(default=None, ge=1, le=1_000_000_000)
    duration_s: Seconds | None = Field(default=None, gt=0, le=10 * 86400)
    speed: Literal["full", "clients"] = "full"

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.duration_s is None) == (self.transactions is None):
            raise ValueError("give the length of the lead-in, either transactions or duration_s")
        if self.speed == "clients" and self.duration_s is None:
            raise ValueError("at the clients' speed give duration_s: how long transactions take there is the answer")
        return self


class IntervalSpec(Spec):
    """What the reported rate counts: `duration_s` of simulated time after `warm_up_s` that is not counted.

    Or, in place of `duration_s`, a fixed amount of work: every client stops when it has ended `new_orders_per_client`
    new orders, with the rest of its mix between them; the run lasts from the first start to the last end. Or what the
    machine does for hours (`sustained`): whole cycles of checkpoints and of the redo log, of volumes without credits.

    `start` is the state that the harness leaves: `cold` (empty caches), `after_load` (what a bulk load and a
    checkpoint leave), `after_prewarm` (a fresh server that has read its files) or `warm` (buffer pool and page cache as
    after a long run, as many buffers dirty as the background writer leaves, nothing dirty in the page cache). Then
    comes the lead-in, if there is one, then the warm-up at the clients' speed, then what is counted.
    """

    start: Literal["cold", "after_load", "after_prewarm", "warm"]
    prewarm: PrewarmSpec | None = Field(default=None, description="of start: after_prewarm; if absent all is read")
    lead_in: LeadInSpec | None = Field(default=None, description="transactions from the start on, before the warm-up")
    warm_up_s: Seconds = Field(default=0.0, ge=0, le=10 * 86400)
    duration_s: Seconds | None = Field(default=None, gt=0, le=10 * 86400)
    new_orders_per_client: WholeNumber | None = Field(default=None, ge=1, le=100_000_000)
    sustained: bool = Field(
        default=False,
        description="whether simulations choose warm-up, length and the pages held (sampling_fraction), so that whole "
        "cycles take seconds; from start: warm",
    )

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.duration_s is not None) + (self.new_orders_per_client is not None) + self.sustained != 1:
            raise ValueError(
                "give the length of the run, one of duration_s, new_orders_per_client and sustained: true"
                + (", not several (null takes one away that a base gives)" if self.duration_s is not None else "")
            )
        if self.sustained and (self.start != "warm" or self.warm_up_s > 0 or self.lead_in is not None):
            raise ValueError("sustained: true is a run from start: warm; leave warm_up_s and lead_in out")
        if self.new_orders_per_client is not None and self.warm_up_s > 0:
            raise ValueError("a run of new_orders_per_client counts all of them: leave warm_up_s out")
        return self


class FigureSpec(Spec):
    """One more figure of a measured run, that of a result or of a job (names: calibration/records/measured.py)."""

    figure: Name
    value: Number
    bound: Literal["about", "at_least", "at_most"] = "about"
    """what the source says: this value, or no less, or no more"""
    times_that_of: Name | None = None
    """the value is a multiple of the same figure of this scenario of the library"""
    role: Literal["fitted", "predicted"] = Field(description="whether a parameter was chosen with it in sight")
    source: Text


class MeasuredSpec(Spec):
    """A figure that somebody measured on the real machine: the rate of transactions, or what a job is measured by."""

    new_orders_per_minute: Number | None = Field(default=None, gt=0)
    transactions_per_s: Number | None = Field(
        default=None, gt=0, description="of a workload of rows: transactions of all its kinds"
    )
    job_figure: Number | None = Field(
        default=None,
        gt=0,
        description="of a scenario with a job, in the job's unit: seconds of a load, MB/s of a scan, look-ups/s, "
        "times as long as one thread (mutex), query mixes per hour",
    )
    cpu_cores_busy: Number | None = Field(default=None, ge=0)
    figures: tuple[FigureSpec, ...] = Field(default=(), max_length=50)
    role: Literal["fitted", "predicted"] = Field(description="whether a fit of the parameters has seen it")
    source: Text


class ScenarioSpec(Spec):
    """One question, whole: everything that an engine needs to answer it."""

    name: Name
    machine: MachineSpec
    operating_system: OperatingSystemSpec
    database: DatabaseSpec
    workload: AnyWorkloadSpec
    interval: IntervalSpec = Field(description="what the rate of transactions counts; a job has none")
    job: JobSpec | None = None
    """what the machine does instead of the workload's transactions"""
    cluster: ClusterSpec | None = None
    """other servers beside the machine; it is alone if absent"""
    engine: Literal["kernel", "reference", "analytic"] = Field(
        default="kernel",
        description="kernel: compiled; reference: SimPy, the definition, with the same result; "
        "analytic: calculated from mean values, in milliseconds, with an error that was measured against the kernel",
    )
    sampling_fraction: Fraction = Field(default=1.0, gt=0, le=1)
    """share of the warehouses whose pages are held and stand for all; 1: page level, nothing sampled"""
    measured: MeasuredSpec | None = None
    notes: tuple[Text, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _a_job_needs_no_interval(cls, data: Any) -> Any:
        """A job ends when it is done: a scenario of one may leave the interval out, and then has this one."""
        if isinstance(data, dict) and data.get("job") is not None and "interval" not in data:
            return {**data, "interval": {"start": "cold", "duration_s": 3600}}
        return data

    @property
    def measured_key(self) -> str:
        """The key of `measured` by which a run of this scenario is compared first."""
        if self.job is not None:
            return "job_figure"
        return self.workload.measured_key

    @property
    def measured_per_min(self) -> float | None:
        """The measured rate of the transactions counted, if there is one."""
        measured = self.measured
        if measured is None:
            return None
        if measured.transactions_per_s is None:
            return measured.new_orders_per_minute
        return measured.transactions_per_s * 60.0 * self.workload.main_share

    @property
    def job_tables(self) -> JobTables:
        """Tables of a job that `models.jobs` has checked."""
        assert self.workload.job_tables is not None
        return self.workload.job_tables

    @property
    def unit_workload(self) -> AnyWorkloadSpec:
        """The workload of a question about units. Raises InputError if they have no users of their own."""
        if self.workload.unit_users:
            return self.workload
        raise InputError(
            f"{self.name}: workload.kind: got {self.workload.kind} ({self.workload.name}), whose "
            f"{self.workload.unit_words} have no users of their own; this question is about units that have: ask it of "
            f"{' or '.join(KINDS_WITH_UNIT_USERS)}, or of this scenario with 'oltpsim run' or 'sweep'"
        )
