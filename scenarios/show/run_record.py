"""A run record as text: its figures with their sources, the laws it was held against, what it lacks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from calibration.importers import RunFiles
from calibration.records import Finding, MeasuredSeries, Observed, ObservedText, RunRecord, check_record, missing_keys
from scenarios.show.numbers import significant

WORDS = {True: "holds", False: "BROKEN", None: "-"}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Observed | ObservedText]]:
    """Every figure and text of a record under its key, in the record's order."""
    if isinstance(value, Observed | ObservedText):
        yield ".".join(path), value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif hasattr(type(value), "model_fields") and not isinstance(value, MeasuredSeries):
        for key in type(value).model_fields:
            yield from leaves(getattr(value, key), (*path, key))


def headline(record: RunRecord) -> str:
    """One line for lists."""
    outcome, parts = record.outcome, []
    if outcome.new_orders_per_minute:
        parts.append(f"{significant(outcome.new_orders_per_minute.value, 5)} new orders/min")
    if outcome.transactions_per_s:
        parts.append(f"{significant(outcome.transactions_per_s.value, 4)} transactions/s")
    if outcome.job_figure:
        parts.append(f"{significant(outcome.job_figure.value, 4)} {outcome.job_figure.unit}")
    if record.workload.clients:
        parts.append(f"{record.workload.clients.value:g} clients")
    if record.window.duration_s:
        parts.append(f"{record.window.kind}, {significant(record.window.duration_s.value)} s")
    return ", ".join(parts)


def record_lines(record: RunRecord) -> list[str]:
    """The record: window, figures, series, laws, doubts, gaps."""
    window = record.window
    lines = [f"run {record.name}: {headline(record)}", f"  rate: {window.rate_definition}", "  figures"]
    shown = [(key, _value(leaf), leaf.source) for key, leaf in leaves(record)]
    widths = [max(len(row[column]) for row in shown) for column in (0, 1)]
    lines += [f"    {key:<{widths[0]}}  {value:>{widths[1]}}  {source}" for key, value, source in shown]
    for name, series in record.outcome.series.items():
        low, high = min(series.values), max(series.values)
        lines.append(f"    series {name}: {len(series.values)} points of {series.interval_s:.3g} s, "
                     f"{significant(low)} to {significant(high)}; {series.source}")  # fmt: skip
    lines += ["  laws", *finding_lines(check_record(record))]
    if record.notes:
        lines += ["  noted", *(f"    {note}" for note in record.notes)]
    gaps = missing_keys(record)
    lines += ["  missing", *(f"    {gap}" for gap in gaps)] if gaps else []
    return lines


def _value(leaf: Observed | ObservedText) -> str:
    if isinstance(leaf, ObservedText):
        return leaf.value
    text = significant(leaf.value, 5)
    return text.rstrip("0").rstrip(".") if "." in text else text


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """One line for each law."""
    return [f"    {WORDS[finding.holds]:<6}  {finding.law}: {finding.text}" for finding in findings]


def found_lines(found: RunFiles) -> list[str]:
    """What each file was taken for."""
    lines = ["  files"]
    width = max((len(reading.file) for reading in found.readings), default=0)
    for reading in found.readings:
        gave = [f"{len(reading.values)} values"] if reading.values else []
        gave += [f"{len(reading.samples.rows)} samples"] if reading.samples else []
        gave += [f"{len(reading.snapshot.counters)} counters"] if reading.snapshot and reading.snapshot.counters else []
        lines.append(f"    {reading.file:<{width}}  {reading.kind}: {', '.join(gave) or 'nothing for the record'}")
    if found.unknown:
        lines.append(f"    not recognised: {', '.join(found.unknown)}")
    return lines


def as_csv(records: Sequence[RunRecord]) -> str:
    """A row for each figure: run, key, value, unit as read, source, definition."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "key", "value", "unit_as_read", "source", "definition"])
    for record in records:
        for key, leaf in leaves(record):
            unit = leaf.unit if isinstance(leaf, Observed) else ""
            writer.writerow([record.name, key, leaf.value, unit, leaf.source, leaf.definition])
    return text.getvalue()
