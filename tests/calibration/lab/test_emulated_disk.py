"""The emulated disk: by its own clock it keeps to the models, whatever the machine; data, flushes and ends are right.

No test asserts a time of the wall clock but that something can't have been faster than the disk. Those that mount are
run as root on a machine with /dev/fuse.
"""

import dataclasses
import math
import mmap
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from oltpsim.calibration.lab import emulated_disk as module
from oltpsim.calibration.lab.emulated_disk import (
    SOURCES,
    EmulatedDisk,
    compiled_emulated_disk,
    emulated_disk,
    end_emulated_disk,
    idle_system,
    mounted,
    record_text,
)
from oltpsim.models.machine import DiskArraySpec, data_devices
from oltpsim.simulator.errors import InputError, InstallationError
from oltpsim.simulator.form import Assembler, Interval, Pool, from_s
from oltpsim.simulator.kernel import simulate

MIB, GIB = 1 << 20, 1 << 30
SIZE = 8192
SOURCE = "assumption: an emulated disk"
QUICK_ARM: dict[str, Any] = {
    "kind": "rotating",
    "name": "quick arm",
    "capacity_gib": 1,
    "rpm": 30_000,
    "seek_track_to_track_ms": 0.1,
    "seek_average_ms": 0.5,
    "seek_full_stroke_ms": 1.0,
    "write_settle_ms": 0.2,
    "overhead_ms": 0.1,
    "transfer_mib_per_s": 40,
    "queue_depth": 1,
    "scheduler": "c-look",
    "source": SOURCE,
}
SLOW_ARM = QUICK_ARM | {"seek_track_to_track_ms": 300, "seek_average_ms": 350, "seek_full_stroke_ms": 400}
FLASH: dict[str, Any] = {
    "kind": "flash",
    "name": "flash",
    "capacity_gib": 1,
    "read_latency_us": 1500,
    "write_latency_us": 700,
    "parallel_requests": 4,
    "source": SOURCE,
}
VOLUME = FLASH | {
    "parallel_requests": 256,
    "limits": [{"of": "requests", "per_s": 400, "source": SOURCE}, {"of": "mib", "per_s": 100, "source": SOURCE}],
}
LONG = FLASH | {"read_latency_us": 1e7, "write_latency_us": 1e7}
PATIENCE_S = 30.0

needs_fuse = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/fuse").exists(), reason="mounting an emulated disk takes root and /dev/fuse"
)


def array_of(disk: dict[str, Any], **array: Any) -> DiskArraySpec:
    return DiskArraySpec.model_validate({"disk": disk, "count": 1} | array)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return compiled_emulated_disk(tmp_path_factory.mktemp("programs"))
    except InstallationError as error:
        pytest.skip(str(error).splitlines()[0])


Start = Callable[..., Any]


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Start:
    """Starts a disk of a spec on an image of its own. Options of `emulated_disk` and of its array may be named."""

    @contextmanager
    def started(disk: dict[str, Any], image_mib: int = 64, **settings: Any) -> Iterator[EmulatedDisk]:
        image, names = tmp_path / "image", ("flush_us", "full_speed", "entered")
        if not image.exists():
            with image.open("wb") as file:
                file.truncate(image_mib * MIB)
        options = {name: settings.pop(name) for name in names if name in settings}
        with emulated_disk(program, image, tmp_path / "mountpoint", array_of(disk, **settings), **options) as running:
            try:
                yield running
            finally:
                running.hurry()  # threads that still wait get their replies
        assert not mounted(tmp_path / "mountpoint")

    return started


@contextmanager
def opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        yield file
    finally:
        os.close(file)


def read_at(file: int, byte: int, size: int = SIZE) -> bytes:
    with mmap.mmap(-1, size) as buffer:  # aligned, as O_DIRECT wants it
        assert os.preadv(file, [buffer], byte) == size
        return buffer[:]


def write_at(file: int, byte: int, data: bytes) -> None:
    with mmap.mmap(-1, len(data)) as buffer:
        buffer[:] = data
        assert os.pwritev(file, [buffer], byte) == len(data)


def in_background(act: Callable[..., Any], *values: Any) -> threading.Thread:
    thread = threading.Thread(target=act, args=values, daemon=True)
    thread.start()
    return thread


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.005)


