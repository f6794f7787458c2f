"""The catalogue as text: whose an entry is, every key of it with its source last, how old prices are."""

import datetime as dt
from pathlib import Path

import pytest

from oltpsim.models.catalogue import catalogue_entry, price_list
from oltpsim.models.catalogue.entries import FOLDER_VARIABLE
from oltpsim.scenarios.show.catalogue import catalogue_rows, entry_text, price_age, price_table
from oltpsim.simulator.errors import InputError

LISTED = dt.date(2006, 6, 1)


def test_an_entry_shows_every_key_and_ends_with_its_source() -> None:
    entry, text = catalogue_entry("databases", "virtuoso-4"), entry_text("databases", "virtuoso-4")
    lines = text.splitlines()
    assert lines[0] == "databases/virtuoso-4"
    assert lines[-1] == f"  source: {entry['source']}"
    assert "\n    buffers: 120000\n" in text, "keys of keys stand deeper"
    assert {key for key in entry if key != "source"} == {
        line.strip().partition(":")[0] for line in lines[1:-1] if not line.startswith("   ")
    }


def test_an_unknown_entry_has_no_text() -> None:
    with pytest.raises(InputError, match="unknown name 'virtuoso-99' in the catalogue of databases"):
        entry_text("databases", "virtuoso-99")


def test_rows_say_whose_an_entry_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = catalogue_rows("disks")
    assert {"kind": "disks", "name": "nvme", "whose": ""} in shipped
    assert not any(row["whose"] for row in shipped)
    (tmp_path / "disks").mkdir()
    for name in ("nvme", "mine"):
        (tmp_path / "disks" / f"{name}.yaml").write_text("{base: sata-ssd, source: mine}\n")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert {row["name"]: row["whose"] for row in catalogue_rows("disks") if row not in shipped} == {
        "mine": "yours",
        "nvme": "yours, in place of the program's",
    }


@pytest.mark.parametrize(
    ("today", "age"),
    [
        (LISTED, None),
        (LISTED + dt.timedelta(days=300), None),
        (LISTED + dt.timedelta(days=400), "prices of 2006-06-01: 1 year old"),
        (LISTED + dt.timedelta(days=7305), "prices of 2006-06-01: 20 years old"),
    ],
)
def test_prices_say_how_old_they_are_once_they_are(today: dt.date, age: str | None) -> None:
    assert price_age(price_list("us-2006"), today) == age
    assert (age is not None) == (f"  {age}" in price_table("us-2006", today).splitlines())


def test_a_price_list_has_a_row_for_each_price() -> None:
    lines = price_table("us-2006", LISTED).splitlines()
    assert lines[:2] == ["prices/us-2006", "  parts in the United States, 2006; purchase; USD; 2006-06-01"]
    assert [line.split()[0] for line in lines[3:-1]] == [row.part for row in price_list("us-2006").rows]
    assert lines[-1].startswith("  source: ")
