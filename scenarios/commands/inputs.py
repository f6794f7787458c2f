"""Finding what a command line names: scenarios on disk or in the library, and places to write to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import InputError

if TYPE_CHECKING:
    from models.specs import ScenarioSpec


def library() -> dict[str, Path]:
    """The scenarios that come with the program, by name."""
    folder = Path(str(resources.files("scenarios"))) / "library"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def scenario_path(text: str) -> Path:
    """The file that SCENARIO means. Raises InputError with the nearest name if there is none."""
    path = Path(text)
    if path.is_file():
        return path
    names = library()
    if text in names:
        return names[text]
    if path.exists():
        raise InputError(f"{text}: is {'a folder' if path.is_dir() else 'no plain file'}; give a scenario file")
    from models.catalogue import nearest

    hint = nearest(path.stem, names)
    raise InputError(f"{text}: no such file or scenario of the library{hint}; the library has {', '.join(names)}")


def load(path: Path, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """The scenario in a file, whose `base` may also be one of the library. Raises InputError."""
    from models.composition import read_with_base
    from models.loading import scenario_from_mapping

    return scenario_from_mapping(read_with_base(path, library()), path.name, overrides)


def check_places(*paths: Path | None) -> None:
    """Refuse a place that cannot be written to before the work, not after it. Makes missing folders."""
    for path in paths:
        if path is None:
            continue
        if str(path) == "-":
            raise InputError("-: files are not written to stdout; give the name of a file")
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the name of a file")
        _make_folder(path.parent, path)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise InputError(f"{path}: you may not write there; give another place")


def check_store(folder: Path | None) -> None:
    """Refuse a folder for many files that is a file or cannot be made."""
    if folder is not None:
        _make_folder(folder, folder)


def _make_folder(folder: Path, path: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InputError(f"{path}: {folder} is a file, not a folder; give another place") from error
    except OSError as error:
        raise InputError(f"{path}: the folder cannot be made: {error.strerror}; give another place") from error
