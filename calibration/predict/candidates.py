"""Runs that a user could make next: each is one of the runs that he has made, with something changed."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from oltpsim.calibration.fit import Calibration, FigureKind, FittedRun, SettingValue, scenario_hash
from oltpsim.models.input import Name, Number, Spec, Text, last_word, read_mapping, repeated_name, validated
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.simulator.errors import InputError

CLIENTS_KEY = "workload.arrivals.clients"
ARRIVALS = "workload.arrivals.transactions_per_s"
POOL = "database.pool.buffers"
WORDS = {
    CLIENTS_KEY: "{} client{}",
    POOL: "a pool of {} buffer{}",
    "workload.scale": "scale {}{}",
    "workload.warehouses": "{} warehouse{}",
    "workload.active_warehouses": "{} active warehouse{}",
}
MANY, FEW = (0.25, 0.5, 2.0, 4.0), (0.5, 2.0)
MOST_CANDIDATES = 200


@dataclass(frozen=True)
class RunCandidate:
    """A run that could be made. `settings`: as they would be written in a scenario file. `cost`: in any unit."""

    name: str
    settings: dict[str, str]
    scenario: ScenarioSpec
    cost: float | None = None


@dataclass(frozen=True)
class Impossible:
    """A run that can't be made, and why."""

    name: str
    reason: str


class CandidateSpec(Spec):
    """A candidate as a file has it."""

    settings: dict[Name, Number | bool | Text] = Field(min_length=1, description="scenario keys and values")
    cost: Number | None = Field(default=None, gt=0, description="what the run costs, in one unit for all")


class CandidatesFile(Spec):
    """Candidates by their names. `cost_unit`: hours, USD, whatever all costs are in."""

    candidates: dict[Name, CandidateSpec] = Field(min_length=1, max_length=MOST_CANDIDATES)
    cost_unit: Text = "cost"


@dataclass(frozen=True)
class CandidateSet:
    """Candidates for the next run. All are the run named `like`, with their settings over it."""

    like: str
    candidates: tuple[RunCandidate, ...]
    impossible: tuple[Impossible, ...]
    cost_unit: str | None = None


def scenario_of(calibration: Calibration, run: FittedRun) -> ScenarioSpec:
    """The scenario of a fitted run."""
    data = calibration.base.model_dump(mode="json", exclude={"measured", "notes"}) | {"name": run.name}
    return scenario_from_mapping(data, f"run {run.name}", _overrides(_settings(run)))


