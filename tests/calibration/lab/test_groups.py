"""Control groups: versions 1 and 2 on folders that look like theirs, and this host's own."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.lab.groups import CONTROLLERS, Group, GroupLimits, Hierarchies
from oltpsim.simulator.errors import InputError

VERSION_1 = "36 35 0:30 / {root}/{name} rw shared:9 - cgroup cgroup rw,{name}\n"
VERSION_2 = "36 35 0:30 / {root} rw shared:9 - cgroup2 cgroup2 rw\n"
LIMITS = GroupLimits(cores=(0, 2), quota_cores=1.5, memory_bytes=2**30, swappiness=0, weight=400, real_time=True)


def version_1(root: Path) -> Hierarchies:
    for name in CONTROLLERS:
        (root / name).mkdir()
    (root / "cpuset" / "cpuset.mems").write_text("0\n")
    mounts = root / "mountinfo"
    mounts.write_text("".join(VERSION_1.format(root=root, name=name) for name in CONTROLLERS))
    return Hierarchies.mounted(mounts)


def version_2(root: Path, controllers: str = "cpuset cpu io memory pids") -> Hierarchies:
    (root / "cgroup.controllers").write_text(controllers)
    mounts = root / "mountinfo"
    mounts.write_text(VERSION_2.format(root=root))
    return Hierarchies.mounted(mounts)


def contents(group: Group) -> dict[str, str]:
    """What was written into the group's files."""
    return {path.name: path.read_text() for folder in set(group.folders.values()) for path in folder.iterdir()}


def test_limits_of_version_1(tmp_path: Path) -> None:
    group = version_1(tmp_path).group("database")
    (tmp_path / "cpu" / "oltpsim-lab-database").mkdir()
    (tmp_path / "cpu" / "oltpsim-lab-database" / "cpu.rt_runtime_us").write_text("0")
    group.make(LIMITS)
    assert contents(group) == {
        "cpu.rt_runtime_us": "300000",
        "cpu.shares": "4096",
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "150000",
        "cpuset.mems": "0",
        "cpuset.cpus": "0,2",
        "memory.limit_in_bytes": str(2**30),
        "memory.swappiness": "0",
    }


def test_limits_of_version_2(tmp_path: Path) -> None:
    hierarchies = version_2(tmp_path)
    group = hierarchies.group("database")
    group.make(LIMITS)
    assert contents(group) == {
        "cpu.weight": "400",
        "cpu.max": "150000 100000",
        "cpuset.cpus": "0,2",
        "memory.max": str(2**30),
        "memory.swap.max": "0",
    }
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory"
    assert [each.name for each in hierarchies.groups()] == ["database"]
    assert group.entered(["postgres", "-D", "x"])[-4:] == [
        str(tmp_path / "oltpsim-lab-database"),
        "postgres",
        "-D",
        "x",
    ]


def test_counters_of_both_versions(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    first, second = version_1(tmp_path / "1").group("disks"), version_2(tmp_path / "2").group("disks")
    for group in (first, second):
        group.make(GroupLimits((0,)))
    (first.folders["cpuacct"] / "cpuacct.usage").write_text("1500000000\n")
    (second.folders["cpu"] / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (second.folders["memory"] / "memory.stat").write_text("anon 5\nfile 7\n")
    assert first.cpu_s() == second.cpu_s() == 1.5
    assert second.memory() == {"anon": 5, "file": 7}


def test_a_host_without_the_controllers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no control groups with cpu, cpuset and memory"):
        version_2(tmp_path, "io pids")


@pytest.mark.usefixtures("host")
def test_a_process_is_in_its_group_from_its_first_instruction_and_ends_with_it() -> None:
    hierarchies = Hierarchies.mounted()
    group = hierarchies.group(f"test-{os.getpid()}")
    core = min(os.sched_getaffinity(0))
    try:
        group.make(GroupLimits((core,), memory_bytes=2**28))
        process = subprocess.Popen(
            group.entered(["sh", "-c", "grep Cpus_allowed_list /proc/self/status; sleep 600"]),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["Cpus_allowed_list:", str(core)]
        assert process.pid in group.processes()
        group.end()
        assert process.wait(10) != 0
        process.stdout.close()
    finally:
        group.end()
    assert group.processes() == []
    assert not any(folder.exists() for folder in group.folders.values())


@pytest.mark.usefixtures("host")
def test_a_process_that_enters_after_the_first_look_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed laboratory may leave a shell that is just about to enter."""
    group = Hierarchies.mounted().group(f"late-{os.getpid()}")
    group.make(GroupLimits((min(os.sched_getaffinity(0)),)))
    looks: Callable[[Group], list[int]] = Group.processes
    entered: list[subprocess.Popen[bytes]] = []

    def looks_before_one_enters(self: Group) -> list[int]:
        found = looks(self)
        if not entered:
            process = subprocess.Popen(group.entered(["sh", "-c", "echo in; sleep 600"]), stdout=subprocess.PIPE)
            entered.append(process)
            assert process.stdout is not None
            assert process.stdout.readline() == b"in\n"
        return found

    monkeypatch.setattr(Group, "processes", looks_before_one_enters)
    try:
        group.end()
        assert entered[0].wait(10) != 0
    finally:
        for process in entered:
            process.kill()
            process.communicate()
        group.end()
    assert not any(folder.exists() for folder in group.folders.values())
    after = subprocess.run(group.entered(["true"]), check=False, capture_output=True)
    assert after.returncode == 125, "who comes later finds no group and does nothing"
