"""Disk of known mechanics for the laboratory: an image file behind FUSE, with the times of the kernel's own devices.

A program of one thread (disk/emulated_disk.cpp) is compiled on the machine that measures. It takes the record that the
kernel would get of the same spec and lets their time pass at the pace of the clock, so that what a run on such a disk
measures is what the models say of that spec, but for what the way through FUSE adds (`late_s` and some 20 us).

An image in memory (tmpfs) never makes the program wait. A loop device sends its flushes here, which hold up later
writes; the models' disks with an arm and without a cache know none: "write through" in the device's queue/write_cache.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGUSR1, SIGUSR2
from typing import NamedTuple

import numpy as np

from oltpsim.models.machine import DiskArraySpec, SsdSpec, controllers_of, data_devices
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError, InstallationError
from oltpsim.simulator.form import (
    GIB,
    Assembler,
    Costs,
    Cpu,
    DeviceRecord,
    Interval,
    Log,
    PageCache,
    Pool,
    Storage,
    System,
    run_of,
)

SOURCES = Path(__file__).parent / "disk"
KERNEL_SOURCES = Path(kernel.__file__).parent
FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off")
FIND_LIBRARY = ("pkg-config", "--cflags", "--libs", "fuse3")
REMEDY = "apt-get install g++ pkg-config libfuse3-dev fuse3"
READY_S = 10.0
"""for the program to mount, or to end"""
PAGE_BYTES = 8192


class CountedDevice(NamedTuple):
    """What a disk, or a RAID set of disks, has done by the devices' own time. Sums over its requests, in seconds."""

    reads: int
    writes: int
    busy_s: float
    service_s: float
    response_s: float
    queued_s: float
    mean_queue: float


class DiskCounters(NamedTuple):
    """What an emulated disk has done since it is there.

    `replies` were sent `late_s` after the devices' instants in all, one of them `latest_s`. `devices`: the disk; or the
    RAID set, and behind it its disks.
    """

    elapsed_s: float
    is_emulated: bool
    has_priority: bool
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    flushes: int
    discards: int
    requests_at_full_speed: int
    replies: int
    late_s: float
    latest_s: float
    cpu_s: float
    devices: tuple[CountedDevice, ...]


@dataclass(frozen=True)
class EmulatedDisk:
    """A running program. `file`: the disk, for `losetup --direct-io=on` or to be opened with O_DIRECT."""

    process: subprocess.Popen[str]
    mountpoint: Path

    @property
    def file(self) -> Path:
        """The disk, as a file of the image's size."""
        return self.mountpoint / "disk"

    def counters(self) -> DiskCounters:
        """What it has done until now."""
        values = json.loads((self.mountpoint / "counters").read_text(encoding="ascii"))
        return DiskCounters(**values | {"devices": tuple(CountedDevice(**each) for each in values["devices"])})

    def hurry(self) -> None:
        """Answer at full speed from now on: a database is loaded so."""
        self.process.send_signal(SIGUSR1)

    def take_its_time(self) -> None:
        """Answer with the devices' times from now on."""
        self.process.send_signal(SIGUSR2)


def compiled_emulated_disk(cache: Path) -> Path:
    """The program, compiled into a folder unless it is there already. Raises InstallationError if it can't be."""
    sources = sorted([*SOURCES.glob("*.[ch]pp"), *KERNEL_SOURCES.glob("*.hpp")])
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for path in sources:
        digest.update(path.read_bytes())
    program = cache / f"emulated-disk-{digest.hexdigest()[:16]}"
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_suffix(f".{os.getpid()}")
    _compile("-o", str(unfinished))
    unfinished.replace(program)
    return program


