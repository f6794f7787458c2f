"""What pydantic found wrong, in a person's words: key, what came, what is allowed, the nearest name."""

from __future__ import annotations

import difflib
import inspect
import re
import typing
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

JOB_KINDS = ("load", "scan", "lookups", "mutex", "query_mix", "partitioned_store")
"""What `job.kind` may say."""
MOST_COMPARED = 100
KINDS = {"arrivals": ("closed", "open"), "job": JOB_KINDS}
"""Kinds of what stands under a key; elsewhere those of disks."""
DISK_KINDS = ("rotating", "flash")
UNION_TAGS = {*DISK_KINDS, *(kind for kinds in KINDS.values() for kind in kinds)}
MOST_SHOWN = 60
ALLOWED = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be printable text",
    "tuple_type": "must be a list",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be one line",
}


def sentence(problem: Any, root: Any, data: Any, at: str = "") -> str:
    """`key: what is wrong` of one of pydantic's errors; `root` is the type that `data` was to be, at the key `at`."""
    keys = [str(key) for key in problem["loc"] if key not in UNION_TAGS]
    path = ".".join(([at] if at else []) + [_word(key) for key in keys]) or "scenario"
    kind, came = problem["type"], _written(keys, data)
    if kind == "extra_forbidden":
        allowed = _model_at(keys[:-1], root, data).model_fields
        return f"{path}: unknown key{nearest(keys[-1], allowed)}; allowed: {', '.join(sorted(allowed))}"
    if kind == "missing":
        field = _model_at(keys[:-1], root, data).model_fields[keys[-1]]
        meaning = f", {field.description}" if field.description else ""
        return f"{path}: missing; add '{keys[-1]}: ...'{meaning}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        names = KINDS.get(path.rpartition(".")[2], DISK_KINDS)
        came = came.get("kind") if isinstance(came, dict) else came
        return f"{path}.kind: {shown(came)}{nearest(str(came), names)}; allowed: {', '.join(names)}"
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return f"{path}: {shown(came)}; expected keys with values"
    return f"{path}: {shown(came)}; {allowed_by(problem)}"


def allowed_by(problem: Any) -> str:
    """What one of pydantic's errors says is allowed."""
    message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    return ALLOWED.get(problem["type"], re.sub("^(Input|String) should", "must", message))


def shown(value: Any) -> str:
    """What came, as it would be written in YAML, cut if it is long."""
    if value is None:
        return "got nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"got {text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + '...'}"


def _written(keys: Sequence[str], data: Any) -> Any:
    """What stands at a place, before its unit was taken off; pydantic tells only what was left."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else data[int(key)]
    return data


def _word(key: str) -> str:
    return key if key.isprintable() and 0 < len(key) <= MOST_SHOWN else shown(key).removeprefix("got ")


def _model_at(keys: Sequence[str], root: Any, data: Any) -> type[BaseModel]:
    """The spec that stands at a place below `root`; of several kinds the one that `data` has there."""
    annotation = root
    for key in keys:
        if typing.get_origin(annotation) is tuple:  # a key in a list is a place in it
            annotation, data = typing.get_args(annotation)[0], data[int(key)] if isinstance(data, list) else None
            continue
        names_are_free = typing.get_origin(annotation) is dict
        field = None if names_are_free else _chosen(annotation, data).model_fields[key]
        annotation = typing.get_args(annotation)[1] if field is None else field.annotation
        data = data.get(key) if isinstance(data, dict) else None
    return _chosen(annotation, data)


def _chosen(annotation: Any, data: Any) -> type[BaseModel]:
    models = list(_models_in(annotation))
    wanted = data.get("kind") if isinstance(data, dict) else None
    fitting = [m for m in models if "kind" in m.model_fields and m.model_fields["kind"].default == wanted]
    return (fitting or models)[0]


def _models_in(annotation: Any) -> typing.Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)


def nearest(name: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)' if something known is near."""
    close = difflib.get_close_matches(name[:MOST_COMPARED], list(known), n=2, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(c) for c in close)}?)" if close else ""
