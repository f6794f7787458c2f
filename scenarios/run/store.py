"""Runs that are done, in one SQLite file that can be queried while it grows, and the record of each.

A record holds what a sweep's row needs as one line of JSON, and the whole result, compressed. It is made where the run
was run, so that the process that keeps records has next to nothing to do for each. A run is there whole or not at all:
each commit is on the disk before the next run is waited for (write-ahead log, synchronous=FULL), and every row carries
a digest of its content, so that a damaged one is told from a sound one. `answers` shows for each run its rate and, as
JSON, every key of its scenario.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import TypeAdapter

from oltpsim.calibration.records import code_digest
from oltpsim.models.input import short_text
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.run.saved import SavedRun
from oltpsim.scenarios.run.simulation import OnStep, SimulationTask, simulate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import OnProgress
from oltpsim.simulator.results import Estimate, Result, read_result, result_json

HASH_SALT = "oltpsim-runs-1"
"""in the hash of a program: another one makes all stored runs strangers"""
DONE, REFUSED = "done", "refused"
RESULT_PACKAGES = ("oltpsim.models", "oltpsim.simulator")
"""The packages whose code decides what a run gives."""
LIBRARIES = ("oltpsim", "numpy", "scipy", "simpy")


@dataclass(frozen=True)
class RunFigures:
    """Figures of one run in a row of a sweep."""

    engine: str
    versions: dict[str, str]
    model_hash: str
    rate_per_min: Estimate
    bottleneck: str
    cpu_utilisation: float
    disk_utilisation: float
    hit_ratios: dict[str, float]
    warnings: tuple[str, ...]
    main_class: str = "new order"
    """what the rate counts"""


FIGURES = TypeAdapter(RunFigures)


@dataclass(frozen=True)
class StoredRun:
    """Record of a run. `answer` is JSON: its figures if `status` is done, the reason if the machine can't run it.

    `result` is the whole result as compressed JSON, empty for a refusal.
    """

    status: str
    answer: str
    result: bytes

    @property
    def figures(self) -> RunFigures | None:
        """The figures of a run that was done."""
        return FIGURES.validate_json(self.answer) if self.status == DONE else None

    @property
    def reason(self) -> str:
        """Why the machine can't run it; empty if it did."""
        return "" if self.status == DONE else str(json.loads(self.answer)["reason"])

    def full_result(self, where: str) -> Result:
        """The result of a run that was done; `where` names it in messages."""
        return read_result(zlib.decompress(self.result).decode(), where)


def perform_run(
    expected_program: str, task: SimulationTask, on_progress: OnProgress | None, on_step: OnStep | None
) -> StoredRun:
    """Run a task and make its record. A machine that can't run the workload is an answer too.

    Raises InputError where another program would run it than the one that named it, which is `expected_program`.
    """
    check_program(program_hash() == expected_program, program_text())
    try:
        result = simulate(task, on_progress, on_step)
    except InputError as error:
        return StoredRun(REFUSED, _json_line({"reason": str(error)}), b"")
    return StoredRun(DONE, _json_line(asdict(figures_of(result))), zlib.compress(result_json(result).encode()))


def check_program(is_the_same: bool, words: str) -> None:
    """Refuse to answer for a program that isn't this one, which is `words`. Raises InputError."""
    if not is_the_same:
        raise InputError(
            f"{platform.node()}: its oltpsim, libraries or Python ({words}) differ from those that began this, and so "
            "may its results: make them the same on all machines, and don't change them meanwhile"
        )


def figures_of(result: Result) -> RunFigures:
    """Figures of a result for a row. The busiest disk that is read counts; where none is, the busiest."""
    data_devices = [device for device in result.devices if device.reads_per_s > 0] or result.devices
    return RunFigures(
        engine=result.engine,
        versions=result.versions,
        model_hash=result.model_hash,
        rate_per_min=result.rate_per_min,
        bottleneck=result.bottleneck.name,
        cpu_utilisation=result.cpu.utilisation,
        disk_utilisation=max((device.utilisation for device in data_devices), default=0.0),
        hit_ratios={cache.name: cache.hit_ratio for cache in result.caches},
        warnings=(*result.warnings, *(f"broken law: {law.name}; do not use this" for law in result.broken_laws)),
        main_class=result.main_class,
    )


