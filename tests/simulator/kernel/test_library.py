"""The compiled library is loaded, or a sentence says what to do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from simulator.errors import InstallationError
from simulator.kernel import library

BUILT = library.FOLDER / "libkernel.so"


def loaded_anew() -> object:
    return library.kernel_library.__wrapped__()


def test_the_library_has_the_interface_of_this_code() -> None:
    assert library.kernel_library().oltpsim_interface_version() == library.INTERFACE_VERSION


@pytest.mark.parametrize(
    ("in_a_checkout", "remedy"), [(True, "`make demo` compiles it"), (False, "install oltpsim again")]
)
def test_a_missing_library_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_a_checkout: bool, remedy: str
) -> None:
    monkeypatch.delenv(library.PATH_VARIABLE, raising=False)
    monkeypatch.setattr(library, "FOLDER", tmp_path / "simulator" / "kernel")
    if in_a_checkout:
        (tmp_path / "Makefile").touch()
    with pytest.raises(InstallationError, match=f"libkernel.so is missing; {remedy}"):
        loaded_anew()


def test_a_library_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(library.PATH_VARIABLE, raising=False)
    for path in (*library.FOLDER.glob("*.[ch]pp"), BUILT):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    loaded_anew()
    (tmp_path / "kernel.cpp").write_text("// changed")
    with pytest.raises(InstallationError, match="older than its sources"):
        loaded_anew()


def test_a_library_that_the_environment_names_is_loaded_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source, other = tmp_path / "other.cpp", tmp_path / "other.so"
    functions = [f"long {name}() {{ return -1; }}" for name in library.FUNCTIONS]
    source.write_text('extern "C" { ' + " ".join(functions) + " }")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", other, source], check=True)
    monkeypatch.setenv(library.PATH_VARIABLE, str(other))
    with pytest.raises(InstallationError, match=f"has interface -1 where {library.INTERFACE_VERSION} is needed"):
        loaded_anew()


@pytest.mark.parametrize("content", ["int nothing;", None], ids=["no such function", "no library"])
def test_what_is_not_the_kernel_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    source, other = tmp_path / "other.cpp", tmp_path / "other.so"
    if content is None:
        other.write_text("text")
    else:
        source.write_text(content)
        subprocess.run(["g++", "-shared", "-fPIC", "-o", other, source], check=True)
    monkeypatch.setenv(library.PATH_VARIABLE, str(other))
    with pytest.raises(InstallationError, match="can't be used"):
        loaded_anew()
