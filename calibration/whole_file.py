"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.errors import InputError


def write_whole(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename: readers see all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
