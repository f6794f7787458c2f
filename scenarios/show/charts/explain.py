"""The picture of an explanation: rate against buffers with the best and the cliff, and what more of each would give."""

from __future__ import annotations

from scenarios.questions.explain import BufferAdvice, Explanation, Upgrade
from scenarios.show.numbers import count, significant
from scenarios.show.svg import BLUE, GREEN, GREY, GRID, INK, QUIET, RED, Scale, box, drawing, page, path, text, ticks

WIDTH, HEIGHT = 960, 430
TOP, BOTTOM = 92, 62
LEFT, RIGHT = 78, 560
BARS_LEFT, BARS_RIGHT = 630, 890
BAR, ROW = 22, 62


def to_html(found: Explanation) -> str:
    """The picture as a page; words under the pointer say each figure."""
    return page(_title(found), to_svg(found))


def to_svg(found: Explanation) -> str:
    """The picture as one SVG file."""
    parts = [
        text(LEFT, 26, _title(found), size=15),
        text(LEFT, 46, "the machine once it is warm, calculated by the analytic engine", colour=QUIET),
        *_curve(found.buffers),
        *_bars(found.steps),
    ]
    return drawing(_title(found), WIDTH, HEIGHT, parts)


def _title(found: Explanation) -> str:
    return f"New orders per minute · {found.scenario}"


def _curve(found: BufferAdvice) -> list[str]:
    """Rate against buffers; what has fallen off the cliff is red."""
    places = list(found.curve)
    across = Scale(0.0, places[-1][0] * 1.02, LEFT, RIGHT)
    up = Scale(0.0, max(rate for _, rate in places) * 1.12, HEIGHT - BOTTOM, TOP)
    parts = [text(LEFT, TOP - 16, "rate against buffers", size=13)]
    for tick in ticks(0.0, up.high):
        parts += [path([(LEFT, up(tick)), (RIGHT, up(tick))], GRID, 1),
                  text(LEFT - 8, up(tick) + 4, count(tick), "end")]  # fmt: skip
    for tick in ticks(0.0, across.high, 6):
        parts += [path([(across(tick), HEIGHT - BOTTOM), (across(tick), HEIGHT - BOTTOM + 5)], INK, 1),
                  text(across(tick), HEIGHT - BOTTOM + 19, count(tick), "middle")]  # fmt: skip
    gib = found.most.gib / found.most.buffers
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - BOTTOM + 40,
                      f"buffers ({significant(gib * 100_000)} GiB for 100,000; "
                      f"{count(found.most.buffers)} fill the memory)", "middle"))  # fmt: skip
    wide = across(found.high.buffers) - across(found.low.buffers)
    parts.append(box(across(found.low.buffers), TOP, max(wide, 2.0), HEIGHT - BOTTOM - TOP, GREEN, 0.14,
                     f"{count(found.low.buffers)} .. {count(found.high.buffers)}: as good but for 2 %"))  # fmt: skip
    safe = places
    if found.cliff is not None:
        edge = found.cliff.buffers
        beyond = across(edge)
        parts.append(box(beyond, TOP, RIGHT - beyond, HEIGHT - BOTTOM - TOP, RED, 0.10, "10 % below the best or worse"))
        safe = [place for place in places if place[0] <= edge]
        fallen = [place for place in places if place[0] >= edge]
        parts.append(path([(across(x), up(y)) for x, y in fallen], RED, 2.5))
    parts.append(path([(across(x), up(y)) for x, y in safe], BLUE, 2.5))
    parts.append(path([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (RIGHT, HEIGHT - BOTTOM)], INK, 1))
    return parts + _marks(found, across, up)


def _marks(found: BufferAdvice, across: Scale, up: Scale) -> list[str]:
    best, now = found.best, found.now
    parts = []
    for setting, colour, word in ((now, INK, "now"), (best, GREEN, "best")):
        x, y = across(setting.buffers), up(setting.rate_per_min)
        words = f"{word} {count(setting.buffers)}: {count(setting.rate_per_min)}/min"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{"#ffffff" if word == "now" else colour}" '
            f'stroke="{colour}" stroke-width="2"><title>{words}</title></circle>'
        )
        above = up(up.high) + (14 if word == "best" else 30)
        parts.append(text(LEFT + 12, above, f"{'●' if word == 'best' else '○'} {words}", colour=colour, halo=True))
    if found.cliff is not None:
        words = f"cliff: 10 % lost from {count(found.cliff.buffers)} on"
        parts.append(text(LEFT + 12, up(up.high) + 46, f"▮ {words}", colour=RED, halo=True))
    return parts


def _bars(steps: tuple[Upgrade, ...]) -> list[str]:
    """One bar for each step, with its gain at the end; what can't be had says so."""
    gains = [step.gain_per_min or 0.0 for step in steps]
    high, low = max(*gains, 1.0), min(*gains, 0.0)
    across = Scale(low, high, BARS_LEFT, BARS_RIGHT)
    parts = [text(BARS_LEFT, TOP - 16, "one more of each, new orders per minute", size=13)]
    for number, step in enumerate(steps):
        top = TOP + 14 + number * ROW
        into = f", as {step.into}" if step.into else ""
        parts.append(text(BARS_LEFT, top, step.name + into))
        gain = step.gain_per_min
        if gain is None:
            parts.append(text(BARS_LEFT, top + 21, "not possible", colour=QUIET))
            continue
        begin, end = sorted((across(0.0), across(gain)))
        words = f"{'−' if round(gain) < 0 else '+'}{count(abs(gain))}"
        if step.price is not None and step.gain_per_money is not None:
            words += f"  ({significant(step.gain_per_money, 2)} for each {step.price.currency})"
        colour = RED if gain < 0 else BLUE
        parts.append(box(begin, top + 6, max(end - begin, 1.0), BAR, colour if round(gain) else GREY, 1.0, words))
        inside = end - begin > (BARS_RIGHT - BARS_LEFT) * 0.6
        place = (begin + 8, "start", "#ffffff") if inside else (end + 6, "start", INK)
        parts.append(text(place[0], top + 6 + BAR - 6, words, place[1], colour=place[2]))
        parts.append(path([(across(0.0), top + 4), (across(0.0), top + 8 + BAR)], INK, 1))
    return parts
