"""What stands on the page: fields, sliders, numbers and charts, for the eye, the keyboard and a screen reader."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

import dash

from oltpsim.scenarios.library import library_files
from oltpsim.scenarios.page.answers import CalculatedAnswer, SliderPlaces
from oltpsim.scenarios.page.drawing import Drawing, Exhibit
from oltpsim.scenarios.page.question import SIDES, value_words

html: Any = dash.html
"""untyped: its elements take any data-* and aria-* attribute, of which its types don't know"""
dcc: Any = dash.dcc
EXAMPLE = "8 cores, 32 GB, SSD, PostgreSQL 16"
POLL_MS = 400
MODEL_LABEL = "Answered by a calibrated model: a name of the list (empty: the parts' own numbers)"
TITLES = {"a": "Machine", "b": "Second machine"}


def page_layout() -> Any:
    """The whole page, before anything is asked."""
    names = [html.Option(value=name) for name in library_files()]
    return html.Div(
        [
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="written"),
            dcc.Store(id="browser", data=str(uuid4())),
            html.A("Skip to the answer", href="#answer-a", className="skip"),
            html.Header(
                [
                    html.H1("oltpsim"),
                    html.P("What a database will do on hardware you have not bought yet, and what will limit it."),
                ]
            ),
            html.Datalist(names, id="library"),
            html.Datalist(id="models"),
            html.Main(
                [
                    html.Div(id="difference", className="difference", role="status"),
                    html.Div([_side(side) for side in SIDES], id="sides", className="sides one"),
                    _plan_panel(),
                    _calibration_panel(),
                ]
            ),
        ],
        id="page",
    )


def _side(side: str) -> Any:
    title = html.H2(TITLES[side], id=f"title-{side}")
    compare = (
        html.Button("Compare with a second machine", id="compare", className="quiet-button", type="button")
        if side == "a"
        else html.Button("Close the second machine", id="close-b", className="quiet-button", type="button")
    )
    return html.Section(
        [
            dcc.Store(id=f"question-{side}"),
            dcc.Store(id=f"asked-{side}"),
            dcc.Store(id=f"calculated-{side}"),
            dcc.Store(id=f"measured-{side}"),
            dcc.Store(id=f"drawn-{side}"),
            dcc.Store(id=f"job-{side}"),
            dcc.Interval(id=f"clock-{side}", interval=POLL_MS, disabled=True),
            html.Div([title, compare], className="head"),
            html.Div(
                [
                    html.Label("Describe a machine, or name a scenario of the library", htmlFor=f"machine-{side}"),
                    html.Div(
                        [
                            dcc.Input(
                                id=f"machine-{side}",
                                type="text",
                                list="library",
                                maxLength=300,
                                placeholder=EXAMPLE,
                                className="machine",
                                autoComplete="off",
                            ),
                            html.Button("Calculate", id=f"ask-{side}", type="button"),
                        ],
                        className="ask",
                    ),
                ]
            ),
            _field(f"model-{side}", MODEL_LABEL, "postgresql", "models"),
            html.P(id=f"problem-{side}", className="problem", role="alert"),
            html.Div(id=f"sliders-{side}", className="sliders", role="group", **{"aria-label": "Sliders"}),
            html.Div(
                [
                    html.Div(id=f"rate-{side}", className="rate", role="status"),
                    html.P(id=f"interval-{side}", className="interval"),
                    html.Div(id=f"by-{side}"),
                    html.Div(id=f"facts-{side}"),
                    html.Div(
                        [
                            html.Button("Confirm by simulation", id=f"confirm-{side}", type="button"),
                            html.Button("Cancel", id=f"cancel-{side}", type="button", hidden=True),
                        ],
                        className="buttons",
                    ),
                    html.Div(id=f"progress-{side}", role="status"),
                    html.Div(id=f"confirmed-{side}", role="status"),
                    html.Div(id=f"downloads-{side}"),
                ],
                id=f"answer-{side}",
                className="answer",
                hidden=True,
                tabIndex="-1",
            ),
            html.Div(
                [
                    html.Div(id=f"curves-{side}", className="curves"),
                    html.Div(id=f"parts-{side}"),
                    html.Div(id=f"series-{side}"),
                ],
                className="pictures",
            ),
        ],
        id=f"side-{side}",
        className="side",
        hidden=side != "a",
        **{"aria-labelledby": f"title-{side}"},
    )


