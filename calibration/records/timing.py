"""Samples and the window: which lie in it, and where samples without times belong."""

from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.calibration.records.reading import MonitorSample, MonitorSamples, RecordKey

USER = ("resources", "cpu_user_fraction")
SYSTEM = ("resources", "cpu_system_fraction")
MOST_DIFFERENCE = 0.02
"""Two tools that saw the same seconds agree on the CPU's shares at least so well, on average."""
LEAST_AHEAD = 1.5
"""And at any other place by so much worse."""
ROUNDING = 0.001
LEAST_SHARED = 5
WEIGHTS = {
    "read_await_ms": ("reads_per_s",),
    "write_await_ms": ("writes_per_s",),
    "await_ms": ("requests_per_s", "reads_per_s", "writes_per_s"),
}
"""The mean time of a request is weighted by requests, not by seconds."""


@dataclass(frozen=True)
class Mean:
    """The mean of a field over the samples in the window."""

    value: float
    place: str
    covered_s: float


def in_window(samples: MonitorSamples, window: tuple[float, float] | None) -> list[tuple[MonitorSample, float]]:
    """Each sample with the seconds that it shares with the window; without times or window, every one with weight 1."""
    if window is None or any(row.end_s is None for row in samples.rows):
        return [(row, 1.0) for row in samples.rows]
    shared = []
    for row in samples.rows:
        if row.start_s is not None and row.end_s is not None:
            seconds = min(row.end_s, window[1]) - max(row.start_s, window[0])
            if seconds > 0:
                shared.append((row, seconds))
    return shared


def is_timed(samples: MonitorSamples) -> bool:
    """Whether its samples know when they were."""
    return all(row.end_s is not None for row in samples.rows) and any(row.start_s is not None for row in samples.rows)


def means(samples: MonitorSamples, window: tuple[float, float] | None) -> dict[RecordKey, Mean]:
    """Every field's mean over the window; a device's await is weighted by its requests."""
    shared = in_window(samples, window)
    found: dict[RecordKey, Mean] = {}
    for path in samples.meanings:
        rows = [(row, seconds) for row, seconds in shared if path in row.values]
        if not rows:
            continue
        weights = [seconds * _requests(row, path) for row, seconds in rows]
        total = sum(weights)
        if total <= 0:
            continue
        value = sum(row.values[path] * weight for (row, _), weight in zip(rows, weights, strict=True)) / total
        place = rows[0][0].place if len(rows) == 1 else f"{rows[0][0].place} to {rows[-1][0].place}"
        found[path] = Mean(value, place, sum(seconds for _, seconds in rows))
    return found


def _requests(row: MonitorSample, path: RecordKey) -> float:
    """Weight of a field besides time: its requests; 1 if it has none, or if the tool doesn't count them."""
    weights = [row.values[each] for key in WEIGHTS.get(path[-1], ()) if (each := (*path[:-1], key)) in row.values]
    return sum(weights) if weights else 1.0


def aligned(samples: MonitorSamples, reference: MonitorSamples) -> MonitorSamples | None:
    """The same samples with the times of another tool that saw the same CPUs, or None if it isn't clear which they are.

    Both are shifted along each other; the place where user and system shares agree must be clearly the best.
    """
    theirs = _shares([row for row in reference.rows if row.end_s is not None])
    ours = _shares(samples.rows)
    if not all(ours) or not all(theirs):
        return None
    scored = []
    for shift in range(-len(ours) + 1, len(theirs)):
        pairs = [(at, at + shift) for at in range(len(ours)) if 0 <= at + shift < len(theirs)]
        if len(pairs) >= min(LEAST_SHARED, len(ours)):
            gaps = [abs(a - b) for mine, his in pairs for a, b in zip(ours[mine], theirs[his], strict=True)]
            scored.append((sum(gaps) / len(gaps), shift))
    scored.sort()
    if not scored or scored[0][0] > MOST_DIFFERENCE:
        return None
    if len(scored) > 1 and scored[1][0] < LEAST_AHEAD * max(scored[0][0], ROUNDING):
        return None
    shift = scored[0][1]
    rows = [
        MonitorSample(row.place, row.values, reference.rows[at + shift].start_s, reference.rows[at + shift].end_s)
        for at, row in enumerate(samples.rows)
        if 0 <= at + shift < len(reference.rows)
    ]
    return MonitorSamples(tuple(rows), samples.meanings)


def _shares(rows: Sequence[MonitorSample]) -> list[tuple[float, ...]]:
    return [tuple(row.values[path] for path in (USER, SYSTEM) if path in row.values) for row in rows]
