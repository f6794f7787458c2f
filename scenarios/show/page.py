"""What every page has: the template's words for numbers, the pictures' program, one file that needs no network."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenarios.show import numbers as report_numbers
from scenarios.show import words as report_text

TEMPLATES = Path(__file__).parent / "templates"
FILTERS = ("count", "significant", "share", "signed_share", "time", "milliseconds", "span", "size")


def render(template: str, context: dict[str, Any]) -> str:
    """A page from a template, with plotly.js in it: same figures, same bytes."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {name: _unbroken(getattr(report_numbers, name)) for name in FILTERS}
    environment.filters |= {"unbroken": _unbroken(str), "class_name": report_text.class_name}
    return environment.get_template(template).render(context | {"plotly": _packed_plotly()})


def _unbroken(write: Callable[..., str]) -> Callable[..., str]:
    """The same text with spaces at which no line is broken: a number stays with its unit."""

    def written(*values: Any) -> str:
        return write(*values).replace(" ", "\u00a0")

    return written


def _packed_plotly() -> str:
    """plotly.js, compressed to a third: the page unpacks it with what every browser brings since 2023."""
    from plotly.offline import get_plotlyjs

    packed = gzip.compress(get_plotlyjs().encode(), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode("ascii")