def _field(name: str, label: str, placeholder: str, offered: str | None = None) -> Any:
    """A line of text with its label; `offered`: id of the list of what it may be."""
    entry = dcc.Input(
        id=name,
        type="text",
        maxLength=300,
        placeholder=placeholder,
        className="machine",
        autoComplete="off",
        **({} if offered is None else {"list": offered}),
    )
    return html.Div([html.Label(label, htmlFor=name), entry])


def _plan_panel() -> Any:
    return html.Section(
        [
            html.H2("Plan: the cheapest machines for a load", id="title-plan"),
            html.P(
                "The load, its data, its database and the model that answers are those of the machine above.",
                className="quiet",
            ),
            html.Div(
                [
                    _field("target", "New orders per minute to hold (empty: most for the money)", "30000"),
                    _field("p95", "95 % of them end within (may be empty)", "50 ms"),
                    _field("data-size", "Size of the tables (empty: as above)", "200 GiB"),
                ],
                className="fields",
            ),
            *_job_panel("plan", "Find machines"),
        ],
        className="panel",
        **{"aria-labelledby": "title-plan"},
    )


def _calibration_panel() -> Any:
    return html.Section(
        [
            html.H2("Calibrate with measured runs", id="title-calibrate"),
            html.P(
                "Results of HammerDB, sysbench, pgbench, BenchBase, go-tpc and others with what iostat, sar or the "
                "database wrote beside them: a folder, a zip, or files of one run. They stay on this computer.",
                className="quiet",
            ),
            dcc.Store(id="upload"),
            html.Div(id="upload-place", className="uploads"),
            html.P(id="upload-problem", className="problem", role="alert"),
            html.Div(id="recognised", role="status"),
            _field(
                "base",
                "What was measured: describe the machine, or name a scenario of the library",
                "postgresql-15",
                "library",
            ),
            *_job_panel("calibrate", "Calibrate", shows_outcome=False),
            html.H3("Finished calibrations"),
            html.Ul(id="calibrations", className="links"),
            html.Div(id="calibration"),
        ],
        className="panel",
        **{"aria-labelledby": "title-calibrate"},
    )


def _job_panel(name: str, label: str, *, shows_outcome: bool = True) -> list[Any]:
    """The button of a piece of work, its progress with a button that cancels, and its outcome, or the name of that."""
    return [
        dcc.Store(id=f"{name}-job"),
        dcc.Interval(id=f"{name}-clock", interval=POLL_MS, disabled=True),
        html.Div(
            [
                html.Button(label, id=f"{name}-begin", type="button"),
                html.Button("Cancel", id=f"{name}-cancel", type="button", hidden=True),
            ],
            className="buttons",
        ),
        html.P(id=f"{name}-problem", className="problem", role="alert"),
        html.Div(id=f"{name}-progress", role="status"),
        html.Div(id=f"{name}-outcome", hidden=not shows_outcome),
    ]


def exhibit_parts(exhibit: Exhibit, side: str, links: Sequence[tuple[str, str]] = ()) -> list[Any]:
    """What a job has left."""
    return [
        html.H3(exhibit.title),
        html.Ul([html.Li(html.A(words, href=place, download="")) for words, place in links], className="links"),
        html.Div(figures(exhibit.drawings, side), className="curves"),
        html.Pre(exhibit.text, tabIndex="0", className="table"),
    ]


def calibration_items(titles: Sequence[tuple[str, str]]) -> list[Any]:
    """A button for each finished calibration: (digest, title)."""
    return [
        html.Li(html.Button(title, id={"type": "calibration", "name": name}, type="button", className="quiet-button"))
        for name, title in titles
    ] or [html.Li("none yet")]


