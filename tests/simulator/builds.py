"""Compiled libraries by other compilers and without optimisation, beside the program's own by g++ -O3."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oltpsim.simulator.compiled_library import CompiledLibrary

ROOT = Path(__file__).resolve().parents[2]
OTHER_BUILDS = ("g++-O0", "clang++-O0", "clang++-O3")


def builds_of(library: CompiledLibrary) -> dict[str, Path]:
    """The library by each compiler; skips the test where clang++ is missing."""
    if not shutil.which("clang++-19"):
        pytest.skip("clang++-19 is not installed: `make test` installs it from Debian's packages")
    subprocess.run([sys.executable, ROOT / ".ci" / "libraries.py", "compilers"], check=True)
    others = {name: ROOT / "out" / "libraries" / name / library.path.name for name in OTHER_BUILDS}
    return {"g++-O3": library.path, **others}
