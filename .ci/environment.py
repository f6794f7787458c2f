"""Make .venv what the lock file says; do nothing when it already is.

    python3 .ci/environment.py run                    # what `make demo` needs
    python3 .ci/environment.py dev --browser --clang  # what `make test` needs

While pip installs, g++ compiles what .ci/libraries.py names. Standard library only, and readable by an older Python,
so that the first thing a newcomer sees is a sentence.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import libraries

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "oltpsim-environment.json"
LOCKS = {"run": ROOT / "requirements.lock", "dev": ROOT / "requirements-dev.lock"}
PROJECT = ROOT / "pyproject.toml"
REQUIRES_PYTHON = re.compile(r'^requires-python = "(>=3\.(\d+)(?:,<3\.(\d+))?)"$', re.MULTILINE)
REQUIRED, OLDEST, BEYOND = REQUIRES_PYTHON.search(PROJECT.read_text()).groups()
SUITABLE_MINORS = range(int(OLDEST), int(BEYOND or 100))
CHROMIUM = Path("/usr/bin/chromium")
POSTGRESQL = Path("/usr/lib/postgresql")
LABORATORY = (
    ("load generator", "sysbench", "sysbench"),
    ("second database", "mariadbd", "mariadb-server"),
    ("package finder", "pkg-config", "pkg-config"),
    ("file system in user space", "fusermount3", "fuse3"),
    ("its headers", "/usr/include/fuse3/fuse.h", "libfuse3-dev"),
    ("file system maker", "mkfs.ext4", "e2fsprogs"),
    ("loop devices", "losetup", "mount"),
)
PROGRAMS = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"


def main(arguments: list[str]) -> None:
    level = arguments[0]
    prefer_suitable_python()
    if not shutil.which("g++"):
        reason = install_program("compiler", "g++")
        if reason:
            fail(f"The kernel is C++ and g++ can't be installed ({reason}): run `apt-get install g++` as root.")
    compilations = libraries.start()
    if needed_digest(level) not in installed_digests():
        install(level, compilations)
    elif compilations:
        begin("C++ libraries")
        libraries.finish(compilations)
        end("compiled")
    if "--browser" in arguments and not CHROMIUM.exists():
        install_for_tests("browser", "chromium")
    if "--clang" in arguments and not shutil.which("clang++-19"):
        install_for_tests("second compiler", "clang-19")
    if "--postgresql" in arguments and not list(POSTGRESQL.glob("*/bin/initdb")):
        install_for_tests("database", "postgresql")
    if "--laboratory" in arguments:
        for what, program, package in LABORATORY:
            if not (shutil.which(program, path=PROGRAMS) or Path(program).exists()):
                install_for_tests(what, package)


def prefer_suitable_python() -> None:
    """Carry on in another python3.N when this one is too old or too new and nobody asked for it by name."""
    if sys.version_info[1] in SUITABLE_MINORS:
        return
    this = "{} is Python {}.{}".format(sys.executable, *sys.version_info[:2])
    if "PYTHON" not in os.environ:
        for minor in reversed(SUITABLE_MINORS):
            other = shutil.which(f"python3.{minor}")
            if other and starts([other, "-c", ""]):  # a version manager's shim may refuse to
                os.execv(other, [other, *sys.argv])
    fail(f"oltpsim needs Python {REQUIRED} and {this}: name one, as in `make demo PYTHON=python3.12`.")


def starts(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def needed_digest(level: str) -> str:
    """Change with all that asks for another installation: the lock, the metadata, the checkout's path."""
    digest = hashlib.sha256(f"{level} {VENV}".encode())
    for path in (LOCKS[level], PROJECT):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def installed_digests() -> list[str]:
    """Return what .venv holds; nothing if it is missing, broken, or not of the Python that was asked for."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return []
    unwanted = "PYTHON" in os.environ and stamp["python"] != list(sys.version_info[:2])
    broken = not (VENV / "bin" / "python").exists()
    return [] if unwanted or broken else stamp["digests"]


def install(level: str, compilations: list[libraries.Compilation]) -> None:
    started = time.monotonic()
    count = sum("==" in line for line in LOCKS[level].read_text().splitlines())
    begin(f"environment: {count} locked packages")
    kept = installed_digests()
    if not kept:
        if importlib.util.find_spec("ensurepip") is None:
            install_venv_module()
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    # Wheels only: a source package would run its own build code, and need a compiler.
    # Bytecode is written when a module is first imported: for all of them it would take as long as everything else.
    pip_install = [*pip, "install", "--no-compile"]
    run([*pip_install, "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCKS[level])])
    libraries.finish(compilations)  # the build backend compiles what is not there
    # It came with the lock, so nothing is fetched for the checkout itself.
    run([*pip_install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    digests = [needed_digest("run"), needed_digest("dev")] if level == "dev" else [needed_digest("run")]
    python = run([str(VENV / "bin" / "python"), "-c", "import sys; print(*sys.version_info[:2])"]).split()
    STAMP.write_text(json.dumps({"python": [int(number) for number in python], "digests": digests}))
    end(f"ready in {time.monotonic() - started:.0f} s")


def install_venv_module() -> None:
    package = "python{}.{}-venv".format(*sys.version_info[:2])
    reason = apt_install(package)
    if reason:
        fail(f"Environments can't be made here ({reason}): run `apt-get install {package}` as root.")


def install_for_tests(what: str, package: str) -> None:
    """Do without it if need be, except in CI: its tests are skipped."""
    reason = install_program(what, package)
    if reason and os.environ.get("CI") == "true":
        fail(f"Every test must run in CI and {package} could not be installed: {reason}.")
    elif reason:
        print(f"tests with a {what} will be skipped; `apt-get install {package}` brings them back")


def install_program(what: str, package: str) -> str | None:
    """Install a Debian package and say so in one line; return why that was not possible, or None."""
    started = time.monotonic()
    begin(f"{what}: Debian's {package}")
    reason = apt_install(package)
    end(f"missing ({reason})" if reason else f"ready in {time.monotonic() - started:.0f} s")
    return reason


def apt_install(package: str) -> str | None:
    """Install a Debian package without asking; return why that was not possible, or None."""
    if not shutil.which("apt-get"):
        return "there is no apt-get here"
    become_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if become_root and not (shutil.which("sudo") and starts([*become_root, "true"])):
        return "only root may install packages"
    apt = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    apt += ["-o", "DPkg::Lock::Timeout=120"]  # another installation may be under way
    command = [*apt, "install", "-y", "--no-install-recommends", package]
    # A new machine has no package lists, and an old one has lists of packages that are gone: then ask anew.
    for attempt in (command, [*apt, "update"], command):
        done = subprocess.run(attempt, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0 and attempt is command:
            return None
    return (done.stderr.strip().splitlines() or ["apt-get gave no reason"])[-1]


def run(command: list[str]) -> str:
    """Run quietly; on failure print what the command said and stop."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        end("failed")
        fail("{}\n{}\nThat was: {}".format(done.stdout.strip(), done.stderr.strip(), " ".join(command)).strip())
    return done.stdout


def begin(text: str) -> None:
    print(f"{text} ... ", end="", flush=True)


def end(text: str) -> None:
    print(text, flush=True)


def fail(text: str) -> None:
    print(text, file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
