"""The frame of every page: one HTML file that needs no network, light and dark, on a desk, a phone and paper."""

import base64
import gzip
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from oltpsim.scenarios.show import numbers, words
from oltpsim.scenarios.show.chart import Chart
from oltpsim.scenarios.show.palette import THEMES

TEMPLATES = Path(__file__).parent / "templates"
FILTERS = ("count", "significant", "share", "signed_share", "time_text", "milliseconds", "span", "size")


def html_page(template: str, charts: Iterable[Chart | None], content: dict[str, Any]) -> str:
    """A page from a template that shows the charts, by their keys: same content, same bytes."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {name: _unbroken(getattr(numbers, name)) for name in FILTERS}
    environment.filters |= {"unbroken": _unbroken(str), "class_name": words.class_name}
    plotly = plotly_js()
    packed = gzip.compress(plotly.encode(), compresslevel=9, mtime=0)
    frame = {
        "figures": {chart.key: chart.figure for chart in charts if chart is not None},
        "themes": THEMES,
        "plotly_licence": plotly[: plotly.index("*/")].strip("/* \n"),
        "plotly": base64.b64encode(packed).decode("ascii"),
    }
    return environment.get_template(template).render(content | frame)


def plotly_js() -> str:
    """The program that draws, as plotly brings it, without loading plotly's Python."""
    found = find_spec("plotly")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def _unbroken(write: Callable[..., str]) -> Callable[..., str]:
    """The same text with spaces at which no line is broken: a number stays with its unit."""

    def written(*values: Any) -> str:
        return write(*values).replace(" ", "\u00a0")

    return written
