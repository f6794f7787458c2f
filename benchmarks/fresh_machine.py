"""Benchmark 13: from nothing to the first answer: a clone, an empty home, no caches."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checkout import THIS, Checkout, Options
from benchmarks.page import Section, at_most, table
from benchmarks.start import SECOND, seconds_of

MOST_S, MOST_COMPILING_CPU_S, MOST_MIB = 60, 20, 300


@dataclass(frozen=True)
class Fresh:
    """What a newcomer waits for, and what is on disk then."""

    answer_s: float
    compiling_cpu_s: float
    installed_mib: float


def fresh(checkout: Checkout) -> Fresh:
    """Clone what is committed, and ask for the example's answer."""
    with tempfile.TemporaryDirectory(prefix="oltpsim-") as name:
        folder, home = Path(name) / "clone", Path(name) / "home"
        home.mkdir()
        environment = environment_of(home)
        clone = ["git", "clone", "--quiet", f"file://{checkout.folder}", str(folder)]
        cloning_s, _ = seconds_of(clone, home, environment)
        demo_s, _ = seconds_of(["make", "demo"], folder, environment)
        installed = sum(path.lstat().st_blocks for path in (folder / ".venv").rglob("*"))
        return Fresh(cloning_s + demo_s, compiling_cpu_s(folder, home), 512 * installed / (1 << 20))


def environment_of(home: Path) -> dict[str, str]:
    """The variables of this process, without those that lead to its own packages and caches."""
    own = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL")
    passed = {key: value for key, value in os.environ.items() if key not in own and not key.startswith("XDG_")}
    return passed | {"HOME": str(home)}


def compiling_cpu_s(folder: Path, home: Path) -> float:
    """CPU time of compiling: the libraries, or in commits before them what the first run takes more than the second."""
    script = folder / ".ci" / "libraries.py"
    if script.exists():
        for library in folder.glob("simulator/*/lib*.so"):
            library.unlink()
        return seconds_of([sys.executable, str(script)], folder, environment_of(home))[1]
    empty = home / "empty"
    empty.mkdir()
    run = [str(folder / ".venv" / "bin" / "oltpsim"), *SECOND]
    first, second = (seconds_of(run, folder, environment_of(empty))[1] for _ in range(2))
    return first - second


def section(options: Options) -> Section:
    checkouts = [THIS, options.beside] if options.beside else [THIS]
    found = [fresh(checkout) for checkout in checkouts]
    rows = [
        [checkout.name, f"{each.answer_s:.0f}", f"{each.compiling_cpu_s:.1f}", f"{each.installed_mib:.0f}"]
        for checkout, each in zip(checkouts, found, strict=True)
    ]
    text = (
        "What is committed is cloned into an empty folder, with an empty home, and `make demo` makes the environment "
        "and simulates the example. One run; packages come from the index that pip is set to."
    )
    goals = [
        at_most("seconds from the clone to the answer:", MOST_S, found[0].answer_s),
        at_most("CPU seconds to compile:", MOST_COMPILING_CPU_S, found[0].compiling_cpu_s),
        at_most("MiB of an installation on disk:", MOST_MIB, found[0].installed_mib),
    ]
    head = ["checkout", "clone to answer, wall s", "compiling, CPU s", "installation, MiB"]
    return Section("A fresh machine", [text, table(head, rows)], goals)
