"""A table of runs: a CSV with a run in each row, and a mapping file that says what its columns are."""

import typing
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from oltpsim.calibration.records import Leaf, ObservedText, RecordKey, RunRecord, record_from_values
from oltpsim.models.input import Name, Number, SourceFile, Spec, Text, did_you_mean, read_mapping, validated
from oltpsim.simulator.errors import InputError

MOST_ROWS = 10_000


class Column(Spec):
    """A column: the record's key that it fills, the unit of its numbers, and the factor to the key's unit."""

    key: Name
    unit: Name = "text"
    factor: Number = Field(default=1.0, gt=0)
    definition: Text


class Constant(Spec):
    """A figure or text that all rows share."""

    value: Number | Text
    unit: Name = "text"
    definition: Text


class TableMapping(Spec):
    """Mapping of a table: its columns, and what all its rows share."""

    source: Text
    name: tuple[Name, ...] = Field(min_length=1, description="columns whose words name the run")
    window: Literal["whole", "steady"]
    rate_definition: Text
    delimiter: str = Field(default=",", min_length=1, max_length=1)
    columns: dict[Name, Column] = Field(min_length=1)
    constants: dict[Name, Constant] = Field(default_factory=dict)


def read_run_table(table: Path, mapping: Path) -> list[RunRecord]:
    """A record for each row, or InputError with the first row that can't be one; never a part of the table."""
    plan = validated(TableMapping, read_mapping(mapping), mapping.name)
    if not table.is_file():
        raise InputError(f"{table}: is no file; expected a CSV table")
    file = SourceFile(table, table.name)
    rows = file.rows(plan.delimiter)
    if not 0 < len(rows) <= MOST_ROWS:
        file.refuse("", f"{len(rows)} rows", f"1 to {MOST_ROWS:,}", "split the table")
    for column in [*plan.columns, *plan.name]:
        if column not in rows[0]:
            hint, known = did_you_mean(column, rows[0]), ", ".join(rows[0])
            raise InputError(f"{mapping.name}: column {column!r}{hint} is not in {table.name}; it has {known}")
    fields = {column: _field(spec.key, mapping.name) for column, spec in plan.columns.items()}
    shared: dict[RecordKey, Leaf] = {
        ("window", "kind"): plan.window,
        ("window", "rate_definition"): plan.rate_definition,
    }
    for dotted, constant in plan.constants.items():
        key, is_text = _field(dotted, mapping.name)
        unit = {} if is_text else {"unit": constant.unit}
        source = f"{mapping.name}: {plan.source}"
        shared[key] = {"value": constant.value, "source": source, **unit, "definition": constant.definition}
    records: list[RunRecord] = []
    lines: dict[str, int] = {}
    for at, row in enumerate(rows, 2):
        values = dict(shared)
        for column, spec in plan.columns.items():
            word, (key, is_text), place = row[column], fields[column], f"line {at}, {column}"
            if word.strip():
                leaf = (
                    {"value": word} if is_text else {"value": file.number(word, place) * spec.factor, "unit": spec.unit}
                )
                source = f"{file.name}, {place}: {plan.source}"
                values[key] = {**leaf, "source": source, "definition": spec.definition}
        name = " ".join(row[column] for column in plan.name)
        if name in lines:
            came, remedy = f"the name {name!r} of line {lines[name]} again", "add a column to 'name' in the mapping"
            file.refuse(f"line {at}", came, "a name for each row", remedy)
        lines[name] = at
        try:
            records.append(record_from_values(name, values, (), [f"{table.name}, line {at}"]))
        except InputError as error:
            sentences = (f"{table.name}, line {at}: {line}" for line in str(error).splitlines())
            raise InputError("\n".join(sentences)) from error
    return records


def _field(key: str, where: str) -> tuple[RecordKey, bool]:
    """A dotted key's words, and whether it holds text; in a table of names (devices, classes) any word is a key."""
    kind: Any = RunRecord
    words = tuple(key.split("."))
    for at, word in enumerate(words):
        fields = getattr(_model(kind), "model_fields", {})
        if typing.get_origin(kind) is dict:
            kind = typing.get_args(kind)[1]
        elif word in fields:
            kind = fields[word].annotation
        else:
            raise InputError(
                f"{where}: {key}: {'.'.join(words[: at + 1])} is no key of a run{did_you_mean(word, fields)}; "
                f"known: {', '.join(fields)}"
            )
    if "value" not in getattr(_model(kind), "model_fields", {}):
        raise InputError(f"{where}: {key}: is no figure; give one of its keys")
    return words, issubclass(_model(kind), ObservedText)


def _model(annotation: Any) -> type[BaseModel]:
    """The model that an optional key holds."""
    models = [kind for kind in typing.get_args(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return models[0] if models else annotation
