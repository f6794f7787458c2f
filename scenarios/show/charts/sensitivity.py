"""The tornado as a picture: the widest bar first, low ends in one colour, high ends in the other."""

from __future__ import annotations

from scenarios.questions.sensitivity import Tornado, TornadoBar
from scenarios.show.numbers import count
from scenarios.show.sensitivity import CALCULATED, range_words, value
from scenarios.show.svg import BLUE, GRID, INK, QUIET, RED, Scale, box, drawing, page, path, text, ticks

WIDTH, ROW, BAR = 960, 30, 18
LEFT, RIGHT, TOP, BOTTOM = 400, 890, 92, 56
MOST = 25
"""bars drawn: more can't be read"""


def to_html(name: str, found: Tornado) -> str:
    """The picture as a page."""
    return page(_title(name), to_svg(name, found))


def to_svg(name: str, found: Tornado) -> str:
    """The picture as one SVG file."""
    bars = found.bars[:MOST]
    foot = TOP + ROW * len(bars)
    rates = [rate for bar in bars for rate in (bar.low_per_min, bar.high_per_min) if rate is not None]
    low, high = min([found.rate_per_min, *rates]), max([found.rate_per_min, *rates])
    margin = (high - low) * 0.12 or 1.0
    across = Scale(low - margin, high + margin, LEFT, RIGHT)
    parts = [text(24, 26, _title(name), size=15), text(24, 46, CALCULATED, colour=QUIET)]
    parts += [box(24, 60, 12, 12, RED), text(42, 71, "number at its low end"),
              box(190, 60, 12, 12, BLUE), text(208, 71, "at its high end")]  # fmt: skip
    for tick in ticks(across.low, across.high):
        parts += [path([(across(tick), TOP - 4), (across(tick), foot)], GRID, 1),
                  text(across(tick), foot + 18, count(tick), "middle")]  # fmt: skip
    for number, bar in enumerate(bars):
        parts += _bar(bar, found.rate_per_min, TOP + ROW * number, across)
    middle = across(found.rate_per_min)
    parts.append(path([(middle, TOP - 8), (middle, foot)], INK, 1.5))
    parts.append(text(middle, TOP - 14, f"all at their middle: {count(found.rate_per_min)}", "middle"))
    parts.append(text((LEFT + RIGHT) / 2, foot + 40, "new orders per minute", "middle"))
    return drawing(_title(name), WIDTH, foot + BOTTOM, parts)


def _title(name: str) -> str:
    return f"What the rate depends on · {name}"


def _bar(bar: TornadoBar, middle: float, top: float, across: Scale) -> list[str]:
    of, base = bar.range, top + BAR - 4
    parts = [text(LEFT - 12, base, f"{of.key}  {range_words(of)}", "end", 11)]
    ends = [(bar.low_per_min, of.low, RED), (bar.high_per_min, of.high, BLUE)]
    # of two ends on one side the farther one is drawn first, so that both are seen
    known = sorted(((rate, at, colour) for rate, at, colour in ends if rate is not None),
                   key=lambda end: -abs(end[0] - middle))  # fmt: skip
    for rate, at, colour in known:
        begin, end = sorted((across(middle), across(rate)))
        parts.append(box(begin, top, end - begin, BAR, colour, 1.0, f"{of.key} = {value(at)}: {count(rate)}"))
    for side, anchor, shift in ((-1.0, "end", -5.0), (1.0, "start", 5.0)):
        mine = [rate for rate, _, _ in known if (rate - middle) * side > 0]
        if mine:
            parts.append(text(across(mine[0]) + shift, base, ", ".join(map(count, mine)), anchor, 11, halo=True))
    if len(known) < len(ends):
        parts.append(text(RIGHT, base, "one end is not possible", "end", 10, QUIET, halo=True))
    return parts
