"""One chart: marks on a pair of axes as plain values, and the JSON that plotly.js draws of them.

Plotly itself isn't loaded. Texts of marks are plain: what they hold is never read as a tag.
"""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from oltpsim.scenarios.show.numbers import number_tick
from oltpsim.scenarios.show.palette import FAINT, GREY, translucent

ROW_PX, BAR_ROWS, LABEL_ROWS = 58, 0.38, 0.44
"""a chart of rows: height of a row, width of its bar and height of its label above it, in rows"""
HOVER_LETTERS = 30
"""a box beside a point has half of a phone's width"""
LOG_FROM, LOG_MARGIN = 10.0, 1.15
"""a scale that spans more is logarithmic"""
MOST_TICKS = 6
GLYPHS = {
    "circle": "●",
    "circle-open": "○",
    "diamond": "◆",
    "square": "■",
    "triangle-up": "▲",
    "x": "✖",
    "x-thin-open": "✕",
    "star": "★",
    "line-ns-open": "|",
}
HATCHED = {"shape": "/", "size": 6, "solidity": 0.42, "bgcolor": "rgba(128,132,140,0.10)"}

Json = dict[str, Any]


@dataclass(frozen=True)
class LegendEntry:
    """One line of a legend. `mark` is fill, hatch, line, dash, dot or a symbol of plotly's."""

    label: str
    colour: str
    mark: str

    @property
    def glyph(self) -> str:
        """The symbol as a character; empty if the mark is drawn otherwise."""
        return GLYPHS.get(self.mark, "")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Part of a chart. A label puts it into the legend, where equal entries are one."""

    colour: str
    label: str = ""

    def legend(self) -> LegendEntry:
        """Its entry in the legend."""
        return LegendEntry(self.label, self.colour, "fill")

    def traces(self) -> list[Json]:
        """What plotly draws of it as data."""
        return []

    def shapes(self) -> list[Json]:
        """What plotly draws of it as shapes."""
        return []

    def annotations(self) -> list[Json]:
        """What plotly writes of it."""
        return []


@dataclass(frozen=True, kw_only=True)
class Curve(Mark):
    """A line through points, with a band from `low` to `high` and a symbol at each point where there are any."""

    x: Sequence[float]
    y: Sequence[float]
    width: float = 2.0
    dash: str = "solid"
    steps: bool = False
    stacked: bool = False
    hover: Sequence[str] | None = None
    name: str = ""
    """before the value in a box over all curves; without it and `hover` the curve has no box"""
    symbols: Sequence[str] | None = None
    size: float = 7
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def legend(self) -> LegendEntry:
        """Filled if stacked, else a line."""
        mark = "fill" if self.stacked else {"solid": "line", "dash": "dash"}.get(self.dash, "dot")
        return LegendEntry(self.label, self.colour, mark)

    def traces(self) -> list[Json]:
        """The band first, so that the line lies above it."""
        line = {"color": self.colour, "width": self.width, "dash": self.dash}
        trace: Json = {"type": "scatter", "x": [*self.x], "y": [*self.y], "mode": "lines", "line": line}
        if self.steps:
            line["shape"] = "hv"
        if self.symbols is not None:
            trace |= {"mode": "lines+markers", "cliponaxis": False}
            trace["marker"] = {"symbol": [*self.symbols], "size": self.size, "color": self.colour}
        if self.stacked:
            trace |= {"stackgroup": "all"}
        trace |= {"name": self.name} if self.name else _hover(self.hover)
        if self.low is None or self.high is None:
            return [trace]
        band = {
            "type": "scatter",
            "x": [*self.x, *reversed(self.x)],
            "y": [*self.high, *reversed(self.low)],
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": translucent(self.colour, 0.18),
            "hoverinfo": "skip",
        }
        return [band, trace]


@dataclass(frozen=True, kw_only=True)
class Points(Mark):
    """Symbols at places, with whiskers from `low` to `high` where these are given."""

    x: Sequence[float]
    y: Sequence[float]
    symbol: str = "circle"
    size: float = 11
    opacity: float = 1.0
    outline: str = ""
    hover: Sequence[str] | None = None
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    upright: bool = True
    """whether whiskers are along y"""

    def legend(self) -> LegendEntry:
        """The symbol."""
        return LegendEntry(self.label, self.colour, self.symbol)

    def traces(self) -> list[Json]:
        """One trace."""
        edge: Json = {"width": 2 if "open" in self.symbol else 0, "color": self.colour}
        if self.outline:
            edge = {"width": 1.5, "color": self.outline}
        marker = {"symbol": self.symbol, "size": self.size, "color": self.colour, "opacity": self.opacity, "line": edge}
        trace: Json = {"type": "scatter", "mode": "markers", "x": [*self.x], "y": [*self.y], "marker": marker}
        if self.low is not None and self.high is not None:
            middles = self.y if self.upright else self.x
            trace["error_y" if self.upright else "error_x"] = {
                "type": "data",
                "symmetric": False,
                "array": [high - at for high, at in zip(self.high, middles, strict=True)],
                "arrayminus": [at - low for low, at in zip(self.low, middles, strict=True)],
                "thickness": 2,
                "width": 4,
                "color": translucent(self.colour, 0.6),
            }
        return [trace | {"cliponaxis": False} | _hover(self.hover)]


@dataclass(frozen=True, kw_only=True)
class BarSeries(Mark):
    """Bars at `places`, along x unless `upright`; series at the same places are stacked unless they have a base."""

    places: Sequence[float]
    values: Sequence[float]
    width: float = BAR_ROWS
    base: Sequence[float] | None = None
    hatched: bool = False
    upright: bool = False
    hover: Sequence[str] | None = None

    def legend(self) -> LegendEntry:
        """Filled or hatched."""
        return LegendEntry(self.label, self.colour, "hatch" if self.hatched else "fill")

    def traces(self) -> list[Json]:
        """One trace."""
        marker: Json = {"color": self.colour, "line": {"width": 0}}
        if self.hatched:
            marker["pattern"] = HATCHED | {"fgcolor": self.colour}
        along, across = ("y", "x") if self.upright else ("x", "y")
        trace: Json = {"type": "bar", "orientation": "v" if self.upright else "h", "marker": marker}
        trace |= {across: [*self.places], along: [*self.values], "width": self.width}
        return [trace | ({} if self.base is None else {"base": [*self.base]}) | _hover(self.hover)]


@dataclass(frozen=True, kw_only=True)
class Zone(Mark):
    """A rectangle below the other marks; None is the edge of the chart. With a frame it is above and empty."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    framed: bool = False

    def shapes(self) -> list[Json]:
        """One rectangle."""
        look: Json = {"fillcolor": self.colour, "line": {"width": 0}, "layer": "below"}
        if self.framed:
            look = {"line": {"color": self.colour, "width": 2.5}}
        return [{"type": "rect", **_ends("x", self.x), **_ends("y", self.y), **look}]


