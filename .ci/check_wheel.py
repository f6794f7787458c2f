"""Build the source archive and from it the wheel, install it in new environments, use it from elsewhere.

Tests that run in the tree can't see a data file that was not packed, nor a dependency that was not declared. One wheel
is for every Python, so each of this machine's that suits gets an environment, with no compiler on its path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment import SUITABLE_MINORS, starts

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("simulator", "models", "calibration", "scenarios")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="oltpsim-wheel-") as folder:
        elsewhere = Path(folder)
        run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(elsewhere), str(ROOT)],
            elsewhere,
        )
        (wheel,) = elsewhere.glob("*.whl")
        check_contents(wheel)
        with ThreadPoolExecutor(2) as pool:
            for line in pool.map(lambda python: check_use(wheel, python, elsewhere), pythons()):
                print(line)


def check_contents(wheel: Path) -> None:
    """All committed files of the packages are in the wheel, data and templates too, and what is compiled."""
    listed = run(["git", "ls-files", "-z", "--", *PACKAGES, "src/oltpsim/*.py"], ROOT).split("\0")
    committed = {"oltpsim" / Path(name.removeprefix("src/oltpsim/")) for name in listed if (ROOT / name).is_file()}
    sources = [name for name in committed if name.parts[1] == "simulator" and name.suffix == ".cpp"]
    compiled = {path.with_name(f"lib{path.stem}.so") for path in sources}
    packed = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    missing = {str(name) for name in (committed | compiled) - packed}
    missing |= {
        f"(nothing but oltpsim/ may lie beside it) {name}" for name in packed if not name.parts[0].startswith("oltpsim")
    }
    if missing:
        sys.exit("The wheel lacks {}".format(", ".join(sorted(missing))))


def pythons() -> list[str]:
    """One interpreter of every suitable version: on the path, or among those of pyenv, whose shims may refuse."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in SUITABLE_MINORS:
        name = f"python3.{minor}"
        candidates = [shutil.which(name), *map(str, sorted(versions.glob(f"3.{minor}.*/bin/{name}")))]
        found += [python for python in candidates if python and starts([python, "-c", "import ensurepip"])][:1]
    return found or [sys.executable]


def check_use(wheel: Path, python: str, elsewhere: Path) -> str:
    """Wheel and locked run-time packages suffice to import all, answer in Python, load libraries, run the command."""
    folder = elsewhere / Path(python).name
    run([python, "-m", "venv", str(folder)], elsewhere)
    pip = ["python", "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    lock = str(ROOT / "requirements.lock")
    for command in (
        [*pip, "install", "--no-compile", "--require-hashes", "--only-binary", ":all:", "--requirement", lock],
        [*pip, "install", "--no-deps", str(wheel)],
        [*pip, "check"],
        ["python", "-c", f"import {', '.join(f'oltpsim.{name}' for name in PACKAGES)}"],
        ["python", "-c", "import oltpsim; oltpsim.run(oltpsim.load('v20z-10-warehouses'), engine='analytic')"],
        ["python", "-c", "from oltpsim.simulator.kernel.library import kernel_library; kernel_library()"],
        ["python", "-c", "from oltpsim.simulator.analytic.equations.compiled import LIBRARY; LIBRARY.load()"],
        ["oltpsim", "--help"],
        ["python", "-m", "oltpsim", "-V"],
        ["oltpsim", "run", "v20z-10-warehouses", "--set", "interval.duration_s=60"],
    ):
        run([str(folder / "bin" / command[0]), *command[1:]], elsewhere, PATH=str(folder / "bin"))
    return f"{wheel.name} works with {python}"


def run(command: list[str], folder: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("{}\n{}\nThat was: {}".format(done.stdout.strip(), done.stderr.strip(), " ".join(command)))
    return done.stdout


if __name__ == "__main__":
    main()
