"""What happens when something on the page is used: functions of plain values, and the table that ties them to it."""

import math
from collections.abc import Callable
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from oltpsim.scenarios.page.answers import rate_unit
from oltpsim.scenarios.page.calculator import Calculator, PageRequest
from oltpsim.scenarios.page.drawing import Drawing, Exhibit, drawing_of, read_exhibit
from oltpsim.scenarios.page.folder import PageFolder, digest_of
from oltpsim.scenarios.page.jobs import CANCELLED, FAILED, WAITING, JobBoard, JobState
from oltpsim.scenarios.page.layout import (
    answer_button,
    calibration_items,
    confirmed_words,
    download_links,
    exhibit_parts,
    facts,
    figures,
    model_options,
    progress_bar,
    slider_rows,
)
from oltpsim.scenarios.page.model import beside_runs, calibration_in, modelled_question
from oltpsim.scenarios.page.question import SIDES, PageQuestion, address_of, questions_in, read_question
from oltpsim.scenarios.page.work import calibrate_runs, confirm, find_machines, recognise
from oltpsim.scenarios.run import SavedRun, program_hash
from oltpsim.scenarios.show.numbers import between, count, share, signed_share
from oltpsim.scenarios.show.run_charts import over_time, throughput
from oltpsim.simulator.errors import InputError

MOST_WORDS, MOST_NUMBER = 40, 1e12


