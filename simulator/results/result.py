"""The result of a run: frozen values that can be written to disk and read back.

Rates are per simulated time. Every field is determined by model and seed: a result holds no clock time,
so the same seed gives the same bytes.
"""

import dataclasses
import json
import math
import types
import typing
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-result-1"
ENGINES = ("kernel", "reference", "analytic")
NOT_STEADY = "not steady"
"""begin of the method of an estimate without an interval"""
TOO_FEW = "too few ended"
"""begin of the reason why a percentile has no interval"""
IF_ANY = {"if any": True}
"""metadata of fields that JSON leaves out while they are empty"""


@dataclass(frozen=True)
class Estimate:
    """Mean with its confidence interval; `method`: the interval's origin, in words.

    Of a run that isn't steady there is no interval, and `method` says why.
    """

    mean: float
    low: float | None
    high: float | None
    confidence: float
    method: str

    @property
    def is_steady(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None and self.high is not None

    @property
    def reason(self) -> str:
        """Why there is no interval; empty if there is one."""
        return "" if self.is_steady else self.method.removeprefix(f"{NOT_STEADY}: ")

    @property
    def half_width(self) -> float:
        """Half the interval's width, from the mean upwards; infinite without one."""
        return math.inf if self.high is None else self.high - self.mean

    @property
    def log_half_width(self) -> float:
        """Half the width of the interval of the mean's logarithm; infinite without one, or if it begins at 0."""
        if self.low is None or self.high is None or self.low <= 0:
            return math.inf
        return math.log(self.high / self.low) / 2.0

    @property
    def log_sd(self) -> float:
        """Standard deviation of the mean's logarithm that the interval stands for; infinite without one."""
        return self.log_half_width / NormalDist().inv_cdf((1.0 + self.confidence) / 2.0)


@dataclass(frozen=True)
class PercentileInterval:
    """Interval of a percentile of response times at the rate's level, s; without ends `reason` says why."""

    low_s: float | None
    high_s: float | None
    reason: str


@dataclass(frozen=True)
class PercentileIntervals:
    """Intervals of a class's percentiles."""

    p50: PercentileInterval
    p90: PercentileInterval
    p95: PercentileInterval
    p99: PercentileInterval
    p999: PercentileInterval


@dataclass(frozen=True)
class ClassResult:
    """Transaction class in the measured interval. Times are response times in seconds.

    `time_by_s` splits the mean response time by where it went (cpu, cpu queue, disk read, ...); it sums to `mean_s`.
    The analytic engine gives no percentile whose model error is too large; a warning says so. `intervals` of
    percentiles: by chance of a simulation, None where its run isn't steady; by the model error of the formulas.
    """

    name: str
    completed: int
    rolled_back: int
    rate_per_min: float
    mean_s: float
    p50_s: float | None
    p90_s: float | None
    p95_s: float | None
    p99_s: float | None
    p999_s: float | None
    time_by_s: dict[str, float]
    intervals: PercentileIntervals | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True)
class CpuResult:
    """Shares of the CPU capacity of all cores; user + system + iowait + idle = 1.

    iowait is idle capacity of processors on which a task last ran that sleeps in block I/O (form/io_wait.py).
    `by_activity` splits user + system by what the time was spent on, as shares of the same capacity.
    """

    cores: int
    user: float
    system: float
    iowait: float
    idle: float
    by_activity: dict[str, float]
    interrupts_per_s: float = field(default=0.0, metadata=IF_ANY)

    @property
    def utilisation(self) -> float:
        """Share of capacity in use."""
        return self.user + self.system


@dataclass(frozen=True)
class LimitResult:
    """Rate limit of a volume, of a controller, or of a machine's volumes together, in requests or MiB (`of`).

    `utilisation` is the share of time in which the next request had to wait for it; of a limit that counts over slices
    the share of what it lets through that was taken. `credits_left` are those at the
    end; `credits_lasted_s` is when they first ran out, if `ran_out`, and otherwise the end of the run.
    """

    name: str
    of: str
    per_s: float
    burst_per_s: float
    utilisation: float
    credits: float
    credits_left: float
    ran_out: bool
    credits_lasted_s: float


