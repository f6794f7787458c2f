"""Sensitivities for people, for programs, for tables and as a chart."""

import math
from dataclasses import asdict

from oltpsim.models.input import document_text
from oltpsim.scenarios.questions.sensitivity import ParameterRange, SobolIndices, Tornado, TornadoBar
from oltpsim.scenarios.show.chart import BarSeries, Chart, Mark, Scale, Segment, row_labels, row_scale
from oltpsim.scenarios.show.numbers import NONE, count, signed_share, significant
from oltpsim.scenarios.show.palette import BLUE, GREY, VERMILION
from oltpsim.scenarios.show.table import aligned, csv_text, flow, sentence_flow
from oltpsim.scenarios.show.words import CALCULATED, unit_of

FORMAT = "oltpsim-sensitivity-1"
RANGE_COLUMNS = (
    "key",
    "low",
    "middle",
    "high",
    "rate_low_per_min",
    "rate_middle_per_min",
    "rate_high_per_min",
    "source",
)
INDEX_COLUMNS = ("first", "first_low", "first_high", "total", "total_low", "total_high")
MOST_BAR = 20
MOST_DRAWN, ROW_PX = 25, 44
"""bars in the chart: more can't be read; and the height of one"""
NO_PART = 0.005
"""indices below are rounded to nothing"""


def sensitivity_table(name: str, found: Tornado, indices: SobolIndices | None, width: int) -> str:
    """The bars, the widest first, then the indices if there are any."""
    lines = [f"{name}: {count(found.rate_per_min)} {unit_of(found.main_class)}", f"({CALCULATED})", ""]
    rows = [["one at a time", "low", "high", "at low", "at high"], *(_row(found, bar) for bar in found.bars)]
    columns = aligned(rows, "<>", indent=2)
    room = min(MOST_BAR, width - 2 - max(map(len, columns)))
    lines.append(columns[0])
    lines += [
        f"{line}  {_blocks(found, bar, room)}".rstrip() for line, bar in zip(columns[1:], found.bars, strict=True)
    ]
    for bar in found.bars:
        if bar.reason is not None:
            lines += sentence_flow("not possible", f"{bar.range.key}: {bar.reason}", width)
    if indices is not None:
        lines += ["", *_indices(indices, width)]
    return "\n".join(lines) + "\n"


def _row(found: Tornado, bar: TornadoBar) -> list[str]:
    ends = (bar.low_per_min, bar.high_per_min)
    cells = [NONE if end is None else signed_share(end / found.rate_per_min - 1.0) for end in ends]
    return [bar.range.key, value(bar.range.low), value(bar.range.high), *cells]


def _blocks(found: Tornado, bar: TornadoBar, room: int) -> str:
    """The bar's width beside the widest one's, as far as there is room for it."""
    widest = found.bars[0].swing(found.rate_per_min)
    return "▇" * round(room * bar.swing(found.rate_per_min) / widest) if widest and room > 1 else ""


def value(number: float) -> str:
    """An end of a range."""
    return significant(number) if abs(number) < 1e4 else count(number)


def _indices(found: SobolIndices, width: int) -> list[str]:
    """Those that have a part of the variance, then what all of them mean."""
    shown = [one for one in found.indices if max(abs(one.first), one.total) >= NO_PART]
    interval = f"{found.confidence:.0%}"
    rows = [["all at once", "alone", interval, "total", interval]]
    rows += [
        [
            one.key,
            _share(one.first),
            f"{_share(one.first_low)}..{_share(one.first_high)}",
            _share(one.total),
            f"{_share(one.total_low)}..{_share(one.total_high)}",
        ]
        for one in shown
    ]
    lines = aligned(rows, "<>", indent=2)
    rest = [one.key for one in found.indices if one not in shown]
    lines += flow("without a part", rest, width, separator=", ") if rest else []
    sentence = (
        "shares of the variance of the rate's logarithm, alone and with all that each does together with others; "
        f"{found.points} base points, intervals by bootstrap; one standard deviation of the rate is a factor of "
        f"{significant(math.exp(found.log_sd))}"
    )
    lines += sentence_flow(None, sentence, width)
    if found.left_out:
        words = f"{found.left_out} base points have a machine that can't be and are left out: shares are of the others"
        lines += sentence_flow("warning", words, width)
    return lines


