"""Compiled libraries: where one lies, whether it is that of its sources, what the functions of its C interface take."""

import ctypes
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from oltpsim.simulator.errors import InstallationError

ERROR_BYTES = 512
"""room for the sentence of an error that a function of a library reports"""


@dataclass(frozen=True)
class CompiledLibrary:
    """Library of the C++ in its folder, compiled by .ci/libraries.py.

    `variable`: environment variable with the path of a library to load instead, such as the one that checks bounds.
    `interface_version`: what `oltpsim_interface_version` must return. `functions`: result and arguments, by name.
    """

    path: Path
    variable: str
    interface_version: int
    functions: dict[str, tuple[Any, list[Any]]]

    def load(self) -> ctypes.CDLL:
        """Library with its functions declared, loaded once.

        Raises InstallationError if there is none, or not that of this code.
        """
        return self._loaded

    @cached_property
    def _loaded(self) -> ctypes.CDLL:
        named = os.environ.get(self.variable)
        path = Path(named) if named else self.path
        if not path.exists():
            remedy = f"{self.variable} names it: unset it for the program's own" if named else self._remedy()
            raise InstallationError(f"the compiled library {path} is missing; {remedy}")
        if not named and self._sources_digest() not in path.read_bytes():
            raise InstallationError(f"the compiled library {path} is older than its sources; {self._remedy()}")
        return self.load_from(path)

    def load_from(self, path: Path) -> ctypes.CDLL:
        """Library at a path with its functions declared. Raises InstallationError if it can't be used."""
        try:
            library = ctypes.CDLL(str(path))
            version = library.oltpsim_interface_version()
            if version != self.interface_version:
                wanted = f"has interface {version} where {self.interface_version} is needed"
                raise InstallationError(f"the compiled library {path} {wanted}; {self._remedy()}")
            for name, (result, arguments) in self.functions.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise InstallationError(f"the compiled library {path} can't be used ({error}); {self._remedy()}") from error
        return library

    def _sources_digest(self) -> bytes:
        """First half of the build identifier that .ci/libraries.py had the linker write into the library."""
        digest = hashlib.sha256()
        for path in sorted(self.path.parent.glob("*.[ch]pp")):
            digest.update(path.read_bytes())
        return digest.digest()[:16]

    def _remedy(self) -> str:
        in_a_checkout = any((folder / "Makefile").exists() for folder in self.path.resolve().parents)
        return "`make demo` compiles it" if in_a_checkout else "install oltpsim again, from a wheel for this machine"