def _json_line(data: object) -> str:
    return json.dumps(data, sort_keys=True, allow_nan=False)


@cache
def program_hash() -> str:
    """Names all but scenario and seed that a result depends on: code, libraries, interpreter, kind of processor."""
    return hashlib.sha256(f"{HASH_SALT} {program_text()}".encode()).hexdigest()[:20]


@cache
def program_text() -> str:
    """Code, libraries, interpreter and kind of processor in words."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    code = code_digest(*RESULT_PACKAGES).hex()[:20]
    return f"{libraries}, python {platform.python_version()}, {platform.machine()}, code {code}"


def scenario_text(scenario: ScenarioSpec) -> str:
    """A scenario as one line of canonical JSON."""
    return _json_line(scenario.model_dump(mode="json"))


def run_hash(scenario: str, seed: int) -> str:
    """Names a run by all that its result depends on. `scenario` is as `scenario_text` writes it."""
    return hashlib.sha256(f"{program_hash()} {seed} {scenario}".encode()).hexdigest()[:20]


APPLICATION_ID = 0x4F4C5450  # "OLTP": tells our files from other programs' SQLite files
VERSION = 1
BUSY_S = 60.0
TABLES = """
CREATE TABLE scenarios (scenario TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    run TEXT PRIMARY KEY,        -- hash of scenario, seed and program
    scenario TEXT NOT NULL,
    seed INTEGER NOT NULL,
    program TEXT NOT NULL,       -- hash of code, libraries and interpreter
    status TEXT NOT NULL,        -- done, or refused: the machine can't run the workload
    answer TEXT NOT NULL,        -- JSON: figures, or the reason
    result BLOB NOT NULL,        -- JSON, compressed by zlib; with all series
    digest TEXT NOT NULL         -- of all columns, to tell damage
);
CREATE VIEW answers AS SELECT
    run, json_extract(spec, '$.name') AS name, seed, status,
    json_extract(answer, '$.engine') AS engine,
    json_extract(answer, '$.rate_per_min.mean') AS rate_per_min,
    json_extract(answer, '$.rate_per_min.low') AS low_per_min,
    json_extract(answer, '$.rate_per_min.high') AS high_per_min,
    json_extract(answer, '$.bottleneck') AS bottleneck,
    json_extract(answer, '$.reason') AS reason,
    program, spec
