"""What is compared: files, names of the library or saved runs, each under a letter."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.build import build
from models.reading import scenario_from_mapping
from models.scenario import ScenarioSpec
from scenarios.library import load_scenario_file, scenario_path
from scenarios.run import read_saved_run
from simulator.errors import InputError
from simulator.results import Result

LABELS = string.ascii_uppercase
OF_ONE = re.compile(r"^\s*([A-Z])\s*:(.*)$", re.DOTALL)
POOLED = "t interval over"


@dataclass(frozen=True)
class ComparedScenario:
    """One of the scenarios. `word` is what it was called by; `kept`: the result of a saved run that still holds."""

    label: str
    word: str
    changes: tuple[str, ...]
    scenario: ScenarioSpec
    kept: Result | None

    @property
    def title(self) -> str:
        """As it was asked for."""
        return ", ".join([self.word, *self.changes])


def read_sides(words: Sequence[str], settings: Sequence[str]) -> list[ComparedScenario]:
    """Each word with the settings for all and those for it, `B:key=value`. Raises InputError."""
    if not 2 <= len(words) <= len(LABELS):
        raise InputError(f"compare: got {len(words)} scenarios; give 2 to {len(LABELS)} of them")
    labels = LABELS[: len(words)]
    own: dict[str, list[str]] = {label: [] for label in labels}
    for setting in settings:
        one = OF_ONE.match(setting)
        if one is None:
            for changes in own.values():
                changes.append(setting)
        elif one[1] in own:
            own[one[1]].append(one[2])
        else:
            raise InputError(f"--set {setting}: there is no scenario {one[1]}; compared are {', '.join(labels)}")
    return [_side(label, word, own[label]) for label, word in zip(labels, words, strict=True)]


def _side(label: str, word: str, changes: list[str]) -> ComparedScenario:
    if not word.endswith(".json"):
        return ComparedScenario(label, word, tuple(changes), load_scenario_file(scenario_path(word), changes), None)
    run = read_saved_run(Path(word))
    if changes:
        data = run.scenario.model_dump(mode="json")
        return ComparedScenario(label, word, tuple(changes), scenario_from_mapping(data, word, changes), None)
    holds = not run.result.rate_per_min.method.startswith(POOLED) and run.result.engine == run.scenario.engine
    holds = holds and build(run.scenario).digest() == run.result.model_hash
    return ComparedScenario(label, word, (), run.scenario, run.result if holds else None)
