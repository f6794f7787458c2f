"""What the two makers of C++ records share: fields that a dataclass declares, comments, and a header that is made.

Standard library only, and readable by an older Python: this runs before there is an environment.
"""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_header(path: Path, text: str) -> None:
    """Write a header if it isn't up to date."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def declared_fields(record: ast.ClassDef) -> Iterator[tuple[str, ast.expr, str]]:
    """Name, annotation and docstring of each field."""
    for line, after in zip(record.body, [*record.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and not ast.unparse(line.annotation).startswith("ClassVar"):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield ast.unparse(line.target), line.annotation, str(after.value.value) if is_text else ""  # type: ignore[union-attr, attr-defined]


def comment(text: str, indent: str = "") -> list[str]:
    """Lines of a C++ comment, by paragraph."""
    lines = [line for part in text.split("\n\n") for line in textwrap.wrap(" ".join(part.split()), 110)]
    return [f"{indent}// {line}" for line in lines]


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names of a module and what is assigned to them, a tuple's one by one."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(map(ast.unparse, target.elts), node.value.elts, strict=True)
                else:
                    yield ast.unparse(target), node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield ast.unparse(node.target), node.value
