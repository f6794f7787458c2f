"""A table of runs: a CSV with a run in each row, and a mapping file that says what its columns are."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from calibration.records import Leaf, RunRecord, Told
from calibration.records import Path as Keys
from calibration.records.merging import record_of
from models.input import Name, Number, SourceFile, Spec, Text, nearest, read_mapping, sentence
from simulator.errors import InputError

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
    """What a table's columns are, and what all its rows share."""

    source: Text
    name: tuple[Name, ...] = Field(min_length=1, description="columns whose words name the run")
    window: Literal["whole", "steady"]
    rate_definition: Text
    delimiter: str = Field(default=",", min_length=1, max_length=1)
    columns: dict[Name, Column] = Field(min_length=1)
    constants: dict[Name, Constant] = Field(default_factory=dict)


def read_table(table: Path, mapping: Path) -> list[RunRecord]:
    """A record for each row, or InputError with the first row that can't be one; never a part of the table."""
    plan = _plan(mapping)
    if not table.is_file():
        raise InputError(f"{table}: is no file; expected a CSV table")
    file = SourceFile(table, table.name)
    rows = file.rows(plan.delimiter)
    if not 0 < len(rows) <= MOST_ROWS:
        file.refuse("", f"{len(rows)} rows", f"1 to {MOST_ROWS:,}", "split the table")
    for column in [*plan.columns, *plan.name]:
        if column not in rows[0]:
            raise InputError(
                f"{mapping.name}: column {column!r}{nearest(column, rows[0])} is not in {table.name}; "
                f"it has {', '.join(rows[0])}"
            )
    keys = {column: _path(spec.key, mapping.name) for column, spec in plan.columns.items()}
    fixed = {_path(key, mapping.name): constant for key, constant in plan.constants.items()}
    shared: dict[Keys, Leaf] = {}
    for path, constant in fixed.items():
        leaf: dict[str, object] = {"value": constant.value, "source": f"{mapping.name}: {plan.source}"}
        unit: dict[str, object] = {} if _is_text(path) else {"unit": constant.unit}
        shared[path] = leaf | unit | {"definition": constant.definition}
    shared["window", "kind"], shared["window", "rate_definition"] = plan.window, plan.rate_definition
    records: list[RunRecord] = []
    lines: dict[str, int] = {}
    for at, row in enumerate(rows, 2):
        values = dict(shared)
        for column, spec in plan.columns.items():
            if row[column].strip():
                values[keys[column]] = _leaf(file, plan, spec, keys[column], row[column], f"line {at}, {column}")
        name = " ".join(row[column] for column in plan.name)
        if name in lines:
            file.refuse(f"line {at}", f"the name {name!r} of line {lines[name]} again", "a name for each row",
                        "add a column to 'name' in the mapping")  # fmt: skip
        lines[name] = at
        try:
            records.append(record_of(name, values, (), [f"{table.name}, line {at}"]))
        except InputError as error:
            raise InputError(
                "\n".join(f"{table.name}, line {at}: {line}" for line in str(error).splitlines())
            ) from error
    return records


def _plan(path: Path) -> TableMapping:
    data = read_mapping(path)
    try:
        return TableMapping.model_validate(data)
    except ValidationError as error:
        raise InputError(
            "\n".join(f"{path.name}: {sentence(each, TableMapping, data)}" for each in error.errors())
        ) from error


def _leaf(file: SourceFile, plan: TableMapping, spec: Column, path: Keys, word: str, place: str) -> Leaf:
    source = f"{file.name}, {place}: {plan.source}"
    if _is_text(path):
        return {"value": word, "source": source, "definition": spec.definition}
    value = file.number(word, place) * spec.factor
    return {"value": value, "unit": spec.unit, "source": source, "definition": spec.definition}


def _path(key: str, where: str) -> Keys:
    """A dotted key as keys; what stands in a table of names (devices, classes) may be any word."""
    model: Any = RunRecord
    words = tuple(key.split("."))
    for at, word in enumerate(words):
        fields = getattr(_model(model), "model_fields", None)
        if typing.get_origin(model) is dict:
            model = typing.get_args(model)[1]
        elif fields is not None and word in fields:
            model = fields[word].annotation
        else:
            known = ", ".join(fields or {})
            raise InputError(
                f"{where}: {key}: {'.'.join(words[: at + 1])} is no key of a run{nearest(word, fields or {})}; "
                f"known: {known}"
            )
    if "value" not in getattr(_model(model), "model_fields", {}):
        raise InputError(f"{where}: {key}: is no figure; give one of its keys")
    return words


def _is_text(path: Keys) -> bool:
    model: Any = RunRecord
    for word in path:
        model = (
            typing.get_args(model)[1]
            if typing.get_origin(model) is dict
            else _model(model).model_fields[word].annotation
        )
    return issubclass(_model(model), Told)


def _model(annotation: Any) -> type[BaseModel]:
    """The model that an optional key holds."""
    found = [each for each in typing.get_args(annotation) if isinstance(each, type) and issubclass(each, BaseModel)]
    return found[0] if found else annotation