def _compile(*options: str) -> None:
    for needed in ("g++", "pkg-config"):
        if shutil.which(needed) is None:
            raise InstallationError(f"the emulated disk is compiled here, and there is no {needed}: {REMEDY}")
    found = subprocess.run(FIND_LIBRARY, capture_output=True, text=True, check=False)  # noqa: S603 - words of this file
    if found.returncode:
        raise InstallationError(f"the emulated disk is compiled here, and there is no libfuse3: {REMEDY}")
    words = [word.replace("-I", "-isystem", 1) if word.startswith("-I") else word for word in found.stdout.split()]
    command = ["g++", *FLAGS, f"-I{KERNEL_SOURCES}", *options, str(SOURCES / "emulated_disk.cpp"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - words of this file
    if done.returncode:
        raise InstallationError(f"the emulated disk does not compile with this g++ and libfuse3:\n{done.stderr}")


@contextmanager
def emulated_disk(
    program: Path,
    image: Path,
    mountpoint: Path,
    array: DiskArraySpec,
    flush_us: float = 0.0,
    full_speed: bool = False,
    entered: Callable[[Sequence[str]], Sequence[str]] = list,
) -> Iterator[EmulatedDisk]:
    """The disk `array` with an image file as its first part, mounted on a folder until the block ends.

    `flush_us`: what a flush takes, one after the other, when the writes before it are done. `full_speed`: begin without
    the devices' times. `entered`: the command that starts the program where it is to run, such as in a control group;
    it becomes the program. Raises InputError for an array that is no single device, or is smaller than the image, or
    for a folder that can't be mounted on.
    """
    record = record_text(array)
    size_bytes, capacity_bytes = image.stat().st_size, round(usable_gib(array) * GIB)
    if size_bytes > capacity_bytes:
        raise InputError(
            f"{image}: {size_bytes / GIB:,.2f} GiB; at most what the disks hold, {capacity_bytes / GIB:,.2f} GiB "
            "(capacity_gib)"
        )
    mountpoint.mkdir(parents=True, exist_ok=True)
    file = mountpoint.with_name(f"{mountpoint.name}.record")
    file.write_text(record, encoding="ascii")
    options = ["--flush-us", f"{flush_us:.3f}", *(["--full-speed"] if full_speed else [])]
    process = subprocess.Popen(  # noqa: S603 - the program that was compiled from this folder
        entered([*map(str, (program, mountpoint, image, file)), *options]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            _, words = process.communicate(timeout=READY_S)
            raise InputError(f"{mountpoint}: the emulated disk can't be there: {words.strip()}")
        yield EmulatedDisk(process, mountpoint)
    finally:
        end_emulated_disk(process, mountpoint)
        file.unlink(missing_ok=True)


def end_emulated_disk(process: subprocess.Popen[str], mountpoint: Path) -> None:
    """End the program, which unmounts its folder; if it doesn't, or was killed, unmount the folder in its place."""
    process.terminate()
    try:
        process.communicate(timeout=READY_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    if process.returncode != 0:
        umount = shutil.which("umount")
        if umount and mounted(mountpoint):
            with suppress(subprocess.CalledProcessError):
                subprocess.run([umount, "-l", mountpoint], check=True, capture_output=True)  # noqa: S603


def mounted(mountpoint: Path) -> bool:
    """Whether an emulated disk is mounted on a folder, alive or not."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return any(words[1] == str(mountpoint) and words[0] == "emulated-disk" for words in map(str.split, lines))


def usable_gib(array: DiskArraySpec) -> float:
    """What a disk or RAID set holds."""
    return array.disk.capacity_gib * array.disks_per_file


def record_text(array: DiskArraySpec) -> str:
    """A disk or RAID set as the program reads it. Raises InputError for an array that is no single device."""
    devices = data_devices(array)
    if len(devices) != 1:
        raise InputError(
            f"disks: an emulated disk is one device; got {len(devices)}: say level: raid0 to stripe them, sets: 1"
        )
    if isinstance(array.disk, SsdSpec) and not array.disk.power_loss_protection:
        raise InputError("power_loss_protection: got false; an emulated SSD has no buffer that a flush must empty")
    if array.controllers:
        controllers = controllers_of(array)
        raise InputError(f"controllers: got {array.controllers} with {controllers}; an emulated disk has none")
    system = idle_system(devices)
    return kernel.packed(run_of(system, 0)).text()


def idle_system(devices: tuple[DeviceRecord, ...]) -> System:
    """A system of devices, and of what it needs besides to be one."""
    asm = Assembler()
    asm.emit("think", asm.distribution("exponential", 0), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("nothing")
    asm.emit("end")
    return System(
        name="emulated disk",
        program=asm.finish("nothing"),
        client_registers=np.zeros((1, 1), dtype=np.int64),
        arrivals_per_s=0.0,
        cpu=Cpu(1),
        sections=(),
        stations=(),
        pool=Pool(1, "lru", 1),
        page_cache=PageCache(pages=1, dirty_limit_pages=1, in_flight_pages=1, free_behind=False),
        storage=Storage(
            devices=devices,
            data_devices=1,
            log_device=0,
            page_bytes=PAGE_BYTES,
            data_start_bytes=0,
            log_start_bytes=0,
            log_bytes=PAGE_BYTES,
            swap_start_bytes=0,
            swap_cluster_pages=1,
            merged_pages=1,
            requests_per_device=1,
        ),
        log=Log(durable=False, flush_overhead_ns=0),
        costs=Costs(0, 0, 0, 0),
        direct_io=True,
        interval=Interval("cold", 0, 1),
    )
