"""From plain data to a spec: pydantic's errors become sentences here, with key, what came, what is allowed."""

import difflib
import inspect
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from oltpsim.models.input.base import descriptions
from oltpsim.simulator.errors import InputError

MOST_COMPARED = 100
MOST_SHOWN = 60
MOST_LINE = 600
"""Characters of a problem's line"""
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
    "too_short": "must not be empty",
}
Valid = TypeVar("Valid")


def validated(kind: type[Valid], data: object, where: str | Callable[[ErrorDetails], str]) -> Valid:
    """`data` as a spec or another type that pydantic knows. Raises InputError with a line for each problem.

    `where`: who wrote the data, a file or an option; or a function that says it of one of pydantic's errors.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        lines = (
            f"{where(problem) if callable(where) else where}: {sentence(problem, kind, data)}"
            for problem in _own_problems(error.errors())
        )
        cut = (line if len(line) <= MOST_LINE else f"{line[: MOST_LINE - 3]}..." for line in lines)
        raise InputError("\n".join(cut)) from error


def _own_problems(problems: Sequence[ErrorDetails]) -> Iterator[ErrorDetails]:
    """Without lists that are too short only because their members, told of too, are wrong."""
    for problem in problems:
        place = problem["loc"]
        inside = any(other["loc"][: len(place)] == place and other is not problem for other in problems)
        if not (problem["type"] == "too_short" and inside):
            yield problem


def sentence(problem: ErrorDetails, root: Any, data: Any) -> str:
    """`key: what is wrong` of one of pydantic's errors; `root` is the type that `data` was to be.

    A problem of no single key stands under the document's name, as in `run record: ...`.
    """
    keys, owner, annotation = _walk(problem, root)
    path = ".".join(map(_printable_key, keys)) or _document_name(annotation)
    kind, came = problem["type"], _as_written(keys, data)
    if kind == "extra_forbidden" and owner:
        fields = owner.model_fields
        return f"{path}: unknown key{did_you_mean(keys[-1], fields)}; allowed: {', '.join(sorted(fields))}"
    if kind == "missing" and owner:
        description = descriptions(owner).get(keys[-1])
        return f"{path}: missing; add '{keys[-1]}: ...'{f', {description}' if description else ''}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        names = specs_by_kind(annotation)
        came = came.get("kind") if isinstance(came, dict) else came
        return f"{path}.kind: got {value_text(came)}{did_you_mean(str(came), names)}; allowed: {', '.join(names)}"
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return f"{path}: got {value_text(came)}; expected keys with values"
    return f"{path}: got {value_text(came)}; {requirement(problem)}"


def problem_keys(problem: ErrorDetails, root: Any) -> list[str]:
    """Keys of one of pydantic's errors as they are written: without the kinds that pydantic puts between them."""
    return _walk(problem, root)[0]


def specs_by_kind(annotation: Any) -> dict[str, type[BaseModel]]:
    """Specs of a union by what their key `kind` says; empty if there is nothing to choose."""
    specs = list(_models_in(annotation))
    named = {
        spec: typing.get_args(spec.model_fields["kind"].annotation) for spec in specs if "kind" in spec.model_fields
    }
    return {kind: spec for spec, kinds in named.items() for kind in kinds} if len(specs) > 1 else {}


def requirement(problem: ErrorDetails) -> str:
    """What one of pydantic's errors says is allowed."""
    message = problem["msg"].removeprefix("Value error, ").rstrip(".")
    return ALLOWED.get(problem["type"], re.sub("^(Input|String) should", "must", message))


def value_text(value: Any) -> str:
    """A value as it would be written in YAML, cut if it is long; `nothing` for None."""
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)', to be put behind an unknown name; empty if nothing known is near."""
    close = difflib.get_close_matches(name[:MOST_COMPARED], list(known), n=2, cutoff=0.5)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def repeated_name(names: Iterable[str]) -> str | None:
    """The first name, by the alphabet, that is there more than once; None if none is."""
    return min((name for name, count in Counter(names).items() if count > 1), default=None)


def _document_name(annotation: Any) -> str:
    """The words of its class's name: `run record` of RunRecord, `scenario` of ScenarioSpec."""
    spec = next(_models_in(annotation), None)
    words = re.findall("[A-Z][a-z]*", spec.__name__.removesuffix("Spec")) if spec else ["value"]
    return " ".join(words).lower()


def _as_written(keys: Sequence[str], data: Any) -> Any:
    """What stands at a place, before its unit was taken off; pydantic tells only what was left."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else data[int(key)]
    return data


def _printable_key(key: str) -> str:
    return key if key.isprintable() and 0 < len(key) <= MOST_SHOWN else value_text(key)


def _walk(problem: ErrorDetails, root: Any) -> tuple[list[str], type[BaseModel] | None, Any]:
    """Keys to a problem, the spec that has the last of them, and the type that is to stand there."""
    keys: list[str] = []
    owner, annotation = None, root
    for key in map(str, problem["loc"]):
        kinds = specs_by_kind(annotation)
        if key in kinds:
            annotation = kinds[key]
            continue
        if _is_choice_of_values(annotation):  # pydantic's name for one of them, which nobody wrote
            annotation = None
            continue
        keys.append(key)
        if typing.get_origin(annotation) in (tuple, dict):  # a place in a list, or a free name
            owner, annotation = None, typing.get_args(annotation)[typing.get_origin(annotation) is dict]
            continue
        owner = next(_models_in(annotation), None)
        field = owner.model_fields.get(key) if owner else None
        annotation = field.annotation if field else None
    return keys, owner, annotation


def _is_choice_of_values(annotation: Any) -> bool:
    """Whether it is one of several types of plain values."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    members = [member for member in typing.get_args(annotation) if member is not type(None)]
    return is_union and len(members) > 1 and next(_models_in(annotation), None) is None


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)
