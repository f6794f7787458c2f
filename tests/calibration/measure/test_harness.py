"""The load generator's process: its output, its end."""

import sys
from pathlib import Path

import pytest

from oltpsim.calibration.measure.harness import Harness
from oltpsim.simulator.errors import InputError


def test_output_is_copied_without_passwords(tmp_path: Path) -> None:
    script = "import sys; print('connecting with', sys.argv[1]); print('tps = 12')"
    harness = Harness([sys.executable, "-c", script, "--password=hunter2"], tmp_path / "log", None)
    assert harness.finish() == 0
    assert (tmp_path / "log").read_text() == "connecting with --password=****\ntps = 12\n"


def test_its_status_is_given(tmp_path: Path) -> None:
    assert Harness([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "log", None).finish() == 3


def test_it_is_asked_to_end_as_by_ctrl_c(tmp_path: Path) -> None:
    script = (
        "import time\nprint('begun', flush=True)\ntry:\n  time.sleep(600)\nexcept KeyboardInterrupt:\n  print('ended')"
    )
    harness = Harness([sys.executable, "-c", script], tmp_path / "log", None)
    while not (tmp_path / "log").exists() or "begun" not in (tmp_path / "log").read_text():
        harness.wait(0.01)
    harness.end()
    assert harness.finish() == 0
    assert (tmp_path / "log").read_text() == "begun\nended\n"
    harness.end()  # nothing is left to end


def test_what_the_command_has_left_behind_is_ended_too(tmp_path: Path) -> None:
    """A shell in the background of a shell ignores Ctrl-C, and so does its child."""
    harness = Harness(["/bin/sh", "-c", "sleep 600 & echo $!; wait"], tmp_path / "log", None)
    while not (tmp_path / "log").exists() or not (tmp_path / "log").read_text().endswith("\n"):
        harness.wait(0.01)
    child = int((tmp_path / "log").read_text())
    assert is_at_work(child)
    harness.end()
    harness.finish()
    assert not is_at_work(child)


def is_at_work(process: int) -> bool:
    """Whether a process is there, and not only its exit status."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such-program: can't be started: No such file or directory"):
        Harness(["no-such-program"], tmp_path / "log", None)
