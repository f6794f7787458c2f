"""oltpsim explain: what a scenario does, or where the time goes in a saved run or by the analytic engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.answer import command_line
from scenarios.commands.options import SetOption
from scenarios.files import load, scenario_path
from simulator.errors import InputError

if TYPE_CHECKING:
    from simulator.results import ClassResult, Result

BAR = 40
CALCULATED = "calculated by the analytic engine, not simulated; to see a simulated run explained: {}, then {}"


def explain(
    what: Annotated[
        str,
        typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run, or a scenario."),
    ],
    program: Annotated[
        bool, typer.Option("--program", help="List the program that a client of SCENARIO executes.")
    ] = False,
    set_: SetOption = None,
) -> None:
    """Show where the time of a transaction goes.

    In a saved run, or at once in a scenario, which the analytic engine calculates for it.

    With --program: the program that every client of a scenario, or of the scenario of a saved run, executes,
    operation by operation.
    """
    if program:
        text = _program(what, set_ or [])
    elif not what.endswith(".json"):
        text = _calculated(what, set_ or [])
    elif set_:
        raise InputError(
            f"explain {what} --set {set_[0]}: a saved run can't be changed; --set goes with --program or a scenario"
        )
    else:
        from scenarios import saved

        text = times(saved.read(Path(what)).result)
    typer.echo(text, nl=False)


def _calculated(what: str, overrides: list[str]) -> str:
    """The bars of a scenario at once, below a line that says whose they are."""
    from scenarios.runs import Task, simulate

    words = [word for setting in overrides for word in ("--set", setting)]
    run = [command_line(["oltpsim", "run", what, *words, "--save", "FILE.json"]), "oltpsim explain FILE.json"]
    for setting in overrides:
        if setting.partition("=")[0].strip() == "engine":
            raise InputError(
                f"explain {what} --set {setting}: a scenario is explained by the analytic engine; for another: "
                f"{run[0]}, then {run[1]}"
            )
    result = simulate(Task(load(scenario_path(what), [*overrides, "engine=analytic"]), seed=1))
    warnings = [f"warning: {warning}" for warning in result.warnings]
    return "\n".join([CALCULATED.format(*run), *warnings, times(result)])


def _program(what: str, overrides: list[str]) -> str:
    from models.loading import scenario_from_mapping
    from models.system import build
    from scenarios import saved
    from simulator.listing import listing

    if what.endswith(".json"):
        scenario = scenario_from_mapping(saved.read(Path(what)).scenario.model_dump(mode="json"), what, overrides)
    else:
        scenario = load(scenario_path(what), overrides)
    return listing(build(scenario).program).rstrip("\n") + "\n"


def times(result: Result) -> str:
    """Bars of the mean response time of each class by where it went, largest first."""
    rate, limit = result.rate_per_min, result.bottleneck
    lines = [
        f"{result.scenario}: {rate.mean:,.0f} [{rate.low:,.0f} .. {rate.high:,.0f}] new orders per minute",
        f"limited by {limit.name} ({limit.share:.0%}), next {limit.next_name} ({limit.next_share:.0%})",
    ]
    for transaction in result.classes:
        lines += ["", *_bars(transaction)]
    version = result.versions.get("oltpsim", "?")
    lines += [
        "",
        f"oltpsim {version} · engine {result.engine} · seed {result.seed} · model {result.model_hash}",
    ]
    return "\n".join(lines) + "\n"


def _bars(transaction: ClassResult) -> list[str]:
    if not transaction.completed:
        return [f"{transaction.name.replace('_', ' ')}: none completed"]
    name = transaction.name.replace("_", " ")
    lines = [f"{name}: mean {transaction.mean_s * 1000:,.1f} ms, of {transaction.completed:,}"]
    parts = sorted(transaction.time_by_s.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(where) for where, _ in parts), default=0)
    for where, seconds in parts:
        share = seconds / transaction.mean_s if transaction.mean_s else 0.0
        if seconds > 0:
            bar = "▇" * max(1, round(share * BAR))
            lines.append(f"  {where.ljust(width)}  {seconds * 1000:>10,.2f} ms {share:>6.1%}  {bar}")
    return lines


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)