@contextmanager
def loop_device(file: Path) -> Iterator[Path]:
    """A loop device of the test's own on an emulated disk."""
    command = ["losetup", "--find", "--show", "--direct-io=on", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        pytest.skip("no losetup: `apt-get install mount`")
    if done.returncode:
        pytest.skip(f"no loop device here: {done.stderr.strip()}")
    name = done.stdout.strip()
    cache = Path("/sys/block") / Path(name).name / "queue/write_cache"
    found = cache.read_text()
    try:
        cache.write_text("write back")  # so that flushes are sent; what somebody has set outlives a loop device
        yield Path(name)
    finally:
        cache.write_text(found)
        subprocess.run(["losetup", "-d", name], check=True)


# Specs and the program


def test_independent_disks_are_no_single_device() -> None:
    with pytest.raises(InputError, match="got 3: say level: raid0"):
        record_text(array_of(FLASH, count=3))


def test_a_volatile_buffer_is_refused() -> None:
    ssd = {
        "kind": "ssd",
        "name": "s",
        "capacity_gib": 1,
        "read_latency_us": 90,
        "write_latency_us": 30,
        "source": SOURCE,
    }
    ssd |= {"reads_per_s": 1e5, "writes_per_s": 5e4, "read_mib_per_s": 500, "write_mib_per_s": 400}
    assert record_text(array_of(ssd)) != record_text(array_of(ssd | {"write_latency_us": 31}))
    with pytest.raises(InputError, match="power_loss_protection: got false"):
        record_text(array_of(ssd | {"power_loss_protection": False}))


def test_controllers_are_refused() -> None:
    limit = {"of": "mib", "per_s": 100, "source": SOURCE}
    with pytest.raises(InputError, match="controllers: got 1"):
        record_text(array_of(FLASH, controllers=1, controller_limits=[limit]))


def test_an_image_larger_than_the_disks_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "image").open("wb") as file:
        file.truncate(2 * GIB + 1)
    for disks in (1, 2):
        array = array_of(FLASH, count=disks, level="raid0" if disks > 1 else "independent")
        with (
            pytest.raises(InputError, match=rf"at most what the disks hold, {disks}\.00 GiB"),
            emulated_disk(tmp_path / "none", tmp_path / "image", tmp_path / "mountpoint", array),
        ):
            pass


def test_a_machine_without_a_compiler_is_named_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallationError, match=r"there is no g\+\+: apt-get install .*libfuse3-dev"):
        compiled_emulated_disk(tmp_path / "programs")


def test_it_compiles_without_warnings_and_only_once(program: Path) -> None:
    module._compile("-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror")
    changed = program.stat().st_mtime_ns
    assert compiled_emulated_disk(program.parent) == program
    assert program.stat().st_mtime_ns == changed
    assert [path.name for path in program.parent.iterdir()] == [program.name]
    assert {path.suffix for path in SOURCES.iterdir()} == {".cpp", ".hpp"}


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "b", "c", "--quick"], ["a", "b", "missing"]])
def test_a_wrong_command_is_refused_with_a_sentence(program: Path, words: list[str]) -> None:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("emulated-disk: ")


@needs_fuse
def test_a_folder_that_is_none_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(MIB))
    (tmp_path / "none").write_text("a file")
    with pytest.raises(FileExistsError), emulated_disk(program, tmp_path / "image", tmp_path / "none", array_of(FLASH)):
        pass


# Times, by the disk's own clock


