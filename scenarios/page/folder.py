"""The page's folder: confirmed runs, uploaded runs and calibrations. Nothing else is read or written."""

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
