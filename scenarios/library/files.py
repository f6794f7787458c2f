"""Scenarios by a word: a file, a name of the library, or a line that describes a machine."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue import instance_named, read_with_base
from oltpsim.models.input import did_you_mean
from oltpsim.models.reading import Description, read_description, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError


def library_files() -> dict[str, Path]:
    """The scenarios that come with the program, by name."""
    folder = Path(str(resources.files("oltpsim.scenarios"))) / "library"
    paths = [*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*/*.yaml"))]
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def scenario_path(text: str) -> Path:
    """The file that SCENARIO means. Raises InputError with the nearest name if there is none."""
    path = Path(text)
    if path.is_file():
        return path
    names = library_files()
    if text in names:
        return names[text]
    if path.exists():
        raise InputError(f"{text}: is {'a folder' if path.is_dir() else 'no plain file'}; give a scenario file")
    known = f"{did_you_mean(path.stem, names)}; the library has {', '.join(shelves(names))}"
    raise InputError(f"{text}: no such file or scenario of the library{known}")


def shelves(names: Iterable[str]) -> list[str]:
    """Names of scenarios, and of folders of them as one each."""
    parts = (name.partition("/") for name in names)
    return list(dict.fromkeys(f"{folder}/..." if inside else folder for folder, inside, _ in parts))


@dataclass(frozen=True)
class AskedScenario:
    """The scenario that a word means, and what a line that describes it leaves open; None of a file."""

    scenario: ScenarioSpec
    description: Description | None = None


def asked_scenario(text: str, overrides: Sequence[str] = (), jobs: bool = False) -> AskedScenario:
    """The scenario that SCENARIO means: a file, one of the library, or a line as 'oltpsim run' takes it.

    Raises InputError, also for a scenario with a job unless `jobs`.
    """
    if not is_line(text):
        return AskedScenario(load_scenario_file(scenario_path(text), overrides, jobs))
    description = read_description(text, overrides)
    return AskedScenario(_with_or_without_job(description.scenario, text, jobs), description)


def is_line(text: str) -> bool:
    """Whether a word describes a machine: no file and no name, but several words or a cloud machine's name."""
    if text in library_files() or text.endswith((".yaml", ".yml", ".json")) or Path(text).exists():
        return False
    return len(text.split()) > 1 or is_instance(text)


def is_instance(text: str) -> bool:
    """Whether a word is a cloud machine's name."""
    try:
        return instance_named(text) is not None
    except ValueError:  # nearly one
        return "." in text


def load_scenario_file(path: Path, overrides: Sequence[str] = (), jobs: bool = False) -> ScenarioSpec:
    """The scenario in a file, whose `base` may also be one of the library.

    Raises InputError, also for a scenario with a job unless `jobs`: most commands know only transactions.
    """
    return scenario_from_keys(read_scenario_file(path), path.name, overrides, jobs)


def read_scenario_file(path: Path) -> dict[str, Any]:
    """The keys of a scenario file over those of its `base`, not checked yet. Raises InputError."""
    return read_with_base(path, library_files())


ScenarioLoader = Callable[[Sequence[str]], ScenarioSpec]
"""gives a scenario with settings, KEY=VALUE, over those that it has. Raises InputError"""
DescriptionLoader = Callable[[Sequence[str]], Description | None]
"""gives what a scenario's line comes to with further settings; None of a file. Raises InputError"""


def description_loader(text: str, overrides: Sequence[str] = ()) -> DescriptionLoader:
    """Loader of what SCENARIO leaves open, with its own settings."""
    described = is_line(text)
    return lambda settings: read_description(text, (*overrides, *settings)) if described else None


def scenario_loader(text: str, overrides: Sequence[str] = ()) -> ScenarioLoader:
    """Loader of the scenario that SCENARIO means, a file read once, with its own settings. Raises InputError."""
    if is_line(text):
        return lambda settings: asked_scenario(text, (*overrides, *settings)).scenario
    path = scenario_path(text)
    data = read_scenario_file(path)
    return lambda settings: scenario_from_keys(data, path.name, (*overrides, *settings))


def scenario_from_keys(
    data: dict[str, Any], name: str, overrides: Sequence[str] = (), jobs: bool = False
) -> ScenarioSpec:
    """The scenario of keys that `read_scenario_file` has read once for many overrides; `name` is for messages.

    Raises InputError, also for a scenario with a job unless `jobs`.
    """
    return _with_or_without_job(scenario_from_mapping(data, name, overrides), name, jobs)


def _with_or_without_job(scenario: ScenarioSpec, name: str, jobs: bool) -> ScenarioSpec:
    """The scenario. Raises InputError for one with a job unless `jobs`."""
    if scenario.job is not None and not jobs:
        raise InputError(
            f"{name}: job: {scenario.job.kind!r} runs no transactions, which this command is about; "
            "'oltpsim run' answers it"
        )
    return scenario
