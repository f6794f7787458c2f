"""Charts of one run: its rate over time, response times, utilisation, where the time goes, hits by table, series."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oltpsim.calibration.predict import CHANCE
from oltpsim.scenarios.show.chart import (
    BAR_ROWS,
    BarSeries,
    Chart,
    Curve,
    Mark,
    Points,
    Scale,
    Segment,
    Zone,
    row_labels,
    row_scale,
    rows_px,
    ticks,
)
from oltpsim.scenarios.show.numbers import NONE, count, plural, rounded, share, significant, span, time_text, time_tick
from oltpsim.scenarios.show.palette import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SERIES_COLOURS,
    SKY,
    SLATE,
    VERMILION,
    translucent,
)
from oltpsim.scenarios.show.words import class_name, interval_source, loads, percentile_words, rate_interval, unit_of
from oltpsim.simulator.results import (
    NOT_STEADY,
    ROW_LOCKS,
    ClassResult,
    DeviceResult,
    Estimate,
    PercentileInterval,
    Result,
    TableResult,
    utilisation_key,
)

MOST_DEVICES = MOST_TABLES = 8
MOST_LINES = 6
FIRST = ("cpu_user", "pool_hit_ratio", "pool_dirty_fraction")
SMOOTHED_STEPS = 5
DASHES = ("solid", "dash", "dot", "dashdot")
WARM_UP_COLOUR, CHECKPOINT_COLOUR = translucent(GREY, 0.20), translucent(PINK, 0.30)


@dataclass(frozen=True)
class Style:
    """Look and name of one kind of part of a stacked bar."""

    label: str
    colour: str
    hatched: bool = False


@dataclass(frozen=True)
class StackedBar:
    """One row of a chart of stacked bars: parts from left to right, and words about each under the pointer."""

    label: str
    value: str
    parts: dict[str, float]
    hover: dict[str, str]
    framed: bool = False


@dataclass(frozen=True)
class SeriesGroup:
    """Series of a run that share an axis. `is_share`: drawn in per cent."""

    key: str
    title: str
    lines: dict[str, list[float]]
    is_share: bool = False
    is_stacked: bool = False
    caption: str = ""


@dataclass(frozen=True)
class Quantile:
    """How one quantile of the response time is marked. `key`: its field of a class, with `_s`, and of the intervals."""

    key: str
    label: str
    symbol: str
    colour: str


QUANTILES = (
    Quantile("p50", "median", "circle", BLUE),
    Quantile("p90", "90 %", "diamond", GREEN),
    Quantile("p95", "95 %", "square", ORANGE),
    Quantile("p99", "99 %", "triangle-up", VERMILION),
    Quantile("p999", "99.9 %", "x", PINK),
)
ACTIVITY_STYLES = {
    style.label: style
    for style in (
        Style("cpu", BLUE),
        Style("cpu queue", BLUE, hatched=True),
        Style("critical section", SKY, hatched=True),
        Style(ROW_LOCKS, VERMILION, hatched=True),
        Style("disk read", GREEN),
        Style("page wait", GREEN, hatched=True),
        Style("swap", VERMILION),
        Style("write throttle", ORANGE, hatched=True),
        Style("log", PINK),
        Style("network", GREY),
    )
}
HIT_STYLES = {
    "pool_hits": Style("buffer pool", BLUE),
    "page_cache_hits": Style("page cache", SKY, hatched=True),
    "disk_reads": Style("read from disk", VERMILION),
    "created": Style("created new", GREY),
}
SHARES = Scale(low=0.0, high=1.0, ticks={0.25: "25 %", 0.5: "50 %", 0.75: "75 %"})


def stacked_marks(rows: Sequence[StackedBar], styles: dict[str, Style]) -> list[Mark]:
    """Horizontal stacked bars with their labels; a framed row has a rectangle around it, and its label is bold."""
    places = [-float(number) for number in range(len(rows))]
    marks: list[Mark] = [
        BarSeries(
            places=places,
            values=[row.parts.get(part, 0.0) for row in rows],
            colour=style.colour,
            hatched=style.hatched,
            label=style.label,
            hover=[f"{row.label}: {style.label} {row.hover.get(part, '')}" for row in rows],
        )
        for part, style in styles.items()
    ]
    framed = next((number for number, row in enumerate(rows) if row.framed), -1)
    marks += row_labels([(row.label, row.value) for row in rows], bold=framed, ruled=False)
    if framed >= 0:
        half, whole = BAR_ROWS / 2 + 0.05, sum(rows[framed].parts.values())
        marks.append(Zone(x=(0.0, whole), y=(-framed - half, half - framed), colour=VERMILION, framed=True))
    return marks


def busiest(devices: Sequence[DeviceResult]) -> list[DeviceResult]:
    """The devices that fit a chart: all, or the busiest ones in their own order."""
    if len(devices) <= MOST_DEVICES:
        return list(devices)
    ranked = sorted(devices, key=lambda device: -device.utilisation)[:MOST_DEVICES]
    return [device for device in devices if device in ranked]


def _time_of(one: ClassResult, key: str) -> float | None:
    found: float | None = getattr(one, f"{key}_s")
    return found


def _interval_of(one: ClassResult, key: str) -> PercentileInterval | None:
    found: PercentileInterval | None = getattr(one.intervals, key, None)
    return found


def _words_of(one: ClassResult, key: str) -> str:
    return percentile_words(_time_of(one, key), _interval_of(one, key))


def _whiskers(one: ClassResult, key: str, time_s: float) -> tuple[float, float]:
    """Ends of the percentile's interval; without one the percentile."""
    found = _interval_of(one, key)
    return (time_s, time_s) if found is None else (found.low_s or time_s, found.high_s or time_s)


