"""Finding what a command line names: scenarios on disk or in the library, and places to write to."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path

from simulator.errors import InputError


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
    if path.is_dir():
        raise InputError(f"{text}: is a folder, not a scenario file")
    near = difflib.get_close_matches(path.stem, names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InputError(
        f"{text}: no such file, and no scenario in the library (it has {', '.join(names) or 'none'}){hint}"
    )


def check_places(*paths: Path | None) -> None:
    """Refuse a place that cannot be written to before the work, not after it. Makes missing folders."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the name of a file")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: its folder cannot be made: {error.strerror}") from error
