"""Small pieces of pictures that are written as SVG by hand: no browser, the same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

# Okabe and Ito's palette: told apart by colour-blind readers too.
BLUE, RED, GREEN, SKY, GREY = "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#8a8f98"
INK, GRID, QUIET = "#222222", "#e4e4e4", "#666666"


@dataclass(frozen=True)
class Scale:
    """From values to places: `low` .. `high` on `begin` .. `end` pixels."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.begin + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.begin)


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers from `low` to `high`, about `most` of them or fewer."""
    rough = ((high - low) or 1.0) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [number * step for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def text(
    x: float, y: float, words: str, anchor: str = "start", size: int = 12, colour: str = INK, halo: bool = False
) -> str:
    """One line of words at a place; `anchor`: start, middle or end; a halo keeps lines off them."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    around = ' paint-order="stroke" stroke="#ffffff" stroke-width="4"' if halo else ""
    return f"<text {place}{around}>{escape(words)}</text>"


def path(places: Sequence[tuple[float, float]], colour: str, width: float = 2.0, dashes: str = "") -> str:
    """A line through places."""
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def box(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1.0, hover: str = "") -> str:
    """A filled rectangle, with words that a browser shows under the pointer."""
    title = f"<title>{escape(hover)}</title>" if hover else ""
    size = f'width="{max(width, 0):.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}" fill-opacity="{opacity:g}">{title}</rect>'


def drawing(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    """The whole file."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>", ""])


def page(title: str, svg: str) -> str:
    """A drawing as one HTML file that needs no network."""
    style = "body{margin:2rem;background:#fff}svg{max-width:100%;height:auto}"
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{svg}</body></html>\n'