def _share(index: float) -> str:
    return f"{index:.2f}".replace("-0.00", "0.00").replace("-", "−")


def sensitivity_json(name: str, found: Tornado, indices: SobolIndices | None) -> str:
    """Bars and indices."""
    content = {
        "scenario": name,
        "rate_per_min": found.rate_per_min,
        "bars": [asdict(bar) | {"swing_per_min": bar.swing(found.rate_per_min)} for bar in found.bars],
        "sobol": None if indices is None else asdict(indices),
    }
    return document_text(FORMAT, content)


def sensitivity_csv(found: Tornado, indices: SobolIndices | None) -> str:
    """A row for each number, its indices beside its bar."""
    by_key = {one.key: one for one in indices.indices} if indices is not None else {}
    rows: list[list[object]] = []
    for bar in found.bars:
        one, of = by_key.get(bar.range.key), bar.range
        shares = [""] * 6 if one is None else [getattr(one, name) for name in INDEX_COLUMNS]
        rates = [bar.low_per_min, found.rate_per_min, bar.high_per_min]
        rows.append([of.key, of.low, of.middle, of.high, *rates, of.source, *shares])
    return csv_text([*RANGE_COLUMNS, *INDEX_COLUMNS], rows)


def range_words(of: ParameterRange) -> str:
    """From its low to its high end."""
    return f"{value(of.low)} .. {value(of.high)}"


def sensitivity_title(name: str) -> str:
    """Title of the picture."""
    return f"What the rate depends on · {name}"


def sensitivity_chart(found: Tornado) -> Chart:
    """The tornado: the widest bar first, low ends in one colour, high ends in the other."""
    bars, middle = found.bars[:MOST_DRAWN], found.rate_per_min
    drawn: dict[tuple[bool, bool], list[tuple[float, float, str]]] = {}
    labels = []
    for number, bar in enumerate(bars):
        ends = [
            (rate, rate is bar.high_per_min, f"{bar.range.key} = {value(at)}: {count(rate)}")
            for rate, at in ((bar.low_per_min, bar.range.low), (bar.high_per_min, bar.range.high))
            if rate is not None
        ]
        # of two ends on one side the farther one is drawn first, so that both are seen
        for place, (rate, is_high, hover) in enumerate(sorted(ends, key=lambda end: -abs(end[0] - middle))):
            drawn.setdefault((place > 0, is_high), []).append((-float(number), rate, hover))
        rates = " and ".join(count(rate) for rate, _, _ in ends)
        labels.append(
            (
                f"{bar.range.key}  {range_words(bar.range)}",
                rates if len(ends) == 2 else f"{rates}, one end is not possible",
            )
        )
    marks: list[Mark] = [*row_labels(labels)]
    for (_, is_high), drawn_bars in sorted(drawn.items()):
        places, rates_per_min, hovers = zip(*drawn_bars, strict=True)
        marks.append(
            BarSeries(
                places=places,
                values=[rate - middle for rate in rates_per_min],
                base=[middle] * len(drawn_bars),
                colour=BLUE if is_high else VERMILION,
                label=f"number at its {'high' if is_high else 'low'} end",
                hover=hovers,
            )
        )
    words, unit = f"all at their middle: {count(middle)}", unit_of(found.main_class)
    marks.append(Segment(x=(middle, middle), colour=GREY, width=1.5, label=words))
    every = [middle, *(rate for bar in bars for rate in (bar.low_per_min, bar.high_per_min) if rate is not None)]
    margin = (max(every) - min(every)) * 0.06 or 1.0
    return Chart(
        key="tornado",
        title="",
        alternative=f"{words} {unit}. {'; '.join(f'{label}: {rates}' for label, rates in labels)}.",
        marks=marks,
        x=Scale(low=min(every) - margin, high=max(every) + margin, title=unit),
        y=row_scale(len(bars)),
        height_px=ROW_PX * len(bars) + 60,
    )
