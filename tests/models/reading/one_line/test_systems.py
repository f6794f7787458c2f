"""Operating systems by the names that people use."""

from __future__ import annotations

import re

import pytest

from oltpsim.models.catalogue import catalogue_names
from oltpsim.models.reading.one_line.systems import engine_of, system_of
from oltpsim.models.reading.one_line.words import table


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


@pytest.mark.parametrize(("words", "entry", "nearest"), [
    ("PostgreSQL 13.14", "postgresql-13", False), ("postgres 18", "postgresql-18", False),
    ("PostgreSQL 9.6", "postgresql-13", True), ("PostgreSQL 19", "postgresql-18", True),
    ("MySQL 9.1", "mysql-9", False), ("MySQL 5.7.44", "mysql-5-7", False), ("MySQL 5.6", "mysql-5-7", True),
    ("mysql5.5", "mysql-5-7", True),
    ("MySQL 5.1", "mysql-5-1", False), ("MySQL 8.3", "mysql-8-0", True), ("Percona Server 8.0", "mysql-8-0", True),
    ("MariaDB 10.6.21", "mariadb-10-6", False),
    ("mariadb10.5", "mariadb-10-6", True), ("MariaDB 10.8", "mariadb-10-11", True),
    ("MariaDB 11.4", "mariadb-11", False), ("MariaDB", "mariadb-12", False), ("Virtuoso 7.2", "virtuoso-6", True),
])  # fmt: skip
def test_releases_of_engines(words: str, entry: str, nearest: bool) -> None:
    found = engine_of(words)
    assert found is not None
    assert (found.entry, found.nearest, found.others) == (entry, nearest, ())
    assert entry in catalogue_names("databases")


@pytest.mark.parametrize("words", ["MySQL 4", "MariaDB 5.5", "SQL Server 2022", "Oracle 19c"])
def test_a_release_too_far_from_all_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="the catalogue has no such release; nearest: "):
        engine_of(words)


def test_no_name_is_both_an_entry_and_a_nearest_one() -> None:
    for words in ("virtuoso 7", "postgresql 12", "mysql 5", "mysql 5.6", "mysql 8.2", "percona 8.4", "mariadb 10.9"):
        matched = [row for row in table()["engines"] if "entry" in row and re.fullmatch(row["form"], words)]
        assert [row.get("nearest", False) for row in matched] == [True], words
