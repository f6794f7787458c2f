"""From the readings of one run to its record: harness and monitors brought together by time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from oltpsim.calibration.records.counters import differences, pairs_of, span_of
from oltpsim.calibration.records.reading import FileReading, Leaf, MonitorSamples, RecordKey, ResultRank
from oltpsim.calibration.records.record import RunRecord
from oltpsim.calibration.records.timing import aligned, is_timed, means
from oltpsim.models.input import set_value, validated
from oltpsim.simulator.errors import InputError

MOST_APART = 0.1
"""Two sources of one figure that are further apart are named."""
SAME_RATE = 0.005
MOST_RATE_APART = 0.3
"""Windows and definitions of one run move its rate by 10 %; two rates further apart are two runs."""
RATES = (("outcome", "new_orders_per_minute"), ("outcome", "transactions_per_s"))
CLIENTS = ("workload", "clients")
ALL_COMMITS = ("outcome", "reported", "commits in all")
TIMES_OF_TRANSACTIONS = (("outcome", "mean_ms"), ("outcome", "percentiles_ms"))
MEMORY = ("environment", "memory_gib")
DEVICES = ("resources", "devices")
BUFFER_READS = ("resources", "buffer_reads_per_s")


@dataclass(frozen=True)
class Merged:
    """A record, and what was said on the way to it."""

    record: RunRecord
    notes: tuple[str, ...]


def merge_readings(name: str, readings: Sequence[FileReading]) -> Merged:
    """One record. Raises InputError if no file is a harness's result, or two are of different runs."""
    results = [reading for reading in readings if reading.tool is not None]
    harness = [reading for reading in results if reading.rank < ResultRank.WITNESS] or results
    if not harness:
        read = {reading.kind: len(reading.samples.rows) if reading.samples else 0 for reading in readings}
        kinds = ", ".join(f"{kind}{f' with {rows} samples' * (rows > 0)}" for kind, rows in sorted(read.items()))
        raise InputError(
            f"{name}: got {kinds or 'nothing known'}; expected the result of a load generator too; "
            "add its output to the folder"
        )
    tools = sorted({str(reading.tool) for reading in harness})
    if len(tools) > 1:
        files = ", ".join(reading.file for reading in harness)
        raise InputError(
            f"{name}: got results of {' and '.join(tools)} ({files}); expected one run; give each a folder"
        )
    notes = [f"{reading.file}: {note}" for reading in readings for note in reading.notes]
    values = _together(harness, notes)
    window = next((reading.window for reading in harness if reading.window), None)
    if window is None:
        window = _window_of_witness(values, readings, notes)
    duration = values.get(("window", "duration_s"))
    if not isinstance(duration, dict):
        raise InputError(
            f"{name}: the result names no measured time; add the file that does: {harness[0].file} alone is not enough"
        )
    if window is not None:
        values["window", "start_utc"] = {
            "value": datetime.fromtimestamp(window[0], UTC).isoformat(timespec="seconds"),
            "source": next(reading.file for reading in (*harness, *readings) if reading.window == window),
            "definition": "start of what was counted",
        }
    _fill(values, readings)
    for path, leaf in _resources(readings, window, float(str(duration["value"])), notes).items():
        values.setdefault(path, leaf)
    return Merged(record_from_values(name, values, notes, [reading.file for reading in readings]), tuple(notes))


def _together(harness: Sequence[FileReading], notes: list[str]) -> dict[RecordKey, Leaf]:
    """One run's results from several files; a second rate over another window is kept as reported."""
    values: dict[RecordKey, Leaf] = {}
    for reading in sorted(harness, key=lambda each: each.rank):
        only_times = reading.rank == ResultRank.TIMES and any(path in values for path in RATES)
        for path, leaf in reading.values.items():
            if only_times and (path in RATES or path[:2] == CLIENTS):
                continue
            known = values.setdefault(path, leaf)
            if path in RATES and known is not leaf:
                ours, theirs = _number(known), _number(leaf)
                if abs(theirs / ours - 1.0) > MOST_RATE_APART:
                    raise InputError(
                        f"{reading.file}: got {path[-1]} {theirs:,.1f}, where another file of the run says "
                        f"{ours:,.1f}; expected one run; give each run a folder"
                    )
                if abs(theirs / ours - 1.0) > SAME_RATE:
                    values["outcome", "reported", f"{path[-1]}, {reading.kind}"] = leaf
                    notes.append(
                        f"{reading.file}: {path[-1]} {theirs:,.0f}, {theirs / ours - 1.0:+.1%} of that taken: "
                        "another window or definition; kept as reported"
                    )
    return values