def responses(result: Result) -> Chart | None:
    """Percentiles of the response time of each class, on a logarithmic axis, as far as they are known; None if none.

    Whiskers are their intervals.
    """
    known = {
        one.name: {each.key: at for each in QUANTILES if (at := _time_of(one, each.key)) is not None}
        for one in result.classes
    }
    classes = [one for one in result.classes if one.completed and any(known[one.name].values())]
    if not classes:
        return None
    rows = [-float(number) for number in range(len(classes))]
    marks = row_labels(
        [
            (class_name(one.name), f"95 % within {NONE if one.p95_s is None else time_text(one.p95_s)}")
            for one in classes
        ]
    )
    spans = [list(known[one.name].values()) for one in classes]
    ends = [end for one in classes for key, at in known[one.name].items() for end in _whiskers(one, key, at)]
    marks += [
        Curve(x=[min(times), max(times)], y=[row, row], width=5, colour=translucent(GREY, 0.55))
        for times, row in zip(spans, rows, strict=True)
    ]
    for each in QUANTILES:
        there = [
            (one, row, known[one.name][each.key])
            for one, row in zip(classes, rows, strict=True)
            if each.key in known[one.name]
        ]
        whiskers = [_whiskers(one, each.key, at) for one, _, at in there]
        marks.append(
            Points(
                x=[at for *_, at in there],
                y=[row for _, row, _ in there],
                symbol=each.symbol,
                colour=each.colour,
                label=each.label,
                hover=[f"{class_name(one.name)}: {each.label} {_words_of(one, each.key)}" for one, *_ in there],
                low=[low for low, _ in whiskers] if classes[0].intervals else None,
                high=[high for _, high in whiskers] if classes[0].intervals else None,
                upright=False,
            )
        )
    quantiles = "; ".join(
        f"{class_name(one.name)} median {_words_of(one, 'p50')}, 95 % within {_words_of(one, 'p95')}, "
        f"99 % within {_words_of(one, 'p99')}"
        for one in classes
    )
    low, high = min(ends) / 1.35, max(ends) * 1.35
    return Chart(
        key="responses",
        title="Response times by class",
        alternative=f"Response times. {quantiles}.",
        marks=marks,
        x=Scale(low=low, high=high, log=True, write=time_tick),
        y=row_scale(len(classes)),
        height_px=rows_px(len(classes)),
        caption="The scale is logarithmic: equal distances are equal factors."
        + _about_intervals(classes, interval_source(result)),
    )


