"""oltpsim explain: what a scenario does, or where the time of a saved run went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.options import SetOption
from scenarios.files import load, scenario_path
from simulator.errors import InputError

if TYPE_CHECKING:
    from simulator.results import ClassResult, Result

BAR = 40


def explain(
    what: Annotated[
        str,
        typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run; with --program also a scenario."),
    ],
    program: Annotated[
        bool, typer.Option("--program", help="List the program that a client of SCENARIO executes.")
    ] = False,
    set_: SetOption = None,
) -> None:
    """Show where the time of a transaction goes.

    With --program: the program that every client of a scenario, or of the scenario of a saved run, executes,
    operation by operation.
    """
    if program:
        text = _program(what, set_ or [])
    elif set_:
        raise InputError(f"explain {what} --set {set_[0]}: a saved run can't be changed; --set goes with --program")
    elif what.endswith(".json"):
        from scenarios import saved

        text = times(saved.read(Path(what)).result)
    else:
        raise InputError(f"{what}: explain needs a saved run (oltpsim run {what} --save FILE.json); or say --program")
    typer.echo(text, nl=False)


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
