"""The kernel's runs of systems at random, kept as they come: `python -m benchmarks.random_runs --numbers 0:2000`.

A stopped call goes on where it was. `--set pools` takes the eight machines of pools.py, `--set page-cleaners` and
`--set postgresql` the systems of page_cleaner_systems.py and postgresql_systems.py. random_comparison.py compares them.
"""

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks import page_cleaner_systems, postgresql_systems
from benchmarks.page_cleaner_systems import page_cleaner_system
from benchmarks.pools import POOLS_GIB, pool_system
from benchmarks.postgresql_systems import postgresql_system
from benchmarks.random_comparison import SEED, WIDEST, numbers_of, relative_width, store_of
from benchmarks.random_systems import random_system
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import SavedRun, SimulationTask, read_saved_run, simulate, write_saved_run
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import Progress
from oltpsim.simulator.results import Series

SETS = {
    "random": (2000, random_system),
    "pools": (len(POOLS_GIB), pool_system),
    "page-cleaners": (page_cleaner_systems.SYSTEMS, page_cleaner_system),
    "postgresql": (postgresql_systems.SYSTEMS, postgresql_system),
}
"""how many systems each has, and one of them by its number"""
MOST_CHECKPOINTS = 256
MOST_TRANSACTIONS = 400_000
"""that a run over more checkpoints is to count at most: about five seconds of CPU time"""
LONGEST_CPU_S = 90.0
"""CPU time after which a run is given up"""


class TooLong(Exception):
    """Raised inside a run that takes too much CPU time."""


def _within(began_s: float, progress: Progress) -> None:
    if time.process_time() - began_s > LONGEST_CPU_S:
        raise TooLong(f"{LONGEST_CPU_S:g} s of CPU time for {progress.simulated_s:g} of {progress.end_s:g} s")


def checkpoint_s(scenario: ScenarioSpec) -> float:
    """The interval of checkpoints; of page cleaners, which know none, the time that is counted."""
    if scenario.database.checkpoint is None:
        assert scenario.interval.duration_s is not None
        return scenario.interval.duration_s
    return scenario.database.checkpoint.interval_s


def longer(scenario: ScenarioSpec, checkpoints: int) -> ScenarioSpec:
    """The scenario over so many checkpoints' intervals, if it starts warm after a quarter as many."""
    interval_s = checkpoint_s(scenario)
    times = {"duration_s": round(checkpoints * interval_s, 6)}
    if scenario.interval.start == "warm":
        times["warm_up_s"] = round(max(1, checkpoints // 4) * interval_s, 6)
    return scenario.model_copy(update={"interval": scenario.interval.model_copy(update=times)})


def file_of(store: Path, kind: str, number: int) -> Path:
    """The file of a system's run."""
    return store / f"{number:04}-{kind.replace(' ', '-')}.json"


def is_kept(file: Path, scenario: ScenarioSpec) -> bool:
    """Whether a file holds the run of this scenario, over its interval or a longer one."""
    if not file.exists():
        return False
    try:
        kept = read_saved_run(file)
    except InputError:
        return False
    same = kept.scenario.model_copy(update={"interval": scenario.interval}) == scenario
    least_s, kept_s = (one.interval.duration_s or 0.0 for one in (scenario, kept.scenario))
    return same and kept_s > 0.999 * least_s and kept.result.model_hash == build(kept.scenario).digest()


def simulated(scenario: ScenarioSpec) -> tuple[SavedRun, float]:
    """The kernel's run of a system, over as many checkpoints as its rate needs to be known, and its CPU time, s.

    Of its series the rate's alone is left.
    """
    interval_s, duration_s = checkpoint_s(scenario), scenario.interval.duration_s
    assert duration_s is not None
    checkpoints, total_s = max(2, round(duration_s / interval_s)), 0.0
    drawn = scenario
    while True:
        scenario = longer(drawn, checkpoints)
        began_s = time.process_time()
        result = simulate(SimulationTask(scenario, SEED), partial(_within, began_s))
        total_s += time.process_time() - began_s
        width = relative_width(result)
        counted = max(sum(one.completed for one in result.classes), 1)
        most = min(MOST_CHECKPOINTS, checkpoints * MOST_TRANSACTIONS // counted)
        wanted = min(most, math.ceil(1.2 * checkpoints * min((width / WIDEST) ** 2, 1e3)))
        if width <= WIDEST or wanted < 1.3 * checkpoints:
            key = result.series.rate_key
            series = Series(result.series.step_s, {key: result.series.values[key]})
            return SavedRun(scenario, replace(result, series=series)), total_s
        checkpoints = wanted


def simulate_one(name: str, store: Path, number: int) -> str:
    """Keep the kernel's run of a system of a set, unless it is kept already; returns a line about it."""
    kind, scenario = SETS[name][1](number)
    file = file_of(store, kind, number)
    label = f"{number:4} {kind:17}"
    if is_kept(file, scenario):
        return f"{label} kept"
    refused = file.with_suffix(".refused")
    if refused.exists():
        return f"{label} {refused.read_text(encoding='utf-8')}"
    try:
        saved, cpu_s = simulated(scenario)
    except (InputError, InternalError, TooLong) as error:
        refused.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        return f"{label} {type(error).__name__}: {error}"
    write_saved_run(file, saved)
    duration_s = saved.scenario.interval.duration_s
    assert duration_s is not None
    checkpoints = duration_s / checkpoint_s(saved.scenario)
    rate, width = saved.result.rate_per_min.mean, 100 * relative_width(saved.result)
    return f"{label} {cpu_s:6.1f} s {rate:10.1f}/min, {width:5.2f} % wide, {checkpoints:.0f} checkpoints"


def main() -> None:
    """Keep the runs of the systems that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.random_runs", description=__doc__)
    parser.add_argument("--set", dest="name", default="random", choices=list(SETS))
    parser.add_argument("--numbers", type=numbers_of, default=None, metavar="FIRST:LAST")
    parser.add_argument("--store", type=Path, default=None, help="folder of the kept runs (out/analytic)")
    parser.add_argument("--workers", type=int, default=1)
    words = parser.parse_args()
    store = words.store or store_of(words.name)
    store.mkdir(parents=True, exist_ok=True)
    numbers = words.numbers or range(SETS[words.name][0])
    with ProcessPoolExecutor(words.workers, get_context("spawn")) as pool:
        for text in pool.map(partial(simulate_one, words.name, store), numbers):
            print(text, flush=True)


if __name__ == "__main__":
    main()