@dataclass(frozen=True, kw_only=True)
class Segment(Mark):
    """A reference line from corner to corner; None is the edge of the chart."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    width: float = 2.0
    dash: str = "solid"
    below: bool = False

    def legend(self) -> LegendEntry:
        """A line; a short one without dashes is upright."""
        return LegendEntry(self.label, self.colour, "dash" if self.dash != "solid" else "line-ns-open")

    def shapes(self) -> list[Json]:
        """One line."""
        line = {"color": self.colour, "width": self.width, "dash": self.dash}
        layer = {"layer": "below"} if self.below else {}
        return [{"type": "line", **_ends("x", self.x), **_ends("y", self.y), "line": line, **layer}]


@dataclass(frozen=True, kw_only=True)
class Note(Mark):
    """Words at a place; `x` None is the left edge of the chart or, with `anchor` right, its right edge."""

    text: str
    y: float
    x: float | None = None
    anchor: str = "left"
    above: str = "middle"
    shift_px: tuple[float, float] = (0, 0)
    bold: str = ""
    """part of the text"""
    colour: str = ""

    def annotations(self) -> list[Json]:
        """One annotation; without a colour it has that of the theme."""
        text, bold = plain(self.text), plain(self.bold)
        place: Json = {"x": self.x} if self.x is not None else {"x": float(self.anchor == "right"), "xref": "paper"}
        font: Json = {"color": self.colour} if self.colour else {}
        return [
            {
                "text": text.replace(bold, f"<b>{bold}</b>", 1) if bold else text,
                **place,
                "y": self.y,
                "xanchor": self.anchor,
                "yanchor": self.above,
                "xshift": self.shift_px[0],
                "yshift": self.shift_px[1],
                "align": self.anchor,
                "showarrow": False,
                **({"font": font} if font else {}),
            }
        ]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis from `low` to `high`. `ticks`: labels by their places; None: a few round numbers as `write` has them."""

    low: float
    high: float
    log: bool = False
    ticks: Mapping[float, str] | None = None
    write: Callable[[float], str] = number_tick
    title: str = ""
    visible: bool = True
    zero: bool = False
    grid: bool = True

    def labels(self) -> Mapping[float, str]:
        """Labels of the ticks by their places."""
        if not self.visible:
            return {}
        if self.ticks is not None:
            return self.ticks
        return {place: self.write(place) for place in ticks(self.low, self.high, log=self.log)}

    def axis(self) -> Json:
        """Plotly's axis."""
        ends = [math.log10(self.low), math.log10(self.high)] if self.log else [self.low, self.high]
        labels = self.labels()
        found: Json = {"range": ends, "fixedrange": True, "zeroline": self.zero, "automargin": False}
        found |= {"tickangle": 0, "tickvals": [*labels], "ticktext": [plain(text) for text in labels.values()]}
        found |= {"type": "log"} if self.log else {}
        found |= {"zerolinecolor": GREY, "zerolinewidth": 2} if self.zero else {}
        found |= {} if self.grid else {"showgrid": False}
        found |= {} if self.visible else {"visible": False}
        return found | (
            {"title": {"text": plain(self.title), "standoff": 6, "font": {"size": 12}}} if self.title else {}
        )


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Marks on a pair of axes. `alternative` says in numbers what it shows."""

    key: str
    title: str
    alternative: str
    marks: Sequence[Mark]
    x: Scale
    y: Scale
    height_px: int
    caption: str = ""
    along_x: bool = False
    """one box over all curves at the pointer's x"""

    @property
    def legend(self) -> tuple[LegendEntry, ...]:
        """Entries of labelled marks in their order."""
        return tuple(dict.fromkeys(mark.legend() for mark in self.marks if mark.label))

    @property
    def figure(self) -> Json:
        """Plotly's JSON without a theme."""
        longest = max((len(text) for text in self.y.labels().values()), default=0)
        left = 2 if not longest else max(44, 14 + 7.5 * longest) + (22 if self.y.title else 0)
        layout: Json = {
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": left, "r": 14 if longest else 2, "t": 8, "b": 50 if self.x.title else 34, "pad": 0},
            "showlegend": False,
            "font": {"size": 13},
            "barmode": "relative",
            "xaxis": self.x.axis(),
            "yaxis": self.y.axis(),
            "shapes": [shape for mark in self.marks for shape in mark.shapes()],
            "annotations": [note for mark in self.marks for note in mark.annotations()],
        }
        if self.along_x:
            layout["hovermode"] = "x unified"
        return {"data": [trace for mark in self.marks for trace in mark.traces()], "layout": layout}


