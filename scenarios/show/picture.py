"""A picture in a file of its own: as a page, or as SVG, PNG or PDF by a Chromium without a window."""

import hashlib
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from oltpsim.models.input import write_whole, written_whole
from oltpsim.scenarios.show.chart import Chart, Json, LegendEntry, plain
from oltpsim.scenarios.show.chromium import chromium_path, page_after_scripts, photographed, printed
from oltpsim.scenarios.show.page import TEMPLATES, html_page, plotly_js
from oltpsim.scenarios.show.palette import THEMES
from oltpsim.simulator.errors import InputError

ENDINGS = (".svg", ".png", ".pdf", ".html")
FONT = "Helvetica, Arial, sans-serif"
WIDTH_PX, HEAD_PX, TITLE_PX, LEGEND_PX, CAPTION_PX = 760, 34, 26, 22, 18
CHARACTER_PX, MARK_PX, LEGEND_RIGHT_PX = 6.6, 56, 40


def check_picture(path: Path | None, option: str) -> None:
    """Refuse, before the work, a file that can't be drawn: another ending, or no page and no Chromium."""
    if path is None:
        return
    if path.suffix not in ENDINGS:
        raise InputError(f"{option} {path}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if path.suffix != ".html":
        chromium_path(f"{option} {path}")


def write_picture(path: Path, title: str, charts: Sequence[Chart], about: str = "") -> None:
    """Write charts below each other as a page, SVG, PNG or PDF, by the name's ending. Raises InputError."""
    if path.suffix == ".html":
        write_whole(path, picture_page(title, charts, about))
        return
    svg = picture_svg(title, charts, about)
    if path.suffix == ".svg":
        write_whole(path, svg)
        return
    size = re.match(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"', svg)
    assert size is not None
    width, height = float(size[1]), float(size[2])
    style = f"@page {{ size: {width:g}px {height:g}px; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
    page = f'<!doctype html><meta charset="utf-8"><title>{html.escape(title)}</title><style>{style}</style>{svg}'
    drawn = photographed(page, width, height) if path.suffix == ".png" else printed(page)
    with written_whole(path) as temporary:
        temporary.write_bytes(drawn)


def picture_page(title: str, charts: Sequence[Chart], about: str = "") -> str:
    """Charts below each other as one HTML page that needs no network."""
    return html_page("picture.html.j2", charts, {"title": title, "about": about, "charts": charts})


def picture_digest(title: str, charts: Sequence[Chart], about: str = "") -> str:
    """Hash of what a picture shows and how; an SVG names it, so that a stale one is known without a browser."""
    figures = [printed_figure(chart) for chart in charts]
    text = json.dumps([title, about, figures], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def picture_svg(title: str, charts: Sequence[Chart], about: str = "") -> str:
    """Charts below each other as SVG on white: same charts, same browser and fonts, same bytes.

    Raises InputError where there is no Chromium.
    """
    figures = [printed_figure(chart) for chart in charts]
    head = HEAD_PX + (CAPTION_PX if about else 0)
    height = head + sum(figure["layout"]["height"] for figure in figures)
    ink = THEMES["light"]["ink"]
    size = f'viewBox="0 0 {WIDTH_PX} {height:g}" width="{WIDTH_PX}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" fill="{ink}">',
        f"<title>{html.escape(title)}</title>",
        f"<desc>charts {picture_digest(title, charts, about)}</desc>",
        f'<rect width="{WIDTH_PX}" height="{height:g}" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="16" font-weight="600">{html.escape(title)}</text>',
    ]
    if about:
        parts.append(
            f'<text x="16" y="42" font-size="12" fill="{THEMES["light"]["muted"]}">{html.escape(about)}</text>'
        )
    top = head
    for figure, svg in zip(figures, _drawn(figures), strict=True):
        parts.append(svg.replace("<svg ", f'<svg x="0" y="{top:g}" ', 1))
        top += figure["layout"]["height"]
    return "\n".join([*parts, "</svg>", ""])


def printed_figure(chart: Chart) -> Json:
    """The chart's figure with colours of the light theme, its title and legend above it and its caption below."""
    figure, theme, legend = chart.figure, THEMES["light"], chart.legend
    layout = figure["layout"]
    axis = {"color": theme["ink"], "gridcolor": theme["grid"], "linecolor": theme["axis"], "tickcolor": theme["axis"]}
    widths = [len(entry.label) * CHARACTER_PX + MARK_PX for entry in legend]
    room = WIDTH_PX - LEGEND_RIGHT_PX
    columns = max(1, len(legend) if sum(widths) <= room else int(room / max(widths)))
    lines = -(-len(legend) // columns)
    title_px = TITLE_PX if chart.title else 0
    caption_px = CAPTION_PX if chart.caption else 0
    above = 10 + title_px + LEGEND_PX * lines
    below = layout["margin"]["b"] + caption_px
    margin = layout["margin"] | {"l": layout["margin"]["l"] + 16, "r": 24, "t": above, "b": below}
    height = chart.height_px - layout["margin"]["t"] + above + caption_px
    notes = list(layout["annotations"])
    corner = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "showarrow": False, "align": "left"}
    corner |= {"xshift": 16 - margin["l"]}
    if chart.title:
        notes.append(corner | {"text": f"<b>{plain(chart.title)}</b>", "y": 1, "yshift": above - 10, "yanchor": "top"})
    if chart.caption:
        font = {"font": {"size": 11, "color": theme["muted"]}}
        notes.append(corner | {"text": plain(chart.caption), "y": 0, "yshift": -below, "yanchor": "bottom"} | font)
    layout |= {
        "width": WIDTH_PX,
        "height": height,
        "margin": margin,
        "font": {"size": 12, "color": theme["ink"], "family": FONT},
        "xaxis": axis | layout["xaxis"],
        "yaxis": axis | layout["yaxis"],
        "annotations": notes,
        "showlegend": bool(legend),
        "legend": {
            "orientation": "h",
            "xref": "container",
            "x": 16 / WIDTH_PX,
            "yref": "container",
            "y": 1 - (6 + title_px) / height,
            "yanchor": "top",
            **({"entrywidth": max(widths) - MARK_PX + 16} if lines > 1 else {}),
            "bgcolor": "rgba(0,0,0,0)",
        },
    }
    data = [trace | {"showlegend": False} for trace in figure["data"]]
    return {"data": data + [_entry(entry) for entry in legend], "layout": layout}


def _entry(entry: LegendEntry) -> Json:
    """A trace without points that plotly's own legend shows."""
    nowhere: Json = {"name": entry.label, "x": [None], "y": [None], "showlegend": True}
    if entry.mark in ("fill", "hatch"):
        pattern = {"pattern": {"shape": "/", "fgcolor": entry.colour}} if entry.mark == "hatch" else {}
        return nowhere | {"type": "bar", "marker": {"color": entry.colour, **pattern}}
    if entry.mark in ("line", "dash", "dot"):
        dash = "solid" if entry.mark == "line" else entry.mark
        return nowhere | {"type": "scatter", "mode": "lines", "line": {"color": entry.colour, "width": 2, "dash": dash}}
    marker = {"symbol": entry.mark, "color": entry.colour, "size": 10, "line": {"color": entry.colour, "width": 2}}
    return nowhere | {"type": "scatter", "mode": "markers", "marker": marker}


def _drawn(figures: Sequence[Json]) -> list[str]:
    """Each figure as SVG. Identifiers are drawn from a fixed seed, so that they are the same every time."""
    script = (TEMPLATES / "picture.js").read_text(encoding="utf-8")
    content = json.dumps(figures).replace("</", "<\\/")
    source = (
        '<!doctype html><meta charset="utf-8"><body><pre id="drawn"></pre>'
        f"<script>const FIGURES = {content};\n{script}</script><script>{plotly_js()}</script><script>drawAll()</script>"
    )
    shown = re.search(r'<pre id="drawn">(.*?)</pre>', page_after_scripts(source), re.DOTALL)
    if shown is None or not shown.group(1):
        raise InputError("picture: Chromium can't draw it; name a .html file")
    drawn: list[str] = json.loads(html.unescape(shown.group(1)))
    return drawn
