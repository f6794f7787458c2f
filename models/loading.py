"""From a scenario file to a valid scenario. Every problem found is one line: file, key, what came, what is allowed."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from models.catalogue import nearest
from models.composition import compose, override, read_with_base
from models.consistency import check
from models.specs.scenario import ScenarioSpec
from simulator.errors import InputError

UNION_TAGS = {"rotating", "flash", "closed", "open"}


def load_scenario(path: Path | str, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """Read, compose, override and check a scenario file. Raises InputError with one line for each problem."""
    path = Path(path)
    return scenario_from_mapping(read_with_base(path), path.name, overrides)


def scenario_from_mapping(data: dict[str, Any], where: str, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """As `load_scenario`, from keys that are in memory; `where` names them in messages.

    A changed machine is another machine: overrides drop the scenario's measured figure.
    """
    data = compose(data, where)
    if overrides:
        data = {key: value for key, value in data.items() if key != "measured"}
    for setting in overrides:
        data = override(data, setting)
    try:
        scenario = ScenarioSpec.model_validate(data)
    except ValidationError as error:
        raise InputError("\n".join(f"{where}: {_problem(problem, data)}" for problem in error.errors())) from error
    check(scenario, where)
    return scenario


def _problem(problem: Any, data: Any) -> str:
    """One problem in a person's words."""
    keys = [str(key) for key in problem["loc"] if key not in UNION_TAGS]
    path = ".".join(keys) or "scenario"
    kind, came = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        allowed = _fields_at(keys[:-1], data)
        return f"{path}: unknown key{nearest(keys[-1], allowed)}; allowed: {', '.join(sorted(allowed))}"
    if kind == "missing":
        return f"{path}: missing"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        came = came.get("kind") if isinstance(came, dict) else came
        return f"{path}.kind: got {_shown(came)}; allowed: {_kinds(path)}"
    if kind in {"model_type", "dict_type"}:
        return f"{path}: got {_shown(came)}; expected keys with values" + ("" if came is not None else ", it is empty")
    message = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{path}: got {_shown(came)}; {message}"


def _kinds(path: str) -> str:
    return "closed, open" if path.endswith("arrivals") else "rotating, flash"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fields_at(keys: Sequence[str], data: Any) -> list[str]:
    """The keys allowed at a place of a scenario."""
    model: type[BaseModel] = ScenarioSpec
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
        candidates = _models_in(model.model_fields[key].annotation)
        wanted = data.get("kind") if isinstance(data, dict) else None
        fitting = [m for m in candidates if "kind" not in m.model_fields or m.model_fields["kind"].default == wanted]
        model = (fitting or candidates)[0]
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in typing.get_args(annotation) for model in _models_in(argument)]