def ticks(low: float, high: float, *, log: bool = False) -> list[float]:
    """Round numbers from `low` to `high`: three to six, so that no label meets another on a phone.

    A logarithmic axis of less than a decade may have fewer.
    """
    if not log:
        span = (high - low) or 1.0
        power = 10.0 ** math.floor(math.log10(span))
        step = next(power * factor for factor in (0.2, 0.25, 0.5, 1.0, 2.0) if span / (power * factor) <= 5)
        return [step * at for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for factors in ((1, 1.25, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [factor * 10.0**power for power in decades for factor in factors if low <= factor * 10.0**power <= high]
        if len(found) <= MOST_TICKS:
            break
    return found[:: math.ceil(len(found) / MOST_TICKS)]


def scale_over(values: Sequence[float], *, log: bool = False, title: str = "") -> Scale:
    """A scale over positive values: logarithmic if it must be or spans much, else from 0."""
    low, high = max(min(values), 1.0), max(*values, 1.0)
    if log or high > LOG_FROM * low:
        return Scale(low=low / LOG_MARGIN, high=high * LOG_MARGIN, log=True, title=title)
    return Scale(low=0.0, high=high * 1.05, title=title)


def row_scale(rows: int) -> Scale:
    """The upright scale of a chart of rows, the first at 0, the next below it at -1."""
    return Scale(low=0.6 - rows, high=0.66, visible=False)


def row_labels(labels: Sequence[tuple[str, str]], *, bold: int = -1, ruled: bool = True) -> list[Mark]:
    """Of each row its label at the left above, its value at the right, and a faint rule."""
    found: list[Mark] = []
    for number, (label, value) in enumerate(labels):
        y = LABEL_ROWS - number
        found.append(Note(text=label, y=y, bold=label if number == bold else ""))
        found.append(Note(text=value, y=y, anchor="right"))
        if ruled:
            found.append(Segment(y=(-number, -number), colour=FAINT, width=5, below=True))
    return found


def rows_px(rows: int) -> int:
    """Height of a chart of rows."""
    return ROW_PX * rows + 48


def plain(text: str) -> str:
    """Text in which plotly finds no tags but the breaks of lines; names come from files of others."""
    return "<br>".join(escape(line, quote=False) for line in text.split("\n"))


def wrapped(text: str, letters: int = HOVER_LETTERS) -> str:
    """Text broken into lines that fit on a phone."""
    return "\n".join(textwrap.wrap(text, letters, break_on_hyphens=False))


def _hover(texts: Sequence[str] | None) -> Json:
    if texts is None:
        return {"hoverinfo": "skip"}
    return {"customdata": [plain(text) for text in texts], "hovertemplate": "%{customdata}<extra></extra>"}


def _ends(axis: str, ends: tuple[float, float] | None) -> Json:
    if ends is None:
        return {f"{axis}ref": "paper", f"{axis}0": 0, f"{axis}1": 1}
    return {f"{axis}0": ends[0], f"{axis}1": ends[1]}
