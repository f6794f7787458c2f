"""The inventory, of folders that look like /proc and /sys."""

import json
from pathlib import Path

import pytest

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.measure.inventory import inventory
from oltpsim.calibration.measure.kernel_files import KernelFiles


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> KernelFiles:
    files = KernelFiles(tmp_path / "proc", tmp_path / "sys")
    write(files.proc / "cpuinfo", "processor\t: 0\nmodel name\t: Test CPU\nprocessor\t: 1\nmodel name\t: Test CPU\n")
    write(files.proc / "meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\n")
    mounts = ["1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw", "2 1 0:40 / /pg\\040data rw shared:1 - btrfs /dev/sdb rw"]
    write(files.proc / "self" / "mountinfo", "\n".join(mounts) + "\n")
    write(files.proc / "7" / "cgroup", "0::/db/pg\n")
    for name, turns in (("sda", "1"), ("sdb", "0"), ("loop0", "0")):
        folder = files.system / "block" / name
        write(folder / "size", "0\n" if name == "loop0" else "2097152\n")
        write(folder / "queue" / "rotational", f"{turns}\n")
        write(folder / "queue" / "scheduler", "none [mq-deadline]\n")
    write(files.system / "block" / "sda" / "sda1" / "partition", "1\n")
    links = {"dev/block/8:1": "sda/sda1", "class/block/sdb": "sdb"}
    for link, target in links.items():
        place = files.system / link
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(files.system / "block" / target)
    return files


def test_cpus_memory_devices_and_places_are_read(machine: KernelFiles) -> None:
    found = inventory(machine, {"data": "/pg data/15", "log": "/var/log"}, 7)
    assert (found["cores"], found["cpu_model"], found["memory_bytes"]) == (2, "Test CPU", 2**33)
    assert list(found["devices"]) == ["sda", "sdb"]  # a loop device of nothing is none
    assert found["devices"]["sda"] == {
        "size_bytes": 2**30,
        "rotational": True,
        "scheduler": "mq-deadline",
        "read_ahead_kib": 0,
        "model": None,
    }
    assert found["places"]["data"] == {"file_system": "btrfs", "options": "rw", "device": "sdb"}
    assert (found["places"]["log"]["file_system"], found["places"]["log"]["device"]) == ("ext4", "sda")


@pytest.mark.parametrize(("allowed", "cores"), [("0", 1), ("0-1", 2), ("0,8-11", 5)])
def test_processors_are_those_of_the_servers_cpuset(
    machine: KernelFiles, tmp_path: Path, allowed: str, cores: int
) -> None:
    write(machine.proc / "7" / "status", f"Name:\tpostgres\nCpus_allowed_list:\t{allowed}\n")
    found = inventory(machine, {}, 7)
    assert found["limits"]["cores"] == cores
    assert "cores" not in inventory(machine, {}, None)["limits"]  # no server is seen here
    write(tmp_path / "run" / "inventory.json", json.dumps(found))
    [run] = find_runs([tmp_path / "run"])
    values = {key: leaf for reading in run.readings for key, leaf in reading.values.items()}
    core_figure = values["environment", "cores"]
    assert isinstance(core_figure, dict)
    assert core_figure["value"] == min(cores, 2)  # never more than the machine has


def test_a_place_that_is_a_link_is_that_behind_it(machine: KernelFiles, tmp_path: Path) -> None:
    """pg_wal may be a link to a device of its own."""
    (tmp_path / "behind").mkdir()
    (tmp_path / "pg_wal").symlink_to(tmp_path / "behind")
    mounts = f"1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n2 1 0:40 / {tmp_path / 'behind'} rw - btrfs /dev/sdb rw\n"
    write(machine.proc / "self" / "mountinfo", mounts)
    assert inventory(machine, {"log": str(tmp_path / "pg_wal")}, 7)["places"]["log"]["device"] == "sdb"
    assert inventory(machine, {"log": str(tmp_path)}, 7)["places"]["log"]["device"] == "sda"


def test_an_unknown_device_is_said(machine: KernelFiles, tmp_path: Path) -> None:
    (machine.system / "class" / "block" / "sdb").unlink()
    found = inventory(machine, {"data": "/pg data/15"}, 7)
    assert found["places"]["data"]["device"] is None
    write(tmp_path / "run" / "inventory.json", json.dumps(found))
    (run,) = find_runs([tmp_path / "run"])
    assert run.readings[0].notes == ["data on btrfs, device unknown"]


def test_limits_of_cgroups_version_2_are_the_least_on_the_way_up(machine: KernelFiles) -> None:
    root = machine.system / "fs" / "cgroup"
    write(root / "db" / "pg" / "memory.max", "max\n")
    write(root / "db" / "memory.max", f"{2**31}\n")
    write(root / "db" / "pg" / "cpu.max", "150000 100000\n")
    write(root / "db" / "cpu.max", "max 100000\n")
    assert inventory(machine, {}, 7)["limits"] == {"memory_bytes": 2**31, "cpu_quota_cores": 1.5}


def test_limits_of_cgroups_version_1(machine: KernelFiles) -> None:
    write(machine.proc / "7" / "cgroup", "4:memory:/db\n3:cpu,cpuacct:/db\n1:name=systemd:/x\n")
    root = machine.system / "fs" / "cgroup"
    write(root / "memory" / "db" / "memory.limit_in_bytes", f"{2**30}\n")
    write(root / "memory" / "memory.limit_in_bytes", "9223372036854771712\n")
    write(root / "cpu,cpuacct" / "db" / "cpu.cfs_quota_us", "-1\n")
    write(root / "cpu,cpuacct" / "db" / "cpu.cfs_period_us", "100000\n")
    assert inventory(machine, {}, 7)["limits"] == {"memory_bytes": 2**30}
    write(root / "cpu,cpuacct" / "db" / "cpu.cfs_quota_us", "50000\n")
    assert inventory(machine, {}, 7)["limits"]["cpu_quota_cores"] == 0.5


def test_a_machine_without_limits_has_none(machine: KernelFiles) -> None:
    assert inventory(machine, {}, 7)["limits"] == {}
    assert inventory(machine, {}, 99)["limits"] == {}  # no such process
