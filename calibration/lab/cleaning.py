"""One laboratory at a time on a host, and the end of all that one has left behind, whatever ended it."""

import fcntl
import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from oltpsim.calibration.lab.groups import Hierarchies
from oltpsim.calibration.lab.storage import release
from oltpsim.models.input import write_whole
from oltpsim.simulator.errors import InputError

STATE = Path("/run/oltpsim-lab")
"""what the laboratory of this host is at"""
MOUNTS, SOCKETS = STATE / "mounts", STATE / "sockets"
"""here, since a server's own user has to get to them"""
OPTION_FILE = STATE / ".my.cnf"
"""of MariaDB's client, whose home this is for the time of a run"""
OWNER, LOCK = STATE / "owner.json", STATE / "lock"
DISKS = "disks"
"""group of the emulated disks, which end last"""
PATIENCE_S = 10.0
"""for what a killed laboratory was just starting"""


def work_folder(folder: Path) -> Path:
    """Where a laboratory has the images of the machine that is emulated now; nobody else's by its name."""
    return folder / "oltpsim-lab-work"


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """The host for a laboratory in this folder: clean before, and clean after, whatever happens in between.

    Raises InputError if another laboratory runs or this isn't root.
    """
    with _lock():
        _clean()
        write_whole(OWNER, json.dumps({"folder": str(folder.resolve())}) + "\n")
        try:
            yield
        finally:
            _clean()


def clean() -> list[str]:
    """End what an ended laboratory has left: what was there, in words. Raises InputError while one runs."""
    with _lock():
        return _clean()


@contextmanager
def _lock() -> Iterator[None]:
    """Held while its process lives, and for the moment in which a program that it started hasn't begun yet."""
    if os.geteuid() != 0:
        raise InputError("lab: control groups, loop devices and mounts take root: run it so, on a machine of its own")
    STATE.mkdir(exist_ok=True)
    STATE.chmod(0o755)
    with LOCK.open("a+", encoding="utf-8") as lock:
        until_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if _lives(lock):
                    raise InputError("lab: a laboratory runs on this host: wait for it, or end it by Ctrl-C") from error
                if time.monotonic() > until_s:
                    raise InputError(
                        f"lab: a laboratory has ended, and yet something that it started holds {LOCK}: end that "
                        f"('fuser {LOCK}' says what it is)"
                    ) from error
            time.sleep(0.02)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _lives(lock: TextIO) -> bool:
    """Whether the process that took the lock last is there."""
    lock.seek(0)
    number = lock.read()
    return number.isdigit() and Path(f"/proc/{number}").exists()


def _clean() -> list[str]:
    groups = Hierarchies.mounted().groups()
    found = [f"group {group.name} with {len(group.processes())} processes" for group in groups]
    for process in [number for group in groups if group.name == DISKS for number in group.processes()]:
        with suppress(ProcessLookupError):  # who ends waits until what is dirty is written: at full speed
            os.kill(process, signal.SIGUSR1)
    for group in groups:
        if group.name != DISKS:
            group.end()
    found += release(MOUNTS)
    if OWNER.exists():
        shutil.rmtree(work_folder(Path(json.loads(OWNER.read_text(encoding="utf-8"))["folder"])), ignore_errors=True)
    for group in groups:
        group.end()
    found += release(MOUNTS)  # of a disk that had just begun
    for folder in (MOUNTS, SOCKETS):
        shutil.rmtree(folder, ignore_errors=True)
    OPTION_FILE.unlink(missing_ok=True)
    OWNER.unlink(missing_ok=True)
    return found
