"""The page's folder: confirmed runs, uploaded runs and calibrations. Nothing else is read or written."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from scenarios.page.question import PageQuestion
from scenarios.run import SavedRun, program_hash, read_saved_run
from simulator.errors import InputError

DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class PageFolder:
    """Places in the folder by digests that the program makes, never by names that a browser sends."""

    path: Path

    def run_path(self, question: PageQuestion) -> Path:
        """File of a question's confirmed run by this program."""
        return self.path / "confirmed" / f"{question.digest}-{program_hash()}.json"

    def confirmed(self, question: PageQuestion) -> SavedRun | None:
        """A question's confirmed run, if there is one that can be read."""
        path = self.run_path(question)
        if not path.is_file():
            return None
        try:
            return read_saved_run(path)
        except InputError:
            return None

    def plan_path(self, digest: str) -> Path:
        """What is shown of a plan; its own page lies beside it."""
        return self.path / "plans" / f"{_checked(digest)}.json"

    @property
    def uploads(self) -> Path:
        """Folders of uploads."""
        return self.path / "uploads"

    def upload(self, name: str) -> Path:
        """Folder of one upload. Raises InputError if there is none."""
        path = self.uploads / _checked(name)
        if not path.is_dir():
            raise InputError("upload: is no longer there; choose the files again")
        return path

    def calibration_path(self, digest: str) -> Path:
        """What is shown of a calibration; its model lies beside it."""
        return self.path / "calibrations" / f"{_checked(digest)}.json"

    def calibrations(self) -> list[str]:
        """Digests of finished calibrations, the newest first."""
        files = (self.path / "calibrations").glob("*.model.json")
        return [each.name.partition(".")[0] for each in sorted(files, key=lambda file: -file.stat().st_mtime)]


def digest_of(*words: object) -> str:
    """Hash that names what a job leaves."""
    return hashlib.sha256(repr(words).encode()).hexdigest()[:16]


def _checked(name: object) -> str:
    if not isinstance(name, str) or not DIGEST.fullmatch(name):
        raise InputError(f"{str(name)[:40]!r}: is no name of this page's")
    return name
