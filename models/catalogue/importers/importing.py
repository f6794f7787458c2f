"""A file of machines or prices becomes entries of a user's catalogue: recognised, checked, written as YAML."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue.check import checked
from oltpsim.models.catalogue.entries import places_in
from oltpsim.models.catalogue.importers import ec2instances, own_csv
from oltpsim.models.catalogue.importers.entries import ImportedEntries, ListFacts
from oltpsim.models.catalogue.tables import read_table, table_text
from oltpsim.models.input import SourceFile, parse_yaml, write_whole, yaml_text
from oltpsim.simulator.errors import InputError, InternalError

MOST_BYTES = 512 << 20
"""ec2-instances-info's file of all regions has some hundreds of MB"""
FIRST_LINE = "# Written by `oltpsim catalog import`, which replaces it when the same list is imported again."
FORMATS: dict[str, tuple[Callable[[SourceFile], bool], Callable[[SourceFile, ListFacts], ImportedEntries]]] = {
    importer.NAME: (importer.detect, importer.read) for importer in (ec2instances, own_csv)
}


@dataclass(frozen=True)
class WrittenFile:
    """A file of the catalogue that an import made, and how many entries or prices are in it."""

    path: Path
    count: int


def read_list(path: Path, kind: str | None, wanted: ListFacts) -> ImportedEntries:
    """What is in a file, every entry checked. Raises InputError for an unknown format and for entries that can't be."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected one of {', '.join(FORMATS)}")
    source = SourceFile(path, path.name, MOST_BYTES, "give a file with fewer regions")
    if kind is not None and kind not in FORMATS:
        raise InputError(f"--kind: got {kind!r}; allowed: {', '.join(FORMATS)}")
    kinds = [kind] if kind else [name for name, (detect, _) in FORMATS.items() if detect(source)]
    if not kinds:
        raise InputError(
            f"{path.name}: none of the known lists of machines or prices ({', '.join(FORMATS)}); say which by --kind, "
            "or make a table with the columns part, amount, per"
        )
    if len(kinds) > 1:
        raise InputError(f"{path.name}: may be {' or '.join(kinds)}; say which by --kind")
    imported = FORMATS[kinds[0]][1](source, wanted)
    named = {name: {"name": name} | keys for name, keys in imported.instances.items()}
    for part, entries in (("instances", named), ("prices", imported.lists)):
        for name, keys in entries.items():
            checked(part, keys, f"{path.name}: {name}")
    return imported


def write_entries(imported: ImportedEntries, into: Path) -> list[WrittenFile]:
    """Write what was found below a folder; families of machines into a file each.

    Raises InputError, before anything is written, where a file is somebody's own or a machine is in another one.
    """
    texts: dict[Path, tuple[str, int]] = {}
    for name, (shared, rows) in _tables(imported).items():
        texts[into / "instances" / f"{name}.csv"] = (_table_text(shared, rows), len(rows))
    for name, keys in imported.lists.items():
        texts[into / "prices" / f"{name}.yaml"] = (_text(keys), len(keys["rows"]))
    for path in texts:
        if path.exists() and FIRST_LINE not in path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]:
            raise InputError(f"{path}: is there and no import wrote it; move it, or import --into another folder")
    _refuse_twins(imported, into, set(texts))
    for path, (text, _) in texts.items():
        write_whole(path, text)
    return [WrittenFile(path, count) for path, (_, count) in texts.items()]


def _tables(imported: ImportedEntries) -> dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]]:
    """Machines by file: what is before the point of a name, or the provider's all; what all share is said once."""
    grouped: dict[str, dict[str, dict[str, Any]]] = {}
    for name, keys in imported.instances.items():
        family = name.split(".")[0] if "." in name else "machines"
        words = f"{imported.importer}-{keys['provider']}-{family}".lower()
        grouped.setdefault(re.sub(r"[^a-z0-9]+", "-", words).strip("-"), {})[name] = keys
    tables = {}
    for file, rows in grouped.items():
        first = next(iter(rows.values()))
        same = [key for key in ("provider", "source") if all(keys.get(key) == first[key] for keys in rows.values())]
        own = {name: {key: keys[key] for key in keys if key not in same} for name, keys in rows.items()}
        tables[file] = ({key: first[key] for key in same}, own)
    return tables


def _refuse_twins(imported: ImportedEntries, into: Path, files: set[Path]) -> None:
    folder = into / "instances"
    for name, place in places_in(folder).items() if folder.is_dir() else ():
        if place.file.path not in files and name in imported.instances:
            raise InputError(
                f"{place.file.path}: has {name} already, as {imported.source.name} does; delete that file, or import "
                "--into another folder"
            )


def _table_text(shared: dict[str, Any], rows: dict[str, dict[str, Any]]) -> str:
    """A table that reads back as the same. Raises InternalError if it doesn't."""
    text = f"# {FIRST_LINE}\n{table_text(shared, rows)}"
    read_shared, read_rows = read_table(text, "import")
    if read_shared != shared or {name: read_rows[name] for name in read_rows.cells} != rows:
        raise InternalError("catalog import: what would be written reads back as something else")
    return text


def _text(data: dict[str, Any]) -> str:
    """YAML of an entry that reads back as the same. Raises InternalError if it doesn't."""
    body = yaml_text(data, leaves_on_a_line=True)
    if parse_yaml(body, "import") != data:
        raise InternalError("catalog import: what would be written reads back as something else")
    return f"{FIRST_LINE}\n{body}"
