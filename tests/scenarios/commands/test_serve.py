"""oltpsim serve where Dash, or what Dash needs, is not installed."""

import subprocess
import sys

import pytest

START = "import sys; sys.modules.update(dict.fromkeys({missing!r})); from oltpsim.scenarios.commands.cli import main; "
SERVE = "sys.exit(main(['serve', *{words!r}]))"


def serve(missing: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    """The command in an interpreter that finds no such modules."""
    code = START.format(missing=missing) + SERVE.format(words=list(words))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["dash", "flask", "werkzeug.serving"])
def test_without_dash_it_says_what_to_install(module: str) -> None:
    done = serve([module], "--port", "0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert module in done.stderr
    assert "pip install 'oltpsim[app]'" in done.stderr
    assert "make environment" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_dash_it_says_nothing_of_it() -> None:
    done = serve([], "--help")
    assert done.returncode == 0
    assert "pip install" not in done.stdout + done.stderr


def test_a_missing_part_of_the_program_is_not_called_a_missing_extra() -> None:
    done = serve(["oltpsim.scenarios.page.jobs"], "--port", "0")
    assert done.returncode == 70
    assert "pip install" not in done.stderr
