"""A chart as the page takes it: what crosses from the process that calculates to the browser."""

from dataclasses import dataclass
from typing import Any

from scenarios.show.chart import Chart, LegendEntry


@dataclass(frozen=True)
class Drawing:
    """A chart without the functions that made it."""

    key: str
    title: str
    alternative: str
    caption: str
    height_px: int
    legend: tuple[LegendEntry, ...]
    figure: dict[str, Any]


def drawing_of(chart: Chart) -> Drawing:
    """The drawing of a chart."""
    return Drawing(
        chart.key, chart.title, chart.alternative, chart.caption, chart.height_px, chart.legend, chart.figure
    )
