"""From a scenario file to a valid scenario. Every problem found is one line: file, key, what came, what is allowed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from oltpsim.models.catalogue import expand_names, read_with_base, with_setting
from oltpsim.models.input import MOST_SHOWN, key_words, problem_keys, validated
from oltpsim.models.reading.consistency import check_consistency
from oltpsim.models.scenario import ScenarioSpec


def load_scenario(path: Path | str, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """Read, compose, override and check a scenario file. Raises InputError with one line for each problem."""
    path = Path(path)
    return scenario_from_mapping(read_with_base(path), path.name, overrides)


def scenario_from_mapping(data: dict[str, Any], where: str, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """As `load_scenario`, from keys that are in memory; `where` names them in messages.

    A changed machine is another machine: overrides drop the scenario's measured figure.
    """
    data = expand_names(data, where)
    if overrides:
        data = {key: value for key, value in data.items() if key != "measured"}
    for setting in overrides:
        data = with_setting(data, setting)
    scenario = validated(ScenarioSpec, data, lambda problem: _origin(problem, where, overrides))
    check_consistency(scenario, where)
    return scenario


def _origin(problem: ErrorDetails, where: str, overrides: Sequence[str]) -> str:
    """Origin of a problem: the file, or the override that set its key, a key above that or one below."""
    keys = problem_keys(problem, ScenarioSpec)
    for setting in reversed(overrides):
        path = [word.strip("[]") for word in key_words(setting.partition("=")[0].strip())]
        if keys[: len(path)] == path or (problem["type"] == "extra_forbidden" and path[: len(keys)] == keys):
            return f"{where} with --set {setting[:MOST_SHOWN]}"
    return where