class PageCallbacks:
    """Answers to the page's events."""

    def __init__(self, calculator: Calculator, jobs: JobBoard, folder: PageFolder) -> None:
        self._calculator, self._jobs, self._folder = calculator, jobs, folder

    def ask(self, machine: object, values: object, model: object = "") -> dict[str, Any]:
        """A new scenario and who answers: what is kept of it and its sliders. Raises InputError."""
        question = read_question({"machine": machine, "values": values or {}, "model": model})
        self._folder.model(question)
        places = self._calculator.places(question)
        return {
            "question": {
                **question.plain(),
                "stops": {each.slider.key: list(each.values) for each in places},
                "own": {each.slider.key: each.at for each in places},
            },
            "places": places,
        }

    def question_from_browser(self, asked: object) -> PageQuestion:
        """The question that a browser asks: what it keeps, and its sliders as pairs of key and place."""
        kept, pairs = (asked.get("question"), asked.get("at")) if isinstance(asked, dict) else (None, None)
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise InputError("at: must be a list of pairs, a slider's key and its place")
        at = {str(key).replace("/", "."): place for key, place in pairs}
        own = kept.get("own") if isinstance(kept, dict) else None
        return self.moved(kept, at if isinstance(own, dict) and set(at) == set(own) else {})

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
        return read_question({"machine": kept.get("machine"), "values": values, "model": kept.get("model")})

    def models(self) -> list[tuple[str, str]]:
        """Models that may answer, name and title: the program's, then the finished calibrations of this page."""
        shipped = [(name, calibration_in(file).base.name) for name, file in self._folder.shipped_models().items()]
        return [*shipped, *self.calibrations()]

    def calculate(self, question: PageQuestion, request: PageRequest) -> dict[str, Any] | None:
        """The rate and what stands beside it; None if the place has asked again since. Raises InputError."""
        answer = self._calculator.answer(question, self._folder.model(question), request)
        if answer is None:
            return None
        return {
            "digest": question.digest,
            "number": request.number,
            "question": question.plain(),
            "rate_per_min": answer.rate_per_min,
            "rate": count(answer.rate_per_min),
            "unit": answer.unit,
            "short_unit": answer.short_unit,
            "by": f"calculated by the model of {answer.model}" if answer.model else "calculated",
            "title": answer.title,
            "answer": answer,
        }

    def interval(self, question: PageQuestion, request: PageRequest) -> dict[str, Any] | None:
        """The interval of a calculated rate; None if the place has asked again since. Raises InputError."""
        found = self._calculator.interval(question, self._folder.model(question), request)
        if found is None:
            return None
        ends = ""
        if found.low_per_min is not None and found.high_per_min is not None:
            ends = f"[{between(found.low_per_min, found.high_per_min)}]"
        return {"digest": question.digest, "ends": ends, "words": found.words, "model": [*found.model]}

    def drawings(self, question: PageQuestion, request: PageRequest) -> tuple[Drawing, ...] | None:
        """The curves; None if the place has asked again since. Raises InputError."""
        return self._calculator.drawings(question, self._folder.model(question), request)

    def confirmed(self, question: PageQuestion, rate_per_min: float) -> tuple[list[Any], SavedRun] | None:
        """A question's simulation in words, beside the calculated rate; None if it hasn't been simulated."""
        run = self._folder.confirmed(question)
        if run is None:
            return None
        modelled = modelled_question(question, self._folder.model(question), run.scenario.engine)
        rate = beside_runs(modelled, run.result).rate_per_min
        chance = ""
        if rate.low is not None and rate.high is not None:
            chance = f" [{between(rate.low, rate.high)}, chance alone]"
        words = f"{count(rate.mean)} {rate_unit(run.result.main_class)}{chance}"
        against = signed_share(rate_per_min / rate.mean - 1.0) if rate.mean > 0 else "not comparable"
        return confirmed_words(words, f"The calculated {count(rate_per_min)} is {against} of it."), run

    def begin(self, question: PageQuestion) -> str:
        """Begin a simulation; gives the job's name. Raises InputError."""
        question.scenario("kernel")
        path = self._folder.run_path(question)
        self._jobs.begin(question.digest, confirm, question, self._folder.model(question), path)
        return question.digest

    def plan(self, calculated: object, target: object, p95: object, data_size: object) -> str:
        """Begin a plan for the load of the first machine; gives its digest. Raises InputError."""
        if not isinstance(calculated, dict):
            raise InputError("plan: name a machine above first, whose load it is")
        question = read_question(calculated.get("question"))
        rate = None
        words = [str(each or "").strip() for each in (target, p95, data_size)]
        if any(len(each) > MOST_WORDS for each in words):
            raise InputError(f"plan: fields hold at most {MOST_WORDS} letters")
        if words[0]:
            rate = positive_number(words[0].replace(",", ""), "plan: new orders per minute")
        model = self._folder.model(question)
        by = "" if model is None else model.digest
        name = digest_of("plan", question.digest, rate, *words[1:], program_hash(), *([by] if by else []))
        self._jobs.begin(name, find_machines, question, model, rate, *words[1:], self._folder.plan_path(name))
        return name

    def planned(self, name: str) -> Exhibit | None:
        """A finished plan."""
        return read_exhibit(self._folder.plan_path(name))

    def recognised(self, upload: object) -> Exhibit:
        """What an upload holds. Raises InputError."""
        name = upload.get("name") if isinstance(upload, dict) else None
        folder = self._folder.upload(str(name))
        self._calculator.recognise(recognise, folder)
        found = read_exhibit(folder / "recognised.json")
        assert found is not None
        return found

    def calibrate(self, upload: object, base: object) -> str:
        """Begin a calibration; gives its digest. Raises InputError."""
        if not isinstance(upload, dict):
            raise InputError("calibrate: choose files of measured runs first")
        folder = self._folder.upload(str(upload.get("name")))
        question = read_question({"machine": base, "values": {}})
        question.scenario("kernel")
        name = digest_of("calibrate", folder.name, question.digest)
        self._jobs.begin(name, calibrate_runs, folder, question, self._folder.calibration_path(name))
        return name

    def calibrations(self) -> list[tuple[str, str]]:
        """Finished calibrations: digest and title."""
        found = [(name, self.calibration(name)) for name in self._folder.calibrations()]
        return [(name, exhibit.title) for name, exhibit in found if exhibit is not None]

    def calibration(self, name: object) -> Exhibit | None:
        """A finished calibration. Raises InputError for what is no name of one."""
        return read_exhibit(self._folder.calibration_path(str(name)))

    def job(self, name: object) -> JobState | None:
        """State of a job."""
        return self._jobs.state(name) if isinstance(name, str) else None

    def cancel(self, name: object) -> None:
        """Cancel a job."""
        if isinstance(name, str):
            self._jobs.cancel(name)


