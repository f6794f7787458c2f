"""Scenarios are values that can be changed; answers become frames, figures and pages."""

import re
import sys
from pathlib import Path

import pytest

import oltpsim

ROOT = Path(__file__).resolve().parents[3]
TINY = str(ROOT / "tests" / "scenarios" / "tiny.yaml")
TWO_DISKS = {"machine.disks.count": 2}


def tiny() -> oltpsim.Scenario:
    return oltpsim.load(TINY)


def test_frames_figures_and_pages() -> None:
    run = oltpsim.run(tiny())
    assert run.to_frame()["rate_per_min"][0] == run.new_orders_per_min
    assert len(run.figure().data) > 0
    with pytest.raises(oltpsim.InputError, match="got 1; this answer has 1 charts"):
        run.figure(1)
    assert "new orders/min" in run._repr_html_()
    named = oltpsim.load(TINY, {"name": "<b>bold</b>"})
    assert "<b>" not in named._repr_html_()


def test_frames_without_pandas_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(oltpsim.InputError, match=re.escape("pip install 'oltpsim[frames]'")):
        oltpsim.run(tiny(), engine="analytic").to_frame()


def test_a_scenario_is_read_changed_and_written(tmp_path: Path) -> None:
    box = tiny()
    assert (box["machine.disks.count"], box.changed(TWO_DISKS)["machine.disks.count"]) == (1, 2)
    assert box["machine.disks.count"] == 1, "a change makes another one"
    assert box.changed({"machine.memory_gib": "16 GiB"})["machine.memory_gib"] == 16
    with pytest.raises(KeyError):
        box["machine.disks.cuont"]
    file = tmp_path / "mine.yaml"
    box.changed(TWO_DISKS).save(file)
    assert oltpsim.load(file).spec == box.changed(TWO_DISKS).spec
    assert oltpsim.describe("8 cores, 32 GB, SSD")["machine.cpu.cores"] == 8
    assert "v20z" in oltpsim.library()
