"""The page's folder: confirmed runs, uploaded runs and calibrations. Nothing else is read or written."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from oltpsim.calibration.fit import shipped_calibrations
from oltpsim.models.input import did_you_mean
from oltpsim.scenarios.page.model import TAKEN_AWAY, ModelFile
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.scenarios.run import SavedRun, program_hash, read_saved_run
from oltpsim.simulator.errors import InputError

DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class PageFolder:
    """Places in the folder by digests that the program makes, never by names that a browser sends."""

    path: Path

    def run_path(self, question: PageQuestion) -> Path:
        """File of a question's confirmed run by this program, and by what its model holds. Raises InputError."""
        model = self.model(question)
        by = "" if model is None else f"-{model.digest}"
        return self.path / "confirmed" / f"{question.digest}{by}-{program_hash()}.json"

    def shipped_models(self) -> dict[str, ModelFile]:
        """The program's own models, by name."""
        return {name: _model_file(path, name) for name, path in shipped_calibrations().items()}

    def model(self, question: PageQuestion) -> ModelFile | None:
        """The model that is to answer a question; None if the parts' own numbers are. Raises InputError."""
        if not question.model:
            return None
        shipped = shipped_calibrations()
        if question.model in shipped:
            path, name = shipped[question.model], question.model
        elif question.model in self.calibrations():
            path, name = self.calibration_path(question.model).with_suffix(".model.json"), str(TAKEN_AWAY)
        else:
            near = did_you_mean(question.model, shipped)
            raise InputError(
                f"model: {question.model!r} is neither one of the program's nor a finished calibration of this "
                f"page{near}; the program's are {', '.join(shipped)}"
            )
        return _model_file(path, name)

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


def _model_file(path: Path, name: str) -> ModelFile:
    return ModelFile(path, hashlib.sha256(path.read_bytes()).hexdigest()[:16], name)


def digest_of(*words: object) -> str:
    """Hash that names what a job leaves."""
    return hashlib.sha256(repr(words).encode()).hexdigest()[:16]


def _checked(name: object) -> str:
    if not isinstance(name, str) or not DIGEST.fullmatch(name):
        raise InputError(f"{str(name)[:40]!r}: is no name of this page's")
    return name
