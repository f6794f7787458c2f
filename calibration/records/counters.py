"""Counters before and after: only their differences mean anything."""

from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.calibration.records.reading import CounterRate, CounterSnapshot, FileReading, Leaf, RecordKey
from oltpsim.simulator.errors import InputError

MOST_OUTSIDE = 0.1
"""Snapshots that reach further beyond the window, as a share of their time, are told as a doubt."""


@dataclass(frozen=True)
class Span:
    """The time between the snapshots: seconds, and from where that is known."""

    seconds: float
    source: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Snapshots of a view before and after; `place`: both files."""

    before: CounterSnapshot
    after: CounterSnapshot
    place: str


def pairs_of(readings: Sequence[FileReading]) -> tuple[list[Pair], list[str]]:
    """Snapshots by kind; what stands alone is told and not used. Raises InputError if three claim to be two."""
    by_kind: dict[str, list[tuple[str, CounterSnapshot]]] = {}
    for reading in readings:
        if reading.snapshot is not None:
            by_kind.setdefault(reading.kind, []).append((reading.file, reading.snapshot))
    pairs, notes = [], []
    for kind, found in by_kind.items():
        by_phase = {snapshot.phase: (file, snapshot) for file, snapshot in found}
        if len(found) == 2 and by_phase.keys() == {"start", "end"}:
            (first, before), (last, after) = by_phase["start"], by_phase["end"]
            pairs.append(Pair(before, after, f"{first} and {last.rsplit('/', 1)[-1]}"))
        elif len(found) == 1:
            notes.append(
                f"{found[0][0]}: {kind} once: totals since a reset, of which nothing is used; "
                "give it before and after (name them start and end)"
            )
        else:
            files = ", ".join(file for file, _ in found)
            raise InputError(
                f"{files}: got {len(found)} snapshots of {kind}; expected one before and one after; "
                "put start and end into their names"
            )
    return pairs, notes


def span_of(pairs: Sequence[Pair], window: tuple[float, float] | None, duration_s: float) -> Span:
    """The time between the snapshots: by their own clocks, or else the window's, which is told."""
    for pair in pairs:
        if pair.before.at_s is not None and pair.after.at_s is not None:
            return _within(pair.before.at_s, pair.after.at_s, pair.place, window)
    for pair in pairs:
        if pair.before.clock_s is not None and pair.after.clock_s is not None:
            seconds = pair.after.clock_s - pair.before.clock_s
            _forwards(seconds, pair)
            return Span(seconds, pair.place)
    note = "no clock between the snapshots: they are taken to be as far apart as the window is long"
    return Span(duration_s, "the window", (note,))


def _within(start_s: float, end_s: float, place: str, window: tuple[float, float] | None) -> Span:
    """Nothing runs after the harness: what the last snapshot counts was done before the window's end."""
    seconds = end_s - start_s
    if seconds <= 0:
        raise InputError(f"{place}: got {seconds:.1f} s between them; expected the later one last; check their names")
    if window is None or end_s <= window[1] or window[1] <= start_s:
        return Span(seconds, place)
    late_s, early_s = end_s - window[1], max(0.0, window[0] - start_s)
    notes = [f"the last snapshot was taken {late_s:.1f} s after the end: rates are over the time until the end"]
    if late_s > MOST_OUTSIDE * seconds:
        notes.append(
            f"{late_s:.0f} s of {seconds:.0f} s between the snapshots are after the end: a checkpoint may be in them"
        )
    if early_s > MOST_OUTSIDE * seconds:
        notes.append(
            f"{early_s:.0f} s of {seconds:.0f} s between the snapshots are before the window: the ramp is in them"
        )
    return Span(window[1] - start_s, place, tuple(notes))


def _forwards(difference: float, pair: Pair) -> None:
    if difference < 0:
        raise InputError(
            f"{pair.place}: got a counter that fell by {-difference:g}; expected one that only rises; "
            "the server was restarted or its statistics reset between them, or start and end are mixed up"
        )


def differences(pairs: Sequence[Pair], span: Span) -> dict[RecordKey, Leaf]:
    """Every rate that both snapshots allow. Raises InputError for counters that fell."""
    found: dict[RecordKey, Leaf] = {}
    for pair in pairs:
        for rate in pair.after.rates:
            value = _value(rate, pair, span.seconds)
            if value is not None:
                found.setdefault(
                    rate.path,
                    {
                        "value": value,
                        "unit": rate.unit,
                        "source": f"{pair.place}, {rate.counter}",
                        "definition": f"{rate.definition}; difference of two snapshots, {span.seconds:.1f} s",
                    },
                )
    return found


def _value(rate: CounterRate, pair: Pair, seconds: float) -> float | None:
    before, after = pair.before.counters, pair.after.counters

    def rise(counter: str) -> float:
        difference = after[counter] - before[counter]
        _forwards(difference, pair)
        return difference

    if rate.counter not in before or (rate.per is not None and rate.per not in before):
        return None
    divisor = seconds if rate.per is None else rise(rate.per)
    return rise(rate.counter) * rate.factor / divisor if divisor > 0 else None
