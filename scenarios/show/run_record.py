"""A run record as text: its figures with their sources, the laws it was held against, what it lacks."""

from collections.abc import Iterator, Sequence
from typing import Any

from oltpsim.calibration.importers import RunFiles
from oltpsim.calibration.records import Finding, Observed, ObservedText, RunRecord, check_record, missing_keys
from oltpsim.models.input import document_text
from oltpsim.scenarios.show.numbers import significant
from oltpsim.scenarios.show.table import aligned, csv_text

FORMAT = "oltpsim-records-1"
WORDS = {True: "holds", False: "BROKEN", None: "-"}


def record_leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Observed | ObservedText]]:
    """Every figure and text of a record under its key, in the record's order."""
    if isinstance(value, Observed | ObservedText):
        yield ".".join(path), value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from record_leaves(each, (*path, key))
    elif hasattr(type(value), "model_fields"):
        for key in type(value).model_fields:
            yield from record_leaves(getattr(value, key), (*path, key))


ROW_COLUMNS = ("new_orders_per_min", "transactions_per_s", "figure", "figure_unit", "clients", "window", "duration_s")


def record_row(record: RunRecord) -> dict[str, float | str]:
    """What `record_headline` says, by `ROW_COLUMNS`, without what the record lacks."""
    outcome = record.outcome
    figures = {
        "new_orders_per_min": outcome.new_orders_per_minute,
        "transactions_per_s": outcome.transactions_per_s,
        "figure": outcome.job_figure,
        "clients": record.workload.clients,
        "duration_s": record.window.duration_s,
    }
    row: dict[str, float | str] = {name: found.value for name, found in figures.items() if found}
    row["window"] = record.window.kind
    return row | ({"figure_unit": outcome.job_figure.unit} if outcome.job_figure else {})


def record_headline(record: RunRecord) -> str:
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
    lines = [f"run {record.name}: {record_headline(record)}", f"  rate: {window.rate_definition}", "  figures"]
    shown = [(key, _value(leaf), leaf.source) for key, leaf in record_leaves(record)]
    lines += aligned(shown, "<><", indent=4)
    for name, series in record.outcome.series.items():
        low, high = min(series.values), max(series.values)
        points = f"{len(series.values)} points of {series.interval_s:.3g} s"
        lines.append(f"    series {name}: {points}, {significant(low)} to {significant(high)}; {series.source}")
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


def file_lines(found: RunFiles) -> list[str]:
    """What each file was taken for."""
    rows = []
    for reading in found.readings:
        counters = reading.snapshot.counters if reading.snapshot else {}
        gave = [f"{len(reading.values)} values"] if reading.values else []
        gave += [f"{len(reading.samples.rows)} samples"] if reading.samples else []
        gave += [f"{len(counters)} counters"] if counters else []
        rows.append([reading.file, f"{reading.kind}: {', '.join(gave) or 'nothing for the record'}"])
    lines = ["  files", *aligned(rows, indent=4)]
    if found.unknown:
        lines.append(f"    not recognised: {', '.join(found.unknown)}")
    return lines


def records_json(records: Sequence[RunRecord]) -> str:
    """The records as an oltpsim-records-1 document, without what they lack."""
    return document_text(FORMAT, {"runs": [record.model_dump(mode="json", exclude_none=True) for record in records]})


def records_csv(records: Sequence[RunRecord]) -> str:
    """A row for each figure: run, key, value, unit as read, source, definition."""
    rows = [
        [record.name, key, leaf.value, leaf.unit if isinstance(leaf, Observed) else "", leaf.source, leaf.definition]
        for record in records
        for key, leaf in record_leaves(record)
    ]
    return csv_text(("run", "key", "value", "unit_as_read", "source", "definition"), rows)
