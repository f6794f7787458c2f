"""What is mounted where, as Linux says it (proc(5), mountinfo)."""

import re
from pathlib import Path
from typing import NamedTuple

MOUNT_TABLE = Path("/proc/self/mountinfo")


class Mount(NamedTuple):
    """A mount: its place, the device's numbers, kind of file system, source, its options and the file system's."""

    place: Path
    device_numbers: str
    kind: str
    source: str
    options: str
    kind_options: str


def read_mounts(path: Path = MOUNT_TABLE) -> list[Mount]:
    """All mounts, in the order in which they were made."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        words, behind = before.split(), after.split()
        place = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), words[4])
        found.append(Mount(Path(place), words[2], behind[0], behind[1], words[5], behind[-1]))
    return found
