"""Values of the Python interface: scenarios, answers, runs, models."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from oltpsim.scenarios.python.arguments import Engine, written
from oltpsim.scenarios.python.modules import (
    chart,
    fit,
    graph_objects,
    input_forms,
    picture,
    reading,
    run_records,
    scenario_files,
    specs,
    words,
)
from oltpsim.simulator.errors import InputError

NEW_ORDERS = "new orders per minute"


@dataclass(frozen=True)
class Scenario:
    """A machine, its database and its load. Made by `load` and `describe`; a change makes another one.

    `str(scenario)` is one line; `scenario["machine.memory_gib"]` reads a key (docs/reference/scenario.md lists them).
    """

    keys: Mapping[str, Any]
    """as a scenario file has them; none of a description"""
    where: str
    """what messages call it"""
    settings: tuple[str, ...] = ()
    """KEY=VALUE over the keys"""
    line: str = ""
    """the description that it was made of, in place of keys"""

    @cached_property
    def spec(self) -> specs.ScenarioSpec:
        """The checked scenario. Raises InputError for one that contradicts itself."""
        return spec_with(self, (), with_job=True)

    def changed(self, values: Mapping[str, Any]) -> Scenario:
        """The scenario with other values: {"machine.memory_gib": "16 GiB", "machine.disks.disk": "nvme"}.

        Numbers are in the unit of the key's name; text may hold a unit, or name a part of the catalogue. Raises
        InputError for an unknown key or a value that can't be.
        """
        settings = (*self.settings, *(f"{key}={written(key, value)}" for key, value in values.items()))
        found = replace(self, settings=settings)
        _ = found.spec
        return found

    def __getitem__(self, key: str) -> Any:
        missing = object()
        value = input_forms.value_at(self.spec, key, missing)
        if value is missing:
            raise KeyError(key)
        return value

    def yaml(self) -> str:
        """The scenario as a file for `oltpsim run FILE.yaml`."""
        return input_forms.yaml_text(self.spec.model_dump(mode="json", exclude_none=True, exclude_defaults=False))

    def save(self, path: str | Path) -> None:
        """Write `yaml()` to a file."""
        input_forms.write_whole(Path(path), self.yaml())

    def __str__(self) -> str:
        return words.configuration_line(self.spec)

    def _repr_html_(self) -> str:
        return _html(f"{self.spec.name}\n{self}")


@dataclass(frozen=True)
class Answer:
    """What a question comes to: the table, the document and the rows that its command prints."""

    text: str = field(repr=False)
    json_text: str = field(repr=False)
    csv_text: str = field(repr=False)
    charts: tuple[chart.Chart, ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """The document that the command writes with --output json."""
        return dict(json.loads(self.json_text))

    def to_frame(self) -> Any:
        """The rows of --output csv as a pandas.DataFrame. Raises InputError where pandas isn't installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise InputError("to_frame: needs pandas; pip install 'oltpsim[frames]'") from error
        return pd.read_csv(io.StringIO(self.csv_text))

    def figure(self, number: int = 0) -> Any:
        """One of the answer's charts as a plotly Figure. Raises InputError if there is none of this number."""
        if not self.charts:
            raise InputError("figure: this answer has no chart; to_frame() gives its rows")
        if not 0 <= number < len(self.charts):
            raise InputError(f"figure: got {number}; this answer has {len(self.charts)} charts")
        return graph_objects.Figure(picture.printed_figure(self.charts[number]))

    def __str__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return _html(str(self))


@dataclass(frozen=True)
class Run(Answer):
    """A run: its rate with the interval in which a measurement would fall 9 times of 10, and what limits it.

    `low_per_min`, `high_per_min`: None where they can't be said. Of a job (`job:` in the scenario) `value` is its own
    figure in its own `unit`, of transactions new orders per minute.
    """

    value: float = 0.0
    unit: str = ""
    low_per_min: float | None = None
    high_per_min: float | None = None
    bottleneck: str = ""
    p95_s: float | None = None
    """95 % of the new orders end within this; None where the engine doesn't know it"""
    warnings: tuple[str, ...] = ()

    @property
    def new_orders_per_min(self) -> float:
        """The rate. Raises InputError for a job and for another workload, whose figures are something else."""
        if self.unit != NEW_ORDERS:
            raise InputError(f"new_orders_per_min: this made none; its figure is .value, in {self.unit}")
        return self.value


@dataclass(frozen=True)
class Runs(Answer):
    """Records of measured runs, made by `read_runs`."""

    records: tuple[run_records.RunRecord, ...] = ()
    scenarios: Mapping[str, specs.ScenarioSpec] = field(default_factory=dict)
    """what each was measured with, by its name, as far as a base says it"""


@dataclass(frozen=True)
class Model(Answer):
    """A calibrated model, made by `calibrate` or `read_model`: `str(model)` says what the runs told and what not."""

    calibration: fit.Calibration | None = None
    place: str = ""

    def save(self, path: str | Path) -> None:
        """Write the model for `read_model` and for `--model` of every command."""
        fit.write_calibration(Path(path), calibration_of(self))


@dataclass(frozen=True)
class Predictions(Answer):
    """Predictions of scenarios, in their order."""

    rates_per_min: tuple[float, ...] = ()
    low_per_min: tuple[float, ...] = ()
    high_per_min: tuple[float, ...] = ()


def _html(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def description_of(scenario: Scenario, settings: Sequence[str] = ()) -> reading.Description | None:
    """What the scenario's line comes to, with more settings; None if it has none. Raises InputError."""
    return reading.read_description(scenario.line, (*scenario.settings, *settings)) if scenario.line else None


def spec_with(scenario: Scenario, settings: Sequence[str] = (), *, with_job: bool = False) -> specs.ScenarioSpec:
    """The checked scenario with more settings. Raises InputError, also for a job that isn't wanted."""
    found = description_of(scenario, settings)
    keys = dict(scenario.keys) if found is None else found.scenario.model_dump(mode="json")
    over = (*scenario.settings, *settings) if found is None else ()
    return scenario_files.scenario_from_keys(keys, scenario.where, over, with_job)


def calibration_of(model: Model) -> fit.Calibration:
    """Its calibration. Raises InputError if it has none."""
    if model.calibration is None:
        raise InputError("model: has no calibration; make one by calibrate() or read_model()")
    return model.calibration


def with_engine(scenario: Scenario, engine: Engine | None, where: str) -> Scenario:
    """The scenario with the engine. Raises InputError if it is none."""
    if not isinstance(scenario, Scenario):
        raise InputError(f"{where}: got {scenario!r}; give a scenario, as oltpsim.load('v20z') makes one")
    return scenario if engine is None else scenario.changed({"engine": engine})


def scenarios_in(scenarios: object, where: str) -> list[Scenario]:
    """Scenarios of a list. Raises InputError for anything else."""
    if isinstance(scenarios, Scenario | str) or not isinstance(scenarios, Sequence):
        raise InputError(f"{where}: got {scenarios!r}; give a list of scenarios")
    return [with_engine(each, None, where) for each in scenarios]
