"""Sensitivities as sections and as a chart."""

import math

from oltpsim.scenarios.questions.sections import AnswerColumn, AnswerTable, Sections
from oltpsim.scenarios.questions.sensitivity import ParameterRange, SobolIndex, SobolIndices, Tornado
from oltpsim.scenarios.show.chart import BarSeries, Chart, Mark, Scale, Segment, row_labels, row_scale
from oltpsim.scenarios.show.numbers import NONE, count, signed_share, significant
from oltpsim.scenarios.show.palette import BLUE, GREY, VERMILION
from oltpsim.scenarios.show.words import CALCULATED, unit_of

INDEX_COLUMNS = ("first", "first_low", "first_high", "total", "total_low", "total_high")
MOST_DRAWN, ROW_PX = 25, 44
"""bars in the chart: more can't be read; and the height of one"""
NO_PART = 0.005
"""indices below are rounded to nothing"""


def sensitivity_answer(name: str, found: Tornado, indices: SobolIndices | None) -> Sections:
    """The bars, the widest first, then the indices if there are any."""
    reasons = [("not possible", f"{bar.range.key}: {bar.reason}") for bar in found.bars if bar.reason is not None]
    facts = {"scenario": name, "rate_per_min": found.rate_per_min}
    if indices is not None:
        facts |= {"points": indices.points, "left_out": indices.left_out, "log_sd": indices.log_sd,
                  "confidence": indices.confidence}  # fmt: skip
    return Sections(
        question="sensitivity",
        headline=[f"{name}: {count(found.rate_per_min)} {unit_of(found.main_class)}", f"({CALCULATED})"],
        facts=facts,
        tables=(_bars(found, indices), *([] if indices is None else [_shares(indices)])),
        remarks=[*reasons, *([] if indices is None else _meaning(indices))],
    )


def _bars(found: Tornado, indices: SobolIndices | None) -> AnswerTable:
    by_key = {one.key: one for one in indices.indices} if indices is not None else {}
    columns = (
        AnswerColumn("key", "one at a time"),
        AnswerColumn("low", "low", value),
        AnswerColumn("high", "high", value),
        AnswerColumn("", "at low"),
        AnswerColumn("", "at high"),
        *map(AnswerColumn, ("middle", "rate_low_per_min", "rate_high_per_min", "swing_per_min", "source", "reason")),
        *map(AnswerColumn, INDEX_COLUMNS),
    )
    rows = [
        (
            bar.range.key,
            bar.range.low,
            bar.range.high,
            *(
                NONE if end is None else signed_share(end / found.rate_per_min - 1.0)
                for end in (bar.low_per_min, bar.high_per_min)
            ),
            bar.range.middle,
            bar.low_per_min,
            bar.high_per_min,
            bar.swing(found.rate_per_min),
            bar.range.source,
            bar.reason,
            *(getattr(by_key.get(bar.range.key), name, None) for name in INDEX_COLUMNS),
        )
        for bar in found.bars
    ]
    widest = found.bars[0].swing(found.rate_per_min) or 1.0
    bars = [bar.swing(found.rate_per_min) / widest for bar in found.bars]
    return AnswerTable("numbers", columns, rows, align="<>", bars=bars)


def value(number: float) -> str:
    """An end of a range."""
    return significant(number) if abs(number) < 1e4 else count(number)


def _shares(found: SobolIndices) -> AnswerTable:
    """Indices of the numbers that have a part of the variance, for people."""
    heads = ("all at once", "alone", f"{found.confidence:.0%}", "total", f"{found.confidence:.0%}")
    rows = [
        (
            one.key,
            _share(one.first),
            f"{_share(one.first_low)}..{_share(one.first_high)}",
            _share(one.total),
            f"{_share(one.total_low)}..{_share(one.total_high)}",
        )
        for one in found.indices
        if _has_part(one)
    ]
    return AnswerTable("indices", [AnswerColumn("", head) for head in heads], rows, align="<>")


def _has_part(one: SobolIndex) -> bool:
    return max(abs(one.first), one.total) >= NO_PART


def _meaning(found: SobolIndices) -> list[tuple[str, str]]:
    """Numbers without a part, what all indices mean, and what was left out."""
    rest = ", ".join(one.key for one in found.indices if not _has_part(one))
    sentence = (
        "shares of the variance of the rate's logarithm, alone and with all that each does together with others; "
        f"{found.points} base points, intervals by bootstrap; one standard deviation of the rate is a factor of "
        f"{significant(math.exp(found.log_sd))}"
    )
    words = f"{found.left_out} base points have a machine that can't be and are left out: shares are of the others"
    return [
        *([("without a part", rest)] if rest else []),
        ("", sentence),
        *([("warning", words)] if found.left_out else []),
    ]


def _share(index: float) -> str:
    return f"{index:.2f}".replace("-0.00", "0.00").replace("-", "−")


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
