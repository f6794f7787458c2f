"""What a result says, in words and figures: shared by the report and the answer in the terminal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.calibration.predict import (
    ALIKE,
    CALIBRATED,
    CHANCE,
    FORMULAS,
    MISSED,
    ONE_RUN,
    FigureInterval,
    MeasurementInterval,
    UncertainValue,
)
from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.models.workloads import ClosedClientsSpec, TerminalsSpec
from oltpsim.scenarios.show.numbers import (
    NONE,
    between,
    count,
    plural,
    share,
    signed_share,
    significant,
    size,
    span,
    time_text,
)
from oltpsim.simulator.form import KIB
from oltpsim.simulator.results import (
    NOT_STEADY,
    ROW_LOCKS,
    CacheResult,
    Estimate,
    PercentileInterval,
    Result,
    main_class_of,
)

STARTS = {
    "cold": "an empty cache",
    "after_load": "the load",
    "after_prewarm": "files that were read",
    "warm": "warm caches",
}
CALCULATED = "the machine once it is warm, calculated by the analytic engine"
SATURATED = 0.6
"""Below this share of its capacity nothing is called near its limit: clients and latency set the rate."""
MOST_PARTS = 3
"""of an interval that are named"""
NOTHING_NEAR = "nothing is near its limit"
MOST_GROWTH = 0.6
"""Part of a figure above which a factor says more than a percentage"""
UNKNOWABLE = frozenset({MISSED, ONE_RUN, FORMULAS, CHANCE, CALIBRATED, ALIKE})
"""components of an interval that no word about the system would take away"""
LEAST_NARROWER = 0.01
"""share of an interval's factor below which nothing is said to narrow it"""
Expected = MeasurementInterval | str
"""where a measurement would fall, or why that isn't known; empty if only chance was asked for"""


def as_expected(result: Result, expected: Expected) -> Result:
    """The result as measured runs of machines alike correct it, if the answer is beside them."""
    return result if isinstance(expected, str) else expected.applied(result)


ROLES = {
    "fitted": "fitted: the parameters have seen this figure",
    "predicted": "predicted: no fit has seen this figure",
}


NEW_ORDER = "new order"
"""the transaction that TPC-C counts"""


@dataclass(frozen=True)
class Load:
    """Utilisation of a part, or its share of the response time. `meaning` says of what `share` is a share."""

    name: str
    share: float
    meaning: str
    is_bottleneck: bool
    is_next: bool


@dataclass(frozen=True)
class AgainstMeasured:
    """The predicted rate beside one that somebody measured; `error` is relative to the measured one."""

    measured_per_min: float
    error: float
    role: str
    source: str

    @property
    def error_words(self) -> str:
        """The error with its sign."""
        return signed_share(self.error)


def is_calculated(result: Result) -> bool:
    """Whether formulas gave a result, so that there was no simulated time."""
    return result.engine == "analytic"


def unit_of(main_class: str) -> str:
    """What the rate of a run counts."""
    name = class_name(main_class)
    return "new orders per minute" if name == NEW_ORDER else f"{name} transactions per minute"


def short_unit_of(main_class: str) -> str:
    """As `unit_of`, for the head of a column."""
    return "new orders/min" if main_class == NEW_ORDER else f"{class_name(main_class)}/min"


def class_name(name: str) -> str:
    """A transaction class as people write it."""
    return name.replace("_", " ")


def rate_interval(estimate: Estimate) -> str:
    """The confidence interval: [1,180 .. 1,290], or that it isn't steady."""
    if estimate.low is None or estimate.high is None:
        return NOT_STEADY
    return f"[{between(estimate.low, estimate.high)}]"


def interval_source(result: Result) -> str:
    """Origin of an engine's own intervals."""
    return FORMULAS if is_calculated(result) else CHANCE


def rate_words(estimate: Estimate, expected: Expected, calculated: bool) -> list[str]:
    """Where a measurement would fall; else what chance alone does to a rate, or the formulas to a calculated one."""
    if isinstance(expected, str):
        if not estimate.is_steady:
            return [NOT_STEADY]
        what = FORMULAS if calculated else CHANCE
        return [f"{rate_interval(estimate)}  {estimate.confidence:.0%} interval of {what} alone"]
    ends = f"[{between(expected.rate.low, expected.rate.high)}]"
    steady = [] if estimate.is_steady else [f"{NOT_STEADY}: chance isn't in it"]
    role = "predicted" if expected.model is None else expected.model.role
    return [f"{ends}  {expected.rate.confidence:.0%} interval, {role}", *steady]