def _about_intervals(classes: Sequence[ClassResult], source: str) -> str:
    """Meaning of the whiskers, how many percentiles have none, and why. `source`: origin of the intervals."""
    found = [each for one in classes if one.intervals for each in vars(one.intervals).values()]
    without = [each.reason.partition(":")[0] for each in found if each.low_s is None]
    words = f" Whiskers: 90 % intervals of {source} alone." if len(without) < len(found) else ""
    reasons = " or ".join(dict.fromkeys(without))
    return words + (f" {len(without)} of {len(found)} percentiles have none: {reasons}." if without else "")


def utilisation(result: Result) -> Chart:
    """How busy everything is, the bottleneck framed and named."""
    shown = {device.name for device in busiest(result.devices)}
    every = loads(result)
    devices = {device.name for device in result.devices}
    listed = [load for load in every if load.name not in devices - shown or load.is_bottleneck]
    styles = {
        "user": Style("cpu user", BLUE),
        "system": Style("cpu system", SKY),
        "iowait": Style("cpu waiting for disk reads", GREEN, hatched=True),
        "used": Style("in use", SLATE),
        "limit": Style("in use, bottleneck", VERMILION),
        "free": Style("free", FAINT),
    }
    if result.bottleneck.name == "cpu":
        styles.pop("limit")
    rows = []
    for load in listed:
        if load.name == "cpu":
            cpu = result.cpu
            parts = {"user": cpu.user, "system": cpu.system, "iowait": cpu.iowait, "free": cpu.idle}
        else:
            parts = {"limit" if load.is_bottleneck else "used": load.share, "free": max(0.0, 1.0 - load.share)}
        label = f"▶ {load.name}: bottleneck" if load.is_bottleneck else load.name
        label += ": next bottleneck" if load.is_next else ""
        hover = {part: share(value) for part, value in parts.items()}
        rows.append(StackedBar(label, f"{share(load.share)} {load.meaning}", parts, hover, load.is_bottleneck))
    hidden = len(every) - len(listed)
    loads_in_words = "; ".join(f"{load.name} {share(load.share)} {load.meaning}" for load in listed)
    limit = result.bottleneck
    return Chart(
        key="utilisation",
        title="How busy everything is",
        alternative=f"Utilisation. Bottleneck: {limit.name}, {share(limit.share)}. {loads_in_words}.",
        marks=stacked_marks(rows, styles),
        x=SHARES,
        y=row_scale(len(rows)),
        height_px=rows_px(len(rows)),
        caption=f"The {len(shown)} busiest devices; {hidden} others are not shown." if hidden else "",
    )


def time_by_activity(result: Result) -> Chart | None:
    """Where a transaction's time goes, by class; None if nothing completed."""
    classes = [one for one in result.classes if one.completed and one.mean_s > 0]
    if not classes:
        return None
    spent = {part for one in classes for part, seconds in one.time_by_s.items() if seconds > 0}
    unknown = sorted(spent - set(ACTIVITY_STYLES))
    others = {part: Style(part, SERIES_COLOURS[number % len(SERIES_COLOURS)]) for number, part in enumerate(unknown)}
    styles = {part: style for part, style in (ACTIVITY_STYLES | others).items() if part in spent}
    rows = [
        StackedBar(
            class_name(one.name),
            f"{time_text(one.mean_s)} in all",
            {part: seconds * 1e3 for part, seconds in one.time_by_s.items()},
            {part: f"{time_text(seconds)}, {share(seconds / one.mean_s)}" for part, seconds in one.time_by_s.items()},
        )
        for one in classes
    ]
    return Chart(
        key="time-by-activity",
        title="Where a transaction’s time goes",
        alternative=f"Mean response time by what it was spent on. {'. '.join(map(_where, classes))}.",
        marks=stacked_marks(rows, styles),
        x=Scale(low=0.0, high=max(one.mean_s for one in classes) * 1020, write=lambda ms: time_tick(ms / 1e3)),
        y=row_scale(len(rows)),
        height_px=rows_px(len(rows)),
        caption=_where(classes[0]) + ".",
    )


