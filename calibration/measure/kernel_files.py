"""Counters of the Linux kernel at one moment: CPU, devices, swap, and CPU time of groups of processes."""

import os
import resource
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

CPU_FIELDS = 8
"""user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user already"""
DISK_FIELDS = 11
TIMES = slice(11, 15)
"""utime, stime, cutime, cstime in /proc/PID/stat, counted from the state behind the name"""
PARENT = 1


@dataclass(frozen=True)
class KernelFiles:
    """The kernel's files; other folders than /proc and /sys are for tests."""

    proc: Path = Path("/proc")
    system: Path = Path("/sys")

    def cpu_ticks(self) -> list[int]:
        """Ticks of all CPUs since boot, as in the first line of /proc/stat."""
        with (self.proc / "stat").open() as file:
            return [int(word) for word in file.readline().split()[1 : CPU_FIELDS + 1]]

    def disks(self, names: Iterable[str]) -> dict[str, list[int]]:
        """Counters of these whole devices that have ever done anything, in the order of /proc/diskstats."""
        wanted = set(names)
        found = {}
        for line in (self.proc / "diskstats").read_text().splitlines():
            words = line.split()
            if words[2] in wanted and (words[3] != "0" or words[7] != "0"):
                found[words[2]] = [int(word) for word in words[3 : DISK_FIELDS + 3]]
        return found

    def swapped_pages(self) -> list[int]:
        """Pages swapped in and out since boot."""
        counters = dict(line.split() for line in (self.proc / "vmstat").read_text().splitlines())
        return [int(counters.get(name, 0)) for name in ("pswpin", "pswpout")]

    def block_devices(self) -> list[str]:
        """Names of whole devices."""
        folder = self.system / "block"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def status_words(self, process: int) -> list[str] | None:
        """Words of /proc/PID/stat behind the name; None if there is no such process."""
        try:
            return (self.proc / str(process) / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            return None

    def parent(self, process: int) -> int | None:
        """The process that started another; None if that isn't here."""
        words = self.status_words(process)
        return int(words[PARENT]) if words else None

    def name(self, process: int) -> str:
        """A process's name, empty if it isn't here."""
        try:
            return (self.proc / str(process) / "comm").read_text().strip()
        except OSError:
            return ""

    def group(self, root: int, without: Sequence[int] = ()) -> list[int]:
        """A process with all that it and they have started and that run, but `without`."""
        found, ahead = [], [root]
        while ahead:
            process = ahead.pop()
            if process not in without:
                found.append(process)
                ahead += self._children(process)
        return found

    def _children(self, process: int) -> list[int]:
        try:
            threads = list((self.proc / str(process) / "task").iterdir())
            return [int(word) for thread in threads for word in (thread / "children").read_text().split()]
        except OSError:
            return []

    def cpu_of(self, processes: Iterable[int]) -> list[int]:
        """Ticks in user and system mode, with those of children that have ended and were waited for."""
        user = system = 0
        for process in processes:
            words = self.status_words(process)
            if words is not None:
                times = [int(word) for word in words[TIMES]]
                user, system = user + times[0] + times[2], system + times[1] + times[3]
        return [user, system]


def ticks_per_s() -> int:
    """Of the kernel's clock that counts CPU time."""
    return os.sysconf("SC_CLK_TCK")


def cpu_s_of_this_process() -> list[float]:
    """CPU seconds in user and system mode."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [used.ru_utime, used.ru_stime]