def positive_number(text: str, where: str) -> float:
    """A number of a field. Raises InputError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < MOST_NUMBER:
        raise InputError(f"{where}: got {text[:40]!r}; must be a number above 0 and below {MOST_NUMBER:g}")
    return number


def page_request(browser: object, side: str, data: object) -> PageRequest:
    """The request of what a browser sent: its page's name and the request's number, as the browser says them."""
    number = data.get("number") if isinstance(data, dict) else None
    return PageRequest(f"{str(browser)[:64]} {side}", number if isinstance(number, int) else 0)


def problem_words(error: Exception) -> str:
    """A refusal as one paragraph."""
    return "; ".join(str(error).splitlines())


def register(app: Dash, page: PageCallbacks) -> None:
    """Tie the callbacks to the page."""
    for side in SIDES:
        _register_asking(app, page, side)
        _register_answers(app, page, side)
        _register_confirmation(app, page, side)
    _register_plan(app, page)
    _register_calibration(app, page)
    _in_browser(
        app,
        ClientsideFunction("oltpsim", "address"),
        Output("written", "data"),
        *(Input(f"calculated-{side}", "data") for side in SIDES),
        Input("side-b", "hidden"),
    )
    _in_browser(
        app,
        ClientsideFunction("oltpsim", "difference"),
        Output("difference", "children"),
        *(Input(f"calculated-{side}", "data") for side in SIDES),
        Input("side-b", "hidden"),
    )

    @app.callback(
        Output("side-b", "hidden"),
        Output("sides", "className"),
        Output("machine-b", "value", allow_duplicate=True),
        Output("model-b", "value", allow_duplicate=True),
        Input("compare", "n_clicks"),
        Input("close-b", "n_clicks"),
        State("calculated-a", "data"),
        prevent_initial_call=True,
    )
    def show_second(_compare: int, _close: int, first: Any) -> tuple[Any, ...]:
        if ctx.triggered_id == "close-b":
            return True, "sides one", no_update, no_update
        asked = first["question"] if isinstance(first, dict) else {}
        return False, "sides two", asked.get("machine", no_update), asked.get("model", no_update)


def _register_asking(app: Dash, page: PageCallbacks, side: str) -> None:
    number = SIDES.index(side)

    @app.callback(
        Output(f"question-{side}", "data"),
        Output(f"sliders-{side}", "children"),
        Output(f"problem-{side}", "children"),
        Output(f"machine-{side}", "value"),
        Output(f"model-{side}", "value"),
        *(
            [Output("side-b", "hidden", allow_duplicate=True), Output("sides", "className", allow_duplicate=True)]
            * number
        ),
        Input(f"ask-{side}", "n_clicks"),
        Input(f"machine-{side}", "n_submit"),
        Input(f"model-{side}", "n_submit"),
        Input("address", "search"),
        *([] if number else [Input({"type": "answer-by", "name": ALL}, "n_clicks")]),
        State(f"machine-{side}", "value"),
        State(f"model-{side}", "value"),
        State("base", "value"),
        prevent_initial_call="initial_duplicate" if number else False,
    )
    def ask(*inputs: Any) -> tuple[Any, ...]:
        *_, machine, model, base = inputs
        search, trigger = inputs[3], ctx.triggered_id
        seen: tuple[Any, ...] = ()
        try:
            values: object = {}
            if isinstance(trigger, dict):
                if not any(inputs[4]):  # the button has only been drawn
                    raise PreventUpdate
                machine, model = machine or base, trigger["name"]
            elif trigger not in {f"ask-{side}", f"machine-{side}", f"model-{side}"}:
                questions = questions_in(search or "")
                seen = (no_update, no_update) * number
                if len(questions) <= number:
                    return no_update, no_update, "", no_update, no_update, *seen
                machine, values = questions[number].machine, dict(questions[number].values)
                model = questions[number].model
                seen = (False, "sides two") * number
            found = page.ask(machine, values, model)
        except InputError as error:
            return no_update, no_update, problem_words(error), no_update, no_update, *((no_update, no_update) * number)
        seen = seen or (no_update, no_update) * number
        kept = found["question"]
        return kept, slider_rows(side, found["places"]), "", kept["machine"], kept["model"], *seen


def _register_answers(app: Dash, page: PageCallbacks, side: str) -> None:
    slider = {"type": "slider", "side": side, "key": ALL}
    _in_browser(
        app,
        ClientsideFunction("oltpsim", "asked"),
        Output(f"asked-{side}", "data"),
        Input(f"question-{side}", "data"),
        Input(slider, "value"),
        State(slider, "id"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(f"calculated-{side}", "data"),
        Output(f"facts-{side}", "children"),
        Output(f"parts-{side}", "children"),
        Output(f"problem-{side}", "children", allow_duplicate=True),
        Output(f"answer-{side}", "hidden"),
        Input(f"asked-{side}", "data"),
        State("browser", "data"),
        prevent_initial_call=True,
    )
    def calculate(asked: Any, browser: Any) -> tuple[Any, ...]:
        if not asked:
            return (no_update,) * 5
        try:
            found = page.calculate(page.question_from_browser(asked), page_request(browser, side, asked))
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
            found = page.interval(read_question(calculated["question"]), page_request(browser, side, calculated))
        except InputError as error:
            found = {"digest": calculated.get("digest"), "ends": "", "words": problem_words(error), "model": []}
        return no_update if found is None else found

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
            drawings = page.drawings(question, page_request(browser, side, calculated))
        except InputError as error:
            return problem_words(error), calculated.get("digest")
        if drawings is None:
            return no_update, no_update
        return figures(drawings, side), question.digest

    # Two each: a callback with both for inputs would wait for the later one.
    _in_browser(
        app,
        ClientsideFunction("oltpsim", "headline"),
        Output(f"rate-{side}", "children"),
        Output(f"interval-{side}", "children"),
        Output(f"by-{side}", "children"),
        Output(f"curves-{side}", "className"),
        Input(f"calculated-{side}", "data"),
    )
    _in_browser(
        app,
        ClientsideFunction("oltpsim", "interval"),
        Output(f"interval-{side}", "children", allow_duplicate=True),
        Output(f"by-{side}", "children", allow_duplicate=True),
        Input(f"measured-{side}", "data"),
        State(f"calculated-{side}", "data"),
        prevent_initial_call=True,
    )
    _in_browser(
        app,
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
            progress = progress_bar(state.share, state_words(state))
        elif state is not None and state.state in {FAILED, CANCELLED}:
            progress = state.message or "cancelled; nothing was kept"
        changed = trigger == f"calculated-{side}" or not working
        shown: tuple[Any, ...] = (no_update,) * 3
        if changed:
            shown = _confirmation(page, side, question, calculated)
        return job, not working, progress, not working, *shown


def _confirmation(page: PageCallbacks, side: str, question: PageQuestion, calculated: Any) -> tuple[Any, ...]:
    found = page.confirmed(question, float(calculated["rate_per_min"]))
    links = download_links(address_of([question]), found is not None)
    if found is None:
        return [], [], links
    words, run = found
    charts = [throughput(run.result, None), *over_time(run.result)]
    return words, figures([drawing_of(each) for each in charts if each is not None], side), links


def _in_browser(app: Any, function: ClientsideFunction, *places: Output | Input | State, **settings: Any) -> None:
    """Tie a function of page.js to the page."""
    app.clientside_callback(function, *places, **settings)


def _job_outputs(name: str) -> list[Output]:
    return [
        Output(f"{name}-job", "data"),
        Output(f"{name}-clock", "disabled"),
        Output(f"{name}-progress", "children"),
        Output(f"{name}-cancel", "hidden"),
        Output(f"{name}-problem", "children"),
        Output(f"{name}-outcome", "children"),
    ]


def _job_inputs(name: str) -> list[Input]:
    return [
        Input(f"{name}-begin", "n_clicks"),
        Input(f"{name}-cancel", "n_clicks"),
        Input(f"{name}-clock", "n_intervals"),
    ]


def followed(page: PageCallbacks, job: Any, begin: Callable[[], str], outcome: Callable[[str], Any]) -> tuple[Any, ...]:
    """What `_job_outputs` become after one of `_job_inputs`: a job begun, cancelled, or how far it is."""
    trigger = str(ctx.triggered_id)
    try:
        if trigger.endswith("-begin"):
            job = begin()
        if trigger.endswith("-cancel"):
            page.cancel(job)
    except InputError as error:
        return job, True, [], True, problem_words(error), no_update
    state = page.job(job)
    if state is None:
        return job, True, [], True, no_update, no_update
    if not state.is_over:
        return job, False, progress_bar(state.share, state_words(state)), False, "", no_update
    if state.state == FAILED:
        return job, True, [], True, "; ".join(state.message.splitlines()), no_update
    if state.state == CANCELLED:
        return job, True, "cancelled; nothing was kept", True, "", no_update
    return job, True, "done", True, "", outcome(job)


def state_words(state: JobState) -> str:
    """How far a job is, and the time left."""
    if state.state == WAITING:
        return "waits until another piece of work is done"
    if not state.share:
        return "is being prepared"
    return f"{share(state.share)}{', ' * bool(state.left)}{state.left}"


def _register_plan(app: Dash, page: PageCallbacks) -> None:
    @app.callback(
        *_job_outputs("plan"),
        *_job_inputs("plan"),
        State("plan-job", "data"),
        State("calculated-a", "data"),
        *(State(name, "value") for name in ("target", "p95", "data-size")),
        prevent_initial_call=True,
    )
    def plan(_begin: Any, _cancel: Any, _ticks: Any, job: Any, calculated: Any, *fields: Any) -> tuple[Any, ...]:
        def outcome(name: str) -> Any:
            found = page.planned(name)
            return [] if found is None else exhibit_parts(found, "plan", [("Plan's page", f"/plan/{name}.html")])

        return followed(page, job, lambda: page.plan(calculated, *fields), outcome)


def _register_calibration(app: Dash, page: PageCallbacks) -> None:
    @app.callback(
        Output("recognised", "children"),
        Output("upload-problem", "children"),
        Input("upload", "data"),
        prevent_initial_call=True,
    )
    def recognised(upload: Any) -> tuple[Any, str]:
        if not isinstance(upload, dict):
            return [], ""
        if upload.get("problem"):
            return [], str(upload["problem"])
        try:
            found = page.recognised(upload)
        except InputError as error:
            return [], problem_words(error)
        return exhibit_parts(found, "upload"), ""

    @app.callback(
        *_job_outputs("calibrate"),
        *_job_inputs("calibrate"),
        State("calibrate-job", "data"),
        State("upload", "data"),
        State("base", "value"),
        prevent_initial_call=True,
    )
    def calibrate(_begin: Any, _cancel: Any, _ticks: Any, job: Any, upload: Any, base: Any) -> tuple[Any, ...]:
        return followed(page, job, lambda: page.calibrate(upload, base), lambda name: name)

    @app.callback(
        Output("calibrations", "children"),
        Output("calibration", "children"),
        Output("models", "children"),
        Input("calibrate-outcome", "children"),
        Input({"type": "calibration", "name": ALL}, "n_clicks"),
    )
    def shown_calibration(finished: Any, _clicks: Any) -> tuple[Any, Any, Any]:
        chosen = ctx.triggered_id["name"] if isinstance(ctx.triggered_id, dict) and any(_clicks) else finished
        items: Any = no_update
        options: Any = no_update
        if not isinstance(ctx.triggered_id, dict):
            items, options = calibration_items(page.calibrations()), model_options(page.models())
        if not chosen or (isinstance(ctx.triggered_id, dict) and not any(_clicks)):
            return items, no_update, options
        try:
            found = page.calibration(chosen)
        except InputError:
            found = None
        links = [("Model for --model (JSON)", f"/calibration/{chosen}.json")]
        shown = [] if found is None else [*exhibit_parts(found, "calibration", links), answer_button(chosen)]
        return items, shown, options
