"""Build the source archive and from it the wheel, install it in a new environment, use it from elsewhere.

Tests that run in the tree can't see a data file that was not packed, nor a dependency that was not declared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

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
        check_use(wheel, elsewhere)


def check_contents(wheel: Path) -> None:
    """Every committed file of the four packages is in the wheel, data files and templates too."""
    listed = run(["git", "ls-files", "-z", "--", *PACKAGES], ROOT).split("\0")
    committed = {name for name in listed if name and (ROOT / name).exists()}
    missing = committed - set(zipfile.ZipFile(wheel).namelist())
    if missing:
        sys.exit("The wheel lacks {}".format(", ".join(sorted(missing))))


def check_use(wheel: Path, elsewhere: Path) -> None:
    """The wheel and the locked run-time packages suffice to start the command and import every package."""
    venv.create(elsewhere / "venv", with_pip=True)
    python = str(elsewhere / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    lock = str(ROOT / "requirements.lock")
    run([*pip, "install", "--require-hashes", "--only-binary", ":all:", "--requirement", lock], elsewhere)
    run([*pip, "install", "--no-deps", str(wheel)], elsewhere)
    run([*pip, "check"], elsewhere)
    run([python, "-c", f"import {', '.join(PACKAGES)}"], elsewhere)
    run([str(elsewhere / "venv" / "bin" / "oltpsim"), "--help"], elsewhere)


def run(command: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("{}\n{}\nThat was: {}".format(done.stdout.strip(), done.stderr.strip(), " ".join(command)))
    return done.stdout


if __name__ == "__main__":
    main()