FROM runs JOIN scenarios USING (scenario);
"""
FIND = (
    "SELECT spec, seed, program, status, answer, result, digest FROM runs JOIN scenarios USING (scenario) WHERE run = ?"
)


@dataclass(frozen=True)
class RunKey:
    """Key of a run: its hash, its scenario as canonical JSON, and its seed."""

    hash: str
    scenario: str
    seed: int


class Store:
    """Records by the hash of their run, in a file, or in memory where nothing is to be kept. Closed after `with`.

    Raises InputError for a file that is something else, is damaged as a whole, or can't be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.damaged: list[str] = []
        with self._errors_in_words():
            self._db = sqlite3.connect(path or ":memory:", timeout=BUSY_S)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        self._claims = None if path is None else Claims(path.with_name(f"{path.name}-claims"))

    def _open(self) -> None:
        """Make a new file ours, or see that it is: before anything in another program's file is changed."""
        if not self._is_new():
            self._check_ours()
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            if self._is_new():  # and not made meanwhile by another sweep
                for statement in TABLES.split(";\n"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._check_ours()

    def _is_new(self) -> bool:
        return self._number("SELECT count(*) FROM sqlite_master") == 0 and self._number("PRAGMA application_id") == 0

    def _check_ours(self) -> None:
        mark, version = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
        if (mark, version) != (APPLICATION_ID, VERSION):
            found = "another program's" if mark != APPLICATION_ID else f"of version {version} of its layout"
            raise InputError(f"{self.path}: is an SQLite file {found}; give the name of a new file")

    def _number(self, question: str) -> int:
        (number,) = self._db.execute(question).fetchone()
        return int(number)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        if self._claims is not None:
            self._claims.close()

    def find(self, run: RunKey) -> StoredRun | None:
        """The record of a run; None if there is none or if it is damaged, which `damaged` then tells."""
        with self._errors_in_words():
            row = self._db.execute(FIND, (run.hash,)).fetchone()
        if row is None:
            return None
        record = _sound_record(run, row)
        if record is None and run.hash not in self.damaged:
            self.damaged.append(run.hash)
        return record

    def keep(self, records: Iterable[tuple[RunKey, StoredRun]]) -> None:
        """Write records, all of them or none; they are on the disk afterwards."""
        with self._errors_in_words(), self._db:
            for run, record in records:
                scenario = hashlib.sha256(run.scenario.encode()).hexdigest()[:20]
                self._db.execute("INSERT OR REPLACE INTO scenarios VALUES (?, ?)", (scenario, run.scenario))
                content = (run.seed, program_hash(), record.status, record.answer, record.result)
                row = (run.hash, scenario, *content, _digest(run.hash, run.scenario, *content))
                self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def claim(self, run: RunKey) -> bool:
        """Whether this process may run it; not while another sweep does. Ends with `release` or the process."""
        return self._claims is None or self._claims.take(run.hash)

    def release(self, run: RunKey) -> None:
        """Give a claim back: the run is kept, or will not be run."""
        if self._claims is not None:
            self._claims.release(run.hash)

    def saved_run(self, run: RunKey) -> SavedRun:
        """A run that is done, for a report. Raises InputError if it isn't there."""
        record = self.find(run)
        if record is None or record.status != DONE:
            raise InputError(f"{self.path}: holds no finished run {run.hash}")
        where = f"{self.path}: run {run.hash}"
        return SavedRun(scenario_from_mapping(json.loads(run.scenario), where), record.full_result(where))

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Failures of the file in words."""
        try:
            yield
        except sqlite3.OperationalError as error:
            why = short_text(str(error))
            raise InputError(f"{self.path}: cannot be used as a store of runs: {why}") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            why = short_text(str(error))
            raise InputError(
                f"{self.path}: no store of runs, or damaged as a whole ({why}); give the name of a new file"
            ) from error


def _sound_record(run: RunKey, row: tuple[object, ...]) -> StoredRun | None:
    """The record in a row, if every part of it is as it was written."""
    spec, seed, made_by, status, answer, result, digest = row
    if not isinstance(result, bytes) or (spec, seed) != (run.scenario, run.seed):
        return None
    if digest != _digest(run.hash, spec, seed, made_by, status, answer, result) or status not in (DONE, REFUSED):
        return None
    return StoredRun(str(status), str(answer), result)


def _digest(
    run: object, scenario: object, seed: object, made_by: object, status: object, answer: object, result: bytes
) -> str:
    content = hashlib.sha256(
        json.dumps([str(part) for part in (run, scenario, seed, made_by, status, answer)]).encode()
    )
    content.update(result)
    return content.hexdigest()[:20]


class Claims:
    """Claims on runs among the sweeps that use a store at the same time: a lock on a byte for each run.

    The operating system gives a process's locks back when it ends, however it ends, so no claim outlives its sweep.
    The bytes are those of an empty file beside the store, far beyond its end. Claims are told apart by process, so that
    two sweeps in one process could run the same.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}; give the store another place") from error

    def take(self, run: str) -> bool:
        """Whether the run is ours from now on."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(run))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, run: str) -> None:
        """Give up the claim on a run."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte(run))

    def close(self) -> None:
        """Give up all claims."""
        os.close(self._file)


def _byte(run: str) -> int:
    return int(run[:15], 16)
