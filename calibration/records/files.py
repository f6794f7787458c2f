"""Run records on disk: YAML or JSON, one a file."""

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from oltpsim.calibration.records.record import RunRecord
from oltpsim.models.input import SourceFile, as_mapping, did_you_mean, parse_yaml, validated, write_whole, yaml_text
from oltpsim.simulator.errors import InputError

SUFFIXES = (".yaml", ".yml", ".json")
MOST_BYTES = 1 << 20


def shipped_records() -> dict[str, Path]:
    """The records that come with the program, by name."""
    folder = Path(str(resources.files("oltpsim.calibration"))) / "runs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def record_path(text: str) -> Path:
    """The file that RUN means. Raises InputError with the nearest name if there is none."""
    path = Path(text)
    if path.is_file():
        return path
    names = shipped_records()
    if text in names:
        return names[text]
    if path.exists():
        raise InputError(f"{text}: is a folder; give a run record, or 'oltpsim runs list {text}'")
    raise InputError(
        f"{text}: no such file or run{did_you_mean(path.stem, names)}; the program has {', '.join(names) or 'none'}"
    )


def records_in(folder: Path) -> list[Path]:
    """The files of a folder that can be run records, sorted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; give one that holds run records")
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())


def load_record(path: Path) -> RunRecord:
    """A record. Raises InputError with one line for each problem."""
    file = SourceFile(path, path.name)
    if len(file.stored) > MOST_BYTES:
        file.refuse(
            "", f"{len(file.stored):,} bytes", f"at most {MOST_BYTES:,}", "give a run record, not the tool's output"
        )
    data = file.data if path.suffix == ".json" else parse_yaml(file.text, path.name)
    return validated(RunRecord, as_mapping(data, path.name), path.name)


def record_text(record: RunRecord, suffix: str) -> str:
    """The record as YAML or JSON, without what is not there."""
    data: dict[str, Any] = record.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    data = {"format": record.format, **{key: value for key, value in data.items() if value != {}}}
    if suffix == ".json":
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    return yaml_text(data)


def save_records(records: Sequence[RunRecord], place: Path) -> list[Path]:
    """Write one record to a file, or several into a folder under their names. Returns the files."""
    if len(records) == 1 and place.suffix in SUFFIXES:
        write_whole(place, record_text(records[0], place.suffix))
        return [place]
    names = [file_name(record.name) for record in records]
    if len(set(names)) < len(names):
        raise InputError(f"{place}: got two runs of one name; expected names that differ; rename a folder or a row")
    place.mkdir(parents=True, exist_ok=True)
    paths = [place / f"{name}.yaml" for name in names]
    for record, path in zip(records, paths, strict=True):
        write_whole(path, record_text(record, ".yaml"))
    return paths


def file_name(name: str) -> str:
    """A name that any file system takes."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(".") or "run"
