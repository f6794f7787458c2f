"""oltpsim explain: where the time of a transaction goes, what limits the machine, and what would help."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.catalogue import Prices, price_list
from oltpsim.models.input import parse_quantity
from oltpsim.scenarios.commands.answer import command_line, terminal_width
from oltpsim.scenarios.commands.modelled import (
    ModelledScenario,
    assumed_of,
    document_format,
    measurement_of,
    modelled_scenario,
)
from oltpsim.scenarios.commands.options import (
    AnswerOptions,
    Output,
    SystemOptions,
    finite,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.questions.explain import (
    CORE_STEP,
    DISK_STEP,
    MEMORY_STEP,
    ExplainOptions,
    Explanation,
    Percentile,
    PercentileObjective,
    explain_scenario,
    parse_growth,
    unit_prices,
)
from oltpsim.scenarios.run import SAVED_FORMAT, SimulationTask, read_saved_run, simulate
from oltpsim.scenarios.show.explain import (
    activity_bars,
    explanation_charts,
    explanation_csv,
    explanation_json,
    explanation_text,
    explanation_title,
)
from oltpsim.scenarios.show.picture import check_picture, write_picture
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.words import Expected
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

CALCULATED = "calculated by the analytic engine, not simulated; to see a simulated run explained: {}, then {}"


@with_records
def explain(  # noqa: PLR0913 - one argument per option
    what: Annotated[str, typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run, or a scenario.")],
    *,
    p95: Annotated[
        str | None, typer.Option("--p95", metavar="TIME", help="What 95 % of the new orders must end within: '50 ms'.")
    ] = None,
    p99: Annotated[str | None, typer.Option("--p99", metavar="TIME", help="The same for 99 %.")] = None,
    growth: Annotated[
        str | None, typer.Option(metavar="SHARE", help="How data and load grow: '20 %/year' or '1.5 %/month'.")
    ] = None,
    load_: Annotated[
        float | None,
        typer.Option(
            "--load",
            metavar="N",
            callback=finite,
            help="New orders per minute asked for now, for --growth; what the scenario does if absent.",
        ),
    ] = None,
    prices: Annotated[
        list[str] | None,
        typer.Option("--prices", metavar="LIST", help="A price list of the catalogue, or a file; may be repeated."),
    ] = None,
    memory_price: Annotated[
        float | None, typer.Option(metavar="MONEY", callback=finite, help="Of one GiB of RAM, before any list's.")
    ] = None,
    disk_price: Annotated[
        float | None, typer.Option(metavar="MONEY", callback=finite, help="Of one more disk of the same kind.")
    ] = None,
    core_price: Annotated[
        float | None, typer.Option(metavar="MONEY", callback=finite, help="Of one more core.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw rate against buffers, and one more of each: .html, .svg, .png, .pdf."),
    ] = None,
    system: SystemOptions,
    options: AnswerOptions,
) -> None:
    """Show where the time of a transaction goes, what limits the machine and what more would help.

    The bars are of a saved run, or of a scenario, which the analytic engine calculates at once. Below them, about the
    machine once it is warm and calculated too: what limits it and what would next; new orders per minute for one more
    GiB, disk or core, and for each unit of money; the best number of buffers and the cliff beyond; how much data and
    how many users it holds; how long it takes to get warm; how long it lasts if data and load grow.
    """
    check_picture(picture, "--picture")
    check_places(picture)
    is_saved = document_format(what) == SAVED_FORMAT
    modelled, result, head = _saved(what, system) if is_saved else _calculated(what, system)
    scenario = modelled.machine
    stated = {MEMORY_STEP: memory_price, DISK_STEP: disk_price, CORE_STEP: core_price}
    priced = unit_prices(scenario, Prices(tuple(price_list(text) for text in prices or [])), stated)
    growth_per_year = None if growth is None else parse_growth(growth)
    with progress_display(options.quiet) as display:
        assumed = assumed_of(modelled, display)
        asked = ExplainOptions(priced, _objective(p95, p99), growth_per_year, load_)
        found = explain_scenario(scenario, asked, display.step)
    expected = "" if options.chance else measurement_of(modelled, result, assumed.guesses)
    assumed.say(options.output, options.quiet)
    typer.echo(_text(result, expected, found, head, options.output), nl=False)
    if picture is not None:
        write_picture(picture, explanation_title(found), explanation_charts(found), CALCULATED)
        typer.echo(f"picture: {picture}", err=True)


def _text(result: Result, expected: Expected, found: Explanation, head: list[str], output: Output) -> str:
    if output is Output.JSON:
        return explanation_json(result, expected, found)
    if output is Output.CSV:
        return explanation_csv(found, expected)
    version = result.versions.get("oltpsim", "?")
    origin = f"oltpsim {version} · engine {result.engine} · seed {result.seed} · model {result.model_hash}"
    answers = explanation_text(found, terminal_width(), dt.datetime.now(dt.UTC).date())
    return "\n".join([*head, activity_bars(result, expected), answers, origin]) + "\n"


def _saved(what: str, system: SystemOptions) -> tuple[ModelledScenario, Result, list[str]]:
    if system.model is not None:
        why = "a saved run is done already; --model goes with a scenario"
        raise InputError(f"explain {what} --model {system.model}: {why}")
    if system.settings:
        why = "a saved run can't be changed; --set goes with a scenario"
        raise InputError(f"explain {what} --set {system.settings[0]}: {why}")
    run = read_saved_run(Path(what))
    return ModelledScenario(run.scenario, None), run.result, []


def _calculated(what: str, system: SystemOptions) -> tuple[ModelledScenario, Result, list[str]]:
    """A scenario calculated at once, with lines that say whose the bars are."""
    words = [word for setting in system.settings for word in ("--set", setting)]
    words += [] if system.model is None else ["--model", str(system.model)]
    run = [command_line(["oltpsim", "run", what, *words, "--save", "FILE.json"]), "oltpsim explain FILE.json"]
    if (setting := system.engine_setting) is not None:
        raise InputError(
            f"explain {what} --set {setting}: a scenario is explained by the analytic engine; for another: "
            f"{run[0]}, then {run[1]}"
        )
    modelled = modelled_scenario(what, (*system.settings, "engine=analytic"), system.model)
    result = simulate(SimulationTask(modelled.machine, seed=1))
    return modelled, result, [CALCULATED.format(*run), *(f"warning: {warning}" for warning in result.warnings)]


def _objective(p95: str | None, p99: str | None) -> PercentileObjective | None:
    if p95 is not None and p99 is not None:
        raise InputError("--p95 and --p99: give one objective")
    percentile: Percentile = "p95" if p99 is None else "p99"
    text = p95 or p99
    if text is None:
        return None
    try:
        within_s = parse_quantity(text, "time", "s")
    except ValueError as error:
        raise InputError(f"--{percentile} {text}: {error}") from error
    if not within_s > 0:
        raise InputError(f"--{percentile} {text}: must be above 0, for example '50 ms'")
    return PercentileObjective(percentile, within_s)