def usual_run(calibration: Calibration) -> FittedRun:
    """The run whose rate is in the middle; of two the lower one."""
    rates = {
        each.name: figure.measured
        for each in calibration.runs
        for figure in each.figures
        if figure.kind == FigureKind.RATE
    }
    some = [run for run in calibration.runs if run.name in rates] or list(calibration.runs)
    return sorted(some, key=lambda run: (rates.get(run.name, 0.0), run.name))[(len(some) - 1) // 2]


def candidates_around(calibration: Calibration) -> CandidateSet:
    """Other numbers of clients, pools and warehouses than the usual run has, as far as they fit into memory."""
    scenario = scenario_of(calibration, usual_run(calibration))
    changes: list[tuple[str, float]] = []
    if scenario.workload.arrivals.kind == "closed":
        clients = scenario.workload.clients
        changes += [(CLIENTS_KEY, count) for count in sorted({1, *_times(clients, MANY)})]
    elif scenario.workload.arrivals.kind == "open":
        changes += [(ARRIVALS, scenario.workload.arrivals.transactions_per_s * factor) for factor in MANY]
    changes += [(POOL, buffers) for buffers in _times(scenario.database.pool.buffers, FEW)]
    workload = scenario.workload
    changes += [(workload.size_key, count) for count in _times(workload.size, FEW)]
    found = _choice(calibration, [{key: f"{value:.10g}"} for key, value in changes])
    swapped = {each.name for each in found.candidates if _swaps(each.scenario) and not _swaps(scenario)}
    reason = "more than the machine's memory holds"
    return replace(
        found,
        candidates=tuple(each for each in found.candidates if each.name not in swapped),
        impossible=(*found.impossible, *(Impossible(name, reason) for name in sorted(swapped))),
    )


def candidates_named(calibration: Calibration, axes: Sequence[tuple[str, Sequence[str]]], grid: bool) -> CandidateSet:
    """One candidate for each value of each key, or with `grid` for each combination. Values as in a scenario file.

    Raises InputError if there are too many, or none that is possible.
    """
    keys = [key for key, _ in axes]
    if twice := repeated_name(keys):
        raise InputError(f"--could {twice}: stands twice; give all its values in one --could")
    if grid:
        combined = itertools.product(*(values for _, values in axes))
        changes = [dict(zip(keys, values, strict=True)) for values in combined]
    else:
        changes = [{key: value} for key, values in axes for value in values]
    if len(changes) > MOST_CANDIDATES:
        raise InputError(f"--could: {len(changes):,} candidates, at most {MOST_CANDIDATES}; give fewer values")
    return _possible(_choice(calibration, changes))


def read_candidates(path: Path, calibration: Calibration) -> CandidateSet:
    """The candidates of a file. Raises InputError."""
    file = validated(CandidatesFile, read_mapping(path), path.name)
    costs = [each.cost for each in file.candidates.values()]
    if None in costs and len(set(costs)) > 1:
        without = ", ".join(name for name, each in file.candidates.items() if each.cost is None)
        raise InputError(f"{path.name}: {without}: has no cost, others have one; give all a cost, or none")
    settings = [{key: _text(value) for key, value in each.settings.items()} for each in file.candidates.values()]
    found = _choice(calibration, settings, tuple(file.candidates), costs)
    return _possible(replace(found, cost_unit=file.cost_unit if None not in costs else None), f"{path.name}: ")


def _choice(
    calibration: Calibration,
    changes: Sequence[dict[str, str]],
    names: Sequence[str] = (),
    costs: Sequence[float | None] = (),
) -> CandidateSet:
    """Candidates over the usual run. A run made before is none: the model's error would be the same again."""
    usual = usual_run(calibration)
    base = calibration.base.model_dump(mode="json", exclude={"measured", "notes"})
    known = {run.scenario_hash: run.name for run in calibration.runs}
    candidates, impossible = [], []
    for number, settings in enumerate(changes):
        name = names[number] if names else ", ".join(_named(key, text) for key, text in settings.items())
        try:
            scenario = scenario_from_mapping(
                base | {"name": name}, name, [*_overrides(_settings(usual)), *_overrides(settings)]
            )
        except InputError as error:
            impossible.append(Impossible(name, "; ".join(_without(name, line) for line in str(error).splitlines())))
            continue
        same = known.get(scenario_hash(scenario))
        if same is not None:
            impossible.append(Impossible(name, f"it is the run {same} again"))
            continue
        candidates.append(RunCandidate(name, settings, scenario, costs[number] if costs else None))
    return CandidateSet(usual.name, tuple(candidates), tuple(impossible))


def _possible(choice: CandidateSet, where: str = "") -> CandidateSet:
    if not choice.candidates:
        raise InputError("\n".join(f"{where}{each.name}: {each.reason}" for each in choice.impossible))
    return choice


def _settings(run: FittedRun) -> dict[str, str]:
    return {key: _text(value) for key, (value, _) in run.settings.items()}


def _overrides(settings: dict[str, str]) -> list[str]:
    return [f"{key}={text}" for key, text in settings.items()]


def _text(value: SettingValue) -> str:
    """A value as in a scenario file; whole numbers as such, since keys that count refuse others."""
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _without(name: str, line: str) -> str:
    """A message without the candidate's name, and without the option that its settings aren't from."""
    return line.removeprefix(f"{name}: ").removeprefix(f"{name} with --set ")


def _times(number: int, factors: Sequence[float]) -> list[int]:
    return sorted({max(round(number * factor), 1) for factor in factors} - {number})


def _swaps(scenario: ScenarioSpec) -> bool:
    return memory_plan(scenario).resident_buffers < scenario.database.pool.buffers


def _named(key: str, text: str) -> str:
    """A setting in the field's words."""
    if key not in WORDS or not text.isdigit():
        return f"{last_word(key)}={text}"
    number = int(text)
    return WORDS[key].format(f"{number:,}", "" if number == 1 else "s")