@dataclass(frozen=True)
class DeviceResult:
    """Device. Queue length counts waiting and in service; times are per request.

    Utilisation is the device's or the highest of its `limits`, whichever is more. `occupied_fraction` is the share of
    time with at least one request there, queued or served: what iostat calls %util. `occupied_per_request_s` is that
    time per request, which iostat calls svctm: less than a request takes where several are served at once.
    """

    name: str
    kind: str
    reads_per_s: float
    writes_per_s: float
    utilisation: float
    mean_queue: float
    mean_service_s: float
    mean_response_s: float
    by_purpose_per_s: dict[str, float]
    limits: list[LimitResult] = field(default_factory=list, metadata=IF_ANY)
    occupied_fraction: float = field(default=0.0, metadata=IF_ANY)
    occupied_per_request_s: float = field(default=0.0, metadata=IF_ANY)


@dataclass(frozen=True)
class StationResult:
    """Plain queueing station. `mean_number` counts waiting and in service; utilisation is per server."""

    name: str
    servers: int
    visits_per_s: float
    utilisation: float
    mean_number: float


@dataclass(frozen=True)
class CacheResult:
    """Cache tier. `dirty_fraction` and `resident_fraction` are time averages."""

    name: str
    capacity_pages: int
    references: int
    hits: int
    hit_ratio: float
    evictions: int
    dirty_evictions: int
    dirty_fraction: float
    resident_fraction: float


@dataclass(frozen=True)
class TableResult:
    """References of a table or index, and what served them, in pages."""

    name: str
    references: int
    pool_hits: int
    page_cache_hits: int
    disk_reads: int
    created: int


@dataclass(frozen=True)
class LockResult:
    """Kind of lock, critical section or log."""

    name: str
    acquisitions: int
    waits: int
    mean_wait_s: float
    utilisation: float


@dataclass(frozen=True)
class LogResult:
    """Transaction log."""

    bytes_per_s: float
    commits_per_s: float
    flushes_per_s: float


@dataclass(frozen=True)
class Law:
    """Law that every result must satisfy, the figures on both sides, and whether it holds."""

    name: str
    left: float
    right: float
    tolerance: float
    holds: bool


@dataclass(frozen=True)
class Bottleneck:
    """Part that limits the rate, and the next one. `share` is utilisation, or the share of response time."""

    name: str
    share: float
    next_name: str
    next_share: float


@dataclass(frozen=True)
class Series:
    """Time series by name: a figure for each `step_s` from time 0, warm-up included. All lists have one length."""

    step_s: float
    values: dict[str, list[float]]

    @property
    def rate_key(self) -> str:
        """Key of the main class's rate per minute, which may have been renamed; "" without one."""
        return next((key for key in self.values if key.endswith("_per_min")), "")


RATE_KEY = "main_per_min"
"""Name of the main class's rate in the series of an engine."""


def utilisation_key(device: str) -> str:
    """Key of a device's utilisation in a result's series."""
    return f"{device} utilisation"


@dataclass(frozen=True)
class Beginning:
    """The calculated rate of a run's first time, while credits last that are spent for hours."""

    lasted_s: float
    transactions_per_s: float


@dataclass(frozen=True)
class Result:
    """Result of a run (docs/model/results.md)."""

    scenario: str
    engine: str
    seed: int
    versions: dict[str, str]
    model_hash: str
    start: str
    warm_up_s: float
    duration_s: float
    main_class: str
    rate_per_min: Estimate
    steady_rate_per_min: Estimate
    steady_from_s: float | None
    """None if it isn't steady before its end"""
    transactions_per_s: float
    classes: list[ClassResult]
    cpu: CpuResult
    devices: list[DeviceResult]
    reads_pending: float
    caches: list[CacheResult]
    tables: list[TableResult]
    locks: list[LockResult]
    log: LogResult
    swap_in_per_s: float
    swap_out_per_s: float
    checkpoints_s: list[list[float]]
    bottleneck: Bottleneck
    series: Series
    laws: list[Law]
    warnings: list[str] = field(default_factory=list)
    stations: list[StationResult] = field(default_factory=list)
    volume_limits: list[LimitResult] = field(default_factory=list, metadata=IF_ANY)
    beginning: Beginning | None = field(default=None, metadata=IF_ANY)
    format: str = FORMAT

    @property
    def broken_laws(self) -> list[Law]:
        """The laws that this result breaks: empty for a sound run."""
        return [law for law in self.laws if not law.holds]


