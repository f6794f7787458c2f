"""Write the table of docs/chance.md: how often the interval of a single run holds the mean of a long one.

`python docs/build_chance.py --seeds 200` takes about half an hour of one core. Each run's rate is kept in out/chance
under the hash of its content, so a stopped build goes on where it was, and more seeds add to those that there are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from docs.build import head, line, replaced
from oltpsim.calibration.judge import exact_share
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files
from oltpsim.scenarios.run import SimulationTask, default_workers, run_all, run_hash, scenario_text
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Estimate
from oltpsim.simulator.results.recording import CONFIDENCE_LEVEL

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "chance.md"
STORE = DOCS.parent / "out" / "chance"
BEGIN, END = "<!-- begin of the table: python docs/build_chance.py -->\n", "<!-- end of the table -->\n"
SEEDS, LONG_SEEDS, FIRST_LONG_SEED = 200, 12, 1001
"""long runs have seeds of their own: from one start and seed, a run is the beginning of a longer one"""
NO_CHECKPOINTS = "database.checkpoint.interval_s=10 h"
LONG_S = 1500
"""of a long run that begins to count after a minute: it ends before a district's loaded orders are through (27 min of a
V20z)"""
NAMES = ("system", "runs", "with an interval", "of these hold the long run's mean",
         "half width", "by the one that is needed", "what most others say")  # fmt: skip


@dataclass(frozen=True)
class SystemRow:
    """A row of the table: a scenario of the library, and what is set for its runs."""

    name: str
    settings: tuple[str, ...]
    long_s: int = LONG_S

    @property
    def long(self) -> list[str]:
        """Settings of a long run, which begins as what is counted does."""
        return [*self.settings, "interval.start=warm", f"interval.duration_s={self.long_s}"]


def counted(warm_up_s: int, duration_s: int, start: str = "warm") -> tuple[str, ...]:
    """Settings of an interval."""
    return f"interval.start={start}", f"interval.warm_up_s={warm_up_s}", f"interval.duration_s={duration_s}"


ROWS = {
    "one disk, bursts of write-back": SystemRow("v20z", (NO_CHECKPOINTS, *counted(60, 300))),
    "the same with a smaller pool": SystemRow("v20z-100000-buffers", (NO_CHECKPOINTS, *counted(60, 300))),
    "that, from the sixth minute on": SystemRow(
        "v20z-100000-buffers", (NO_CHECKPOINTS, *counted(300, 300)), LONG_S - 240
    ),
    "one disk, a checkpoint a minute": SystemRow("v20z", ("database.checkpoint.interval_s=60", *counted(120, 600))),
    "one disk, from a load": SystemRow("v20z", (NO_CHECKPOINTS, *counted(0, 300, "after_load"))),
    "a volume of 400 requests/s": SystemRow("postgresql-15-400-iops", counted(54, 60)),
    "processors, bursts of write-back": SystemRow("v20z-10-warehouses", (NO_CHECKPOINTS, *counted(20, 120))),
}


def rates(scenario: ScenarioSpec, seeds: int, first: int = 1) -> list[Estimate]:
    """The counted rate of each seed from `first` on; what was not kept is simulated."""
    files = [STORE / f"{run_hash(scenario_text(scenario), first + number)}.json" for number in range(seeds)]
    missing = [number for number, file in enumerate(files) if not file.exists()]
    STORE.mkdir(parents=True, exist_ok=True)
    tasks = [SimulationTask(scenario, first + number) for number in missing]
    with progress_display(quiet=False) as shown:
        for number, outcome in run_all(tasks, default_workers(), shown):
            if isinstance(outcome, InputError):
                raise outcome
            rate = outcome.rate_per_min
            text = json.dumps([rate.mean, rate.low, rate.high, rate.confidence, rate.method])
            files[missing[number]].write_text(text + "\n", encoding="utf-8")
    return [Estimate(*json.loads(file.read_text(encoding="utf-8"))) for file in files]


def cells(title: str, found: Sequence[Estimate], mean: float) -> tuple[str, ...]:
    """A row: `mean` is that of long runs, not a number where no run has an interval."""
    steady = [each for each in found if each.is_steady]
    reasons = Counter(
        re.split(r" (?:by|from|of|within)? ?[\d(]", each.reason)[0] for each in found if not each.is_steady
    )
    why = reasons.most_common(1)[0][0] if reasons else ""
    if not steady:
        return title, str(len(found)), "none", "", "", "", why
    held = sum((each.low or 0.0) <= mean <= (each.high or 0.0) for each in steady)
    low, high = exact_share(held, len(steady), CONFIDENCE_LEVEL)
    width = float(np.mean([each.half_width for each in steady]))
    needed = float(np.quantile([abs(each.mean - mean) for each in found], CONFIDENCE_LEVEL))
    return (
        title,
        str(len(found)),
        f"{len(steady) / len(found):.0%}",
        f"{held / len(steady):.0%} [{low:.0%} .. {high:.0%}]",
        f"{width / mean:.1%}",
        f"{width / needed:.2f}",
        why,
    )


def main() -> None:
    """Simulate what has not been simulated yet, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    table = head(*NAMES)
    for title, row in ROWS.items():
        path = library_files()[row.name]
        found = rates(load_scenario(path, list(row.settings)), seeds)
        mean = float("nan")
        if any(each.is_steady for each in found):
            long = rates(load_scenario(path, row.long), LONG_SEEDS, FIRST_LONG_SEED)
            mean = float(np.mean([each.mean for each in long]))
        table += line(*cells(title, found, mean))
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table), encoding="utf-8")


if __name__ == "__main__":
    main()
