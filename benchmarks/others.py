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


@cache
def python() -> str:
    """The interpreter of the peers' environment, which is made on the first call. Raises NotThere."""
    interpreter = ENVIRONMENT / "bin" / "python"
    if not python_is_there():
        print("environment of the peers ...", file=sys.stderr, flush=True)
        words = [str(interpreter), "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check", "install"]
        _build([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)])
        _build([*words, "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)])
        STAMP.write_bytes(LOCK.read_bytes())
    return str(interpreter)


@cache
def compiled(name: str, *libraries: str) -> str:
    """The program of `peers/NAME.cpp`. Raises NotThere."""
    if shutil.which("g++") is None:
        raise NotThere("there is no g++")
    FOLDER.mkdir(exist_ok=True)
    program, new = FOLDER / name, FOLDER / f"{name}-{os.getpid()}"
    source = str(HERE / "peers" / f"{name}.cpp")
    try:
        _build(["g++", "-O3", "-march=native", "-std=c++17", "-o", str(new), source, *libraries])
        new.replace(program)  # at once: another process may be doing the same
    finally:
        new.unlink(missing_ok=True)
    return str(program)


def run_python(name: str, given: str) -> dict[str, Any]:
    """What a peer written in Python says."""
    return _answer([python(), "-m", "benchmarks.peers", name], given)


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


def _build(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise NotThere(f"{Path(command[0]).name} failed: {reason}")
