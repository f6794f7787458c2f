"""What happens when something on the page is used: functions of plain values, and the table that ties them to it."""

from collections.abc import Sequence
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from scenarios.page.calculator import Calculator
from scenarios.page.folder import PageFolder
from scenarios.page.jobs import CANCELLED, FAILED, JobBoard, JobState
from scenarios.page.layout import (
    confirmed_words,
    download_links,
    facts,
    figures,
    progress_bar,
    slider_rows,
)
from scenarios.page.drawing import Drawing, drawing_of
from scenarios.page.question import KEYS, SIDES, PageQuestion, address_of, questions_in, read_question
from scenarios.page.work import confirm
from scenarios.run import SavedRun
from scenarios.show.numbers import between, count, share, signed_share
from scenarios.show.run_charts import over_time, throughput
from simulator.errors import InputError


class PageCallbacks:
    """Answers to the page's events."""

    def __init__(self, calculator: Calculator, jobs: JobBoard, folder: PageFolder) -> None:
        self._calculator, self._jobs, self._folder = calculator, jobs, folder

    def ask(self, machine: object, values: object) -> dict[str, Any]:
        """A new scenario: what is kept of it and its sliders. Raises InputError."""
        question = read_question({"machine": machine, "values": values or {}})
        places = self._calculator.places(question)
        return {
            "question": {
                "machine": question.machine,
                "values": dict(question.values),
                "stops": {each.slider.key: list(each.values) for each in places},
                "own": {each.slider.key: each.at for each in places},
            },
            "places": places,
        }

    def moved(self, kept: object, at: dict[str, object]) -> PageQuestion:
        """The question of where the sliders stand: those that were moved, and those that the address set."""
        if not isinstance(kept, dict):
            raise InputError("question: got nothing; name a machine first")
        values, stops, began = (kept.get(key) or {} for key in ("values", "stops", "own"))
        if not all(isinstance(each, dict) for each in (values, stops, began)):
            raise InputError("question: must have values, stops and own by their keys")
        values = dict(values)
        for key, place in at.items():
            listed = stops.get(key)
            if not isinstance(listed, list) or not isinstance(place, int | float | str):
                continue
            try:
                number = int(place)
            except (ValueError, OverflowError) as error:
                raise InputError(f"{key}: got {str(place)[:40]!r}; must be a place of the slider") from error
            if not 0 <= number < len(listed):
                raise InputError(f"{key}: got place {number}; the slider has {len(listed)}")
            if number != began.get(key):
                values[key] = listed[number]
        return read_question({"machine": kept.get("machine"), "values": values})

    def calculate(self, question: PageQuestion, place: str) -> dict[str, Any] | None:
        """The rate and what stands beside it; None if the place has asked again since. Raises InputError."""
        answer = self._calculator.answer(question, place)
        return answer and {
            "digest": question.digest,
            "question": {"machine": question.machine, "values": dict(question.values)},
            "rate_per_min": answer.rate_per_min,
            "rate": count(answer.rate_per_min),
            "unit": answer.unit,
            "title": answer.title,
            "answer": answer,
        }

    def interval(self, question: PageQuestion, place: str) -> dict[str, Any] | None:
        """The interval of a calculated rate; None if the place has asked again since. Raises InputError."""
        found = self._calculator.interval(question, place)
        if found is None:
            return None
        ends = ""
        if found.low_per_min is not None and found.high_per_min is not None:
            ends = f"[{between(found.low_per_min, found.high_per_min)}]"
        return {"digest": question.digest, "ends": ends, "words": found.words}

    def drawings(self, question: PageQuestion, place: str) -> tuple[Drawing, ...] | None:
        """The curves; None if the place has asked again since. Raises InputError."""
        return self._calculator.drawings(question, place)

    def confirmed(self, question: PageQuestion, rate_per_min: float) -> tuple[list[Any], SavedRun] | None:
        """A question's simulation in words, beside the calculated rate; None if it hasn't been simulated."""
        run = self._folder.confirmed(question)
        if run is None:
            return None
        rate = run.result.rate_per_min
        chance = ""
        if rate.low is not None and rate.high is not None:
            chance = f" [{between(rate.low, rate.high)}, chance alone]"
        words = f"{count(rate.mean)} NOPM{chance}"
        against = signed_share(rate_per_min / rate.mean - 1.0) if rate.mean > 0 else "not comparable"
        return confirmed_words(words, f"The calculated {count(rate_per_min)} is {against} of it."), run

    def begin(self, question: PageQuestion) -> str:
        """Begin a simulation; gives the job's name. Raises InputError."""
        question.scenario("kernel")
        self._jobs.begin(question.digest, confirm, question, self._folder.run_path(question))
        return question.digest

    def job(self, name: object) -> JobState | None:
        """State of a job."""
        return self._jobs.state(name) if isinstance(name, str) else None

    def cancel(self, name: object) -> None:
        """Cancel a job."""
        if isinstance(name, str):
            self._jobs.cancel(name)