def random_reads(disk: EmulatedDisk, count: int, threads: int) -> float:
    """Uniform over the whole image, by so many threads; returns the wall clock's seconds."""
    pages = disk.file.stat().st_size // SIZE

    def reader(number: int, file: int) -> None:
        chance = random.Random(number)  # noqa: S311 - places, not secrets
        for _ in range(count // threads):
            read_at(file, chance.randrange(pages) * SIZE)

    with opened(disk.file) as file:
        began = time.monotonic()
        for thread in [in_background(reader, number, file) for number in range(threads)]:
            thread.join()
        return time.monotonic() - began


@needs_fuse
def test_random_reads_one_by_one_take_what_the_data_sheet_says(start: Start) -> None:
    count = 500
    with start(QUICK_ARM, image_mib=1024) as disk:
        elapsed_s = random_reads(disk, count, 1)
        device = disk.counters().devices[0]
    revolution_s = 60 / QUICK_ARM["rpm"]
    seek_s, other_s = 0.5e-3, 0.1e-3 + SIZE / (40 * MIB)
    mean_s = seek_s + revolution_s / 2 + other_s
    # Variances of the rotation, uniform, and of a seek, which is at most 0.1 to 1 ms long.
    error_s = math.sqrt((revolution_s**2 / 12 + (0.9e-3) ** 2 / 4) / count)
    z = NormalDist().inv_cdf(1 - 1e-6)
    assert device.reads == count
    assert device.service_s / count == pytest.approx(mean_s, abs=z * error_s)
    assert abs(device.service_s / count - (mean_s - revolution_s / 2)) > 2 * z * error_s  # as if it didn't turn
    assert device.busy_s == pytest.approx(device.service_s)
    assert elapsed_s >= device.service_s


def predicted_service_s(array: DiskArraySpec, clients: int, pages: int) -> float:
    """Mean service of random reads by so many clients that never think, as the kernel simulates them."""
    asm = Assembler()
    asm.emit("think", asm.distribution("exponential", 0), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    data, row, zero = asm.region("data", 1, pages, 1), asm.register("row"), asm.register("zero")
    asm.loaded(data, 0, pages)
    any_page = asm.reference("any page", "row", data, zero, row=row)
    asm.begin_class("read")
    asm.emit("uniform", row, pages, 0, asm.stream("rows"))
    asm.emit("touch", any_page, 0, 0)
    asm.emit("end")
    idle = idle_system(data_devices(array))
    program = asm.finish("read")
    model = dataclasses.replace(
        idle,
        program=program,
        client_registers=np.zeros((clients, len(program.registers)), dtype=np.int64),
        pool=Pool(200, "lru", 200),
        storage=dataclasses.replace(idle.storage, requests_per_device=500),
        interval=Interval("cold", 0, from_s(60)),
    )
    return simulate(model, 1).devices[0].mean_service_s


@needs_fuse
def test_many_at_a_time_take_what_the_kernel_predicts(start: Start) -> None:
    """As many wait as this machine can send: the prediction is for so many, which the disk has counted."""
    count, pages = 800, GIB // SIZE
    with start(QUICK_ARM, image_mib=1024) as disk:
        elapsed_s = random_reads(disk, count, 16)
        device = disk.counters().devices[0]
    assert device.reads == count
    assert device.queued_s == pytest.approx(device.response_s, rel=1e-4)  # Little's law, which holds exactly here
    assert elapsed_s >= device.service_s
    waiting = device.queued_s / device.busy_s
    assert 1 <= waiting <= 16
    mean_s, error_s = device.service_s / count, 5 * 0.65e-3 / math.sqrt(count)  # a service's deviation: rotation, seek
    array = array_of(QUICK_ARM)
    assert mean_s >= predicted_service_s(array, math.ceil(waiting), pages) - error_s
    assert mean_s <= predicted_service_s(array, max(math.floor(waiting) - 1, 1), pages) + error_s
    unsorted = array_of(QUICK_ARM | {"scheduler": "fcfs"})
    if waiting > 8:
        assert mean_s < predicted_service_s(unsorted, 16, pages) - error_s


@needs_fuse
@pytest.mark.parametrize("threads", [1, 16])
def test_flash_takes_its_latency_on_each_channel(start: Start, threads: int) -> None:
    with start(FLASH) as disk:
        elapsed_s = random_reads(disk, 160, threads)
        with opened(disk.file) as file:
            write_at(file, 0, bytes(SIZE))
        device = disk.counters().devices[0]
    assert device.service_s == pytest.approx(160 * 1.5e-3 + 0.7e-3)
    assert device.busy_s == pytest.approx(device.service_s)
    assert elapsed_s >= 160 * 1.5e-3 / min(threads, 4)
    assert (device.reads, device.writes) == (160, 1)


@needs_fuse
def test_a_volume_lets_its_rate_through(start: Start) -> None:
    with start(VOLUME) as disk:
        elapsed_s = random_reads(disk, 160, 16)
        device = disk.counters().devices[0]
        assert elapsed_s >= 159 / 400  # the first needn't wait
        assert device.service_s == pytest.approx(160 * 1.5e-3)
        with opened(disk.file) as file:
            began = time.monotonic()
            read_at(file, 0, MIB)  # as 4 requests of 256 KiB, and a MiB: the next begins 10 ms after it
            read_at(file, 0)
            assert time.monotonic() - began >= 10e-3 + 1.5e-3


# Stripes and order


@needs_fuse
def test_stripes_spread_over_the_disks(start: Start) -> None:
    kib = 1024
    with start(FLASH, count=4, level="raid0", stripe_kib=64) as disk, opened(disk.file) as file:

        def reads_by(byte: int, size: int) -> list[int]:
            before = disk.counters().devices[1:]
            read_at(file, byte, size)
            return [now.reads - then.reads for now, then in zip(disk.counters().devices[1:], before, strict=True)]

        assert reads_by(0, 8 * kib) == [1, 0, 0, 0]
        assert reads_by(64 * kib, 64 * kib) == [0, 1, 0, 0]
        assert reads_by(7 * 64 * kib - 4 * kib, 8 * kib) == [0, 0, 1, 1]
        assert reads_by(256 * kib, 256 * kib) == [1, 1, 1, 1]
        assert reads_by(128 * kib, 512 * kib) == [1, 1, 1, 1]  # two units of each, which one request asks for
        assert disk.counters().devices[0].reads == 5


@needs_fuse
@pytest.mark.parametrize(("order", "served"), [("c-look", [40, 50, 60, 10, 20]), ("fcfs", [40, 20, 50, 10, 60])])
def test_what_waits_is_served_in_order(start: Start, order: str, served: list[int]) -> None:
    """40 is at work while the others come; C-LOOK goes up from the place that it was given last, and starts over."""
    arrivals = [40, 20, 50, 10, 60]
    with start(SLOW_ARM | {"scheduler": order}) as disk, opened(disk.file) as file:
        ended: list[int] = []

        def reader(place_mib: int) -> None:
            read_at(file, place_mib * MIB)
            ended.append(place_mib)

        readers = []
        for place in arrivals:
            readers.append(in_background(reader, place))
            wait_until(lambda: disk.counters().reads == len(readers))
        if ended:
            pytest.skip("this machine took more than 0.3 s to send five reads")
        for thread in readers:
            thread.join(PATIENCE_S)
    assert ended == served


# Data and flushes


@needs_fuse
@pytest.mark.parametrize("array", [{}, {"count": 4, "level": "raid0", "stripe_kib": 4}])
def test_concurrent_writes_are_there_afterwards(start: Start, tmp_path: Path, array: dict[str, Any]) -> None:
    size, writers = 8 * MIB, 8
    flash = FLASH | {"read_latency_us": 50, "write_latency_us": 80}
    reference = bytearray(size)

    def writer(number: int, file: int) -> None:
        """Writes only its own eighth, of any length and over what it has written before."""
        chance = random.Random(number)  # noqa: S311 - lengths, not secrets
        first, length = size // writers * number, size // writers
        for _ in range(60):
            begin = chance.randrange(length // 512) * 512
            end = min(begin + 512 * chance.randint(1, 300), length)
            data = chance.randbytes(end - begin)
            write_at(file, first + begin, data)
            reference[first + begin : first + end] = data
            if chance.random() < 0.1:
                os.fsync(file)
            assert read_at(file, first + begin, end - begin) == data

    with start(flash, image_mib=8, **array) as disk:
        with opened(disk.file) as file:
            for thread in [in_background(writer, number, file) for number in range(writers)]:
                thread.join()
            assert read_at(file, 0, size) == reference
        counters = disk.counters()
        assert counters.writes >= 8 * 60
        assert counters.flushes > 0
    assert (tmp_path / "image").read_bytes() == reference


@needs_fuse
def test_what_lies_beyond_is_refused_and_the_size_stays(start: Start) -> None:
    with start(FLASH, image_mib=1) as disk, opened(disk.file) as file:
        with pytest.raises(OSError, match="No space"):
            write_at(file, MIB, bytes(SIZE))
        with pytest.raises(PermissionError):
            os.truncate(disk.file, 2 * MIB)
        os.truncate(disk.file, MIB)
        with mmap.mmap(-1, SIZE) as buffer:
            assert os.preadv(file, [buffer], MIB) == 0
            assert os.preadv(file, [buffer], MIB - 4096) == 4096
        assert sorted(path.name for path in disk.mountpoint.iterdir()) == ["counters", "disk"]
        with pytest.raises(OSError, match=r"denied|permitted"):
            (disk.mountpoint / "counters").write_text("0")


@needs_fuse
def test_a_discard_leaves_zeroes(start: Start) -> None:
    with start(FLASH, image_mib=1) as disk:
        with opened(disk.file) as file:
            write_at(file, 0, b"x" * (4 * SIZE))
        before = disk.counters().devices[0]
        subprocess.run(["fallocate", "-p", "-o", str(SIZE), "-l", str(SIZE), disk.file], check=True)
        after = disk.counters().devices[0]
        assert after._replace(mean_queue=before.mean_queue) == before
        with opened(disk.file) as file:
            assert read_at(file, 0, 4 * SIZE) == b"x" * SIZE + bytes(SIZE) + b"x" * (2 * SIZE)
        assert disk.counters().discards == 1


@needs_fuse
def test_a_flush_waits_for_the_writes_before_it_and_for_nothing_else(start: Start) -> None:
    slow = FLASH | {"read_latency_us": 900_000, "write_latency_us": 300_000}
    with start(slow) as disk, loop_device(disk.file) as loop, opened(loop) as file:
        before = disk.counters()
        threads = [in_background(write_at, file, 0, b"a" * SIZE)]
        wait_until(lambda: disk.counters().writes == before.writes + 1)
        os.fsync(file)
        assert disk.counters().devices[0].writes == before.devices[0].writes + 1
        began = disk.counters()
        threads.append(in_background(read_at, file, 0))
        wait_until(lambda: disk.counters().reads > began.reads)
        os.fsync(file)
        now = disk.counters()
        if now.elapsed_s - began.elapsed_s > 0.9:
            pytest.skip("this machine took 0.9 s for a flush of nothing")
        assert now.devices[0].reads == began.devices[0].reads
        assert now.flushes == before.flushes + 2
        disk.hurry()
        for thread in threads:
            thread.join(PATIENCE_S)


@needs_fuse
def test_flushes_take_their_time_one_after_the_other(start: Start) -> None:
    with start(FLASH, flush_us=20_000) as disk, opened(disk.file) as file:
        began = time.monotonic()
        threads = [in_background(os.fsync, file) for _ in range(3)]
        for thread in threads:
            thread.join(PATIENCE_S)
        assert time.monotonic() - began >= 3 * 0.020
        disk.hurry()
        os.fsync(file)
        assert disk.counters().flushes == 4


# Full speed, and the end


@needs_fuse
def test_full_speed_frees_what_waits_and_can_be_left(start: Start) -> None:
    with start(LONG, full_speed=True) as disk, opened(disk.file) as file:
        read_at(file, 0)
        assert disk.counters().requests_at_full_speed == 1
        disk.take_its_time()
        wait_until(lambda: disk.counters().is_emulated)
        waiting = [in_background(read_at, file, 0), in_background(write_at, file, SIZE, bytes(SIZE))]
        wait_until(lambda: disk.counters().reads + disk.counters().writes == 3)
        assert all(thread.is_alive() for thread in waiting)
        disk.hurry()
        for thread in waiting:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        assert not disk.counters().is_emulated
        assert disk.counters().devices[0].mean_queue > 0  # by the model they are there for ten seconds


@needs_fuse
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_its_end_leaves_no_mount(start: Start, number: signal.Signals) -> None:
    is_killed, data = number == signal.SIGKILL, list[bytes]()
    with start(LONG) as disk:
        with suppress(OSError), opened(disk.file) as file:  # one that is still open, and the file system is gone

            def reader() -> None:
                with suppress(OSError):
                    data.append(read_at(file, 0))

            waiting = in_background(reader)
            wait_until(lambda: disk.counters().reads == 1)
            disk.process.send_signal(number)
            disk.process.wait(PATIENCE_S)
            waiting.join(PATIENCE_S)
            assert not waiting.is_alive()
        assert disk.process.returncode == (-9 if is_killed else 0)
        assert data == ([] if is_killed else [bytes(SIZE)])
        assert mounted(disk.mountpoint) == is_killed
        if is_killed:
            with pytest.raises(OSError, match="not connected"):
                disk.mountpoint.stat()
            end_emulated_disk(disk.process, disk.mountpoint)
        assert disk.mountpoint.is_dir()


@needs_fuse
def test_it_ends_when_it_is_unmounted(start: Start) -> None:
    with start(FLASH) as disk:
        subprocess.run(["umount", disk.mountpoint], check=True)
        assert disk.process.wait(PATIENCE_S) == 0


@needs_fuse
def test_it_is_started_by_the_command_it_is_entered_with(start: Start) -> None:
    with start(FLASH, entered=lambda words: ["/usr/bin/env", "MARK=here", *words]) as disk:
        assert b"MARK=here" in Path(f"/proc/{disk.process.pid}/environ").read_bytes()


# Behind a loop device


@needs_fuse
def test_a_loop_device_reads_past_the_page_cache(start: Start) -> None:
    with start(FLASH) as disk, loop_device(disk.file) as loop:
        shown = subprocess.run(["losetup", "-n", "-O", "DIO", loop], capture_output=True, text=True, check=True)
        assert shown.stdout.strip() == "1"
        before = disk.counters()
        with opened(loop) as file:
            write_at(file, SIZE, b"y" * SIZE)
            assert read_at(file, SIZE) == b"y" * SIZE
            assert read_at(file, SIZE) == b"y" * SIZE
        after = disk.counters()
        assert after.devices[0].reads - before.devices[0].reads >= 2
        assert after.devices[0].writes - before.devices[0].writes == 1
        assert after.devices[0].service_s == pytest.approx(
            after.devices[0].reads * 1.5e-3 + after.devices[0].writes * 0.7e-3
        )
