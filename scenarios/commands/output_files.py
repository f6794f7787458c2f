"""Files and folders that a command is to write, checked before its work."""

import os
from pathlib import Path

from oltpsim.simulator.errors import InputError


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
