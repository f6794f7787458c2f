"""oltpsim plan: which machine to buy or to rent for a load, with its bill and the probability that it is enough."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.catalogue import Prices, price_list
from oltpsim.scenarios.commands.answer import command_line, terminal_width
from oltpsim.scenarios.commands.interruption import is_interrupted, say_reused
from oltpsim.scenarios.commands.modelled import ModelledScenario, assumed_of, read_model
from oltpsim.scenarios.commands.options import (
    MOST_CONFIRMED,
    ModelOption,
    Output,
    OutputOption,
    PlaceOptions,
    QuietOption,
    ReportOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    finite,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.questions.plan import (
    ParameterUncertainty,
    Simulations,
    candidate_stock,
    confirmed_plan,
    current_date,
    make_plan,
    parse_objective,
    parse_share,
    plan_question,
)
from oltpsim.scenarios.run import Store
from oltpsim.scenarios.show.plan import plan_csv, plan_json, plan_table
from oltpsim.scenarios.show.plan_page import write_plan_page
from oltpsim.scenarios.show.progress import progress_display

MISSED = 1
LISTS = ("aws-us-east-1", "us-2024")
"""price lists if none is named"""


@with_records
def plan(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    scenario: ScenarioArgument,
    *,
    target: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="New orders per minute to hold; without it, what does most for its cost.", callback=finite
        ),
    ] = None,
    p95: Annotated[
        list[str] | None,
        typer.Option(metavar="[CLASS=]TIME", help="95 % end within this, of new orders or of CLASS; may be repeated."),
    ] = None,
    p99: Annotated[list[str] | None, typer.Option(metavar="[CLASS=]TIME", help="The same of 99 %.")] = None,
    data_size: Annotated[str | None, typer.Option(metavar="SIZE", help="Size of the tables, such as '2 TiB'.")] = None,
    active: Annotated[str | None, typer.Option(metavar="SHARE", help="Share of the data in use, such as 25%.")] = None,
    growth: Annotated[str, typer.Option(metavar="SHARE", help="Growth of load and data per month, such as 2%.")] = "0%",
    months: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="Months until the load is as it must be held; target and data are today's.",
            min=0,
            max=600,
        ),
    ] = 0.0,
    budget: Annotated[
        float | None, typer.Option(metavar="AMOUNT", help="Most that may be spent, all years.", callback=finite)
    ] = None,
    years: Annotated[float, typer.Option(metavar="N", help="Years that are paid for.", min=0.1, max=20)] = 3.0,
    spares: Annotated[int, typer.Option(metavar="N", help="Machines that stand by, paid too.", min=0, max=100)] = 0,
    sure: Annotated[str, typer.Option(metavar="SHARE", help="Least probability of holding the target.")] = "80%",
    prices: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help=f"A price list of the catalogue or a YAML file; may be repeated; {' and '.join(LISTS)} if absent.",
        ),
    ] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only these machines, instances or chassis; * stands for anything."),
    ] = None,
    pool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHARE", help="Share of memory for the buffer pool; may be repeated; the scenario's if absent."
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(metavar="N", help="Connections that a target's load comes by.", min=1, max=100_000)
    ] = 100,
    model: ModelOption = None,
    confirm: Annotated[
        int, typer.Option(metavar="N", help="How many of the best are simulated; 0: none.", min=0, max=MOST_CONFIRMED)
    ] = 3,
    set_: SetOption = None,
    seed: SeedOption = 1,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.sqlite", help="Keep every simulation there; a stopped plan goes on where it was."),
    ] = None,
    output: OutputOption = Output.TABLE,
    report: ReportOption = None,
    quiet: QuietOption = False,
    place: PlaceOptions,
) -> None:
    """Find the machine for a load: cheapest that holds a target, or without one what does most for its cost.

    All candidates are calculated, the best are simulated; each rejected one has its reason in numbers (--output csv).
    Exit status 1 if no candidate is sure enough to hold the target.
    """
    place.check()
    check_places(report, save)
    asked = asked_scenario(scenario, set_ or [])
    modelled = ModelledScenario(asked.scenario, read_model(model), asked.description)
    base = modelled.scenario
    with progress_display(quiet) as display:
        assumed_of(modelled, display).say(output, quiet)
    left = ParameterUncertainty.after(base, modelled.calibration)
    objectives = [parse_objective(each, 0.95, "--p95", base.workload.classes) for each in p95 or ()]
    objectives += [parse_objective(each, 0.99, "--p99", base.workload.classes) for each in p99 or ()]
    question = plan_question(
        left.calibrated(base),
        target,
        data_size,
        parse_share(growth, "--growth", may_be_0=True),
        months,
        connections,
        None if active is None else parse_share(active, "--active"),
        tuple(objectives),
    )
    question = replace(
        question,
        budget=budget,
        years=years,
        spares=spares,
        sure=parse_share(sure, "--sure"),
        pool_shares=tuple(parse_share(each, "--pool") for each in pool or ()),
    )
    lists = Prices(tuple(price_list(each) for each in prices or LISTS))
    stock = candidate_stock(question, lists, candidates or ())
    with progress_display(quiet) as display, Store(save) as store:
        display.step(f"{len(stock.candidates):,} candidates")
        found = make_plan(stock, lists, left, current_date(), display.advance)

        def run(simulations: Simulations) -> bool:
            ended = is_interrupted(simulations.runner, place, save, display)
            say_reused(simulations.runner.reused, "runs", save, quiet)
            return ended

        found, interrupted = confirmed_plan(found, confirm, seed, store, run)
    if report is not None:
        write_plan_page(found, report, command_line(["oltpsim", *context.obj]))
    write = {Output.JSON: plan_json, Output.CSV: plan_csv}.get(output)
    typer.echo(plan_table(found, terminal_width()) if write is None else write(found), nl=False)
    if report is not None and output is Output.TABLE:
        typer.echo(f"report: {report}")
    if interrupted:
        raise typer.Exit(130)
    if question.target_per_min is not None and found.choice is None:
        raise typer.Exit(MISSED)