def _place(browser: object, side: str) -> str:
    """Name of one side of one browser's page, as the browser says it."""
    return f"{str(browser)[:64]} {side}"


def problem_words(error: Exception) -> str:
    """A refusal as one paragraph."""
    return "; ".join(str(error).splitlines())


def register(app: Dash, page: PageCallbacks) -> None:
    """Tie the callbacks to the page."""
    for side in SIDES:
        _register_asking(app, page, side)
        _register_answers(app, page, side)
        _register_confirmation(app, page, side)
    app.clientside_callback(
        ClientsideFunction("oltpsim", "address"),
        Output("written", "data"),
        *(Input(f"calculated-{side}", "data") for side in SIDES),
        Input("side-b", "hidden"),
    )
    app.clientside_callback(
        ClientsideFunction("oltpsim", "difference"),
        Output("difference", "children"),
        *(Input(f"calculated-{side}", "data") for side in SIDES),
        Input("side-b", "hidden"),
    )

    @app.callback(
        Output("side-b", "hidden"),
        Output("sides", "className"),
        Output("machine-b", "value", allow_duplicate=True),
        Input("compare", "n_clicks"),
        Input("close-b", "n_clicks"),
        State("calculated-a", "data"),
        prevent_initial_call=True,
    )
    def show_second(_compare: int, _close: int, first: Any) -> tuple[Any, ...]:
        if ctx.triggered_id == "close-b":
            return True, "sides one", no_update
        machine = first["question"]["machine"] if isinstance(first, dict) else no_update
        return False, "sides two", machine


def _register_asking(app: Dash, page: PageCallbacks, side: str) -> None:
    number = SIDES.index(side)

    @app.callback(
        Output(f"question-{side}", "data"),
        Output(f"sliders-{side}", "children"),
        Output(f"problem-{side}", "children"),
        Output(f"machine-{side}", "value"),
        *([Output("side-b", "hidden", allow_duplicate=True), Output("sides", "className", allow_duplicate=True)] * number),
        Input(f"ask-{side}", "n_clicks"),
        Input(f"machine-{side}", "n_submit"),
        Input("address", "search"),
        State(f"machine-{side}", "value"),
        prevent_initial_call="initial_duplicate" if number else False,
    )
    def ask(_clicks: Any, _submits: Any, search: Any, machine: Any) -> tuple[Any, ...]:
        seen: tuple[Any, ...] = ()
        try:
            values: object = {}
            if ctx.triggered_id not in {f"ask-{side}", f"machine-{side}"}:
                questions = questions_in(search or "")
                seen = (no_update, no_update) * number
                if len(questions) <= number:
                    return no_update, no_update, "", no_update, *seen
                machine, values = questions[number].machine, dict(questions[number].values)
                seen = (False, "sides two") * number
            found = page.ask(machine, values)
        except InputError as error:
            return no_update, no_update, problem_words(error), no_update, *((no_update, no_update) * number)
        seen = seen or (no_update, no_update) * number
        return found["question"], slider_rows(side, found["places"]), "", found["question"]["machine"], *seen


