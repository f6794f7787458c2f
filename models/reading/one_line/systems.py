"""Operating systems and database engines by the names that people use, as entries of the catalogue."""

import re
from dataclasses import dataclass

QUEUEING_SINCE = (2, 6, 19)
"""the first Linux whose SATA driver (libata) queues commands in the drive with the usual controllers"""
KERNELS: dict[str, dict[int, tuple[int, ...]]] = {
    r"fedora(?: core)?|fc": {4: (2, 6, 11), 5: (2, 6, 15), 6: (2, 6, 18), 7: (2, 6, 21)},
    r"rhel|red hat(?: enterprise linux)?|centos|oracle linux": {4: (2, 6, 9), 5: (2, 6, 18), 6: (2, 6, 32), 7: (3, 10)},
    r"sles|suse(?: linux)?(?: enterprise server)?": {9: (2, 6, 5), 10: (2, 6, 16), 11: (2, 6, 27), 12: (3, 12)},
    r"debian(?: gnu/linux)?": {4: (2, 6, 18), 5: (2, 6, 26), 6: (2, 6, 32), 7: (3, 2)},
    r"ubuntu": {6: (2, 6, 15), 7: (2, 6, 20), 8: (2, 6, 24), 10: (2, 6, 32), 12: (3, 2)},
}
"""First kernels of distributions by version; later versions have later ones."""
ENGINES = {
    r"virtuoso 4(?:\.\d+)*|virtuoso before (?:the )?5(?:\.0)?(?: overhaul)?": "virtuoso-4",
    r"virtuoso 5(?:\.\d+)*": "virtuoso-5",
    r"virtuoso 6(?:\.\d+)*": "virtuoso-6",
    r"virtuoso": "",
    r"postgres(?:ql)?": "postgresql-15",
    r"postgres(?:ql)? ?(1[3-8])(?:\.\d+)*": r"postgresql-\1",
    r"mysql ?5\.([17])(?:\.\d+)*": r"mysql-5-\1",
    r"mysql ?8\.([04])(?:\.\d+)*": r"mysql-8-\1",
    r"mysql(?: ?8)?": "mysql-8-4",
    r"mysql ?9(?:\.\d+)*": "mysql-9",
    r"percona(?: server)? ?5\.7(?:\.\d+)*": "percona-5-7",
    r"mariadb ?10\.(6|11)(?:\.\d+)*": r"mariadb-10-\1",
    r"mariadb ?(1[12])(?:\.\d+)*": r"mariadb-\1",
    r"mariadb": "mariadb-12",
    r"oracle 10g": "oracle-10g",
}
"""Names of engines with the release, and their entries."""
NEAREST = {
    r"virtuoso 7(?:\.\d+)*": "virtuoso-6",
    r"postgres(?:ql)? ?(?:[6-9]|1[0-2])(?:\.\d+)*": "postgresql-13",
    r"postgres(?:ql)? ?(?:19|[2-9]\d)(?:\.\d+)*": "postgresql-18",
    r"mysql ?5(?:\.0(?:\.\d+)*)?": "mysql-5-1",
    r"mysql ?5\.[56](?:\.\d+)*": "mysql-5-7",
    r"mysql ?8\.[1-3](?:\.\d+)*": "mysql-8-0",
    r"percona(?: server)? ?8\.([04])(?:\.\d+)*": r"mysql-8-\1",
    r"mariadb ?10\.[45](?:\.\d+)*": "mariadb-10-6",
    r"mariadb ?10(?:\.(?:[7-9]|10)(?:\.\d+)*)?": "mariadb-10-11",
}
"""Releases without an entry of their own, and the nearest that has one."""
OPEN_RELEASES = {"mysql": ("mysql-8-0",), "mysql 8": ("mysql-8-0",)}
"""Names that leave the release open, and entries that are meant as often."""
UNKNOWN = {
    r"(?:mysql|innodb|aurora mysql|percona(?: server)?|xtradb)(?: ?\d+(?:\.\d+)*)?": (
        "MySQL 9, MySQL 8.4, MySQL 8.0, MySQL 5.7, Percona 5.7"
    ),
    r"mariadb(?: ?\d+(?:\.\d+)*)?": "MariaDB 12, MariaDB 11, MariaDB 10.11, MariaDB 10.6",
    r"aurora(?: postgresql)?": "PostgreSQL 15",
    r"oracle(?: database)?(?: ?\d+[a-z]*)?": "Oracle 10g",
    r"(?:microsoft |ms )?sql ?server(?: \d+)?|mssql|db2|sqlite|mongodb": "PostgreSQL 15, MySQL 8.4",
}
"""Engines of which the catalogue hasn't this release, and what it has."""


