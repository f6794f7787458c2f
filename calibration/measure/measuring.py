"""The measurement: a harness runs, counters are read at even intervals, and a folder grows that can be imported.

At any moment the folder holds whole files and whole lines: what ends this program leaves a run up to then.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

from oltpsim.calibration.measure import mysql, postgresql
from oltpsim.calibration.measure.harness import Harness
from oltpsim.calibration.measure.inventory import inventory
from oltpsim.calibration.measure.kernel_files import KernelFiles, cpu_s_of_this_process, ticks_per_s
from oltpsim.models.input import write_whole
from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-series-1"
SERIES, LOG, UNFINISHED_LOG = "series.jsonl", "harness.log", ".harness.log"
"""An unfinished output has no summary, and importers would refuse it: as a hidden file it is left alone."""


class DatabaseKind(StrEnum):
    """Database whose counters are read."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    NONE = "none"


@dataclass
class Measurement:
    """How it went. `status`: exit status of the harness, None without one; `lacks`: what isn't recorded and why."""

    folder: Path
    status: int | None = None
    interrupted: bool = False
    lacks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KnownServer:
    """A database server whose first process and folders the caller knows: `folders` by what lies in them."""

    process: int
    folders: Mapping[str, str]


PRIVATE = 0o077
"""Umask of a run's files: settings and output may hold what only their owner should read."""


@contextmanager
def _private_files() -> Iterator[int]:
    """Within, new files are their owner's alone; gives the umask before."""
    before = os.umask(PRIVATE)
    try:
        yield before
    finally:
        os.umask(before)