def _register_answers(app: Dash, page: PageCallbacks, side: str) -> None:
    slider = {"type": "slider", "side": side, "key": ALL}

    @app.callback(
        Output(f"calculated-{side}", "data"),
        Output(f"facts-{side}", "children"),
        Output(f"parts-{side}", "children"),
        Output(f"problem-{side}", "children", allow_duplicate=True),
        Output(f"answer-{side}", "hidden"),
        Input(f"question-{side}", "data"),
        Input(slider, "value"),
        State(slider, "id"),
        State("browser", "data"),
        prevent_initial_call=True,
    )
    def calculate(kept: Any, places: Sequence[Any], names: Sequence[Any], browser: Any) -> tuple[Any, ...]:
        if not kept:
            return (no_update,) * 5
        try:
            at = {str(name["key"]).replace("/", "."): place for name, place in zip(names, places, strict=True)}
            question = page.moved(kept, at if set(at) == set(kept.get("own") or {}) else {})
            found = page.calculate(question, _place(browser, side))
        except InputError as error:
            return None, [], [], problem_words(error), True
        if found is None:
            raise PreventUpdate
        answer = found.pop("answer")
        return found, facts(answer), figures(answer.drawings, side), "", False

    @app.callback(
        Output(f"measured-{side}", "data"),
        Input(f"calculated-{side}", "data"),
        State("browser", "data"),
        prevent_initial_call=True,
    )
    def interval(calculated: Any, browser: Any) -> Any:
        if not calculated:
            return None
        try:
            found = page.interval(read_question(calculated["question"]), _place(browser, side))
            return no_update if found is None else found
        except InputError as error:
            return {"digest": calculated.get("digest"), "ends": "", "words": problem_words(error)}

    @app.callback(
        Output(f"curves-{side}", "children"),
        Output(f"drawn-{side}", "data"),
        Input(f"calculated-{side}", "data"),
        State("browser", "data"),
        prevent_initial_call=True,
    )
    def curves(calculated: Any, browser: Any) -> tuple[Any, Any]:
        if not calculated:
            return [], None
        try:
            question = read_question(calculated["question"])
            drawings = page.drawings(question, _place(browser, side))
        except InputError as error:
            return problem_words(error), calculated.get("digest")
        if drawings is None:
            return no_update, no_update
        return figures(drawings, side), question.digest

    # Two each: a callback with both for inputs would wait for the later one.
    app.clientside_callback(
        ClientsideFunction("oltpsim", "headline"),
        Output(f"rate-{side}", "children"),
        Output(f"interval-{side}", "children"),
        Output(f"curves-{side}", "className"),
        Input(f"calculated-{side}", "data"),
    )
    app.clientside_callback(
        ClientsideFunction("oltpsim", "interval"),
        Output(f"interval-{side}", "children", allow_duplicate=True),
        Input(f"measured-{side}", "data"),
        State(f"calculated-{side}", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("oltpsim", "curves"),
        Output(f"curves-{side}", "className", allow_duplicate=True),
        Input(f"drawn-{side}", "data"),
        State(f"calculated-{side}", "data"),
        prevent_initial_call=True,
    )


def _register_confirmation(app: Dash, page: PageCallbacks, side: str) -> None:
    @app.callback(
        Output(f"job-{side}", "data"),
        Output(f"clock-{side}", "disabled"),
        Output(f"progress-{side}", "children"),
        Output(f"cancel-{side}", "hidden"),
        Output(f"confirmed-{side}", "children"),
        Output(f"series-{side}", "children"),
        Output(f"downloads-{side}", "children"),
        Input(f"confirm-{side}", "n_clicks"),
        Input(f"cancel-{side}", "n_clicks"),
        Input(f"clock-{side}", "n_intervals"),
        Input(f"calculated-{side}", "data"),
        State(f"job-{side}", "data"),
        prevent_initial_call=True,
    )
    def follow(_confirm: Any, _cancel: Any, _ticks: Any, calculated: Any, job: Any) -> tuple[Any, ...]:
        trigger = ctx.triggered_id
        if not calculated:
            return None, True, [], True, [], [], []
        try:
            question = read_question(calculated["question"])
            if trigger == f"confirm-{side}":
                job = page.begin(question)
            if trigger == f"cancel-{side}":
                page.cancel(job)
        except InputError as error:
            return None, True, problem_words(error), True, no_update, no_update, no_update
        state = page.job(job)
        working = state is not None and not state.is_over
        progress: Any = []
        if state is not None and working:
            left = f", {state.left}" if state.left else ""
            progress = progress_bar(state.share, f"{state.state}, {share(state.share)}{left}")
        elif state is not None and state.state in {FAILED, CANCELLED}:
            progress = state.message or "cancelled; nothing was kept"
        changed = trigger == f"calculated-{side}" or not working
        shown: tuple[Any, ...] = (no_update,) * 3
        if changed:
            shown = _confirmation(page, side, question, calculated)
        return job, not working, progress, not working, *shown


def _confirmation(page: PageCallbacks, side: str, question: PageQuestion, calculated: Any) -> tuple[Any, ...]:
    found = page.confirmed(question, float(calculated["rate_per_min"]))
    links = download_links(side, address_of([question]), found is not None)
    if found is None:
        return [], [], links
    words, run = found
    charts = [throughput(run.result, None), *over_time(run.result)]
    return words, figures([drawing_of(each) for each in charts if each is not None], side), links
