"""Disk images, loop devices, mounts and swap below the laboratory's folder."""

import errno
import fcntl
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from oltpsim.calibration.measure import read_mounts
from oltpsim.simulator.errors import InputError, InstallationError

PROGRAMS = {
    "losetup": "mount",
    "mkfs.ext4": "e2fsprogs",
    "mount": "mount",
    "umount": "mount",
    "mkswap": "util-linux",
    "swapon": "mount",
    "swapoff": "mount",
    "blockdev": "util-linux",
    "setpriv": "util-linux",
    "mariadb": "mariadb-client",
    "mariadb-install-db": "mariadb-server",
}
"""used here, and Debian's package of each"""
BLOCK_BYTES = 4096
"""what loop devices without a second cache begin and end at"""
READ_AHEAD_SECTORS = 8
"""a page of 4 KiB: with more, what the pool misses and what the device reads part ways"""
CHUNK_BYTES = 1 << 20
PATIENCE_S = 10.0
CONTROL = Path("/dev/loop-control")
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81
NUMBERS = range(7300, 7316)
"""of the laboratory's loop devices, far from those that others are given"""


def run(*command: str | Path, give_up_s: float = 600.0, called: str | None = None) -> str:
    """Output of a program, `called` so in what is wrong with it.

    Raises InputError with its words, InstallationError if it isn't there.
    """
    try:
        done = subprocess.run(  # noqa: S603 - programs of this file's and its neighbours' own words
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=give_up_s,
        )
    except FileNotFoundError as error:
        name = str(command[0])
        package = PROGRAMS.get(name)
        remedy = f"run 'apt-get install {package}' as root" if package else "install it"
        raise InstallationError(f"lab: {name} isn't installed: {remedy}") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"lab: {command[0]} didn't end within {give_up_s:g} s") from error
    if done.returncode:
        lines = [*done.stderr.strip().splitlines(), *done.stdout.strip().splitlines()] or ["it gave no reason"]
        reason = next((line for line in lines if "FATAL" in line or "error" in line.lower()), lines[0])
        raise InputError(f"lab: {called or ' '.join(map(str, command))}: {reason}")
    return done.stdout


