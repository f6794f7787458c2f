"""A person's own table: prices (part, amount, per, above, source) or machines (name, provider, cpu, cores, ...)."""

from typing import Any

from oltpsim.models.catalogue.importers.entries import (
    ImportedEntries,
    ListFacts,
    checked_region,
    date_of,
    figure,
    local_disks,
)
from oltpsim.models.catalogue.prices import PriceRow
from oltpsim.models.catalogue.shape_specs import InstanceSpec
from oltpsim.models.input import LOCALE_REMEDY, SourceFile, did_you_mean, short_text

NAME = "csv"
PRICE_COLUMNS = tuple(PriceRow.model_fields)
LIST_COLUMNS = ("date", "currency", "term", "region")
"""Columns of prices that must say the same in every row; options of the same name say it too."""
NUMBERS = tuple(
    name
    for name in InstanceSpec.model_fields
    if name.startswith(("volume_", "network_")) or name in ("memory_gib", "hardware_share_lost")
)
MACHINE_COLUMNS = ("name", "provider", "cpu", "cores", *NUMBERS, "local_disk", "local_disk_count", "source")


def detect(source: SourceFile) -> bool:
    """Whether a file is a table of ours."""
    first = source.head.partition("\n")[0]
    columns = {word.strip().strip('"') for word in first.replace(";", ",").split(",")}
    return {"part", "amount"} <= columns or {"name", "cpu", "memory_gib"} <= columns


def read(source: SourceFile, wanted: ListFacts) -> ImportedEntries:
    """A price list named as the file, or machines. Raises InputError for unknown columns and other separators."""
    first = source.head.partition("\n")[0]
    if ";" in first:
        source.refuse(
            "the header", "columns between semicolons", "commas between columns, a point in decimals", LOCALE_REMEDY
        )
    rows = source.rows()
    if not rows:
        source.refuse("", "no rows", "a header and rows", "add some")
    prices = "part" in rows[0]
    allowed = (*PRICE_COLUMNS, *LIST_COLUMNS) if prices else MACHINE_COLUMNS
    for column in rows[0]:
        if column not in allowed:
            came = f"the column {short_text(column)!r}{did_you_mean(column, allowed)}"
            source.refuse("the header", came, f"some of {', '.join(allowed)}", "rename or delete it")
    return (_prices if prices else _machines)(source, rows, wanted)


def _prices(source: SourceFile, rows: list[dict[str, str]], wanted: ListFacts) -> ImportedEntries:
    written = {key: _one(source, rows, key) for key in LIST_COLUMNS}
    imported = ImportedEntries(NAME, source, date_of(source, wanted, written["date"]))
    keys: dict[str, str | None] = {}
    for key, option in (("currency", wanted.currency), ("term", wanted.term)):
        if written[key] is not None and option is not None and written[key] != option:
            source.refuse(key, repr(written[key]), f"{option!r}, as --{key} says", "leave one of the two out")
        keys[key] = written[key] or option
        if keys[key] is None:
            example = "USD" if key == "currency" else "purchase"
            source.refuse("the header", f"no column {key}", f"one, or --{key}", f"add --{key} {example}")
    region = written["region"] or wanted.region
    keys["region"] = None if region is None else checked_region(source, region)
    keys["source"] = imported.note()
    listed = []
    for line, row in enumerate(rows, 2):
        price: dict[str, Any] = {key: row.get(key, "").strip() for key in PRICE_COLUMNS}
        for key in ("amount", "above"):
            if price[key] or key == "amount":
                price[key] = source.number(price[key], f"line {line}: {key}")
        listed.append({key: value for key, value in price.items() if value != ""})
    imported.add_list(source.path.stem, source.path.stem, listed, **keys)
    return imported


def _one(source: SourceFile, rows: list[dict[str, str]], column: str) -> str | None:
    """Value that a column has in every row; None without the column."""
    values = {row.get(column, "").strip() for row in rows} - {""}
    if len(values) > 1:
        source.refuse(
            column, " and ".join(sorted(map(short_text, values))[:3]), "one for the whole list", "make one file of each"
        )
    return values.pop() if values else None


def _machines(source: SourceFile, rows: list[dict[str, str]], wanted: ListFacts) -> ImportedEntries:
    imported = ImportedEntries(NAME, source, date_of(source, wanted, None))
    for line, row in enumerate(rows, 2):
        at = f"line {line}"
        filled = {key: text.strip() for key, text in row.items() if text.strip()}
        for column in ("name", "provider", "cpu", "memory_gib"):
            if column not in filled:
                source.refuse(at, f"no {column}", "one in every row", "add it")
        cpu: dict[str, Any] = {"base": filled["cpu"]}
        if "cores" in filled:
            cpu["cores"] = source.whole(filled["cores"], f"{at}: cores")
        keys: dict[str, Any] = {"provider": filled["provider"], "cpu": cpu}
        for column in NUMBERS:
            if column in filled:
                text = filled[column]
                plain = not text[-1:].isalpha() and not text.endswith("%")
                keys[column] = figure(source.positive(text, f"{at}: {column}")) if plain else text
        if "local_disk" in filled:
            count = source.whole(filled.get("local_disk_count", "1"), f"{at}: local_disk_count")
            keys["local_disks"] = local_disks(filled["local_disk"], count)
        keys["source"] = filled.get("source", imported.note())
        imported.add_instance(filled["name"], keys)
    return imported