def _where(one: ClassResult) -> str:
    """The three largest parts of a class's time, in words."""
    parts = sorted(one.time_by_s.items(), key=lambda item: (-item[1], item[0]))[:3]
    spent_in_words = ", ".join(f"{name} {time_text(spent)}" for name, spent in parts if spent > 0)
    return f"A {class_name(one.name)} takes {time_text(one.mean_s)} on average: most of it {spent_in_words}"


def hits_by_table(result: Result) -> Chart | None:
    """Where the references of each table were answered, as shares; None if there were none."""
    tables = [table for table in result.tables if table.references]
    if not tables:
        return None
    sums = (sum(getattr(table, key) for table in tables) for key in ("references", *HIT_STYLES))
    whole = TableResult("all tables", *sums)
    styles = {key: style for key, style in HIT_STYLES.items() if getattr(whole, key) or key != "created"}
    missed = sorted((t for t in tables if t.pool_hits < t.references), key=lambda t: (-t.disk_reads, t.name))
    shown = [whole, *missed[:MOST_TABLES]]
    rows = []
    for table in shown:
        parts = {key: getattr(table, key) / table.references for key in HIT_STYLES}
        hover = {key: f"{share(part)}, {count(getattr(table, key))} pages" for key, part in parts.items()}
        rows.append(StackedBar(table.name, f"{share(parts['disk_reads'])} from disk", parts, hover))
    worst = max(tables, key=lambda table: (table.disk_reads, table.name))
    caption = "No table was read from disk."
    if whole.disk_reads:
        caption = f"{share(worst.disk_reads / whole.disk_reads)} of all disk reads are for {worst.name}."
    if len(tables) > len(shown) - 1:
        caption += " Tables that are not drawn are read less, or never; the list below has them all."
    hits = "; ".join(
        f"{t.name} {share(t.pool_hits / t.references)} buffer pool,"
        f" {share(t.page_cache_hits / t.references)} page cache, {share(t.disk_reads / t.references)} disk"
        for t in shown
    )
    return Chart(
        key="hits-by-table",
        title="Where pages were found, by table",
        alternative=f"{caption} {hits}.",
        marks=stacked_marks(rows, styles),
        x=SHARES,
        y=row_scale(len(rows)),
        height_px=rows_px(len(rows)),
        caption=caption,
    )


@dataclass(frozen=True)
class Clock:
    """Time axis of a run, in a unit of `unit_s` seconds."""

    result: Result
    name: str
    unit_s: float

    @property
    def end(self) -> float:
        """End of the run."""
        return (self.result.warm_up_s + self.result.duration_s) / self.unit_s

    @property
    def counted(self) -> tuple[float, float]:
        """When counting began and ended."""
        return self.result.warm_up_s / self.unit_s, self.end

    def scale(self) -> Scale:
        """The whole run; the unit stands at the last tick."""
        places = ticks(0.0, self.end * 0.96)
        labels = [*(f"{place:,.4g}" for place in places[:-1]), f"{places[-1]:,.4g} {self.name}"]
        return Scale(low=0.0, high=self.end, ticks=dict(zip(places, labels, strict=True)))

    def steps(self) -> list[float]:
        """Middles of the steps of all series."""
        length = max(len(values) for values in self.result.series.values.values())
        return rounded((step + 0.5) * self.result.series.step_s / self.unit_s for step in range(length))

    def zones(self, *, labelled: bool) -> list[Mark]:
        """Warm-up and checkpoints."""
        found: list[Mark] = []
        if self.result.warm_up_s:
            label = "warm-up, not counted" if labelled else ""
            found.append(Zone(x=(0.0, self.counted[0]), colour=WARM_UP_COLOUR, label=label))
        for begin, end in self.result.checkpoints_s:
            label = "checkpoint" if labelled else ""
            found.append(Zone(x=(begin / self.unit_s, end / self.unit_s), colour=CHECKPOINT_COLOUR, label=label))
        return found


