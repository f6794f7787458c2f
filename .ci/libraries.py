"""Compile the C++ of the packages into the libraries that ctypes loads; do nothing where they are up to date.

    python3 .ci/libraries.py              # simulator/NAME/libNAME.so, which the program loads
    python3 .ci/libraries.py checked      # out/libraries/checked/: bounds, addresses and undefined behaviour checked
    python3 .ci/libraries.py compilers    # out/libraries/{g++-O0,clang++-O0,clang++-O3}/: the same by other compilers
    python3 .ci/libraries.py warnings     # out/libraries/warnings/: every warning is an error

A source simulator/.../NAME.cpp includes the headers beside it, one of which records.py makes. Standard library only,
and readable by an older Python: this runs before there is an environment, and inside `pip install`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import records
import schema

ROOT = Path(__file__).resolve().parent.parent
# The same bytes on every machine: no instruction that some processors lack, no product and sum rounded as one. Nobody
# asks for errno or for traps of floating-point operations, which would keep the compiler from taking several at once.
FLOATS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
COMMON = ["-std=c++20", *FLOATS, "-fvisibility=hidden", "-fPIC", "-shared", "-Wl,--no-undefined"]
# The compiler's own library goes in and stays inside: the machine of a user may have an older one.
PRODUCT = ["-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL"]
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
BUILDS = {
    "product": {"": ["g++", "-O3", *PRODUCT]},
    "checked": {"checked": ["g++", "-O1", *SANITIZERS, "-DOLTPSIM_CHECKED", "-D_GLIBCXX_ASSERTIONS"]},
    "compilers": {
        "g++-O0": ["g++", "-O0", *PRODUCT],
        "clang++-O0": ["clang++-19", "-O0", *PRODUCT],
        "clang++-O3": ["clang++-19", "-O3", *PRODUCT],
    },
    "warnings": {"warnings": ["g++", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]},
}


class Compilation(NamedTuple):
    """A compiler at work on what will be `library` once `finish` has renamed it."""

    library: Path
    unfinished: Path
    compiler: subprocess.Popen[str]


def main(arguments: list[str]) -> None:
    finish(start(*arguments))


def start(build: str = "product") -> list[Compilation]:
    """Begin to compile, all at once, those libraries of a build whose source or command has changed."""
    records.write()
    schema.write()
    compilations = []
    for name, options in BUILDS[build].items():
        for source in sorted(ROOT.glob("simulator/**/*.cpp")):
            folder = ROOT / "out" / "libraries" / name if name else source.parent
            library, unfinished = (folder / f"lib{source.stem}.so{suffix}" for suffix in ("", f".{os.getpid()}"))
            command = [*options, *COMMON]
            identity = sources_digest(source.parent) + hashlib.sha256(" ".join(command).encode()).hexdigest()[:8]
            if library.exists() and bytes.fromhex(identity) in library.read_bytes():
                continue
            if not shutil.which(command[0]):
                sys.exit(f"{command[0]} is needed to compile {source.relative_to(ROOT)} and is not installed.")
            folder.mkdir(parents=True, exist_ok=True)
            # From the root and by a relative path, so that no name of a folder gets into the library.
            command += [f"-Wl,--build-id=0x{identity}", "-o", str(unfinished), str(source.relative_to(ROOT))]
            compiler = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
            compilations.append(Compilation(library, unfinished, compiler))
    return compilations


def sources_digest(folder: Path) -> str:
    """First half of a library's build identifier, by which simulator/compiled_library.py knows an outdated one."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.[ch]pp")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def finish(compilations: list[Compilation]) -> None:
    """Wait for the compilers and rename what they have made; if one failed, stop with what it wrote."""
    errors = {compilation: compilation.compiler.communicate()[1] for compilation in compilations}
    for compilation, error in errors.items():
        if compilation.compiler.returncode != 0:
            sys.exit(f"The C++ does not compile.\n{error}That was: {' '.join(map(str, compilation.compiler.args))}")
        compilation.unfinished.replace(compilation.library)


if __name__ == "__main__":
    main(sys.argv[1:])
