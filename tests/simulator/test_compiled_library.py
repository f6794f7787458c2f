"""Each compiled library is loaded, or a sentence says what to do."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.simulator.analytic.equations import compiled
from oltpsim.simulator.compiled_library import CompiledLibrary
from oltpsim.simulator.errors import InstallationError
from oltpsim.simulator.kernel import library as kernel

LIBRARIES = {"kernel": kernel.LIBRARY, "analytic": compiled.LIBRARY}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CompiledLibrary:
    """As if it had not been loaded yet, and the environment named no other."""
    one: CompiledLibrary = request.param
    monkeypatch.delenv(one.variable, raising=False)
    return replace(one)


def test_the_library_has_the_interface_of_this_code(library: CompiledLibrary) -> None:
    assert library.load().oltpsim_interface_version() == library.interface_version
    assert library.load() is library.load()


def test_what_functions_take_is_declared(library: CompiledLibrary) -> None:
    loaded = library.load()
    for name, (result, arguments) in library.functions.items():
        function = getattr(loaded, name)
        assert (function.restype, function.argtypes) == (result, arguments)
    assert loaded.oltpsim_create.restype is ctypes.c_void_p


@pytest.mark.parametrize(
    ("in_a_checkout", "remedy"), [(True, "`make demo` compiles it"), (False, "install oltpsim again")]
)
def test_a_missing_library_is_an_error_with_a_remedy(
    library: CompiledLibrary, tmp_path: Path, in_a_checkout: bool, remedy: str
) -> None:
    missing = replace(library, path=tmp_path / "simulator" / "part" / library.path.name)
    if in_a_checkout:
        (tmp_path / "Makefile").touch()
    with pytest.raises(InstallationError, match=f"{library.path.name} is missing; {remedy}"):
        missing.load()


def test_a_missing_library_that_the_environment_names_is_an_error(
    library: CompiledLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.variable, str(tmp_path / "other.so"))
    with pytest.raises(InstallationError, match=f"other.so is missing; {library.variable} names it: unset it"):
        library.load()


def test_a_library_of_other_sources_is_refused(library: CompiledLibrary, tmp_path: Path) -> None:
    for path in (*library.path.parent.glob("*.[ch]pp"), library.path):
        shutil.copy(path, tmp_path)
    copied = replace(library, path=tmp_path / library.path.name)
    copied.load()
    next(tmp_path.glob("*.hpp")).write_text("// changed")
    with pytest.raises(InstallationError, match="older than its sources"):
        replace(copied).load()


def test_a_library_that_the_environment_names_is_loaded_instead(
    library: CompiledLibrary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source, other = tmp_path / "other.cpp", tmp_path / "other.so"
    functions = [f"long {name}() {{ return -1; }}" for name in {"oltpsim_interface_version", *library.functions}]
    source.write_text('extern "C" { ' + " ".join(functions) + " }")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", other, source], check=True)
    monkeypatch.setenv(library.variable, str(other))
    with pytest.raises(InstallationError, match=f"has interface -1 where {library.interface_version} is needed"):
        library.load()


@pytest.mark.parametrize("content", ["int nothing;", None], ids=["no such function", "no library"])
def test_what_is_not_the_library_is_refused(
    library: CompiledLibrary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    source, other = tmp_path / "other.cpp", tmp_path / "other.so"
    if content is None:
        other.write_text("text")
    else:
        source.write_text(content)
        subprocess.run(["g++", "-shared", "-fPIC", "-o", other, source], check=True)
    monkeypatch.setenv(library.variable, str(other))
    with pytest.raises(InstallationError, match="can't be used"):
        library.load()


def test_a_library_of_another_part_is_refused(library: CompiledLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have functions of the same names."""
    other = next(one for one in LIBRARIES.values() if one.path != library.path)
    monkeypatch.setenv(library.variable, str(other.path))
    with pytest.raises(InstallationError):
        library.load()
