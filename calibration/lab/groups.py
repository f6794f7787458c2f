"""Control groups of Linux, versions 1 and 2: where the laboratory's processes run, and what they may use."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from oltpsim.calibration.measure import MOUNT_TABLE, read_mounts
from oltpsim.simulator.errors import InputError

PREFIX = "oltpsim-lab-"
"""of the groups' names: what begins so is the laboratory's"""
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
PERIOD_US = 100_000
REAL_TIME_US = 300_000
"""of each second (cpu.rt_period_us)"""
SHARES_OF_WEIGHT = 1024 / 100
"""cpu.shares of version 1 for cpu.weight of version 2"""
PATIENCE_S = 10.0
"""for a killed process to be gone"""
ENTER = 'for group in $1; do echo $$ > "$group/cgroup.procs" || exit 125; done; shift; exec "$@"'


@dataclass(frozen=True)
class GroupLimits:
    """What a group may use. None: no limit. `weight`: of CPU time where groups compete, 100 as any other's.

    `real_time`: whether its processes may run ahead of all others (SCHED_FIFO), for a third of a core at most, if the
    host has that to give.
    """

    cores: tuple[int, ...]
    quota_cores: float | None = None
    memory_bytes: int | None = None
    swappiness: int | None = None
    weight: int = 100
    real_time: bool = False


@dataclass(frozen=True)
class Hierarchies:
    """Where the host's control groups are: roots by controller, all the same with version 2."""

    version: int
    roots: dict[str, Path]

    @classmethod
    def mounted(cls, mounts: Path = MOUNT_TABLE) -> "Hierarchies":
        """Those that are mounted. Raises InputError without one that has all controllers."""
        roots: dict[str, Path] = {}
        unified: Path | None = None
        for mount in read_mounts(mounts):
            if mount.kind == "cgroup":
                named = mount.kind_options.split(",")
                roots |= {name: mount.place for name in named if name in CONTROLLERS and name not in roots}
            elif mount.kind == "cgroup2" and unified is None:
                unified = mount.place
        if set(roots) == set(CONTROLLERS):
            return cls(1, roots)
        if unified is not None:
            offered = (unified / "cgroup.controllers").read_text(encoding="utf-8").split()
            if {"cpu", "cpuset", "memory"} <= set(offered):
                return cls(2, dict.fromkeys(CONTROLLERS, unified))
        raise InputError(
            "lab: this host has no control groups with cpu, cpuset and memory (version 1 or 2): use a machine of its "
            "own, or a container with its own control groups"
        )

    def group(self, name: str) -> "Group":
        """The laboratory's group of this name, whether it is there or not."""
        folders = {controller: root / f"{PREFIX}{name}" for controller, root in self.roots.items()}
        return Group(name, self.version, folders)

    def groups(self) -> list["Group"]:
        """All of the laboratory's that are there."""
        places = {path.name for root in self.roots.values() for path in root.glob(f"{PREFIX}*")}
        return [self.group(name.removeprefix(PREFIX)) for name in sorted(places)]


@dataclass(frozen=True)
class Group:
    """One group: its folders by controller."""

    name: str
    version: int
    folders: dict[str, Path]

    def make(self, limits: GroupLimits) -> None:
        """Make it with these limits. Raises InputError if the host refuses."""
        try:
            for folder in dict.fromkeys(self.folders.values()):
                if self.version == 2:
                    _write(folder.parent / "cgroup.subtree_control", "+cpu +cpuset +memory")
                folder.mkdir(exist_ok=True)
            self._limit(limits)
        except OSError as error:
            raise InputError(
                f"lab: the control group {self.folders['memory']}: {error.strerror}; it takes root, and limits within "
                "those of the group that this program runs in"
            ) from error

    def _limit(self, limits: GroupLimits) -> None:
        cores = ",".join(map(str, limits.cores))
        cpu, cpuset, memory = (self.folders[name] for name in ("cpu", "cpuset", "memory"))
        if self.version == 1:
            _write(cpuset / "cpuset.mems", (cpuset.parent / "cpuset.mems").read_text(encoding="utf-8").strip())
            _write(cpu / "cpu.shares", str(round(limits.weight * SHARES_OF_WEIGHT)))
            if limits.quota_cores is not None:
                _write(cpu / "cpu.cfs_period_us", str(PERIOD_US))
                _write(cpu / "cpu.cfs_quota_us", str(round(limits.quota_cores * PERIOD_US)))
            real_time = cpu / "cpu.rt_runtime_us"
            if limits.real_time and real_time.exists():  # a kernel with RT_GROUP_SCHED gives a new group none
                with suppress(OSError):  # a group that has just gone may hold some still: then they run at a high nice
                    _write(real_time, str(REAL_TIME_US))
            if limits.memory_bytes is not None:
                _write(memory / "memory.limit_in_bytes", str(limits.memory_bytes))
            if limits.swappiness is not None:
                _write(memory / "memory.swappiness", str(limits.swappiness))
        else:
            _write(cpu / "cpu.weight", str(limits.weight))
            if limits.quota_cores is not None:
                _write(cpu / "cpu.max", f"{round(limits.quota_cores * PERIOD_US)} {PERIOD_US}")
            if limits.memory_bytes is not None:
                _write(memory / "memory.max", str(limits.memory_bytes))
            if limits.swappiness == 0:
                _write(memory / "memory.swap.max", "0")
        _write(cpuset / "cpuset.cpus", cores)

    def entered(self, command: Sequence[str]) -> list[str]:
        """The command so that its first process is in this group before anything else happens."""
        folders = " ".join(map(str, dict.fromkeys(self.folders.values())))
        return ["/bin/sh", "-c", ENTER, "sh", folders, *command]

    def processes(self) -> list[int]:
        """Those that are in it now, in any of its folders."""
        found: set[int] = set()
        for folder in self.folders.values():
            with suppress(OSError):
                found.update(map(int, (folder / "cgroup.procs").read_text(encoding="utf-8").split()))
        return sorted(found)

    def cpu_s(self) -> float:
        """CPU time that its processes have had."""
        if self.version == 1:
            return int((self.folders["cpuacct"] / "cpuacct.usage").read_text(encoding="utf-8")) / 1e9
        return _counters(self.folders["cpu"] / "cpu.stat")["usage_usec"] / 1e6

    def memory(self) -> dict[str, int]:
        """Counters of memory.stat."""
        return _counters(self.folders["memory"] / "memory.stat")

    def end(self) -> None:
        """Kill what runs in it and remove it; nothing if it isn't there. Raises InputError if something stays.

        A process that is just entering may come after any look, so killing and removing go on together until all
        folders are gone; what comes later finds none to enter and ends.
        """
        until_s = time.monotonic() + PATIENCE_S
        while present := [folder for folder in dict.fromkeys(self.folders.values()) if folder.exists()]:
            for process in (processes := self.processes()):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if time.monotonic() > until_s:
                who = f"processes {', '.join(map(str, processes))} in it don't end" if processes else "it is in use"
                raise InputError(f"lab: the control group {present[0]} stays: {who}: call 'oltpsim lab clean' again")
            for folder in present:
                with suppress(OSError):  # not empty yet
                    folder.rmdir()
            time.sleep(0.01)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _counters(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text(encoding="utf-8").splitlines())}
