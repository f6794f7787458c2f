"""From a run record to the scenario that it measured: the base, with what the record says set over it."""

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr

from oltpsim.calibration.fit.observables import FigureChoice, FigureKind, Observation, observations
from oltpsim.calibration.fit.parameters import Parameter
from oltpsim.calibration.records import (
    FIGURES_OF_A_RECORD,
    Observed,
    ObservedText,
    RunRecord,
    is_of_a_record,
    known_settings,
    setting_effects,
)
from oltpsim.models.input import (
    Name,
    Number,
    Spec,
    Text,
    did_you_mean,
    numbered_words,
    read_mapping,
    repeated_name,
    validated,
    value_at,
)
from oltpsim.models.reading import numeric_value, scenario_from_mapping, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

KIB_PER_GIB = 1 << 20
SettingValue = int | float | str | dict[str, Any] | list[Any]
MAPPED = "mapping file"
OF_A_RECORD = "the record's"
OF_THE_SERVER = "engine.settings."
ASKED_OF_A_RECORD = (
    "machine.cpu.cores",
    "machine.memory_gib",
    "database.pool.buffers",
    "workload.warehouses",
    "workload.scale",
    "workload.arrivals.clients",
)
"""scenario keys that decide a rate, and that one shouldn't take from a base unseen"""
OF_INNODB, OF_POSTGRESQL = ("database.page_cleaner.",), ("database.checkpoint.", "database.connections_map_pool")
"""keys that only one of the two kinds of engine has"""
UNKNOWN_INNODB = "MySQL or MariaDB"
"""name of an engine of which only InnoDB's settings were read"""
UNPLACED = ", where its record or the mapping file says "
NEARLY = 0.85
"""likeness of two names from which on one is taken for a misspelt other"""


FIELDS: dict[str, tuple[str, Callable[[Any, ScenarioSpec], SettingValue]]] = {
    "environment.cores": ("machine.cpu.cores", lambda value, _: round(value)),
    "environment.memory_gib": ("machine.memory_gib", lambda value, _: float(value)),
    "engine.buffer_pool_gib": (
        "database.pool.buffers",
        lambda gib, base: round(gib * KIB_PER_GIB / base.database.page_kib),
    ),
    "workload.clients": ("workload.arrivals.clients", lambda value, _: round(value)),
    "workload.warehouses": ("workload.warehouses", lambda value, _: round(value)),
    "workload.scale": ("workload.scale", lambda value, _: round(value)),
    "workload.think_time_s": ("workload.arrivals.think_time_s", lambda value, _: float(value)),
    "window.duration_s": ("interval.duration_s", lambda value, _: float(value)),
}
"""A record's key, the scenario's key that it sets, and how."""
LOADED_KEYS = {"workload.warehouses", "workload.scale"}
"""keys of the units loaded, of which a workload has one"""


class NoiseSpec(Spec):
    """Noise of a figure from one run of a machine to the next."""

    log_sd: Number = Field(gt=0, le=2, description="standard deviation of the figure's logarithm: 0.1 is about 10 %")
    source: Text


class RunMapping(Spec):
    """Mapping of one run, or of all: settings and choice of figures."""

    settings: dict[Name, Number | bool | Text | dict[str, Any] | list[Any]] = Field(
        default_factory=dict, description="scenario keys and values, or parts as whole"
    )
    ignored: tuple[Name, ...] = Field(default=(), description="record keys that set nothing")
    unused: tuple[FigureKind, ...] = Field(default=(), description="figures that aren't fitted")
    censored: tuple[FigureKind, ...] = Field(default=(), description="figures that are at their limit")
    noise: dict[FigureKind, NoiseSpec] = Field(
        default_factory=dict, description="figures whose noise is known otherwise than from the record"
    )
    data_devices: tuple[Name, ...] | None = Field(default=None, description="devices that hold the data")


class MappingFile(Spec):
    """Mapping file: of all runs, then of single ones by name, which count more."""

    all: RunMapping = RunMapping()
    runs: dict[Name, RunMapping] = Field(default_factory=dict)
    _file: str = PrivateAttr(MAPPED)

    def named(self, file: str) -> Self:
        """The same, called by its file in what is wrong with it."""
        self._file = file
        return self

    def place_of(self, key: str, run: str) -> str | None:
        """File and keys that set this key of the scenario of a run; None if nothing here does."""
        single = self.runs.get(run)
        if single is not None and key in single.settings:
            return f"{self._file}: runs.{run}.settings"
        return f"{self._file}: all.settings, for run {run}" if key in self.all.settings else None


