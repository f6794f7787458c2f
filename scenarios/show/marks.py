"""What the report's pictures are drawn with: colours, legends, one layout for every chart of horizontal bars.

Colours follow Okabe and Ito, so that colour-blind readers tell them apart; waits are hatched as well. Text,
axes and grid get their colours in the page, by its theme; what is fixed here reads on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

BLUE, SKY, GREEN, ORANGE = "#1f83c4", "#63b7e6", "#14a37f", "#e0a010"
VERMILION, PINK, GREY, SLATE = "#d9601a", "#cc79a7", "#8a8f98", "#6c88a6"
FAINT = "rgba(128,132,140,0.16)"
PALETTE = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, SLATE, GREY)
ROW_PX, BAR, LABEL_ABOVE = 58, 0.38, 0.44


@dataclass(frozen=True)
class Style:
    """How one kind of part is drawn and called."""

    label: str
    colour: str
    hatched: bool = False


@dataclass(frozen=True)
class LegendEntry:
    """One line of a legend. `mark` is fill, hatch, line, dash or a character to show."""

    label: str
    colour: str
    mark: str


@dataclass(frozen=True)
class Picture:
    """One figure of the page. `alternative` says in numbers what it shows; `figure` is plotly's JSON."""

    key: str
    title: str
    caption: str
    alternative: str
    legend: tuple[LegendEntry, ...]
    height_px: int
    figure: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One horizontal bar: label at its left above, value at its right above, parts from left to right."""

    label: str
    value: str
    parts: dict[str, float]
    hover: dict[str, str]
    framed: bool = False


def blank() -> Figure:
    """An empty figure without plotly's own theme."""
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 2, "r": 2, "t": 4, "b": 34, "pad": 0},
        showlegend=False,
        font={"size": 13},
    )
    return figure


def bar_chart(rows: Sequence[Row], styles: dict[str, Style], axis: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Plotly's JSON and height of horizontal stacked bars; a framed row has a rectangle around it."""
    figure = blank()
    places = [-float(number) for number in range(len(rows))]
    for part, style in styles.items():
        figure.add_bar(
            orientation="h",
            y=places,
            x=[row.parts.get(part, 0.0) for row in rows],
            width=BAR,
            name=style.label,
            marker=_fill(style),
            customdata=[f"{row.label}: {style.label} {row.hover.get(part, '')}" for row in rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
    end = axis["range"][1]
    for place, row in zip(places, rows, strict=True):
        above = {"y": place + LABEL_ABOVE, "yanchor": "middle", "showarrow": False, "xref": "paper"}
        figure.add_annotation(text=row.label, x=0, xanchor="left", **above)
        figure.add_annotation(text=row.value, x=1, xanchor="right", **above)
        if row.framed:
            figure.add_shape(
                type="rect", x0=0, x1=end, y0=place - BAR / 2 - 0.05, y1=place + BAR / 2 + 0.05,
                line={"color": VERMILION, "width": 2.5},
            )  # fmt: skip
    figure.update_xaxes(fixedrange=True, zeroline=False, automargin=False, **axis)
    figure.update_yaxes(visible=False, fixedrange=True, range=[places[-1] - 0.34, 0.64])
    figure.update_layout(barmode="stack", bargap=0)
    return as_json(figure), ROW_PX * len(rows) + 44


def _fill(style: Style) -> dict[str, Any]:
    edge = {"line": {"width": 0}}
    if not style.hatched:
        return {"color": style.colour, **edge}
    pattern = {
        "shape": "/",
        "size": 6,
        "solidity": 0.42,
        "fgcolor": style.colour,
        "bgcolor": "rgba(128,132,140,0.10)",
    }
    return {"color": style.colour, "pattern": pattern, **edge}


def bar_legend(styles: dict[str, Style]) -> tuple[LegendEntry, ...]:
    """The legend of a bar chart."""
    return tuple(
        LegendEntry(style.label, style.colour, "hatch" if style.hatched else "fill") for style in styles.values()
    )


def as_json(figure: Figure) -> dict[str, Any]:
    """Plotly's JSON without its default template."""
    data: dict[str, Any] = figure.to_dict()
    data["layout"].pop("template", None)
    return data