@dataclass(frozen=True)
class NamedEngine:
    """A database engine: its entry in the catalogue, empty if its release isn't said.

    `nearest`: the release has no entry of its own. `others`: entries that the name may mean as well.
    """

    entry: str
    nearest: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class NamedSystem:
    """An operating system: its entry in the catalogue, None if only its kind, Linux, is known.

    `queues`: whether it queues commands in a SATA drive, None if that isn't known. `nearest`: it has no entry of its
    own.
    """

    entry: str | None
    queues: bool | None
    nearest: bool = False


def system_of(piece: str) -> NamedSystem | None:
    """The operating system that a piece names; None if it names none."""
    text = re.sub(r"[\s_-]+", " ", piece.lower().replace("microsoft ", "")).strip()
    text = re.sub(r",? ?(?:\(?(?:64|32) bits?\)?|x86 64|amd64)$", "", text)
    if match := re.fullmatch(r"(?:sun ?os|solaris)(?: (\d+)(?:\.(\d+))?)?(?: ?\(?x86\)?)?", text):
        version = int(match[1] or 10)
        version = int(match[2] or 7) if version == 2 else int(match[2] or 10) if version == 5 else version
        return NamedSystem("solaris-7" if version <= 7 else "solaris-10", None, version not in {7, 10})
    if re.fullmatch(r"windows(?: \w+){0,4}", text):
        return NamedSystem("windows-2000", None, text != "windows 2000")
    if match := re.fullmatch(r"(?:mac ?os(?: ?x)?|os ?x)(?: ?(\d+(?:\.\d+)*))?", text):
        return NamedSystem("mac-os-x-10-4", None, not (match[1] or "").startswith("10.4"))
    kernel = _kernel(text)
    if kernel is not None:
        return NamedSystem("linux-2-6" if kernel < (3,) else "linux", kernel >= QUEUEING_SINCE, kernel < (2, 6))
    names = "|".join(["(?:gnu/)?linux", *KERNELS])
    return NamedSystem(None, None) if re.fullmatch(rf"(?:{names})(?: linux)?", text) else None


def engine_of(piece: str) -> NamedEngine | None:
    """The engine that a piece names; None if it names none.

    Raises ValueError for a release that has no entry and is too far from those that have, with their names.
    """
    text = re.sub(r"[\s_-]+", " ", piece.lower()).strip().replace("virtuoso v", "virtuoso ")
    for patterns in (ENGINES, NEAREST):
        for pattern, entry in patterns.items():
            if match := re.fullmatch(pattern, text):
                return NamedEngine(
                    match.expand(entry),
                    patterns is NEAREST,
                    OPEN_RELEASES.get(re.sub(r"(?<=[a-z])(?=\d)", " ", text), ()),
                )
    for pattern, nearest in UNKNOWN.items():
        if re.fullmatch(pattern, text):
            raise ValueError(f"the catalogue has no such release; nearest: {nearest}; name one of those")
    return None


def _kernel(text: str) -> tuple[int, ...] | None:
    """The version of the Linux kernel that a name says or implies."""
    if match := re.fullmatch(r"(?:linux )?(?:kernel )?([2-9](?:\.\d+){1,3})(?: kernel)?", text):
        return tuple(int(part) for part in match[1].split("."))
    for names, first in KERNELS.items():
        if match := re.fullmatch(rf"(?:{names}) ?(\d+)(?:\.\d+)*(?: lts)?", text):
            known = [version for version in first if version <= int(match[1])]
            return first[max(known)] if known else first[min(first)]
    return None