def times_faster(result: Result, factor: float) -> Result:
    """The result with rates of transactions times a factor and their response times by it; parts stay as they are."""
    values = {key: [value * factor for value in of_key] for key, of_key in result.series.values.items()}
    kept = {key: values[key] if key == result.series.rate_key else of for key, of in result.series.values.items()}
    return dataclasses.replace(
        result,
        rate_per_min=_estimate_times(result.rate_per_min, factor),
        steady_rate_per_min=_estimate_times(result.steady_rate_per_min, factor),
        transactions_per_s=result.transactions_per_s * factor,
        classes=[_class_faster(each, factor) for each in result.classes],
        series=dataclasses.replace(result.series, values=kept),
        beginning=result.beginning
        and dataclasses.replace(result.beginning, transactions_per_s=result.beginning.transactions_per_s * factor),
    )


def _estimate_times(estimate: Estimate, factor: float) -> Estimate:
    low, high = (None if end is None else end * factor for end in (estimate.low, estimate.high))
    return dataclasses.replace(estimate, mean=estimate.mean * factor, low=low, high=high)


def _class_faster(found: ClassResult, factor: float) -> ClassResult:
    def shorter(time_s: float | None) -> float | None:
        return None if time_s is None else time_s / factor

    intervals = found.intervals
    if intervals is not None:
        ends = {name: getattr(intervals, name) for name in ("p50", "p90", "p95", "p99", "p999")}
        intervals = PercentileIntervals(
            **{name: PercentileInterval(shorter(of.low_s), shorter(of.high_s), of.reason) for name, of in ends.items()}
        )
    return dataclasses.replace(
        found,
        completed=round(found.completed * factor),
        rolled_back=round(found.rolled_back * factor),
        rate_per_min=found.rate_per_min * factor,
        mean_s=found.mean_s / factor,
        p50_s=shorter(found.p50_s),
        p90_s=shorter(found.p90_s),
        p95_s=shorter(found.p95_s),
        p99_s=shorter(found.p99_s),
        p999_s=shorter(found.p999_s),
        time_by_s={name: value / factor for name, value in found.time_by_s.items()},
        intervals=intervals,
    )


def result_json(result: Result) -> str:
    """The result as canonical JSON: sorted keys, shortest floats, one trailing newline."""
    return json.dumps(_plain(result), sort_keys=True, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """A dataclass as a dictionary, without the empty ones of the fields that are there if anything is in them."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return value
    pairs = ((each, getattr(value, each.name)) for each in dataclasses.fields(value))
    return {each.name: _plain(item) for each, item in pairs if item or not each.metadata}


def read_result(text: str, where: str = "result") -> Result:
    """Read what `result_json` wrote. Raises InputError naming the key that is missing, unknown or of a wrong type."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error.msg} at line {error.lineno}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise InputError(f"{where}: not a result of this program: format is {found!r}, expected {FORMAT!r}")
    result = _build(Result, data, where)
    assert isinstance(result, Result)
    if result.engine not in ENGINES:
        raise InputError(f"{where}.engine: got {result.engine!r}; must be one of {', '.join(ENGINES)}")
    names = [one.name for one in result.classes]
    if result.main_class not in names:
        raise InputError(f"{where}.main_class: got {result.main_class!r}; the classes are {', '.join(names) or 'none'}")
    return result


def _build(kind: Any, data: Any, where: str) -> Any:
    """Rebuild a value of type `kind` from plain JSON data, checking types on the way."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(data, dict):
            raise InputError(f"{where}: expected a table of keys, found {type(data).__name__}")
        hints = typing.get_type_hints(kind)
        optional = {each.name for each in dataclasses.fields(kind) if each.metadata}
        missing = sorted(set(hints) - set(data) - optional)
        unknown = sorted(set(data) - set(hints))
        if missing or unknown:
            found = [f"missing keys {', '.join(missing)}"] if missing else []
            found += [f"unknown keys {', '.join(unknown)}"] if unknown else []
            raise InputError(f"{where}: {'; '.join(found)}")
        fields = {name: _build(hint, data[name], f"{where}.{name}") for name, hint in hints.items() if name in data}
        return typing.cast(Any, kind)(**fields)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list and isinstance(data, list):
        return [_build(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(data)]
    if origin is dict and isinstance(data, dict):
        return {key: _build(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    if origin is types.UnionType:
        return None if data is None else _build(arguments[0], data, where)
    if kind is float and isinstance(data, int | float) and not isinstance(data, bool):
        return float(data)
    if origin is None and isinstance(data, kind) and not (kind is int and isinstance(data, bool)):
        return data
    raise InputError(f"{where}: expected {getattr(kind, '__name__', kind)}, found {data!r:.60}")


def main_class_of(result: Result) -> ClassResult:
    """Transaction class whose rate is reported."""
    return next(one for one in result.classes if one.name == result.main_class)