def uncertainty_words(value: UncertainValue) -> list[str]:
    """The largest parts of an interval, and all together; empty if there is none."""
    words = [f"{part.what} {_spread(part.sd)}" for part in value.parts[:MOST_PARTS]]
    return [*words, f"in all {_spread(value.sd)}, one standard deviation each"] if words else []


def _spread(sd: float) -> str:
    """A standard deviation of a logarithm as the relative growth of one: 0.1 is ±11 %; above 60 % a factor: x/÷1.8."""
    growth = math.expm1(sd)
    return f"±{share(growth)}" if growth <= MOST_GROWTH else f"x/÷{1.0 + growth:.2g}"


def narrowed_by(value: UncertainValue) -> list[str]:
    """The components that knowing more of the system would take away, with what each leaves of the interval's factor.

    The largest first; none that would leave nearly all.
    """
    found, factor = [], math.exp(value.log_half_width)
    for part in value.parts:
        left = math.exp(value.without(part.what).log_half_width)
        if part.what not in UNKNOWABLE and factor - left >= LEAST_NARROWER * factor:
            found.append(f"{part.what} (x{factor:.3g} -> x{left:.3g})")
    return found


def percentile_words(time_s: float | None, interval: PercentileInterval | None) -> str:
    """A percentile with its interval, or in a word why it has none: 8.10 ms [7.90 ms .. 8.40 ms]."""
    if time_s is None:
        return NONE
    if interval is None:
        return time_text(time_s)
    if interval.low_s is None or interval.high_s is None:
        return f"{time_text(time_s)} [{interval.reason.partition(':')[0]}]"
    return f"{time_text(time_s)} [{time_text(interval.low_s)} .. {time_text(interval.high_s)}]"


FIGURE_WORDS = {"cpu_utilisation": "cpu", "disk_utilisation": "busiest disk"}
"""figures of a model's interval that people call otherwise"""


def figure_words(figures: Sequence[FigureInterval]) -> list[str]:
    """Figures with the interval of each: new order p95 8.10 ms [7.90 ms .. 8.40 ms]; those without in one phrase."""
    found = [f"{_figure_name(each)} {_figure_text(each)}" for each in figures if not each.reason]
    for reason in dict.fromkeys(each.reason for each in figures if each.reason):
        names = ", ".join(_figure_name(each) for each in figures if each.reason == reason)
        found.append(f"no interval of {names}: {reason}")
    return found


def _figure_name(figure: FigureInterval) -> str:
    name = FIGURE_WORDS.get(figure.name, class_name(figure.name))
    return f"{name} per transaction" if figure.unit == "per_transaction" else name


def _figure_text(figure: FigureInterval) -> str:
    write = {"s": time_text, "fraction": share}.get(figure.unit, significant)
    return f"{write(figure.value)} [{write(figure.figure.low)} .. {write(figure.figure.high)}]"


def figure_columns(figures: Sequence[FigureInterval]) -> dict[str, float | str]:
    """Figures as columns of CSV, units in their names; of those without an interval both ends are empty."""
    row: dict[str, float | str] = {}
    for each in figures:
        low, high = each.ends or ("", "")
        row |= {
            f"{each.name}_{each.unit}": each.value,
            f"measurement_{each.name}_low_{each.unit}": low,
            f"measurement_{each.name}_high_{each.unit}": high,
        }
    return row


def interval_kind(estimate: Estimate) -> str:
    """Confidence and method of an interval: 90 % interval, batch means. Without one the reason."""
    if not estimate.is_steady:
        return f"no interval: {estimate.reason}"
    return f"{estimate.confidence * 100:.4g} % interval, {estimate.method}"


def hardware(scenario: ScenarioSpec) -> list[str]:
    """Machine, processors, memory and disks in a few words each."""
    machine, disks = scenario.machine, scenario.machine.disks
    return [
        machine.name,
        machine.cpu.described(),
        f"{machine.memory_gib:,.4g} GiB",
        f"{disks.count} × {disks.disk.name}"
        + (f" as {disks.level_name}" if disks.layout else "")
        + (f" in {disks.sets} sets" if disks.sets > 1 else "")
        + (f" + {plural(machine.log_disks, 'log disk')}" if machine.log_disks > 1 else "")
        + (" + log disk" if machine.log_disk and machine.log_disks == 1 else ""),
    ]


