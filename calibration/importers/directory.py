"""Runs below some paths: a folder with one load generator's result is a run, with all that lies in it.

A folder or a file with several results holds several runs, such as repeats: each becomes a record of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oltpsim.calibration.importers.recognition import MAPPING_REMEDY, READ_FORMATS, looks_like, looks_like_result
from oltpsim.calibration.importers.registry import read_runs
from oltpsim.calibration.records import RATES, FileReading, Leaf, ResultRank
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError

MOST_FILES = 2000
MOST_DEPTH = 8
SETTINGS = (
    "server settings",
    "BenchBase settings",
    "HammerDB parameters",
    "inventory",
    "laboratory",
    "kernel counters (meminfo)",
    "kernel counters (memory.stat)",
)
"""Kinds of files that belong to each run of a folder"""


@dataclass
class RunFiles:
    """The files of one run: what was read, and what was not recognised."""

    name: str
    readings: list[FileReading] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    unread_results: list[str] = field(default_factory=list)
    """files of an unknown format that look like results"""

    @property
    def has_result(self) -> bool:
        """Whether a load generator's result is among them."""
        return any(reading.tool is not None for reading in self.readings)


def find_runs(paths: Sequence[Path]) -> list[RunFiles]:
    """Runs in the order of the paths; files that are named one by one are one run. Raises InputError.

    `FILE#2` is the second run of a file that holds several.
    """
    runs: list[RunFiles] = []
    files = [path for path in paths if not path.is_dir()]
    if files:
        first, number = _chosen(files[0])
        loose = RunFiles(first.stem if number is None else f"{first.stem}#{number}")
        for path in files:
            _add(loose, path, path.name)
        if not loose.readings:
            _refuse_unknown(files)
        runs += _runs_of(loose)
    for folder in paths:
        if folder.is_dir():
            below = _folder(folder, folder, 0)
            if not any(found.readings for found in below):
                raise InputError(
                    f"{folder}: got no file of a known format; expected a load generator's output; "
                    "'oltpsim import --help' names them"
                )
            runs += [run for found in below for run in _runs_of(found)]
    return runs


def _refuse_unknown(files: Sequence[Path]) -> None:
    looks = "; ".join(f"{path.name} looks like {looks_like(SourceFile(path, path.name))}" for path in files[:3])
    raise InputError(f"{looks}: no known format; expected {READ_FORMATS}; {MAPPING_REMEDY}")


def _runs_of(run: RunFiles) -> list[RunFiles]:
    """The run itself, or one for each result of its load generator if there are several.

    Settings belong to all of them, monitors with times to those whose time is known; other readings to none.
    """
    by_kind: dict[str, list[FileReading]] = {}
    for reading in run.readings:
        if _is_whole_result(reading):
            by_kind.setdefault(reading.kind, []).append(reading)
    results = max(by_kind.values(), key=len, default=[])
    if len({_identity(reading) for reading in results}) < 2:
        return [run]
    others = [reading for reading in run.readings if reading not in results]
    runs = []
    for result in results:
        path, mark, number = result.file.partition("#")
        name = f"{Path(path).stem}{mark}{number}"
        name = name if name.startswith(run.name) else f"{run.name}-{name}"
        shared = [reading for reading in others if _is_shared(reading, result)]
        left_out = [reading.file for reading in others if reading not in shared]
        if left_out:
            note = f"{len(results)} runs lie together: {', '.join(left_out)} may be of any; give each run a folder"
            result.notes.append(note)
        runs.append(RunFiles(name, [result, *shared], run.unknown, run.unread_results))
    return runs


def _is_whole_result(reading: FileReading) -> bool:
    """Whether it is a run alone: one out of several in a file, or a result that names its rate and measured time."""
    if reading.tool is None or not any(path in reading.values for path in RATES):
        return False
    is_summary = reading.rank == ResultRank.SUMMARY and ("window", "duration_s") in reading.values
    return is_summary or "#" in reading.file


def _identity(reading: FileReading) -> tuple[object, ...]:
    """Figures by which two files of one run are known: a log and the same log by another name."""
    return tuple(_value(reading.values.get(path)) for path in (*RATES, ("workload", "clients"), ("outcome", "mean_ms")))


def _value(leaf: Leaf | None) -> object:
    return leaf["value"] if isinstance(leaf, dict) else leaf


def _is_shared(reading: FileReading, result: FileReading) -> bool:
    """Whether a file belongs to each of several runs: settings, and samples with times if the run's time is known."""
    if reading.tool is not None and any(path in reading.values for path in RATES):
        return False
    if reading.samples is not None:
        return result.window is not None and all(row.end_s is not None for row in reading.samples.rows)
    return reading.kind in SETTINGS


def _folder(folder: Path, root: Path, depth: int) -> list[RunFiles]:
    """This folder's own run, with the subfolders that are none, and then the runs of its subfolders."""
    here = RunFiles(folder.resolve().name)
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if len(entries) > MOST_FILES or depth > MOST_DEPTH:
        raise InputError(
            f"{folder}: got {len(entries)} files at depth {depth}; expected the folder of a run; name it itself"
        )
    for path in entries:
        if not path.is_file():
            continue
        name = str(path.relative_to(root))
        form = SourceFile(path, name).unread_form
        if form is not None:
            here.unknown.append(f"{name} ({form[0]}: {form[1]})")
        else:
            _add(here, path, name)
    runs: list[RunFiles] = []
    for path in entries:
        if path.is_dir() and not path.is_symlink():
            for found in _folder(path, path if depth == 0 and not here.has_result else root, depth + 1):
                if found.has_result:
                    runs.append(found)
                else:
                    here.readings += found.readings
                    here.unknown += found.unknown
                    here.unread_results += found.unread_results
    return [here, *runs] if here.readings or not runs else runs


def _add(run: RunFiles, path: Path, name: str) -> None:
    path, number = _chosen(path)
    file = SourceFile(path, name if number is None else name.rpartition("#")[0])
    readings = read_runs(file) if file.opening else []
    if number is not None:
        if not 1 <= number <= len(readings):
            raise InputError(f"{name}: got run {number}; expected 1 to {len(readings)}, as many as the file holds")
        readings = [readings[number - 1]]
    run.readings += readings
    if not readings:
        run.unknown.append(name)
        if file.opening and looks_like_result(file):
            run.unread_results.append(f"{name} looks like {looks_like(file)}")


def _chosen(path: Path) -> tuple[Path, int | None]:
    """The file of FILE#2 and the number of the run; None if the name has none."""
    name, mark, number = path.name.rpartition("#")
    if path.exists() or not mark or not number.isdigit():
        return path, None
    return path.with_name(name), int(number)
