"""A digest of code names all code that a figure depends on."""

from pathlib import Path

import pytest

from oltpsim.calibration.records import code_digest


@pytest.mark.parametrize("name", ["part.py", "part.hpp", "part.cpp"])
def test_a_change_of_a_source_changes_the_digest(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / f"package_with_{name.replace('.', '_')}"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / name).write_text("// one way")
    monkeypatch.syspath_prepend(tmp_path)
    digest = code_digest.__wrapped__  # without its memory
    before = digest(package.name)
    (package / "libpart.so").write_text("what is compiled of it")
    assert digest(package.name) == before
    (package / name).write_text("// another way")
    assert digest(package.name) != before
