"""Documents: JSON with a `format`, the same bytes for the same content; files are written whole or not at all."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oltpsim.models.input.problems import value_text
from oltpsim.simulator.errors import InputError


def document_text(form: str, content: dict[str, Any]) -> str:
    """A document's text: keys sorted, a line for each value, no NaN."""
    return json.dumps({"format": form, **content}, sort_keys=True, indent=1, allow_nan=False) + "\n"


def write_document(path: Path, form: str, content: dict[str, Any]) -> None:
    """Write a document whole or not at all. Raises InputError if the place can't be written."""
    write_whole(path, document_text(form, content))


def content_of(text: str, form: str, where: str, thing: str, remedy: str) -> dict[str, Any]:
    """The content of a document's text, without its format. Raises InputError that says what it is instead.

    `thing`: what the document is, as in 'not a saved run'; `remedy`: what to do, as in 'make one with ...'.
    """
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not {thing}: it is not JSON ({error}); {remedy}") from error
    named = data.pop("format", None) if isinstance(data, dict) else None
    if named != form:
        raise InputError(f"{where}: not {thing}: format: got {value_text(named)}, expected {form!r}; {remedy}")
    return dict(data)


def read_document(path: Path, form: str, thing: str, remedy: str) -> dict[str, Any]:
    """The content of a document's file. Raises InputError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {remedy}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {thing}: it is not JSON ({error}); {remedy}") from error
    return content_of(text, form, str(path), thing, remedy)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def write_whole(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename: readers see all of it or nothing."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary name to write under; the file gets its own name when that is done. Raises InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            yield temporary
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
