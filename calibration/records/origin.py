"""Provenance: versions of the program and a hash of its code."""

import hashlib
import json
import platform
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path


@cache
def code_digest(*packages: str) -> bytes:
    """A hash of the source of some packages of this program."""
    code = hashlib.sha256()
    for package in packages:
        root = Path(str(resources.files(package)))
        for file in sorted(path for path in root.rglob("*") if path.suffix in {".py", ".hpp", ".cpp"}):
            code.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return code.digest()


@cache
def fit_program() -> str:
    """Names all but its task that a fit depends on: code, libraries, interpreter, kind of processor."""
    return json.dumps([fit_versions(), platform.machine()], sort_keys=True)


def fit_versions() -> dict[str, str]:
    """Versions of the program and of the libraries that a fit's figures depend on."""
    code = code_digest("oltpsim.calibration", "oltpsim.models", "oltpsim.simulator").hex()[:20]
    names = {name: version(name) for name in ("oltpsim", "numpy", "scipy")}
    return names | {"python": platform.python_version(), "code": code}
