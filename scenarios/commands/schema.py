"""oltpsim schema: the JSON schema of scenario files."""

import json

import typer

from oltpsim.models.reading import scenario_schema


def schema() -> None:
    """Print the JSON schema of scenario files.

    Editors complete and check scenario files with it.
    """
    typer.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
