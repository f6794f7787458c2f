"""The inventory of `oltpsim measure`: processors, memory, devices, file systems, limits of cgroups.

Trap: a limit of the database's cgroup, not the machine's memory, is what the database has.
"""

from typing import Any

from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile
from oltpsim.simulator.form import GIB

KIND = "inventory"
FORMAT = "oltpsim-inventory-1"


def detect(file: SourceFile) -> bool:
    """By its format."""
    return f'"format": "{FORMAT}"' in file.head


def read(file: SourceFile) -> FileReading:
    """The machine. Raises InputError for another shape."""
    reading = FileReading(KIND, file.name)
    data = file.data
    try:
        limits = data["limits"]
        if data["cores"]:
            place = "limits.cores" if limits.get("cores", data["cores"]) < data["cores"] else "cores"
            means = "CPUs that the database may use: the machine's, or those of its cpuset"
            reading.set_cores(file.number(min(limits.get("cores", data["cores"]), data["cores"]), place), place, means)
        if data["cpu_model"]:
            reading.add_text("environment.cpu_model", data["cpu_model"], "cpu_model", "name of the processor")
        sizes = [
            (size, name)
            for size, name in (
                (data["memory_bytes"], "memory_bytes"),
                (limits.get("memory_bytes"), "limits.memory_bytes"),
            )
            if size
        ]
        if sizes:
            size, name = min(sizes)
            means = "memory that the database may use: the machine's, or its cgroup's limit if that is less"
            reading.add("environment.memory_gib", file.number(size, name) / GIB, "B", name, means)
        if "cpu_quota_cores" in limits:
            reading.notes.append(f"the database's cgroup may use {limits['cpu_quota_cores']:g} cores")
        reading.add_text("environment.operating_system", data["kernel"], "kernel", "kernel and its version")
        reading.notes += _places(data)
    except (KeyError, TypeError, AttributeError):
        file.refuse("", "JSON of another shape", "an inventory as measured", "copy it again")
    return reading


def _places(data: dict[str, Any]) -> list[str]:
    """A phrase for each place: "data on ext4, vda (not rotational, scheduler none, 100 GiB)"."""
    phrases = []
    for place, found in data["places"].items():
        phrase = f"{place} on {found['file_system'] or 'an unknown file system'}"
        device = data["devices"].get(found["device"])
        if device is None:
            phrases.append(f"{phrase}, device unknown")
            continue
        turns = {True: "rotational", False: "not rotational", None: "unknown kind"}[device["rotational"]]
        size = f"{device['size_bytes'] / GIB:.0f} GiB" if device["size_bytes"] else "unknown size"
        phrases.append(f"{phrase}, {found['device']} ({turns}, scheduler {device['scheduler']}, {size})")
    return phrases
