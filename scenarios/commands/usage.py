"""Sentence about a command line that can't be used: which option, what came, what is allowed."""

from typing import Any

from pydantic import ValidationError

from oltpsim.models.input import requirement, value_text


def usage_sentence(error: Any) -> str:
    """One line: the command, the option, what came, what is allowed."""
    text = str(error.format_message())
    command = error.ctx.command_path if error.ctx is not None else "oltpsim"
    problem = _wrong_value(error) or text[:1].lower() + text[1:].rstrip(".")
    return f"{command}: {problem}; '{command} --help' says what is allowed"


def _wrong_value(error: Any) -> str | None:
    """'--seed: got '-1'; must be ...', if a value is what is wrong and typer's own message leaves out which."""
    if not isinstance(error.__cause__, ValidationError):
        return None
    problem = error.__cause__.errors()[0]
    name = max(error.param.opts, key=len) if error.param.param_type_name == "option" else error.param.name
    return f"{name}: got {value_text(problem['input'])}; {requirement(problem)}"
