"""The runs below some paths: a folder with one load generator's result is a run, with all that lies in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oltpsim.calibration.importers.registry import read_file
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError

MOST_FILES = 2000
MOST_DEPTH = 8


@dataclass
class RunFiles:
    """The files of one run: what was read, and what was not recognised."""

    name: str
    readings: list[FileReading] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def has_result(self) -> bool:
        """Whether a load generator's result is among them."""
        return any(reading.tool is not None for reading in self.readings)


def find_runs(paths: Sequence[Path]) -> list[RunFiles]:
    """The runs in the order of the paths; files that are named one by one are one run. Raises InputError."""
    runs: list[RunFiles] = []
    files = [path for path in paths if not path.is_dir()]
    if files:
        loose = RunFiles(files[0].stem)
        for path in files:
            _add(loose, path, path.name)
        runs.append(loose)
    for folder in paths:
        if folder.is_dir():
            below = _folder(folder, folder, 0)
            if not any(found.readings for found in below):
                raise InputError(
                    f"{folder}: got no file of a known format; expected a load generator's output; "
                    "'oltpsim import --help' names them"
                )
            runs += below
    return runs


def _folder(folder: Path, root: Path, depth: int) -> list[RunFiles]:
    """This folder's own run, with the subfolders that are none, and then the runs of its subfolders."""
    here = RunFiles(folder.resolve().name)
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if len(entries) > MOST_FILES or depth > MOST_DEPTH:
        raise InputError(
            f"{folder}: got {len(entries)} files at depth {depth}; expected the folder of a run; name it itself"
        )
    for path in entries:
        if path.is_file():
            _add(here, path, str(path.relative_to(root)))
    runs: list[RunFiles] = []
    for path in entries:
        if path.is_dir() and not path.is_symlink():
            for found in _folder(path, path if depth == 0 and not here.has_result else root, depth + 1):
                if found.has_result:
                    runs.append(found)
                else:
                    here.readings += found.readings
                    here.unknown += found.unknown
    return [here, *runs] if here.readings or not runs else runs


def _add(run: RunFiles, path: Path, name: str) -> None:
    file = SourceFile(path, name)
    if not file.opening:
        return
    reading = read_file(file)
    if reading is None:
        run.unknown.append(name)
    else:
        run.readings.append(reading)
