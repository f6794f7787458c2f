"""Panels of grouped bars, with what was measured as dashed lines: pictures of experiments, as SVG by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scenarios.show.svg import BLUE, GREEN, GRID, INK, QUIET, RED, SKY, Scale, box, drawing, path, text, ticks

COLOURS = (BLUE, RED, GREEN, SKY)
WIDTH, LEFT, RIGHT = 760, 64, 150
PANEL, HEAD, GAP, TITLE = 150, 30, 34, 34


@dataclass(frozen=True)
class Panel:
    """One quantity: values of each series by label, and measured values as lines by the name of their series."""

    title: str
    labels: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    measured: dict[str, float] = field(default_factory=dict)


def picture(title: str, panels: Sequence[Panel]) -> str:
    """Panels below each other, one legend; colours belong to series."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    colour = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    parts = [text(24, 24, title, size=15)]
    for number, name in enumerate(names):
        parts += [box(WIDTH - RIGHT + 16, TITLE + HEAD + 20 * number, 10, 10, colour[name])]
        parts += [text(WIDTH - RIGHT + 32, TITLE + HEAD + 9 + 20 * number, name)]
    if any(panel.measured for panel in panels):
        y = TITLE + HEAD + 20 * len(names) + 5
        parts += [path([(WIDTH - RIGHT + 14, y), (WIDTH - RIGHT + 28, y)], INK, 1.5, "4 3")]
        parts += [text(WIDTH - RIGHT + 32, y + 4, "measured")]
    for number, panel in enumerate(panels):
        parts += _panel(panel, TITLE + number * (HEAD + PANEL + GAP), colour)
    return drawing(title, WIDTH, TITLE + len(panels) * (HEAD + PANEL + GAP), parts)


def _panel(panel: Panel, top: float, colour: dict[str, str]) -> list[str]:
    most = max([*(max(values) for values in panel.series.values()), *panel.measured.values(), 1e-12])
    up = Scale(0.0, 1.08 * most, top + HEAD + PANEL, top + HEAD)
    end, bottom = WIDTH - RIGHT, top + HEAD + PANEL
    parts = [text(LEFT, top + 18, panel.title, size=13)]
    for tick in ticks(0.0, 1.08 * most, 4):
        parts += [path([(LEFT, up(tick)), (end, up(tick))], GRID, 1.0)]
        parts += [text(LEFT - 8, up(tick) + 4, f"{tick:,.6g}", "end", 11, QUIET)]
    wide = (end - LEFT) / len(panel.labels)
    bar = 0.8 * wide / len(panel.series)
    for place, (name, values) in enumerate(panel.series.items()):
        for number, value in enumerate(values):
            x = LEFT + number * wide + 0.1 * wide + place * bar
            hover = f"{panel.labels[number]}, {name}: {value:,.4g}"
            parts.append(box(x, up(value), bar, bottom - up(value), colour[name], hover=hover))
    every = max(1, round(24 / wide))
    for number, label in enumerate(panel.labels):
        if number % every == 0:
            parts.append(text(LEFT + (number + 0.5) * wide, bottom + 15, label, "middle", 11, QUIET))
    for name, value in panel.measured.items():
        parts.append(path([(LEFT, up(value)), (end, up(value))], colour.get(name, INK), 1.5, "4 3"))
    return [*parts, path([(LEFT, bottom), (end, bottom)], INK, 1.0)]
