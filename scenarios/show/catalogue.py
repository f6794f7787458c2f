"""The catalogue for people: names with whose they are, and price lists as tables with their age."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from oltpsim.models.catalogue import (
    PriceList,
    PriceRow,
    catalogue_entry,
    catalogue_places,
    is_old,
    price_list,
    shadowed_names,
)
from oltpsim.models.input import document_text, leaves
from oltpsim.scenarios.show.numbers import plural
from oltpsim.scenarios.show.table import aligned, csv_text

ENTRY_FORMAT = "oltpsim-entry-1"
DAYS_A_YEAR = 365.25
OWN_ENTRY = "yours"
SHADOWS = "yours, in place of the program's"


def catalogue_rows(kind: str) -> list[dict[str, str]]:
    """Entries of a kind: kind, name, and whose it is if it is in the user's folder."""
    shadowed = set(shadowed_names(kind))
    return [
        {"kind": kind, "name": name, "whose": (SHADOWS if name in shadowed else OWN_ENTRY) if place.own else ""}
        for name, place in sorted(catalogue_places(kind).items())
    ]


def entry_text(kind: str, name: str) -> str:
    """An entry: its keys and values, a line each, its source last. Raises InputError for an unknown one."""
    entry = catalogue_entry(kind, name)
    source = entry.pop("source", "")
    return "\n".join([f"{kind}/{name}", *_key_lines(entry, "  "), f"  source: {source}"])


def entry_json(kind: str, name: str) -> str:
    """An entry, or a price list, as an oltpsim-entry-1 document."""
    entry = price_list(name).model_dump(mode="json") if kind == "prices" else catalogue_entry(kind, name)
    return document_text(ENTRY_FORMAT, {"kind": kind, "name": name, "entry": entry})


def entry_csv(kind: str, name: str) -> str:
    """The rows of a price list, or an entry's keys and values, keys dotted."""
    if kind == "prices":
        return csv_text(PriceRow.model_fields, [row.model_dump() for row in price_list(name).rows])
    return csv_text(("key", "value"), leaves(catalogue_entry(kind, name)))


def _key_lines(keys: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in keys.items():
        yield f"{indent}{key}:" + ("" if isinstance(value, dict) else f" {value}")
        if isinstance(value, dict):
            yield from _key_lines(value, f"{indent}  ")


def price_age(prices: PriceList, today: dt.date) -> str | None:
    """'prices of 2006-06-01: 20 years old', if they are older than a year."""
    if not is_old(prices.date, today):
        return None
    years = round((today - prices.date).days / DAYS_A_YEAR)
    return f"prices of {prices.date}: {plural(years, 'year')} old"


def price_table(name: str, today: dt.date) -> str:
    """A price list: what it is of, a row for each price, and its source last."""
    prices = price_list(name)
    about = [prices.name, prices.region, prices.term, prices.currency, str(prices.date)]
    lines = [f"prices/{name}", f"  {'; '.join(word for word in about if word)}"]
    old = price_age(prices, today)
    if old is not None:
        lines.append(f"  {old}")
    rows = [["part", "amount", "per"]]
    for row in prices.rows:
        above = f", above {row.above:g}" if row.above else ""
        own = f"  ({row.source})" if row.source else ""
        rows.append([row.part, f"{row.amount:,.8g}", f"{row.per}{above}{own}"])
    lines += aligned(rows, "<><", indent=2)
    return "\n".join([*lines, f"  source: {prices.source}"])
