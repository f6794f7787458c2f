"""What is wrong with the words of a command line, in one sentence: which option, what came, what is allowed."""

from __future__ import annotations

from typing import Any

import typer
from pydantic import ValidationError

from models.input import allowed_by, shown

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Base of what typer raises for wrong words; it offers only some of its subclasses under a public name."""
HELP_OF_ALL = "Usage:"


def sentence(error: Any) -> str:
    """One line; or the whole help, if that is what typer answers to a command without words."""
    text = str(error.format_message())
    if text.startswith(HELP_OF_ALL):
        return text
    command = error.ctx.command_path if error.ctx is not None else "oltpsim"
    return f"{command}: {_wrong_value(error) or _first_lower(text)}; '{command} --help' says what is allowed"


def _wrong_value(error: Any) -> str | None:
    """'--seed: got '-1'; must be ...', if a value is what is wrong and typer's own message leaves out which."""
    if not isinstance(error.__cause__, ValidationError):
        return None
    problem = error.__cause__.errors()[0]
    name = max(error.param.opts, key=len) if error.param.param_type_name == "option" else error.param.name
    return f"{name}: {shown(problem['input'])}; {allowed_by(problem)}"


def _first_lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
