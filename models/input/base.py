"""What all specs share: frozen, no unknown keys, no NaN, defaults validated."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


class Spec(BaseModel):
    """Data that says what to simulate. Never holds a live object."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, use_attribute_docstrings=True
    )


def _printable(text: str) -> str:
    """Names reach terminals and pages: nothing in them may move a cursor or break a line."""
    if not text.replace("\n", " ").isprintable():
        raise ValueError("must be printable text, without control characters")
    return text


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern="^[^\n]*$"), AfterValidator(_printable)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=10_000), AfterValidator(_printable)]