def measure(
    folder: Path,
    command: Sequence[str],
    attach_s: float | None,
    every_s: float,
    warm_up_s: float | None,
    kind: DatabaseKind,
    shown: TextIO | None,
    known: KnownServer | None = None,
) -> Measurement:
    """Run a command, or watch for `attach_s` seconds, into a new or empty folder; `shown` gets the command's output.

    The folder's files are their owner's alone, and no password is in them. `known`: the server, where it isn't to be
    looked for; of MySQL it can't be.

    `warm_up_s`: what isn't counted; None leaves it to the importer, which looks where the rate becomes steady. Ctrl-C
    ends the command, and what was measured until then stands. Raises InputError, InstallationError.
    """
    if platform.system() != "Linux":
        raise InputError(
            f"measure: runs on Linux only, this is {platform.system()}; use 'oltpsim import' for its files"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty; a run needs a folder for itself: give another one")
    database = postgresql.connect() if kind is DatabaseKind.POSTGRESQL else None
    client = mysql.client_program() if kind is DatabaseKind.MYSQL else None
    result = Measurement(folder, lacks=[] if database is None else database.lacks)
    files = KernelFiles()
    server = known.process if known else None if database is None else database.server_process(files)
    if database is not None and server is None:
        result.lacks.append(
            "the server's processes aren't seen on this machine: CPU, devices and swap are those of the load generator"
        )
    settings = "" if client is None else mysql.variables(client)
    with _private_files() as umask:
        folder.mkdir(parents=True, exist_ok=True)
        places = known.folders if known else {} if database is None or server is None else database.folders()
        write_whole(folder / "inventory.json", json.dumps(inventory(files, dict(places), server), indent=1) + "\n")
        if database is not None:
            write_whole(folder / "pg_settings.csv", database.settings_csv())
        if client is not None:
            write_whole(folder / "mysql_variables.txt", settings)
        sampler = _Sampler(folder / SERIES, files, database, server)
        sampler.write(
            {
                "format": FORMAT,
                "every_s": every_s,
                "warm_up_s": warm_up_s,
                "ticks_per_s": ticks_per_s(),
                "harness": Path(command[0]).name if command else None,
                "database": kind.value,
                "lacks": result.lacks,
            }
        )
        schedule = _Schedule(every_s)

        def snapshot(phase: str) -> None:
            if client is not None:
                write_whole(folder / f"mysql_status.{phase}.txt", mysql.status(client))

        try:
            if command:
                _run(
                    lambda: Harness(command, folder / UNFINISHED_LOG, shown, umask),
                    sampler,
                    schedule,
                    warm_up_s,
                    snapshot,
                    result,
                )
            else:
                _watch(attach_s or 0.0, sampler, schedule, warm_up_s, snapshot, result)
        finally:
            sampler.close()
            if database is not None:
                database.close()
    return result


class _Schedule:
    """Even moments. One that was missed is left out, not made up for."""

    def __init__(self, every_s: float) -> None:
        self._every_s, self._next_s = every_s, time.monotonic() + every_s

    def left_s(self) -> float:
        return self._next_s - time.monotonic()

    def advance(self) -> None:
        while self.left_s() <= 0:
            self._next_s += self._every_s


class _Sampler:
    """Writer of the series: a line for each moment, each written at once."""

    def __init__(
        self, path: Path, files: KernelFiles, database: postgresql.PostgreSql | None, server: int | None
    ) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._files, self._database, self._server = files, database, server
        self._devices = files.block_devices()
        self._zero_s = time.time() - time.monotonic()
        self.harness: int | None = None

    def write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def event(self, name: str, **words: Any) -> None:
        self.write({"at_s": round(self._zero_s + time.monotonic(), 6), "event": name, **words})

    def sample(self) -> None:
        """A line of all counters; a database that stops answering is said once, and the machine goes on."""
        files = self._files
        line: dict[str, Any] = {
            "at_s": round(self._zero_s + time.monotonic(), 6),
            "cpu": files.cpu_ticks(),
            "disks": files.disks(self._devices),
            "swap": files.swapped_pages(),
            "groups": self._groups(),
            "sampler_s": cpu_s_of_this_process(),
        }
        if self._database is not None:
            try:
                line["database"] = self._database.sample()
            except InputError as error:
                self._database = None
                self.event("lost", reason=str(error))
        self.write(line)

    def _groups(self) -> dict[str, list[int]]:
        """Ticks by group; this program's connection is neither the database's nor the driver's work."""
        files, groups = self._files, {}
        if self._server is not None:
            connection = [] if self._database is None else [self._database.process]
            groups["database"] = files.cpu_of(files.group(self._server, connection))
            groups["connection"] = files.cpu_of(connection)
        if self.harness is not None:
            groups["driver"] = files.cpu_of(files.group(self.harness))
        return groups

    def close(self) -> None:
        self._file.close()


TakeSnapshot = Callable[[str], None]


def _run(
    start: Callable[[], Harness],
    sampler: _Sampler,
    schedule: _Schedule,
    warm_up_s: float | None,
    snapshot: TakeSnapshot,
    result: Measurement,
) -> None:
    harness = start()
    sampler.harness = harness.process
    try:
        _sample_until(harness.has_ended, harness.wait, sampler, schedule, warm_up_s, snapshot)
    except KeyboardInterrupt:
        result.interrupted = True
    finally:
        harness.end()
        result.status = harness.finish()
        sampler.event("end", status=result.status)
    sampler.harness = None
    sampler.sample()
    snapshot("end")
    if result.status == 0:
        (result.folder / UNFINISHED_LOG).replace(result.folder / LOG)


def _watch(
    seconds: float,
    sampler: _Sampler,
    schedule: _Schedule,
    warm_up_s: float | None,
    snapshot: TakeSnapshot,
    result: Measurement,
) -> None:
    until_s = time.monotonic() + seconds

    def wait(left_s: float) -> None:
        time.sleep(max(0.0, min(left_s, until_s - time.monotonic())))

    try:
        _sample_until(lambda: time.monotonic() >= until_s, wait, sampler, schedule, warm_up_s, snapshot)
    except KeyboardInterrupt:
        result.interrupted = True
    sampler.sample()
    sampler.event("end", status=None)
    snapshot("end")


def _sample_until(
    has_ended: Callable[[], bool],
    wait: Callable[[float], None],
    sampler: _Sampler,
    schedule: _Schedule,
    warm_up_s: float | None,
    snapshot: TakeSnapshot,
) -> None:
    """Sample at the schedule's moments until something has ended; the first snapshot once the warm-up is over."""
    sampler.event("start")
    sampler.sample()
    warm_s = time.monotonic() + (warm_up_s or 0.0)
    ahead = True
    while not has_ended():
        if ahead and time.monotonic() >= warm_s:
            snapshot("start")
            ahead = False
        wait(schedule.left_s())
        if schedule.left_s() <= 0:
            sampler.sample()
            schedule.advance()