@dataclass(frozen=True)
class MeasuredRun:
    """A record as a scenario and the figures to be met. `settings`: scenario keys, values, and who says so."""

    name: str
    source: str
    scenario: ScenarioSpec
    observations: tuple[Observation, ...]
    settings: dict[str, tuple[SettingValue, str]]
    left_aside: tuple[str, ...]

    def machine(self, values: Mapping[str, float | int]) -> ScenarioSpec:
        """The scenario with values of parameters, except where the mapping file says something else of this run.

        Raises InputError for a machine that contradicts itself.
        """
        return with_values(self.scenario, {key: values[key] for key in self.open_keys(values)})

    def open_keys(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Keys of the parameters that the run's machine has and the mapping file leaves open."""
        return _open_keys(self.scenario, self.mapped, tuple(keys))  # pyright: ignore[reportArgumentType]

    @property
    def mapped(self) -> tuple[str, ...]:
        """Scenario keys that the mapping file sets."""
        return tuple(key for key, (_, who) in self.settings.items() if who == MAPPED)


@lru_cache(maxsize=1024)
def _open_keys(scenario: ScenarioSpec, mapped: tuple[str, ...], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys that the scenario has and that lie below none of the mapped ones. A fit asks at each of its steps."""
    closed = [numbered_words(scenario, each) for each in mapped]
    found = []
    for key in keys:
        words = numbered_words(scenario, key.partition("@")[0])
        if numeric_value(scenario, key) is not None and not any(words[: len(each)] == each for each in closed):
            found.append(key)
    return tuple(found)


def read_mapping_file(path: Path, records: Sequence[RunRecord]) -> MappingFile:
    """A mapping file. It may name runs that aren't given, so that several commands can share it. Raises InputError.

    A name that is nearly that of a run without an entry is refused, and a file that says nothing of any run given.
    """
    file = validated(MappingFile, read_mapping(path), path.name).named(path.name)
    names = [record.name for record in records]
    open_names = [name for name in names if name not in file.runs]
    is_idle = len(open_names) == len(names) and file.all == RunMapping()
    for name in file.runs:
        is_near = bool(difflib.get_close_matches(name, open_names, n=1, cutoff=NEARLY))
        if name not in names and (is_near or is_idle):
            hint = did_you_mean(name, open_names)
            raise InputError(f"{path.name}: runs.{name}: no such run{hint}; the runs given are {', '.join(names)}")
    for where, one in {"all": file.all, **{f"runs.{name}": run for name, run in file.runs.items()}}.items():
        for key in one.ignored:
            known = [*FIELDS, *(f"{OF_THE_SERVER}{name}" for name in known_settings())]
            if key not in known:
                raise InputError(
                    f"{path.name}: {where}.ignored: {key!r} sets nothing{did_you_mean(key, known)}; those that do are "
                    f"{', '.join(FIELDS)} and settings of the server, as {OF_THE_SERVER}innodb_io_capacity"
                )
    return file


def measured_runs(
    records: Sequence[RunRecord],
    base: ScenarioSpec | Mapping[str, ScenarioSpec],
    fixed: dict[str, float],
    file: MappingFile | None = None,
) -> list[MeasuredRun]:
    """Each record as a scenario over `base`, one for all or by the records' names, with `fixed` values of parameters.

    Raises InputError naming the run.
    """
    names = [record.name for record in records]
    if twice := repeated_name(names):
        raise InputError(f"{twice}: two runs of this name; rename one, or give it once")
    file = file or MappingFile()
    bases = base if isinstance(base, Mapping) else dict.fromkeys(names, base)
    return [_run(record, bases[record.name], fixed, file) for record in records]


def refuse_recorded(parameters: Iterable[Parameter], runs: Sequence[MeasuredRun]) -> None:
    """Raises InputError for a parameter that a run's record says: one number for all would stand in its place."""
    for parameter in parameters:
        for run in runs:
            value, who = run.settings.get(parameter.key, (None, ""))
            if who.startswith(OF_A_RECORD):
                field = who.removeprefix(f"{OF_A_RECORD} ")
                raise InputError(
                    f"{parameter.key}: can't be fitted, since {who} of {run.name} says {value:g}; vary another number, "
                    f"or leave the record's aside, with 'ignored: [{field}]' of that run in a mapping file"
                )


def _without_place(target: str, base: ScenarioSpec) -> str:
    """Why the base has no such key, though scenarios do; empty if it has."""
    if target.startswith("workload.arrivals.") and base.workload.arrivals.kind != "closed":
        return f"the base's arrivals are {base.workload.arrivals.kind}"
    if target in LOADED_KEYS and target != base.workload.loaded_key:
        return f"the base has {base.workload.name}"
    return ""


def _run(record: RunRecord, base: ScenarioSpec, fixed: dict[str, float], file: MappingFile) -> MeasuredRun:
    common, single = file.all, file.runs.get(record.name, RunMapping())
    settings: dict[str, tuple[SettingValue, str]] = {
        key.partition("@")[0]: (value, "parameter file")
        for key, value in fixed.items()
        if numeric_value(base, key) is not None
    }
    left = []
    ignored = {*common.ignored, *single.ignored}
    for key, (target, change) in FIELDS.items():
        observed: Observed | ObservedText | None = value_at(record, key)
        if observed is None or key in ignored:
            continue
        if nowhere := _without_place(target, base):
            left.append(f"{key}: {nowhere}")
            continue
        try:
            settings[target] = change(observed.value, base), f"{OF_A_RECORD} {key}"
        except ValueError as error:
            remedy = "correct the record or ignore the key in the mapping file"
            raise InputError(f"{record.name}: {key}: got {observed.value!r}: {error}; {remedy}") from error
    by_server, without_effect = _server_settings(record, base, ignored)
    settings, left = settings | by_server | _start(record), [*left, *without_effect]
    if record.window.ramp_s is not None and record.window.start is None:
        state = "warm" if record.window.kind == "steady" else f"{base.interval.start}, as its base"
        left.append(f"window.ramp_s: nothing says what was before it (window.start), so that the run begins {state}")
    for one in (common, single):
        for key, value in one.settings.items():
            is_whole = isinstance(value, float) and value == int(value)
            plain = int(value) if isinstance(value, float) and is_whole else value
            settings = {other: each for other, each in settings.items() if not other.startswith(f"{key}.")}
            settings[key] = plain, MAPPED
    try:
        scenario = run_scenario(record.name, base, settings)
    except InputError as error:
        raise InputError(_with_places(str(error), record.name, settings, file)) from error
    page = record.engine.page_kib
    if page is not None and page.value != scenario.database.page_kib:
        left.append(f"engine.page_kib: {page.value:g}, the base has {scenario.database.page_kib:g}")
    left += _differences(record, scenario, settings)
    left += _not_compared(record, base)
    choice = _choice(common, single)
    for name in choice.data_devices or ():
        if name not in record.resources.devices:
            known = ", ".join(record.resources.devices) or "none"
            raise InputError(f"{record.name}: data_devices: {name!r} isn't in the record; it has {known}")
    figures, aside = observations(record, scenario, choice)
    return MeasuredRun(record.name, record.source, scenario, tuple(figures), settings, (*left, *aside))


def _server_settings(
    record: RunRecord, base: ScenarioSpec, ignored: Collection[str]
) -> tuple[dict[str, tuple[SettingValue, str]], list[str]]:
    """Keys that the server's settings set, and a line for each setting that sets none."""
    texts = {name: text.value for name, text in record.engine.settings.items()}
    texts = {name: text for name, text in texts.items() if f"{OF_THE_SERVER}{name}" not in ignored}
    names = [name.value for name in (record.engine.name, record.engine.version) if name is not None]
    log = base.database.log
    is_mariadb = any("mariadb" in name.casefold() for name in (base.database.name, *names) if name != UNKNOWN_INNODB)
    effects = setting_effects(texts, is_mariadb, log.syncs_per_group)
    found: dict[str, tuple[SettingValue, str]] = {}
    left = effects.unread
    if effects.without_key:
        left.append(f"{OF_THE_SERVER.rstrip('.')} without effect in the model: {', '.join(effects.without_key)}")
    is_innodb = base.database.page_cleaner is not None
    for key, (value, who) in effects.keys.items():
        if key.startswith(OF_POSTGRESQL if is_innodb else OF_INNODB):
            left.append(f"{OF_THE_SERVER}{who}: {value}: the base, {base.database.name}, has no {key}")
        else:
            found[key] = value, f"{OF_A_RECORD} {OF_THE_SERVER}{who}"
    commit, who = found.get("database.log.commit", ("", ""))
    if commit == "buffered" and (log.flushed_at_once or log.journal_writes_per_group):
        found["database.log.flushed_at_once"] = False, who
        found["database.log.journal_writes_per_group"] = 0, who
    return found, left


def run_scenario(name: str, base: ScenarioSpec, settings: Mapping[str, tuple[SettingValue, str]]) -> ScenarioSpec:
    """The base with a run's settings. Raises InputError naming the run."""
    overrides = [f"{key}={json.dumps(value)}" for key, (value, _) in settings.items()]
    data = base.model_dump(mode="json", exclude={"measured", "notes"}) | {"name": name}
    try:
        return scenario_from_mapping(data, f"run {name}", overrides)
    except InputError as error:
        raise InputError(str(error).replace(" with --set ", UNPLACED)) from error


def _with_places(problems: str, run: str, settings: Mapping[str, tuple[SettingValue, str]], file: MappingFile) -> str:
    """Problems of a run's settings, each with the file and the keys that set it."""
    for key, (_, who) in settings.items():
        place = file.place_of(key, run) if who == MAPPED else f"run {run}, by {who}"
        problems = problems.replace(f"run {run}{UNPLACED}{key}=", f"{place}: {key}=")
    return problems


def _differences(record: RunRecord, scenario: ScenarioSpec, settings: Collection[str]) -> list[str]:
    """Where the scenario's engine and driver aren't the record's, and what the base alone says, a line each."""
    found = []
    engine, version, driver = record.engine.name, record.engine.version, record.workload.driver
    ours = scenario.database.name
    if engine is not None:
        said = f"{engine.value} {version.value}" if version is not None else engine.value
        numbers = re.findall(r"\d+", ours)[:1], re.findall(r"\d+", version.value)[:1] if version is not None else []
        other_engine = engine.value.split()[0].casefold() not in ours.casefold()
        if other_engine or (all(numbers) and numbers[0] != numbers[1]):
            found.append(f"engine.name: {said}, the base is {ours}: what is fitted stands for that engine's paths too")
    if driver is not None and driver.value.split()[0].casefold() not in scenario.workload.name.casefold():
        remedy = "its mix, rows and round trips are used; 'oltpsim catalog list workloads' names others"
        found.append(f"workload.driver: {driver.value}, the base has {scenario.workload.name}: {remedy}")
    asked = [] if engine is None else [target for target in ASKED_OF_A_RECORD if target not in settings]
    missing = {target: value for target in asked if (value := value_at(scenario, target)) is not None}
    if missing:
        values = ", ".join(f"{target} {value:,g}" for target, value in missing.items())
        found.append(f"taken from the base, since the record doesn't say it: {values}")
    return found


def _not_compared(record: RunRecord, base: ScenarioSpec) -> list[str]:
    """Measured figures of a scenario that is its own run which a fit doesn't compare, a line each."""
    if base.measured is None or base.measured.source != record.source:
        return []
    known = "a job's are not"
    if base.job is None:
        known = f"those that are: {', '.join(FIGURES_OF_A_RECORD)}, each as a value"
    return [
        f"measured.figures: {each.figure} isn't compared; {known}"
        for each in base.measured.figures
        if base.job is not None or not is_of_a_record(each)
    ]


def _start(record: RunRecord) -> dict[str, tuple[SettingValue, str]]:
    """Settings that begin a run as its harness did: by the record's start and lead-in, or warm where it was steady."""
    window = record.window
    if window.start is None:
        return {"interval.start": ("warm", "the record's window.kind")} if window.kind == "steady" else {}
    found: dict[str, tuple[SettingValue, str]] = {"interval.start": (window.start.value, "the record's window.start")}
    if window.ramp_s is not None:
        found["interval.warm_up_s"] = window.ramp_s.value, "the record's window.ramp_s"
    if window.lead_in_transactions is not None:
        transactions = round(window.lead_in_transactions.value)
        found["interval.lead_in"] = {"transactions": transactions}, "the record's window.lead_in_transactions"
    elif window.lead_in_s is not None:
        found["interval.lead_in"] = {"duration_s": window.lead_in_s.value}, "the record's window.lead_in_s"
    return found


def figure_choice(file: MappingFile | None, name: str) -> FigureChoice:
    """Mapping file's choice among the figures of a run."""
    return FigureChoice() if file is None else _choice(file.all, file.runs.get(name, RunMapping()))


def _choice(common: RunMapping, single: RunMapping) -> FigureChoice:
    return FigureChoice(
        frozenset({*common.censored, *single.censored}),
        frozenset({*common.unused, *single.unused}),
        single.data_devices if single.data_devices is not None else common.data_devices,
        {kind: (each.log_sd, each.source) for kind, each in {**common.noise, **single.noise}.items()},
    )
