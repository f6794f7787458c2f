"""What the machine is made of: processors, memory, devices, the file system below the data, limits of cgroups."""

import os
import platform
import re
from pathlib import Path
from typing import Any

from oltpsim.calibration.measure.kernel_files import KernelFiles
from oltpsim.calibration.measure.mounts import read_mounts

FORMAT = "oltpsim-inventory-1"
SECTOR_BYTES = 512
NO_LIMIT_BYTES = 2**62


def inventory(files: KernelFiles, places: dict[str, str], process: int | None) -> dict[str, Any]:
    """Inventory as it is written; what isn't there is left out.

    `places`: folders by what lies in them, such as data and log; `process`: one of the database's, whose cgroup counts.
    """
    cpu = (files.proc / "cpuinfo").read_text()
    model = re.search(r"^model name\s*:\s*(.+)$", cpu, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", (files.proc / "meminfo").read_text(), re.MULTILINE)
    return {
        "format": FORMAT,
        "cpu_model": model[1] if model else None,
        "cores": len(re.findall(r"^processor\s*:", cpu, re.MULTILINE)) or os.cpu_count(),
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "kernel": f"{platform.system()} {platform.release()}",
        "limits": _limits(files, process),
        "devices": {
            name: _device(files.system / "block" / name)
            for name in files.block_devices()
            if _word(files.system / "block" / name / "size") != "0"
        },
        "places": {name: _place(files, Path(path).resolve()) for name, path in places.items()},
    }


def _word(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _device(folder: Path) -> dict[str, Any]:
    """One device: size, whether it turns, its scheduler."""
    scheduler = _word(folder / "queue" / "scheduler")
    chosen = re.search(r"\[(\S+)\]", scheduler) if scheduler else None
    turns = _word(folder / "queue" / "rotational")
    return {
        "size_bytes": int(_word(folder / "size") or 0) * SECTOR_BYTES,
        "rotational": None if turns is None else turns == "1",
        "scheduler": chosen[1] if chosen else scheduler,
        "read_ahead_kib": int(_word(folder / "queue" / "read_ahead_kb") or 0),
        "model": _word(folder / "device" / "model"),
    }


def _place(files: KernelFiles, folder: Path) -> dict[str, Any]:
    """File system of a folder, and the whole device below it if it is one device."""
    mounts = [each for each in read_mounts(files.proc / "self" / "mountinfo") if folder.is_relative_to(each.place)]
    if not mounts:
        return {"file_system": None, "device": None}
    mount = max(mounts, key=lambda each: len(str(each.place)))
    device = _whole_device(files, mount.device_numbers, mount.source)
    return {"file_system": mount.kind, "options": mount.options, "device": device}


def _whole_device(files: KernelFiles, numbers: str, source: str) -> str | None:
    """The device of a mount by its numbers or, for file systems over several, by its source; None if neither is one."""
    for path in (files.system / "dev" / "block" / numbers, files.system / "class" / "block" / Path(source).name):
        try:
            folder = path.resolve(strict=True)
        except OSError:
            continue
        whole = folder.parent if (folder / "partition").exists() else folder
        return whole.name
    return None


def _limits(files: KernelFiles, process: int | None) -> dict[str, Any]:
    """Limits of a process's cgroups, version 1 or 2: the least on the way up."""
    text = _word(files.proc / str(process or "self") / "cgroup")
    found: dict[str, Any] = {}
    status = _word(files.proc / str(process) / "status") if process else None
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)$", status or "", re.MULTILINE)
    if allowed:
        found["cores"] = sum(map(_cpus, allowed[1].split(",")))
    root = files.system / "fs" / "cgroup"
    for line in (text or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            folders = _way_up(root, path)
            _least(found, "memory_bytes", [_bytes(_word(each / "memory.max")) for each in folders])
            _least(found, "cpu_quota_cores", [_quota(_word(each / "cpu.max")) for each in folders])
        elif "memory" in controllers.split(","):
            folders = _way_up(root / "memory", path)
            _least(found, "memory_bytes", [_bytes(_word(each / "memory.limit_in_bytes")) for each in folders])
        elif "cpu" in controllers.split(","):
            folders = _way_up(root / controllers, path) + _way_up(root / "cpu", path)
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            words = [" ".join(_word(each / name) or "max" for name in names) for each in folders]
            _least(found, "cpu_quota_cores", [_quota(each) for each in words])
    return found


def _cpus(part: str) -> int:
    """Of one part of a list of CPUs: 3, or 8-11."""
    first, _, last = part.partition("-")
    return int(last or first) - int(first) + 1


def _way_up(root: Path, path: str) -> list[Path]:
    here = root / path.lstrip("/")
    return [here, *(parent for parent in here.parents if parent.is_relative_to(root))]


def _least(found: dict[str, Any], key: str, values: list[float | None]) -> None:
    known = [value for value in (*values, found.get(key)) if value is not None]
    if known:
        found[key] = min(known)


def _bytes(word: str | None) -> float | None:
    return float(word) if word and word.isdigit() and int(word) < NO_LIMIT_BYTES else None


def _quota(word: str | None) -> float | None:
    """Cores of `QUOTA PERIOD` in µs; none for `max` and for -1."""
    words = (word or "").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0].isdigit() and words[1].isdigit() else None