def model_options(titles: Sequence[tuple[str, str]]) -> list[Any]:
    """Models that may answer: (name, title)."""
    return [html.Option(title, value=name) for name, title in titles]


def answer_button(name: str) -> Any:
    """Button that lets a finished calibration answer for the first machine."""
    return html.Button(
        "Let this model answer",
        id={"type": "answer-by", "name": name},
        type="button",
        **{"data-show": "title-a"},
    )


def slider_rows(side: str, places: Sequence[SliderPlaces]) -> list[Any]:
    """A slider for each number of the scenario that has one."""
    rows = []
    for each in places:
        words = [value_words(each.slider, value) for value in each.values]
        name = {"type": "slider", "side": side, "key": each.slider.key.replace(".", "/")}
        place = f"slider-{side}-{each.slider.key.replace('.', '-')}"
        rows.append(
            html.Div(
                [
                    html.Span(each.slider.label, id=place, className="slider-label"),
                    html.Span(words[each.at], className="slider-value", **{"aria-hidden": "true"}),
                    dcc.Input(id=name, type="range", min=0, max=len(words) - 1, step=1, value=each.at),
                ],
                className="slider",
                **{"data-words": json.dumps(words), "data-label": each.slider.label},
            )
        )
    return rows


def facts(answer: CalculatedAnswer) -> list[Any]:
    """What limits the machine, its p95, and every doubt."""
    doubts = [html.Li(text) for text in answer.warnings]
    return [
        html.P(answer.line, className="line"),
        html.Dl(
            [
                html.Div([html.Dt("Limited by"), html.Dd(answer.bottleneck)]),
                html.Div([html.Dt(f"{answer.main_class.capitalize()} p95"), html.Dd(answer.p95)]),
            ],
            className="facts",
        ),
        *([html.H3("Doubts"), html.Ul(doubts, className="doubts")] if doubts else []),
    ]


def figures(drawings: Iterable[Drawing], side: str) -> list[Any]:
    """Charts, which page.js draws of the data that stand in them."""
    return [
        html.Figure(
            [
                html.Div(
                    [
                        html.H3(drawing.title),
                        html.Button(
                            "PNG",
                            type="button",
                            className="png",
                            **{"data-png": drawing.key, "aria-label": f"Download {drawing.title} as PNG"},
                        ),
                    ],
                    className="head",
                ),
                html.Ul([_legend(entry) for entry in drawing.legend], className="legend", **{"aria-hidden": "true"}),
                html.Div(
                    id=f"plot-{side}-{drawing.key}",
                    className="plot",
                    role="img",
                    style={"height": f"{drawing.height_px}px"},
                    **{"aria-label": drawing.alternative, "data-figure": json.dumps(drawing.figure)},
                ),
                html.Figcaption(drawing.caption),
            ],
            key=drawing.key,
        )
        for drawing in drawings
    ]


def _legend(entry: Any) -> Any:
    mark = (
        html.Span(entry.glyph, className="glyph", style={"color": entry.colour})
        if entry.glyph
        else html.Span(className=f"mark {entry.mark}", style={"--mark": entry.colour})
    )
    return html.Li([mark, entry.label])


def confirmed_words(words: str, difference: str) -> list[Any]:
    """The simulated rate beside the calculated one."""
    return [html.H3("Confirmed by simulation"), html.P([html.Strong(words), f" {difference}"], className="confirmed")]


def progress_bar(share: float, words: str) -> list[Any]:
    """A bar with its words."""
    return [
        html.Progress(value=f"{share:.3f}", max="1", **{"aria-label": "simulation"}),
        html.Span(words),
    ]


def download_links(address: str, is_confirmed: bool) -> list[Any]:
    """What can be taken away of a question."""
    what = "the simulation" if is_confirmed else "the calculation"
    links = [
        ("scenario.yaml", "Scenario (YAML)"),
        ("answer.csv", "Figures (CSV)"),
        ("report.html", f"Report of {what}"),
    ]
    return [
        html.Ul(
            [html.Li(html.A(words, href=f"/take/{name}{address}", download=name)) for name, words in links],
            className="links",
        )
    ]
