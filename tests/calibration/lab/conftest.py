"""What the laboratory's tests share: the host, which they have one after the other."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from oltpsim.calibration.lab.cleaning import LOCK
from oltpsim.calibration.lab.groups import Hierarchies
from oltpsim.simulator.errors import InputError


def unfit() -> str | None:
    """Why this host can't be a laboratory; None if it can."""
    if os.geteuid() != 0:
        return "it takes root"
    try:
        Hierarchies.mounted()
    except InputError as error:
        return str(error)
    if not Path("/dev/fuse").exists() or not Path("/dev/loop-control").exists():
        return "it takes /dev/fuse and /dev/loop-control"
    lacking = [name for name in ("sysbench", "pkg-config", "mkfs.ext4", "losetup") if shutil.which(name) is None]
    return f"programs are missing: {', '.join(lacking)}" if lacking else None


@pytest.fixture
def host() -> Iterator[None]:
    """The host for one test, after those of other processes; none where it can't be a laboratory, or one measures."""
    reason = unfit()
    if reason:
        pytest.skip(f"no laboratory here: {reason}")
    with (Path(tempfile.gettempdir()) / "oltpsim-lab-tests.lock").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if LOCK.exists():
            with LOCK.open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pytest.skip("a laboratory measures on this host")
        yield
