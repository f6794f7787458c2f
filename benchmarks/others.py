"""Start the peers: an environment of their own for those in Python, g++ for those in C++."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
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
    if shutil.which("g++") is None:
        raise NotThere("there is no g++")
    FOLDER.mkdir(exist_ok=True)
    program, new = FOLDER / name, FOLDER / f"{name}-{os.getpid()}"
    source = str(HERE / "peers" / f"{name}.cpp")
    if not _build(["g++", "-O3", "-march=native", "-std=c++17", "-o", str(new), source, *libraries]):
        raise NotThere("g++ could not compile it" + (f" with {' '.join(libraries)}" if libraries else ""))
    new.replace(program)  # at once: another process may be doing the same
    return str(program)


def run_python(name: str, given: str) -> dict[str, Any]:
    """What a peer written in Python says."""
    return _answer([python(), "-m", "benchmarks.peers", name], given)


def run_module(module: str, *words: str) -> dict[str, Any]:
    """What a module of ours says in a process of its own, with nothing in memory that others have left there."""
    return _answer([sys.executable, "-m", module, *words], "")


def run_program(program: str, given: str) -> dict[str, Any]:
    """What a peer written in C++ says."""
    return _answer([program], given)


@cache
def version(package: str) -> str:
    """The locked version of a peer."""
    found = re.search(rf"^{package}==(\S+)", LOCK.read_text(), re.MULTILINE)
    return found[1] if found else ""


def _answer(command: list[str], given: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{done.stderr.strip()}\nThat was: {' '.join(command)}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _build(command: list[str]) -> bool:
    """Whether a step of building worked. What it says goes to the screen: it names paths and hosts, a page must not."""
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    return done.returncode == 0
