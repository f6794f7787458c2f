"""What the figures were measured on. No name of a machine, no path."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

LEAST_SHARE = 0.95


def description() -> str:
    """One sentence: processor, memory, system, interpreter, compiler."""
    processor = _first("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine()
    words = [
        f"{os.cpu_count()} cores ({processor})",
        f"{_memory_gib():.0f} GiB of memory",
        f"{platform.system()} {platform.release().split('-')[0]}",
        f"Python {platform.python_version()}",
        f"NumPy {version('numpy')}",
    ]
    compiler = compiler_version()
    return ", ".join([*words, f"g++ {compiler}"] if compiler else words)


def share_of_a_core(seconds: float = 0.3) -> float:
    """How much of a core this process is given while it does nothing but count."""
    wall, own = perf_counter(), process_time()
    while perf_counter() - wall < seconds:
        pass
    return (process_time() - own) / (perf_counter() - wall)


def warning(least_share: float) -> list[str]:
    """A sentence if other programs kept the machine busy."""
    if least_share > LEAST_SHARE:
        return []
    given = f"at times this one was given {100 * least_share:.0f} % of a core"
    return [f"**Other programs kept the machine busy: {given}. So times are too long; ratios suffer less.**"]


def compiler_version() -> str:
    """The version of g++, or an empty string."""
    try:
        return subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def resident_bytes() -> int:
    """Memory of this process that is in RAM, once the allocator has given back what is free. Linux with glibc only."""
    ctypes.CDLL(None).malloc_trim(0)
    return 1024 * int(_first("/proc/self/status", r"VmRSS:\s*(\d+)"))


def _memory_gib() -> float:
    return float(_first("/proc/meminfo", r"MemTotal:\s*(\d+)") or 0) / (1 << 20)


def _first(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"))
    except OSError:
        return ""
    return found[1].strip() if found else ""
