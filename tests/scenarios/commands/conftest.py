"""What the tests of commands share: a command as one types it."""

from collections.abc import Callable

import pytest

from oltpsim.scenarios.commands.cli import main

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("runs", "list")`: exit status, stdout, stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run