def make_image(image: Path, size_bytes: int) -> None:
    """A sparse file with an empty ext4 in it, whole or not there."""
    draft = image.with_suffix(".draft")
    with draft.open("wb") as file:
        file.truncate(size_bytes // BLOCK_BYTES * BLOCK_BYTES)
    run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", draft)
    draft.replace(image)


def copy_image(image: Path, copy: Path, size_bytes: int) -> None:
    """Copy an image and make the copy so long; holes stay holes."""
    run("cp", "--sparse=always", "--reflink=auto", image, copy)
    if copy.stat().st_size < size_bytes:
        os.truncate(copy, size_bytes)


def rewrite_in_place(file: Path) -> None:
    """Write to each block of a file what it holds, so that none is left that was never written."""
    with file.open("r+b", buffering=0) as opened:
        descriptor = opened.fileno()
        for begin in range(0, file.stat().st_size, CHUNK_BYTES):
            os.pwrite(descriptor, os.pread(descriptor, CHUNK_BYTES, begin), begin)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def attach(file: Path, offset_bytes: int = 0, size_bytes: int | None = None) -> str:
    """A new loop device of a file or a part of it, without a second cache and with a page of read-ahead."""
    device = _new_loop_device()
    part = ["--offset", str(offset_bytes)]
    part += [] if size_bytes is None else ["--sizelimit", str(size_bytes)]
    run("losetup", "--direct-io=on", *part, device, file)
    run("blockdev", "--setra", str(READ_AHEAD_SECTORS), device)
    queue = Path(f"/sys/block/{Path(device).name}/queue")
    (queue / "write_cache").write_text("write through", encoding="utf-8")  # what was written stays: no flushes
    with suppress(OSError):  # a kernel without schedulers for loop devices
        (queue / "scheduler").write_text("none", encoding="utf-8")
    return device


def _new_loop_device() -> str:
    """Made by this program under a number that nobody else takes, so that its settings go with it."""
    with CONTROL.open("rb") as control:
        for number in NUMBERS:
            with suppress(FileExistsError):
                fcntl.ioctl(control, LOOP_CTL_ADD, number)
                return f"/dev/loop{number}"
    raise InputError(f"lab: loop devices {NUMBERS[0]} to {NUMBERS[-1]} are all there: call 'oltpsim lab clean'")


def loop_devices() -> list[str]:
    """The laboratory's, by their numbers."""
    return [f"/dev/loop{number}" for number in NUMBERS if Path(f"/sys/block/loop{number}").exists()]


def limit_dirty(device: str, most_bytes: int) -> None:
    """Limit the dirty page cache of this device alone. Raises InputError if the kernel can't, as before Linux 6.2."""
    numbers = Path(f"/sys/block/{Path(device).name}/dev").read_text(encoding="utf-8").strip()
    folder = Path(f"/sys/class/bdi/{numbers}")
    try:
        (folder / "strict_limit").write_text("1", encoding="utf-8")
        (folder / "max_bytes").write_text(str(most_bytes), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"lab: operating_system.page_cache.dirty_limit_mib: {folder}/max_bytes can't be {most_bytes:,} "
            f"({error.strerror}): it takes Linux 6.2, and no more than the host's own limit (vm.dirty_ratio)"
        ) from error


def mount(device: str, place: Path) -> None:
    """Mount a device's ext4."""
    place.mkdir(parents=True, exist_ok=True)
    run("mount", "-t", "ext4", "-o", "noatime", device, place)


def swap_on(device: str) -> None:
    """Swap on a device. Raises InputError where the host has swap of its own, which the database would get instead."""
    if swaps_of_host():
        raise InputError("lab: this host has swap, which the emulated machine would use: run 'swapoff --all' before")
    run("mkswap", device)
    run("swapon", device)


def swaps_of_host() -> list[str]:
    """Devices and files with swap that aren't the laboratory's."""
    lines = Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split()[0] for line in lines if line.split()[0] not in loop_devices()]


def mounts_below(folder: Path) -> list[Path]:
    """Mount points below a folder, the last mounted first."""
    return [each.place for each in reversed(read_mounts()) if each.place.is_relative_to(folder)]


def release(folder: Path, but_disks: bool = False) -> list[str]:
    """Swap off, unmount and detach all below a folder; what was there, in words.

    `but_disks`: leave emulated disks. Raises InputError if something stays.
    """
    released = []
    swaps = [line.split()[0] for line in Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]]
    for device in [each for each in loop_devices() if each in swaps]:
        run("swapoff", device)
        released.append(f"swap on {device}")
    kinds = {each.place: each.kind for each in read_mounts()}
    for place in [each for each in mounts_below(folder) if not kinds.get(each, "").startswith("fuse")]:
        _unmount(place)
        released.append(f"mount {place}")
    for device in loop_devices():
        _remove_loop_device(device)
        released.append(f"loop device {device}")
    for place in [] if but_disks else mounts_below(folder):
        _unmount(place)
        released.append(f"emulated disk {place}")
    return released


def _remove_loop_device(device: str) -> None:
    if Path(f"/sys/block/{Path(device).name}/loop/backing_file").exists():
        run("losetup", "--detach", device)
    until_s = time.monotonic() + PATIENCE_S
    with CONTROL.open("rb") as control:
        while True:
            try:
                fcntl.ioctl(control, LOOP_CTL_REMOVE, int(device.removeprefix("/dev/loop")))
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                if time.monotonic() > until_s:
                    raise InputError(
                        f"lab: {device} is busy ({error.strerror}): call 'oltpsim lab clean' again"
                    ) from error
                time.sleep(0.05)
            else:
                return


def _unmount(place: Path) -> None:
    """Unmount a place; behind its users' backs if it is still busy, as a dead disk is."""
    try:
        run("umount", place, give_up_s=60.0)
    except InputError:
        run("umount", "--lazy", place)
