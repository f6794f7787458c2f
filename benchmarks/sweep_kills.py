"""Sweeps that are killed and go on, with every run counted.

A process group is ended by SIGKILL at random moments; what each run began and finished is noted by its worker in a log
of its own, beside the store and unknown to it.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.others import ROOT

TINY = ROOT / "tests" / "scenarios" / "tiny.yaml"
START = "import sys; from scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
SHORT = ("interval.warm_up_s=1", "interval.duration_s=4")
COUNTING = """
import os
import sys
import time
from functools import wraps

from scenarios import run

whole = run.perform


def note(word, task):
    line = f"{word} {run.run_hash(run.scenario_text(task.scenario), task.seed)}\\n"
    log = os.open(os.environ["SWEEP_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, line.encode())
    os.close(log)


def hold(task):
    held = str(task.scenario.database.pool.buffers) == os.environ["SWEEP_HELD"]
    while held and not os.path.exists(os.environ["SWEEP_GO"]):
        time.sleep(0.01)


@wraps(whole)
def perform(expected, task, *rest):
    note("started", task)
    hold(task)
    found = whole(expected, task, *rest)
    note("finished", task)
    return found


run.perform = sys.modules[whole.__module__].perform = perform
"""
"""Imported by every Python process at its start, that of a worker too."""


@dataclass(frozen=True)
class Killed:
    """What came of a sweep that was killed. `twice` counts runs that began again after their result was kept.

    `lost` counts those that a worker finished, but whose result had not been kept when all was killed.
    """

    runs: int
    kills: int
    kept_at_kills: tuple[int, ...]
    started: int
    finished: int
    lost: int
    twice: int
    same_bytes: bool


def words(points: int) -> list[str]:
    """A sweep of some short runs of a small machine."""
    settings = [word for setting in SHORT for word in ("--set", setting)]
    return ["sweep", str(TINY), "--vary", f"database.pool.buffers=500:{last_of(points)}:1", "--quiet", *settings]


def environment(folder: Path, held: int = 0) -> dict[str, str]:
    """That of a process whose runs are counted in `folder`/log.

    The run with `held` buffers waits until there is a file `folder`/go: a sweep that shall be interrupted isn't
    finished before, however fast the machine is.
    """
    (folder / "sitecustomize.py").write_text(COUNTING, encoding="utf-8")
    paths = {"SWEEP_LOG": str(folder / "log"), "SWEEP_GO": str(folder / "go")}
    return os.environ | paths | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "SWEEP_HELD": str(held)}


def last_of(points: int) -> int:
    """The buffers of a sweep's last run."""
    return 499 + points


def killed_and_resumed(points: int, kills: int, folder: Path, seed: int, *more: str) -> Killed:
    """Sweep without interruption, then again with kills, in a store of its own. Until the last kill a run is held."""
    command = [sys.executable, "-c", START, *words(points), *more]
    wanted = subprocess.run([*command, "--output", "json"], capture_output=True, check=True, cwd=ROOT).stdout
    store = folder / "runs.sqlite"
    command += ["--save", str(store), "--output", "json"]
    surely = environment(folder, last_of(points))
    choose = random.Random(seed)
    kept_at_kills: list[int] = []
    first_kept: dict[str, int] = {}
    for target in sorted(choose.sample(range(1, points * 3 // 4), kills)):
        group = subprocess.Popen(
            command, env=surely, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(kept(store)) < target:
            assert group.poll() is None, "the sweep ended although one of its runs was held"
            time.sleep(0.01)
        time.sleep(choose.uniform(0.0, 0.05))
        os.killpg(group.pid, signal.SIGKILL)
        group.wait()
        first_kept = kept(store) | first_kept
        kept_at_kills.append(len(first_kept))
    (folder / "go").touch()
    found = subprocess.run(command, env=surely, cwd=ROOT, capture_output=True, check=True).stdout
    after = kept(store)
    twice = sum(after.get(run) != row for run, row in first_kept.items())
    notes = Counter(line.split()[0] for line in (folder / "log").read_text().splitlines())
    return Killed(points, kills, tuple(kept_at_kills), notes["started"], notes["finished"],
                  notes["finished"] - points, twice, found == wanted)  # fmt: skip


def kept(store: Path) -> dict[str, int]:
    """The number of the row of every run that is in a store."""
    if not store.exists():
        return {}
    try:
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        try:
            return dict(database.execute("SELECT run, rowid FROM runs").fetchall())
        finally:
            database.close()
    except sqlite3.OperationalError:  # it is being made
        return {}