def _window_of_witness(
    values: dict[RecordKey, Leaf], readings: Sequence[FileReading], notes: list[str]
) -> tuple[float, float] | None:
    """Window of the database's witness, where the harness tells no time; None if there is no witness.

    A harness that counted its warm-up gets the witness's window and the rate in it: its transactions per commit times
    the witness's commits per second. What it measured over all of its time is kept as reported.
    """
    witness = next((each for each in readings if each.rank == ResultRank.WITNESS and each.window), None)
    if witness is None or witness.window is None:
        return None
    counted, commits = witness.values.get(RATES[1]), witness.values.get(ALL_COMMITS)
    if values.get(("window", "kind")) != "whole" or witness.values.get(("window", "kind")) != "steady":
        return witness.window
    if counted is None or commits is None or RATES[1] not in values:
        return witness.window
    ratio = _number(counted) * _number(values["window", "duration_s"]) / _number(commits)
    for path in [path for path in values if path in RATES or path[:2] in TIMES_OF_TRANSACTIONS]:
        leaf = values[path]
        assert isinstance(leaf, dict)
        if path in RATES:
            values[path] = leaf | {
                "value": _number(leaf) * ratio,
                "definition": f"{leaf['definition']}; of its whole time, times commits per s in the window over those",
            }
        elif abs(ratio - 1.0) > SAME_RATE:
            del values[path]
        if abs(ratio - 1.0) > SAME_RATE:
            values["outcome", "reported", f"{' '.join(path[1:])}, warm-up counted"] = leaf
    for path in (path for path in witness.values if path[0] == "window"):
        values[path] = witness.values[path]
    notes.append(f"{witness.file}: the rate of the counted time is {ratio - 1.0:+.1%} from that with the warm-up")
    return witness.window


def _number(leaf: Leaf) -> float:
    assert isinstance(leaf, dict)
    return float(str(leaf["value"]))


def _fill(values: dict[RecordKey, Leaf], readings: Sequence[FileReading]) -> None:
    """Add machine and settings from the other files; of two sizes of memory the smaller is what there was to use."""
    for reading in readings:
        if reading.tool is None or reading.rank == ResultRank.WITNESS:
            for path, leaf in reading.values.items():
                if path[0] == "outcome":
                    continue
                known = values.setdefault(path, leaf)
                if path == MEMORY and _number(leaf) < _number(known):
                    values[path] = leaf


def _resources(
    readings: Sequence[FileReading], window: tuple[float, float] | None, duration_s: float, notes: list[str]
) -> dict[RecordKey, Leaf]:
    """Leaves by the best source of each figure: samples in the window, then counters, then samples without times."""
    timed, untimed = _samples(readings, window, notes)
    pairs, alone = pairs_of(readings)
    notes += alone
    counted: dict[RecordKey, Leaf] = {}
    if pairs:
        span = span_of(pairs, window, duration_s)
        notes += [f"{span.source}: {note}" for note in span.notes]
        counted = differences(pairs, span)
    found: dict[RecordKey, Leaf] = {}
    for source in (timed, counted, untimed):
        for path, leaf in source.items():
            known = found.setdefault(path, leaf)
            _compare(path, known, leaf, notes)
    _drop_idle(found)
    _page_cache(found, counted, timed, readings)
    return found


