"""Benchmark 11: sweeps of short runs, on worker processes and on a Dask cluster of this machine, one worker lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.checkout import ROOT, Options
from benchmarks.page import Section, at_least, at_most, table
from benchmarks.race import Contestant, Outcome, race
from benchmarks.sweep_kills import (
    SHORT,
    START,
    TINY,
    environment,
    hold_back_after,
    kept,
    killed_and_resumed,
    let_go,
    words,
)
from oltpsim.scenarios.library import scenario_loader
from oltpsim.scenarios.questions.sweep import Axis, ReplicationRule, SweepRunner, sweep_json, sweep_points
from oltpsim.scenarios.run import Store, dask_cluster

WORKERS = 2
LEAST_SHARE = 0.9
START_S = 60.0
WORKER = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--death-timeout", "60")


@contextmanager
def dask(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask cluster on loopback, with workers of one thread each that count their runs: its address and workers."""
    file = folder / "scheduler.json"
    surely = environment(folder)
    parts: list[subprocess.Popen[bytes]] = []

    def begin(part: str, *more: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", "--no-dashboard", *more]
        with (folder / f"{part}-{len(parts)}.txt").open("wb") as log:
            parts.append(subprocess.Popen(command, env=surely, cwd=folder, stdout=log, stderr=log))

    try:
        begin("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        address = _address_in(file)
        for _ in range(WORKERS):
            begin("worker", *WORKER, "--scheduler-file", str(file))
        yield address, parts[1:]
    finally:
        for part in reversed(parts):  # a worker that ends of its own accord would wait for its scheduler
            part.kill()
            part.wait()


def _address_in(file: Path) -> str:
    """The scheduler's address, once it has written the whole of its file. Raises TimeoutError."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.1)
    raise TimeoutError(f"no Dask scheduler has written {file} in {START_S:g} s")


@dataclass
class Watch:
    """A display that notes when the first runs were finished, and the last; starting workers is not between them."""

    marks: list[tuple[float, float]] = field(default_factory=list)

    def step(self, name: str) -> None:
        pass

    def advance(self, fraction: float, detail: str) -> None:
        if not detail.startswith("0 of"):
            self.marks.append((time.perf_counter(), fraction))

    def outcome(self, runs: int) -> Outcome:
        (begin_s, begin), (end_s, end) = self.marks[0], self.marks[-1]
        return Outcome(end_s - begin_s, (end - begin) * runs)


def swept(runs: int, address: str | None) -> tuple[Outcome, str]:
    """Sweep on worker processes or on the cluster at an address: its speed, and what it answers."""
    axis = Axis("database.pool.buffers", tuple(str(500 + number) for number in range(runs)))
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.sqlite") as store:
        runner = SweepRunner(sweep_points(scenario_loader(str(TINY), SHORT), [axis]), store, 1, ReplicationRule())
        if address is None:
            runner.run(WORKERS, watch)
        else:
            with dask_cluster(address, watch) as place:
                runner.run_at(place, watch)
        return watch.outcome(runs), sweep_json(runner.sweep("tiny", [axis]))


@dataclass(frozen=True)
class Lost:
    """What came of a sweep of whose two workers one was killed when `kept_before` runs were kept."""

    runs: int
    kept_before: int
    started: int
    same_bytes: bool
    twice: int


def worker_lost(runs: int, folder: Path) -> Lost:
    """Sweep on a cluster and kill one of its workers when a third is done."""
    command = [sys.executable, "-c", START, *words(runs), "--output", "json"]
    wanted = subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout
    store = folder / "runs.sqlite"
    with dask(folder) as (address, workers):
        command += ["--cluster", address, "--save", str(store)]
        surely = environment(folder)
        hold_back_after(folder, runs // 3 + runs // 4)
        sweep = subprocess.Popen(command, cwd=ROOT, env=surely, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while sweep.poll() is None and len(kept(store)) < runs // 3:
            time.sleep(0.02)
        before = kept(store)
        workers[0].send_signal(signal.SIGKILL)
        let_go(folder)
        found, _ = sweep.communicate()
        after = kept(store)
    started = (folder / "log").read_text(encoding="utf-8").count("started")
    twice = sum(after.get(run) != row for run, row in before.items())
    return Lost(runs, len(before), started, found == wanted, twice)


def section(options: Options) -> Section:
    runs, kills, rounds = (2000, 10, 5) if options.full else (400, 3, 3)
    with tempfile.TemporaryDirectory() as name:
        killed = killed_and_resumed(runs, kills, Path(name), 1)
    with tempfile.TemporaryDirectory() as name:
        lost = worker_lost(runs, Path(name))
    answers: list[str] = []

    def contestant(name: str, address: str | None) -> Contestant:
        def run(_: int) -> Outcome:
            outcome, answer = swept(runs, address)
            answers.append(answer)
            return outcome

        return Contestant(name, run)

    with tempfile.TemporaryDirectory() as name, dask(Path(name)) as (address, _):
        pool, on_dask = race([contestant("worker processes", None), contestant("Dask", address)], rounds)
    share = on_dask.times_faster_than(pool)
    text = (
        f"{runs:,} runs of some seconds of a small machine, {WORKERS} workers either way. Speed is from the first runs "
        f"that are finished to the last, so that starting workers doesn't count. {kills} times all processes of a "
        f"sweep were killed at random moments: {killed.started:,} runs were begun in all, {killed.twice} after their "
        f"result was kept, {killed.lost} whose result was on its way when all was killed. One of {WORKERS} Dask "
        f"workers was killed when {lost.kept_before:,} runs were kept: {lost.started:,} runs were begun in all, "
        f"{lost.twice} of those that were kept."
    )
    rows = [[each.name, f"{each.rate:.1f}"] for each in (pool, on_dask)]
    same = killed.same_bytes and lost.same_bytes and len(set(answers)) == 1
    goals = [
        at_least("Dask's speed by that of worker processes:", LEAST_SHARE, share),
        at_most("runs begun again though kept:", 0, killed.twice + lost.twice),
        at_least("all answers the same bytes (1: yes):", 1, float(same)),
    ]
    return Section("Sweeps", [text, table(["place", "runs/s"], rows)], goals)
