"""What the page shows of a question, calculated in a process that keeps what it has read of earlier ones."""

from dataclasses import dataclass, replace
from functools import lru_cache

from oltpsim.models.catalogue import Prices, price_list
from oltpsim.models.reading import numeric_value
from oltpsim.models.wiring import scenario_remarks
from oltpsim.scenarios.page.drawing import Drawing, drawing_of
from oltpsim.scenarios.page.model import (
    ModelFile,
    ModelledQuestion,
    beside_runs,
    is_corrected,
    measurement_of,
    model_words,
    modelled_question,
)
from oltpsim.scenarios.page.question import PageQuestion, SliderKey, slider_values, sliders_of
from oltpsim.scenarios.questions.explain import MachineSolver, advise, rate_over_clients, unit_prices
from oltpsim.scenarios.show.explain import advice_charts, clients_chart
from oltpsim.scenarios.show.numbers import share, time_text
from oltpsim.scenarios.show.run_charts import time_by_activity, utilisation
from oltpsim.scenarios.show.words import NEW_ORDER, class_name, configuration_line, uncertainty_words, unit_of
from oltpsim.simulator.analytic import NO_PERCENTILES, simulate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, main_class_of

PRICES = ("aws-us-east-1", "us-2024")
MOST_RESULTS = 64


@dataclass(frozen=True)
class SliderPlaces:
    """A slider of a scenario: its places, and the number of the one where it stands."""

    slider: SliderKey
    values: tuple[float, ...]
    at: int


@dataclass(frozen=True)
class CalculatedAnswer:
    """The calculated rate of a question and what stands beside it."""

    title: str
    line: str
    rate_per_min: float
    unit: str
    short_unit: str
    """beside the number"""
    main_class: str
    """as people write it"""
    model: str
    """the base of the model whose values answer; empty if the parts' own numbers do"""
    bottleneck: str
    p95: str
    """in words, with the reason where there is none"""
    warnings: tuple[str, ...]
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class IntervalAnswer:
    """The interval in which a measurement would fall 9 times of 10; without ends the reason in words."""

    low_per_min: float | None
    high_per_min: float | None
    words: str
    model: tuple[tuple[str, str], ...] = ()
    """what the model behind it says of itself: terms and sentences"""


MODEL_ALONE = "Of the model alone; measured runs correct only the number above."
ONCE_WARM = "Of the machine once it is warm, which the number above isn't: its run counts from a start that is not."
_SOLVER = MachineSolver()
"""of this process"""


@lru_cache(maxsize=MOST_RESULTS)
def _modelled(question: PageQuestion, model: ModelFile | None) -> ModelledQuestion:
    return modelled_question(question, model, "analytic")


@lru_cache(maxsize=MOST_RESULTS)
def _result(question: PageQuestion, model: ModelFile | None) -> Result:
    """What `oltpsim run --engine analytic` calculates, of a program that was read before."""
    point = _SOLVER.point(_modelled(question, model).machine)
    return simulate(point.system, 1, None, point.timed_workload)


def slider_places(question: PageQuestion) -> list[SliderPlaces]:
    """The sliders of a question's scenario. Raises InputError."""
    scenario, values = _modelled(PageQuestion(question.machine), None).scenario, dict(question.values)
    places = []
    for slider in sliders_of(scenario):
        value = values.get(slider.key) or numeric_value(scenario, slider.key)
        assert value is not None
        stops = slider_values(slider, scenario, float(value))
        places.append(SliderPlaces(slider, tuple(stops), stops.index(float(value))))
    return places


def calculated_answer(question: PageQuestion, model: ModelFile | None = None) -> CalculatedAnswer:
    """The rate of a question. Raises InputError, also for a machine that can't run the load, with the reason."""
    modelled = _modelled(question, model)
    scenario, result = modelled.machine, beside_runs(modelled, _result(question, model))
    limit, main = result.bottleneck, main_class_of(result)
    next_words = f"; next {limit.next_name} ({share(limit.next_share)})" if limit.next_name else ""
    unknown = [text for text in result.warnings if text.startswith(NO_PERCENTILES)]
    reason = unknown[0].partition(": ")[2] if unknown else "the analytic engine doesn't know it"
    warnings = [*result.warnings, *scenario_remarks(scenario, result)]
    charts = [utilisation(result), time_by_activity(result)]
    return CalculatedAnswer(
        title=scenario.name,
        line=configuration_line(scenario),
        rate_per_min=result.rate_per_min.mean,
        unit=unit_of(result.main_class),
        short_unit=rate_unit(result.main_class),
        main_class=class_name(result.main_class),
        model="" if modelled.calibration is None else modelled.calibration.base.name,
        bottleneck=f"{limit.name} ({share(limit.share)}){next_words}",
        p95=f"none: {reason}" if main.p95_s is None else time_text(main.p95_s),
        warnings=tuple(text for text in warnings if text not in unknown),
        drawings=tuple(drawing_of(chart) for chart in charts if chart is not None),
    )


def rate_unit(main_class: str) -> str:
    """Unit beside a rate's number: NOPM are new orders, and nothing else."""
    return "NOPM" if class_name(main_class) == NEW_ORDER else "per minute"


def interval_answer(question: PageQuestion, model: ModelFile | None = None) -> IntervalAnswer:
    """Where a measurement of a question's machine would fall, with what a description leaves open."""
    try:
        interval = measurement_of(_modelled(question, model), _result(question, model))
    except InputError as error:
        interval = str(error)
    if isinstance(interval, str):
        return IntervalAnswer(None, None, interval)
    words = f"uncertain by {', '.join(uncertainty_words(interval.rate))}"
    return IntervalAnswer(*interval.rate.interval, words, model_words(interval, model))


def curve_drawings(question: PageQuestion, model: ModelFile | None = None) -> tuple[Drawing, ...]:
    """The rate against buffers and against clients, and one more of each, with money where it has a price."""
    modelled = _modelled(question, model)
    scenario = modelled.machine
    prices = unit_prices(scenario, Prices(tuple(price_list(name) for name in PRICES)), {})
    main_class = scenario.workload.main_class
    buffers, steps = advice_charts(advise(scenario, prices, _SOLVER), main_class)
    clients = rate_over_clients(scenario, _SOLVER)
    charts = [buffers, *([] if clients is None else [clients_chart(clients, main_class)]), steps]
    drawn = [drawing_of(chart) for chart in charts]
    notes = [] if scenario.interval.start == "warm" else [ONCE_WARM]
    notes += [MODEL_ALONE] if is_corrected(modelled) else []
    return tuple(replace(each, caption=" ".join(filter(None, [each.caption, *notes]))) for each in drawn)
