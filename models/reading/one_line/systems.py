"""Operating systems and database engines by the names that people use, as entries of the catalogue."""

import re
from dataclasses import dataclass

from oltpsim.models.reading.one_line.words import table

QUEUEING_SINCE = (2, 6, 19)
"""the first Linux whose SATA driver (libata) queues commands in the drive with the usual controllers"""

NO_SYSTEM = "the catalogue has {} alone, which is another system by now; write 'Linux', or leave it out"


@dataclass(frozen=True)
class NamedEngine:
    """A database engine: its entry in the catalogue, empty if its release isn't said.

    `nearest`: the release has no entry of its own. `others`: entries that the name may mean as well.
    """

    entry: str
    nearest: bool = False
    others: tuple[str, ...] = ()

    def is_kin(self, other: "NamedEngine") -> bool:
        """Whether both are releases of one engine."""
        return self.entry.partition("-")[0] == other.entry.partition("-")[0]


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
    if re.fullmatch(r"windows(?: (?:server|nt|xp|vista|\d+|r2|pro|standard|enterprise|datacenter)){0,4}", text):
        if re.search(r"vista|\b(?:7|8|1\d|20(?:0[89]|[1-9]\d))\b", text):
            raise ValueError(NO_SYSTEM.format("Windows 2000"))
        return NamedSystem("windows-2000", None, text != "windows 2000")
    if match := re.fullmatch(r"(?:mac ?os(?: ?x)?|os ?x)(?: ?(\d+(?:\.\d+)*))?", text):
        if match[1] and not re.match(r"10(?:\.[0-6])?(?!\d)", match[1]):
            raise ValueError(NO_SYSTEM.format("Mac OS X 10.4"))
        return NamedSystem("mac-os-x-10-4", None, not (match[1] or "").startswith("10.4"))
    kernel = _kernel(text)
    if kernel is not None:
        return NamedSystem("linux-2-6" if kernel < (3,) else "linux", kernel >= QUEUEING_SINCE, kernel < (2, 6))
    names = "|".join(["(?:gnu/)?linux", *(row["form"] for row in table()["kernels"])])
    return NamedSystem(None, None) if re.fullmatch(rf"(?:{names})(?: linux)?", text) else None


def engine_of(piece: str) -> NamedEngine | None:
    """The engine that a piece names; None if it names none.

    Raises ValueError for a release that has no entry and is too far from those that have, with their names.
    """
    text = re.sub(r"[\s_-]+", " ", piece.lower()).strip().replace("virtuoso v", "virtuoso ")
    for row in table()["engines"]:
        if match := re.fullmatch(row["form"], text):
            if "without" in row:
                raise ValueError(f"the catalogue has no such release; nearest: {row['without']}; name one of those")
            others = table()["open_releases"].get(re.sub(r"(?<=[a-z])(?=\d)", " ", text), ())
            return NamedEngine(row["entry"].format(**match.groupdict()), row.get("nearest", False), tuple(others))
    return None


def _kernel(text: str) -> tuple[int, ...] | None:
    """The version of the Linux kernel that a name says or implies."""
    if match := re.fullmatch(r"(?:linux )?(?:kernel )?([2-9](?:\.\d+){1,3})(?: kernel)?", text):
        return tuple(int(part) for part in match[1].split("."))
    for row in table()["kernels"]:
        if match := re.fullmatch(rf"(?:{row['form']}) ?(?P<version>\d+)(?:\.\d+)*(?: lts)?", text):
            first = dict(row["versions"])
            known = [version for version in first if version <= int(match["version"])]
            return tuple(int(part) for part in first[max(known, default=min(first))].split("."))
    return None
