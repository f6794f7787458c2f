"""Start the peers: an environment of their own for those in Python, g++ for those in C++."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.checkout import ROOT, THIS

HERE = Path(__file__).resolve().parent
LOCK = HERE / "requirements.lock"
FOLDER = ROOT / ".benchmarks"
ENVIRONMENT = FOLDER / "peers"
STAMP = ENVIRONMENT / "requirements.lock"
Ask = Callable[[], dict[str, Any]]


class NotThere(Exception):
    """A peer can't be had on this machine; the text says why."""


def python_is_there() -> bool:
    """Whether the peers' environment is made already, of the packages that the lock names now."""
    return STAMP.exists() and STAMP.read_bytes() == LOCK.read_bytes()


def python() -> str:
    """The interpreter of the peers' environment, which is made on the first call. Raises NotThere."""
    if not _environment_is_made():
        raise NotThere("its environment could not be made")
    return str(ENVIRONMENT / "bin" / "python")


@cache
def _environment_is_made() -> bool:
    """Make it if need be; tried once."""
    if python_is_there():
        return True
    print("environment of the peers ...", file=sys.stderr, flush=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    made = _build([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)]) and _build(
        [*pip, "install", "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)]
    )
    if made:
        STAMP.write_bytes(LOCK.read_bytes())
    return made


@cache
def compiled(name: str, *libraries: str) -> str:
    """The program of `peers/NAME.cpp`. Raises NotThere."""
    return _compiled(name, ["g++", "-O3", "-march=native", "-std=c++17"], libraries)


@cache
def compiled_as_kernel(name: str) -> str:
    """The library of `peers/NAME.cpp`, which includes headers of the kernel, with the kernel's options. NotThere."""
    options = runpy.run_path(str(ROOT / ".ci" / "libraries.py"))
    headers = f"-I{ROOT / 'simulator' / 'kernel'}"
    return _compiled(name, [*options["BUILDS"]["product"][""], *options["COMMON"], headers], ())


def _compiled(name: str, command: Sequence[str], libraries: Sequence[str]) -> str:
    if shutil.which(command[0]) is None:
        raise NotThere(f"there is no {command[0]}")
    FOLDER.mkdir(exist_ok=True)
    program, new = FOLDER / name, FOLDER / f"{name}-{os.getpid()}"
    source = str(HERE / "peers" / f"{name}.cpp")
    if not _build([*command, "-o", str(new), source, *libraries]):
        raise NotThere(f"{command[0]} could not compile it" + (f" with {' '.join(libraries)}" if libraries else ""))
    new.replace(program)  # at once: another process may be doing the same
    return str(program)


def run_python(name: str, given: str) -> dict[str, Any]:
    """What a peer written in Python says."""
    return THIS.answer([python(), "-m", "benchmarks.peers", name], given)


def run_program(program: str, given: str) -> dict[str, Any]:
    """What a peer written in C++ says."""
    return THIS.answer([program], given)


@cache
def version(package: str) -> str:
    """The locked version of a peer."""
    found = re.search(rf"^{package}==(\S+)", LOCK.read_text(), re.MULTILINE)
    return found[1] if found else ""


def _build(command: list[str]) -> bool:
    """Whether a step of building worked. What it says goes to the screen: it names paths and hosts, a page must not."""
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    return done.returncode == 0