def clock_of(result: Result) -> Clock:
    """Seconds, minutes or hours, so that the axis reads in numbers of one to three digits."""
    end_s = result.warm_up_s + result.duration_s
    if end_s <= 600:
        return Clock(result, "s", 1.0)
    return Clock(result, "min", 60.0) if end_s <= 600 * 60 else Clock(result, "h", 3600.0)


def _interval_words(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return NOT_STEADY
    ends = f"{count(estimate.low)} to {count(estimate.high)}"
    return f"{estimate.confidence:.0%} interval of {CHANCE} alone {ends}"


def throughput(result: Result, measured_per_min: float | None) -> Chart | None:
    """The rate over time with warm-up, checkpoints, counted mean and its interval; None without a series."""
    rates = result.series.values.get(result.series.rate_key)
    if not rates:
        return None
    unit, estimate, step_s = unit_of(result.main_class), result.rate_per_min, result.series.step_s
    clock = clock_of(result)
    times, each = clock.steps(), f"mean of each {span(step_s)}"
    smoothed = len(rates) > 12 * SMOOTHED_STEPS
    marks: list[Mark] = [
        Curve(
            x=times, y=rounded(rates), width=1.5, colour=SKY, name=each if smoothed else unit, label=f"{unit}, {each}"
        )
    ]
    if smoothed:
        words = f"mean over {span(SMOOTHED_STEPS * step_s)}"
        smooth = rounded(moving_mean(rates, SMOOTHED_STEPS))
        marks.append(Curve(x=times, y=smooth, width=2.5, colour=BLUE, name=words, label=words))
    counted = f"counted: {count(estimate.mean)}, {estimate.confidence:.0%} interval of {CHANCE} alone"
    if estimate.low is None or estimate.high is None:
        counted = f"counted: {count(estimate.mean)}, not steady"
    else:
        marks.append(Zone(x=clock.counted, y=(estimate.low, estimate.high), colour=translucent(VERMILION, 0.25)))
    marks.append(
        Segment(x=clock.counted, y=(estimate.mean, estimate.mean), colour=VERMILION, dash="dash", label=counted)
    )
    if measured_per_min is not None:
        words = f"measured by others: {count(measured_per_min)}"
        marks.append(
            Segment(x=clock.counted, y=(measured_per_min, measured_per_min), colour=GREY, dash="dot", label=words)
        )
    checkpoints = plural(len(result.checkpoints_s), "checkpoint") if result.checkpoints_s else "no checkpoint"
    sentence = (
        f"{unit} over {span(result.warm_up_s + result.duration_s)}:"
        f" from {count(min(rates))} to {count(max(rates))},"
        f" counted mean {count(estimate.mean)}, {_interval_words(estimate)},"
        f" {checkpoints}"
    )
    steady = result.steady_rate_per_min
    since = f" after {span(result.warm_up_s)} of warm-up. " if result.warm_up_s else " from the start. "
    caption = f"Counted: {span(result.duration_s)}{since}"
    if result.steady_from_s is None:
        caption += f"No interval: {steady.reason}."
    else:
        words = f"Steady from {span(result.steady_from_s)} on, at {count(steady.mean)}"
        caption += f"{words} {rate_interval(steady)}, {CHANCE} alone."
    return Chart(
        key="throughput",
        title=f"{unit[0].upper()}{unit[1:]} over time",
        alternative=f"{sentence}.",
        marks=[*marks, *clock.zones(labelled=True)],
        x=clock.scale(),
        y=_from_nothing(max([*rates, estimate.high or 0.0, measured_per_min or 0.0])),
        height_px=320,
        caption=caption,
        along_x=True,
    )


def _from_nothing(top: float) -> Scale:
    return Scale(low=0.0, high=(top or 1.0) * 1.06, write=lambda place: f"{place:,.10g}")


def over_time(result: Result) -> list[Chart]:
    """A chart for each group of series that share a meaning, unknown ones each by itself."""
    return [_drawn(result, group) for group in series_groups(result) if any(group.lines.values())]


def series_groups(result: Result) -> list[SeriesGroup]:
    """The series, sorted into groups by their keys."""
    left = {key: list(values) for key, values in result.series.values.items()}
    left.pop(result.series.rate_key, None)

    def take(ending: str) -> dict[str, list[float]]:
        keys = sorted((key for key in left if key.endswith(ending)), key=_first_then_numbered)
        return {_words(key.removesuffix(ending)): left.pop(key) for key in keys}

    names = sorted((device.name for device in result.devices), key=_first_then_numbered)
    disks = {name: left.pop(utilisation_key(name)) for name in names if utilisation_key(name) in left}
    ranked = sorted(disks, key=lambda name: -math.fsum(disks[name]))[:MOST_LINES]
    hidden = len(disks) - len(ranked)
    drawn = {name: disks[name] for name in disks if name in ranked}
    caption = f"The {MOST_LINES} busiest devices; {hidden} others are not shown." if hidden else ""
    cpu = {_words(key): left.pop(key) for key in sorted(left, key=_first_then_numbered) if key.startswith("cpu")}
    found = [
        SeriesGroup("cpu", "CPU", cpu, is_share=True, is_stacked=True),
        SeriesGroup("disks", "Disk utilisation", drawn, is_share=True, caption=caption),
        SeriesGroup("reads-pending", "Disk reads pending", {"reads pending": left.pop("reads_pending", [])}),
        SeriesGroup("dirty", "Dirty share", take("_dirty_fraction"), is_share=True),
        SeriesGroup("hit-ratios", "Hit ratio", take("_hit_ratio"), is_share=True),
    ]
    for number, (key, values) in enumerate(sorted(left.items())):
        is_share = key.endswith(("fraction", "ratio", "share"))
        title = _words(key)
        found.append(SeriesGroup(f"other-{number}", title[0].upper() + title[1:], {title: values}, is_share))
    return found


def _first_then_numbered(key: str) -> tuple[bool, int, str]:
    """Order of lines: what others are measured against first, disk 2 before disk 10."""
    return key not in FIRST, len(key), key


def _words(key: str) -> str:
    for ending, words in (("_per_s", " per second"), ("_per_min", " per minute"), ("_s", " (s)")):
        if key.endswith(ending):
            key = key.removesuffix(ending) + words
            break
    return key.replace("_", " ")


def _drawn(result: Result, group: SeriesGroup) -> Chart:
    clock, stacked = clock_of(result), group.is_stacked and len(group.lines) > 1
    marks: list[Mark] = [
        Curve(
            x=clock.steps(),
            y=rounded(values),
            colour=SERIES_COLOURS[number % len(SERIES_COLOURS)],
            dash="solid" if stacked else DASHES[number % len(DASHES)],
            width=1 if stacked else 2,
            stacked=stacked,
            name=name,
            label=name,
        )
        for number, (name, values) in enumerate(group.lines.items())
    ]
    read: Callable[[float], str] = share if group.is_share else significant
    ends = "; ".join(
        f"{name}: mean {read(math.fsum(values) / len(values))}, lowest {read(min(values))}, highest {read(max(values))}"
        for name, values in group.lines.items()
    )
    y = _from_nothing(max(max(values) for values in group.lines.values()))
    if group.is_share:
        y = Scale(low=0.0, high=1.02, ticks={0: "0 %", 0.5: "50 %", 1: "100 %"})
    return Chart(
        key=f"series-{group.key}",
        title=group.title,
        alternative=f"{group.title} over time. {ends}.",
        marks=[*marks, *clock.zones(labelled=False)],
        x=clock.scale(),
        y=y,
        height_px=210,
        caption=group.caption,
        along_x=True,
    )


def moving_mean(values: Sequence[float], width: int) -> list[float]:
    """Mean over `width` steps around each, over fewer at the ends."""
    half = width // 2
    windows = (values[max(0, place - half) : place + half + 1] for place in range(len(values)))
    return [math.fsum(window) / len(window) for window in windows]
