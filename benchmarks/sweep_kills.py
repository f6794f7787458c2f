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

from benchmarks.checkout import ROOT

TINY = ROOT / "tests" / "scenarios" / "tiny.yaml"
START = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
SHORT = ("interval.warm_up_s=1", "interval.duration_s=4")
COUNTING = """
import os
import time
from functools import wraps

import oltpsim.scenarios.run
from oltpsim.scenarios.run import store

whole = store.perform_run
folder = os.environ["SWEEP_FOLDER"]


def note(word, task):
    line = f"{word} {store.run_hash(store.scenario_text(task.scenario), task.seed)}\\n"
    log = os.open(f"{folder}/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, line.encode())
    os.close(log)


def held_back():
    try:
        with open(f"{folder}/limit") as limit, open(f"{folder}/log") as log:
            return log.read().count("finished") >= int(limit.read())
    except FileNotFoundError:
        return False


@wraps(whole)
def perform_run(expected, task, *rest):
    note("started", task)
    while held_back():
        time.sleep(0.01)
    found = whole(expected, task, *rest)
    note("finished", task)
    return found


store.perform_run = oltpsim.scenarios.run.perform_run = perform_run
"""
"""Imported by every Python process at its start, that of a worker too. No run ends while `limit` have ended."""


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
    return ["sweep", str(TINY), "--vary", f"database.pool.buffers=500:{499 + points}:1", "--quiet", *settings]


def hold_back_after(folder: Path, runs: int) -> None:
    """Let only so many more runs end, so that a sweep is half way when it is killed, however fast the machine."""
    log = folder / "log"
    ended = log.read_text(encoding="utf-8").count("finished") if log.exists() else 0
    (folder / "limit").write_text(str(ended + runs), encoding="utf-8")


def let_go(folder: Path) -> None:
    """Let all runs end."""
    (folder / "limit").unlink()


def environment(folder: Path) -> dict[str, str]:
    """That of a process whose runs are counted in `folder`/log."""
    (folder / "sitecustomize.py").write_text(COUNTING, encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "src")])
    return os.environ | {"PYTHONPATH": path, "SWEEP_FOLDER": str(folder)}


def killed_and_resumed(points: int, kills: int, folder: Path, seed: int, *more: str) -> Killed:
    """Sweep without interruption, then again with kills, in a store of its own."""
    command = [sys.executable, "-c", START, *words(points), *more]
    wanted = subprocess.run([*command, "--output", "json"], capture_output=True, check=True, cwd=ROOT).stdout
    store = folder / "runs.sqlite"
    command += ["--save", str(store), "--output", "json"]
    surely = environment(folder)
    choose = random.Random(seed)
    kept_at_kills: list[int] = []
    first_kept: dict[str, int] = {}
    for target in sorted(choose.sample(range(1, points // 2), kills)):
        hold_back_after(folder, target - len(kept(store)) + points // 4)  # more than the batches under way hold
        group = subprocess.Popen(
            command, env=surely, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while group.poll() is None and len(kept(store)) < target:
            time.sleep(0.01)
        time.sleep(choose.uniform(0.0, 0.05))
        os.killpg(group.pid, signal.SIGKILL)
        group.wait()
        first_kept = kept(store) | first_kept
        kept_at_kills.append(len(first_kept))
    let_go(folder)
    found = subprocess.run(command, env=surely, cwd=ROOT, capture_output=True, check=True).stdout
    after = kept(store)
    twice = sum(after.get(run) != row for run, row in first_kept.items())
    notes = Counter(line.split()[0] for line in (folder / "log").read_text().splitlines())
    lost = notes["finished"] - points
    return Killed(
        points, kills, tuple(kept_at_kills), notes["started"], notes["finished"], lost, twice, found == wanted
    )


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