def _lead_in(window: IntervalSpec) -> str:
    """What comes between start and warm-up, as words that follow the start's."""
    lead_in = window.lead_in
    if lead_in is None:
        return ""
    length = count(lead_in.transactions) + " transactions" if lead_in.transactions else span(lead_in.duration_s or 0.0)
    return f" and {length} {'at full speed' if lead_in.speed == 'full' else 'of these clients'}"


def configuration_line(scenario: ScenarioSpec) -> str:
    """Machine, database, size and clients in one line."""
    workload, window = scenario.workload, scenario.interval
    arrivals = workload.arrivals
    if isinstance(arrivals, ClosedClientsSpec):
        clients = plural(arrivals.clients, "client")
    elif isinstance(arrivals, TerminalsSpec):
        terminals = arrivals.terminals_per_warehouse * workload.size
        clients = f"{plural(terminals, 'terminal')} on {plural(arrivals.connections, 'connection')}"
    else:
        clients = f"{arrivals.transactions_per_s:,.4g} transactions/s arriving"
    start = STARTS[window.start] + _lead_in(window)
    since = f"after {span(window.warm_up_s)} of warm-up from {start}" if window.warm_up_s else f"counted from {start}"
    parts = [
        *hardware(scenario),
        f"{scenario.database.name}, pool {pool_size(scenario)}",
        f"{workload.size_words}, {clients}",
        "sustained for hours" if window.sustained else f"{_length(window)} {since}",
    ]
    return " · ".join(parts)


def pool_size(scenario: ScenarioSpec) -> str:
    """Size of the buffer pool: 7.83 GiB."""
    return size(scenario.database.pool.buffers * scenario.database.page_kib * KIB)


def _length(window: IntervalSpec) -> str:
    if window.duration_s is None:
        return f"{count(window.new_orders_per_client or 0)} new orders of each client"
    return span(window.duration_s)


def against_measured(result: Result, scenario: ScenarioSpec) -> AgainstMeasured | None:
    """How far the result is from the measured figure, if there is one."""
    measured, per_min = scenario.measured, scenario.measured_per_min
    if measured is None or per_min is None:
        return None
    return AgainstMeasured(per_min, result.rate_per_min.mean / per_min - 1.0, measured.role, measured.source)


def loads(result: Result) -> list[Load]:
    """Everything that can be the bottleneck: CPU, devices, critical sections, waits of the main class."""
    main = main_class_of(result)
    parts = [("cpu", result.cpu.utilisation, "of all cores")]
    parts += [(device.name, device.utilisation, "busy") for device in result.devices]
    parts += [(lock.name, lock.utilisation, "occupied") for lock in result.locks if lock.name != ROW_LOCKS]
    waits = [name for name in (ROW_LOCKS, "log") if name in main.time_by_s]
    of_time = f"of a {class_name(main.name)}'s time"
    parts += [(name, main.time_by_s[name] / main.mean_s if main.mean_s else 0.0, of_time) for name in waits]
    limit = result.bottleneck
    return [Load(name, part, meaning, name == limit.name, name == limit.next_name) for name, part, meaning in parts]


def next_words(result: Result) -> str:
    """Utilisation of the next bottleneck: 71 % busy."""
    name, part = result.bottleneck.next_name, result.bottleneck.next_share
    return f"{share(part)} {_meaning(result, name)}"


def _meaning(result: Result, name: str) -> str:
    return next((load.meaning for load in loads(result) if load.name == name), "busy")


def bottleneck_details(result: Result) -> list[str]:
    """What the bottleneck shows besides its utilisation."""
    name = result.bottleneck.name
    words = [f"{share(result.bottleneck.share)} {_meaning(result, name)}"]
    if max(load.share for load in loads(result)) < SATURATED:
        words.append(NOTHING_NEAR)
    device = next((one for one in result.devices if one.name == name), None)
    cache = page_cache(result)
    if device is not None:
        words.append(f"queue {device.mean_queue:,.1f}")
        words.append(f"{result.reads_pending:,.1f} reads pending")
        if cache is not None:
            words.append(f"{share(1.0 - cache.hit_ratio)} of pool misses go to disk")
    return words


def page_cache(result: Result) -> CacheResult | None:
    """The tier below the buffer pool, if anything was ever looked up in it."""
    lower = [cache for cache in result.caches[1:] if cache.references and cache.capacity_pages > 1]
    return lower[0] if lower else None
