"""Charts: what plotly takes, few round ticks, legends, texts without tags."""

import pytest
from plotly.graph_objects import Figure

from oltpsim.scenarios.show.chart import (
    BarSeries,
    Chart,
    Curve,
    LegendEntry,
    Mark,
    Note,
    Points,
    Scale,
    Segment,
    Zone,
    plain,
    row_labels,
    row_scale,
    scale_over,
    ticks,
    wrapped,
)
from oltpsim.scenarios.show.palette import BLUE, GREEN, GREY, VERMILION

MARKS: tuple[Mark, ...] = (
    Curve(
        x=[1, 2],
        y=[3, 4],
        low=[2, 3],
        high=[4, 5],
        symbols=["circle", "x"],
        colour=BLUE,
        label="line",
        hover=["a", "b"],
    ),
    Curve(x=[1, 2], y=[3, 4], stacked=True, name="part", colour=GREEN, label="part"),
    Points(x=[1], y=[2], low=[1], high=[3], symbol="circle-open", colour=VERMILION, label="points", hover=["<b>"]),
    Points(x=[1], y=[2], low=[0], high=[3], upright=False, symbol="star", outline=GREY, colour=VERMILION),
    BarSeries(places=[0, -1], values=[1, 2], colour=BLUE, hatched=True, label="bars"),
    BarSeries(places=[0, -1], values=[1, 2], base=[3, 3], upright=True, colour=BLUE, label="upright"),
    Zone(x=(0, 1), colour=GREY, label="zone"),
    Zone(x=(0, 1), y=(0, 1), framed=True, colour=GREY),
    Segment(y=(1, 1), colour=GREY, dash="dash", label="level"),
    Segment(x=(1, 1), y=(0, 1), colour=GREY, label="mark"),
    Note(text="words & more", y=1.0, bold="words", colour=GREY),
    *row_labels([("first", "1"), ("second", "2")], bold=1),
)


def a_chart(*marks: Mark, **more: Scale) -> Chart:
    scales = {"x": Scale(low=0.0, high=3.0, zero=True, title="x"), "y": Scale(low=1.0, high=9.0, log=True)} | more
    return Chart(key="k", title="t", alternative="a", marks=marks, height_px=300, **scales)


def test_plotly_takes_every_mark() -> None:
    figure = a_chart(*MARKS).figure
    drawn = Figure(figure)  # raises for any name or value that plotly doesn't know
    assert len(drawn.data) == 7
    assert len(drawn.layout.shapes) == 6
    assert {each["text"] for each in figure["layout"]["annotations"]} == {
        "<b>words</b> &amp; more",
        "first",
        "1",
        "<b>second</b>",
        "2",
    }
    Figure(a_chart(y=row_scale(2)).figure)


def test_legend_is_that_of_labelled_marks_each_once() -> None:
    legend = a_chart(*MARKS, *MARKS).legend
    assert [entry.label for entry in legend] == ["line", "part", "points", "bars", "upright", "zone", "level", "mark"]
    assert legend[2] == LegendEntry("points", VERMILION, "circle-open")
    assert [entry.glyph for entry in legend[2:4]] == ["○", ""]


def test_plotly_finds_no_tags_in_names() -> None:
    assert plain('<a href="x">y</a>\nz') == '&lt;a href="x"&gt;y&lt;/a&gt;<br>z'
    assert wrapped("word " * 12, 40).count("\n") == 1
    assert a_chart(*MARKS).figure["data"][3]["customdata"] == ["&lt;b&gt;"]


def test_a_scale_is_logarithmic_if_it_spans_much() -> None:
    assert scale_over([20.0, 900.0]).log
    linear = scale_over([200.0, 900.0])
    assert (linear.log, linear.low) == (False, 0.0)
    assert scale_over([200.0, 900.0], log=True).log


@pytest.mark.parametrize(("low", "high"), [(1.0, 2.0), (0.1, 5000.0), (90.0, 110.0), (1e-3, 1e5)])
def test_log_ticks_are_few_and_inside(low: float, high: float) -> None:
    places = ticks(low, high, log=True)
    assert 1 <= len(places) <= 6
    assert all(low <= tick <= high for tick in places)


@pytest.mark.parametrize("longest", [0.001, 0.9, 1.0, 5.1, 888.0, 99999.0])
def test_linear_ticks_are_few(longest: float) -> None:
    places = ticks(0.0, longest)
    assert 3 <= len(places) <= 6
    assert places[0] == 0.0
    assert places[-1] <= longest


def test_ticks_below_nothing() -> None:
    assert ticks(-5.0, 10.0) == [-5.0, 0.0, 5.0, 10.0]