def _samples(
    readings: Sequence[FileReading], window: tuple[float, float] | None, notes: list[str]
) -> tuple[dict[RecordKey, Leaf], dict[RecordKey, Leaf]]:
    sampled = [reading for reading in readings if reading.samples is not None]
    clocks = [reading.samples for reading in sampled if reading.samples and is_timed(reading.samples)]
    timed: dict[RecordKey, Leaf] = {}
    untimed: dict[RecordKey, Leaf] = {}
    for reading in sampled:
        samples = reading.samples
        assert samples is not None
        place_in_time = is_timed(samples)
        if not place_in_time and window is not None:
            found = next((each for clock in clocks if (each := aligned(samples, clock)) is not None), None)
            if found is not None:
                samples, place_in_time = found, True
                notes.append(f"{reading.file}: no times; placed by its CPU shares beside a monitor that has them")
            else:
                notes.append(f"{reading.file}: no times: all its samples are averaged, ramp or not; run it with -t")
        elif window is None:
            notes.append(f"{reading.file}: the result names no time: all samples are averaged, ramp or not")
        leaves = _leaves(reading.file, samples, window if place_in_time else None)
        if place_in_time and window is not None and not leaves:
            notes.append(f"{reading.file}: none of its samples lies in the window; are both clocks in one time zone?")
        target = timed if place_in_time and window is not None else untimed
        for path, leaf in leaves.items():
            _compare(path, target.setdefault(path, leaf), leaf, notes)
    return timed, untimed


def _leaves(file: str, samples: MonitorSamples, window: tuple[float, float] | None) -> dict[RecordKey, Leaf]:
    leaves: dict[RecordKey, Leaf] = {}
    for path, mean in means(samples, window).items():
        meaning = samples.meanings[path]
        covered = f"mean over {mean.covered_s:.0f} s of the window" if window else "mean over all samples"
        leaves[path] = {
            "value": mean.value,
            "unit": meaning.unit,
            "source": f"{file}, {mean.place}",
            "definition": f"{meaning.definition}; {covered}",
        }
    return leaves


def _compare(path: RecordKey, known: Leaf, later: Leaf, notes: list[str]) -> None:
    if known is later or not isinstance(known, dict) or not isinstance(later, dict):
        return
    ours, theirs = _number(known), _number(later)
    least = 0.05 if path[-1].endswith("_fraction") else 1.0
    if max(ours, theirs) > least and abs(ours - theirs) > MOST_APART * max(ours, theirs):
        notes.append(
            f"{'.'.join(path)}: {ours:.4g} ({known['source']}) or {theirs:.4g} ({later['source']}); the first is taken"
        )


def _drop_idle(leaves: dict[RecordKey, Leaf]) -> None:
    """Devices that did nothing are not worth a line."""
    names = {path[2] for path in leaves if path[:2] == DEVICES}
    for name in names:
        paths = [path for path in leaves if path[:3] == (*DEVICES, name)]
        if all(_number(leaves[path]) == 0 for path in paths):
            for path in paths:
                del leaves[path]


def _page_cache(
    leaves: dict[RecordKey, Leaf],
    counted: Mapping[RecordKey, Leaf],
    timed: Mapping[RecordKey, Leaf],
    readings: Sequence[FileReading],
) -> None:
    """PostgreSQL's reads less the device's: what the operating system's cache answered. Both of the same seconds."""
    pages = next((r.values["engine", "page_kib"] for r in readings if ("engine", "page_kib") in r.values), None)
    measured = counted if BUFFER_READS in counted else timed
    asked = measured.get(BUFFER_READS)
    devices = {path[2]: leaf for path, leaf in measured.items() if path[:2] == DEVICES and path[-1] == "read_kib_per_s"}
    if pages is None or asked is None or not devices or not any(r.kind.startswith("PostgreSQL") for r in readings):
        return
    name = max(devices, key=lambda each: _number(devices[each]))
    value = _number(asked) - _number(devices[name]) / _number(pages)
    if value >= 0:
        assert isinstance(asked, dict)
        leaves["resources", "page_cache_hits_per_s"] = {
            "value": value,
            "unit": "pages",
            "source": f"{asked['source']}; less read_kib_per_s of {name} in the same snapshots",
            "definition": "pages that the operating system's cache gave the pool (double buffering)",
        }


def record_from_values(
    name: str, values: Mapping[RecordKey, Leaf], notes: Sequence[str], files: Sequence[str]
) -> RunRecord:
    """The valid record of these values. Raises InputError with one line for each problem."""
    data: dict[str, Any] = {
        "name": name,
        "source": "imported from " + ", ".join(files),
        "notes": [note[:10_000] for note in notes],
    }
    for path, leaf in values.items():
        set_value(data, path, leaf)
    data.setdefault("outcome", {})
    return validated(RunRecord, data, name)
