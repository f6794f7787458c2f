"""Operating systems by the names that people use."""

from __future__ import annotations

import pytest

from models.reading.one_line.systems import system_of


@pytest.mark.parametrize(("words", "entry", "queues"), [
    ("Fedora Core 4", "linux-2-6", False), ("Fedora 7", "linux-2-6", True), ("RHEL 5", "linux-2-6", False),
    ("CentOS 7", "linux", True), ("Linux 2.6.18", "linux-2-6", False), ("Linux 2.6.19", "linux-2-6", True),
    ("Linux", None, None), ("Solaris 2.6", "solaris-7", None), ("SunOS 5.10", "solaris-10", None),
    ("Windows Server 2003", "windows-2000", None), ("OS X 10.5", "mac-os-x-10-4", None),
])  # fmt: skip
def test_operating_systems(words: str, entry: str | None, queues: bool | None) -> None:
    found = system_of(words)
    assert found is not None
    assert (found.entry, found.queues) == (entry, queues)


def test_what_is_no_operating_system() -> None:
    assert system_of("SunFire 440") is None
    assert system_of("Mac mini") is None
