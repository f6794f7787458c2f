"""What the tests of records share: the samples, and one file read by the importer that recognises it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import read_file
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
RUNS = SAMPLES / "run_directories"


def reading_of(path: Path) -> FileReading:
    """A file as its importer reads it."""
    reading = read_file(SourceFile(path, path.name))
    assert reading is not None, f"{path} is not recognised"
    return reading


def value_of(reading: FileReading, key: str) -> float | str:
    """A figure or a text of a reading, by its dotted key; percentiles may be 99.9."""
    (leaf,) = [leaf for path, leaf in reading.values.items() if ".".join(path) == key]
    assert isinstance(leaf, dict)
    value = leaf["value"]
    assert isinstance(value, float | str)
    return value


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, str], FileReading]:
    """`written(name, text)`: a file of that text, read."""

    def write(name: str, text: str) -> FileReading:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return reading_of(path)

    return write
