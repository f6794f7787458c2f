"""Write docs/reference/python.md from the docstrings of oltpsim."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import oltpsim

PAGE = Path(__file__).parent / "reference" / "python.md"
HEAD = """# Python

<!-- Made by `python docs/build_python.py` from the docstrings of oltpsim. Do not edit. -->

"""


def signature(name: str, thing: object) -> str:
    """`name(arguments) -> type`, a line for each argument."""
    found = inspect.signature(thing)  # type: ignore[arg-type]
    lines = [re.sub(r": '([^']*)'", r": \1", f"    {argument},") for argument in found.parameters.values()]
    keywords = next((at for at, each in enumerate(found.parameters.values()) if each.kind is each.KEYWORD_ONLY), None)
    if keywords is not None:
        lines.insert(keywords, "    *,")
    result = "" if found.return_annotation is inspect.Signature.empty else f" -> {found.return_annotation}"
    return "\n".join([f"{name}(", *lines, f"){result}:"]) if lines else f"{name}(){result}:"


def entry(name: str, thing: object, prefix: str = "") -> str:
    """A function, or a class with its public methods and fields, as Python that one can read."""
    text = inspect.getdoc(thing) or ""
    if not inspect.isclass(thing):
        return f"### `{prefix}{name}`\n\n```text\n{signature(name, thing)}\n\n{text}\n```\n"
    members = [
        f"{each}{'' if isinstance(value, property) else '(...)'}: {(inspect.getdoc(value) or '').partition(chr(10))[0]}"
        for each, value in sorted(vars(thing).items())
        if not each.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)) and value.__doc__
    ]
    fields = [f"{each}: {kind}" for each, kind in vars(thing).get("__annotations__", {}).items()]
    return f"### `{prefix}{name}`\n\n```text\n" + "\n".join([text, "", *fields, *members]).strip() + "\n```\n"


def page() -> str:
    """The whole page."""
    parts = [HEAD, f"```text\n{inspect.getdoc(oltpsim)}\n```\n", "## Functions\n"]
    things = [(name, getattr(oltpsim, name)) for name in oltpsim.__all__ if name != "InputError"]
    parts += [entry(name, thing, "oltpsim.") for name, thing in things if inspect.isfunction(thing)]
    parts += ["## Values\n", *(entry(name, thing, "oltpsim.") for name, thing in things if inspect.isclass(thing))]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
