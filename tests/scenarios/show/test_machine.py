"""What a line comes to, as a table and as a commented scenario file."""

from pathlib import Path

import pytest

from oltpsim.calibration.fit import FigureKind
from oltpsim.models.reading import load_scenario, read_description
from oltpsim.scenarios.show.machine import description_text, machine_yaml

LOAD = "SunFire V20z, load of 2 warehouses"
LINES = (
    LOAD,
    "Mac mini, Core Duo 1.66 GHz, 2 GB, 1 SATA 5400 rpm, Mac OS X",
    "2 x Xeon 5140 2.33 GHz, 8 GB, RAID 5 of 4 SCSI 10k, log on SSD, hyper-threading, under Xen, 10 min",
    "512 MB, 2 Pentium III 0.6 GHz, Solaris 7, 43,000 buffers, 4 SCSI",
    'name it\'s a "box": yes #1, Xeon 5130, 8 GB, in memory, 1,000 new orders each',
)
DESCRIPTION = read_description(LOAD)


def test_the_table_has_every_value_and_what_is_assumed() -> None:
    text = description_text(DESCRIPTION, {})
    lines = {row.what: line for row in DESCRIPTION.rows for line in text.splitlines() if f"  {row.what}  " in line}
    assert all(row.value[:30] in lines[row.what] for row in DESCRIPTION.rows)
    assert all(("assumed" in lines[row.what]) == (row.piece is None) for row in DESCRIPTION.rows)


def test_a_guess_shows_what_it_does_to_the_rate_and_nothing_shows_nothing() -> None:
    key = next(row.key for row in DESCRIPTION.rows if row.uncertain)
    assert "±22 %" in description_text(DESCRIPTION, {key: {FigureKind.RATE: 0.2}})
    assert "±" not in description_text(DESCRIPTION, {key: {FigureKind.RATE: 0.001}})


@pytest.mark.parametrize("line", LINES)
def test_a_saved_scenario_loads_to_the_same(line: str, tmp_path: Path) -> None:
    description = read_description(line)
    path = tmp_path / "machine.yaml"
    path.write_text(machine_yaml(description), encoding="utf-8")
    assert load_scenario(path) == description.scenario
    comments = [text for text in path.read_text(encoding="utf-8").splitlines() if text.lstrip().startswith("#")]
    assert comments[0] == f"# {line}"
    assert len(comments) >= sum(row.piece is None for row in description.rows) // 2


def test_comments_stand_at_what_they_are_about() -> None:
    text = machine_yaml(read_description("Xeon 5140 2.33 GHz, 8 GB")).splitlines()
    at = text.index("    buffers: 480000")
    assert text[at - 1] == (
        "    # buffers: 480,000, assumed: the published V20z's share of the memory, 57 %; times or divided by 1.2"
    )
    assert text[text.index("  memory_gib: 8.0") - 1] == "  # memory: 8 GiB, '8 GB'"
