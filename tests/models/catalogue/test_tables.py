"""Tables of entries: rows become keys with units, what all share is above them, and a faulty table is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from oltpsim.models.catalogue import catalogue_entry, catalogue_names, entry_faults, processor_families, read_entry
from oltpsim.models.catalogue.entries import FOLDER_VARIABLE
from oltpsim.models.catalogue.tables import read_table, table_text
from oltpsim.simulator.errors import InputError

SHAPES = """\
# provider: ours
# source: >-
#   inventory of
#   March 2026
name,cpu.base,cpu.cores,memory_gib,volume_mib_per_s [MB/s],network_gbit_per_s
rack-1,xeon-gold-6230,20,192,500,

rack-2,epyc-7763,64,256.5,,25
"""


def test_a_row_is_nested_keys_with_units_and_without_those_of_empty_cells() -> None:
    shared, rows = read_table(SHAPES, "here")
    assert shared == {"provider": "ours", "source": "inventory of March 2026"}
    assert list(rows.cells) == ["rack-1", "rack-2"]
    assert rows["rack-1"] == {
        "cpu": {"base": "xeon-gold-6230", "cores": 20}, "memory_gib": 192, "volume_mib_per_s": "500 MB/s",
    }  # fmt: skip
    assert rows["rack-2"] == {
        "cpu": {"base": "epyc-7763", "cores": 64}, "memory_gib": 256.5, "network_gbit_per_s": 25,
    }  # fmt: skip


def test_a_table_that_is_written_reads_back_as_the_same() -> None:
    shared, rows = read_table(SHAPES, "here")
    entries = {name: rows[name] for name in rows.cells}
    again = read_table(table_text(shared, entries), "there")
    assert again[0] == shared
    assert {name: again[1][name] for name in again[1].cells} == entries


def test_a_users_folder_may_have_tables_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances" / "ours.csv").write_text(SHAPES)
    (tmp_path / "cpus").mkdir()
    row = "odd-cpu,Odd 9000,6,12,2.0,3.0,2023,{}"
    head = "# source: our own data sheet\nname,model,cores,threads,base_ghz,turbo_ghz,year,family\n"
    (tmp_path / "cpus" / "ours.csv").write_text(f"{head}{row.format('zen-3')}\n")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert {"rack-1", "rack-2", "m6i.large"} <= set(catalogue_names("instances"))
    assert read_entry("instances", "rack-1").vcpus == 40
    assert read_entry("instances", "rack-1").volume_mib_per_s == pytest.approx(500e6 / 2**20)
    odd = read_entry("cpus", "odd-cpu")
    assert (odd.threads, odd.relative_speed) == (12, pytest.approx(3.0 * processor_families()["zen-3"].speed_per_ghz))
    (tmp_path / "cpus" / "ours.csv").write_text(f"{head}{row.format('zen-33')}\n")
    (fault,) = entry_faults("cpus", "odd-cpu")
    assert "ours.csv: family: got 'zen-33' (did you mean 'zen-3'" in fault
    (tmp_path / "cpus" / "ours.csv").write_text(f"{head}{row.format('zen-3').replace(',6,', ',six,')}\n")
    with pytest.raises(InputError, match=r"ours.csv: cores: got 'six'"):
        catalogue_entry("cpus", "odd-cpu")


@pytest.mark.parametrize(("text", "message"), [
    (SHAPES.replace("rack-2", "rack-1"), "here: line 8: rack-1 is there twice"),
    (SHAPES.replace(",25\n", "\n"), "here: line 8: rack-2 has 5 cells of 6"),
    (SHAPES.replace("memory_gib", "Memory GiB"), "here: the header: expected a name and keys with their units"),
    ("# source: none\n", "here: the header"), ("", "here: the header"),
])  # fmt: skip
def test_a_faulty_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table(text, "here")
