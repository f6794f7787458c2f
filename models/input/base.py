"""What all specs share: frozen, no unknown keys, no NaN, defaults validated, a docstring below a key describes it."""

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


@cache
def descriptions(spec: type[BaseModel]) -> dict[str, str]:
    """Descriptions of a spec's keys, by key. Read from the source when asked for: at every start it takes 0.1 s."""
    found = {}
    for kind in reversed(spec.__mro__):
        if issubclass(kind, Spec):
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
            assert isinstance(definition, ast.ClassDef)
            for statement, below in pairwise(definition.body):
                match statement, below:
                    case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(text))) if (
                        key in spec.model_fields
                    ):
                        found[key] = inspect.cleandoc(text)
    return found | {key: field.description for key, field in spec.model_fields.items() if field.description}


def _describe(schema: dict[str, Any], spec: type[BaseModel]) -> None:
    """Add what docstrings say to the JSON schema of a spec."""
    for key, text in descriptions(spec).items():
        schema["properties"][key]["description"] = text


class Spec(BaseModel):
    """Data that says what to simulate. Never holds a live object."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, json_schema_extra=_describe
    )


def _printable(text: str) -> str:
    """Names reach terminals and pages: nothing in them may move a cursor or break a line."""
    if not text.replace("\n", " ").isprintable():
        raise ValueError("must be printable text, without control characters")
    return text


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern="^[^\n]*$"), AfterValidator(_printable)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=10_000), AfterValidator(_printable)]
