"""What the tests of input share: a small scenario as keys, files made of it, the command line in this process."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from oltpsim.scenarios.commands.cli import main

TINY = Path(__file__).resolve().parents[1] / "scenarios" / "tiny.yaml"


@pytest.fixture(scope="session")
def tiny() -> dict[str, Any]:
    """The keys of a small valid scenario."""
    keys: dict[str, Any] = yaml.safe_load(TINY.read_text(encoding="utf-8"))
    return keys


@pytest.fixture(scope="session")
def tiny_text() -> str:
    """The same as text."""
    return TINY.read_text(encoding="utf-8")


@pytest.fixture
def changed(tiny: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """`changed("machine.cpu.cores", 2)`: the small scenario with one key set."""

    def change(key: str, value: Any) -> dict[str, Any]:
        keys = place = copy.deepcopy(tiny)
        *above, last = key.split(".")
        for word in above:
            place = place[word]
        place[last] = value
        return keys

    return change


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[..., str]:
    """`scenario_file(text or keys)`: a file scenario.yaml that holds them."""

    def write(content: str | bytes | dict[str, Any], name: str = "scenario.yaml") -> str:
        path = tmp_path / name
        if isinstance(content, dict):
            content = yaml.safe_dump(content, sort_keys=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`refused("run", "x.yaml")`: the problems it prints, one a line; nothing else may happen."""

    def call(*words: str) -> list[str]:
        monkeypatch.setattr("oltpsim.scenarios.run.runs.simulate", lambda *_: pytest.fail("bad input was simulated"))
        status = main(words)
        out, err = capsys.readouterr()
        assert status == 2, err
        assert out == ""
        assert "Traceback" not in err
        lines: list[str] = err.splitlines()
        assert all(line.startswith("error: ") and len(line) < 560 for line in lines), err
        return lines

    return call


@pytest.fixture
def accepted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`accepted("run", "x.yaml")`: passes if the command gets as far as the simulation, which is left out."""
    reached = []

    def simulated(*_: object) -> None:
        reached.append(True)
        raise typer.Exit

    def call(*words: str) -> None:
        monkeypatch.setattr("oltpsim.scenarios.run.runs.simulate", simulated)
        monkeypatch.setattr("oltpsim.scenarios.run.store.simulate", simulated)
        status = main(words)
        err = capsys.readouterr().err
        assert (status, reached) == (0, [True]), err

    return call
