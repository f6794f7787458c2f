"""A chart as the page takes it: what crosses from the process that calculates to the browser."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oltpsim.models.input import read_document, validated, write_document
from oltpsim.scenarios.show.chart import Chart, LegendEntry
from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-exhibit-1"


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


@dataclass(frozen=True)
class Exhibit:
    """What a job leaves to be shown: a title, text in lines, charts."""

    title: str
    text: str
    drawings: tuple[Drawing, ...] = ()


def write_exhibit(path: Path, exhibit: Exhibit) -> None:
    """Write it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_document(path, FORMAT, asdict(exhibit))


def read_exhibit(path: Path) -> Exhibit | None:
    """What was written; None if there is none that can be read."""
    if not path.is_file():
        return None
    try:
        data = read_document(path, FORMAT, "an exhibit of the page", "make it again")
        return validated(Exhibit, data, str(path))
    except InputError:
        return None
