"""Write docs/reference/commands.md from what `oltpsim COMMAND --help` prints."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from oltpsim.scenarios.commands.cli import LazyCommands, main

PAGE = Path(__file__).parent / "reference" / "commands.md"
HEAD = """# Commands

<!-- Made by `python docs/build_commands.py` from the program's own help. Do not edit. -->

Exit status: 0 done; 1 a stated target was missed; 2 bad input, or a machine that cannot run the workload;
70 a defect of the program; 74 output that can't be written; 130 interrupted (Ctrl-C); 141 its reader has gone.
"""


def help_of(words: tuple[str, ...]) -> str:
    """What --help prints, 100 columns wide."""
    os.environ["COLUMNS"] = "100"
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        main([*words, "--help"])
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def commands() -> list[tuple[str, ...]]:
    """The program, its commands, and theirs."""
    found: list[tuple[str, ...]] = [()]
    for name, command in LazyCommands().items():
        found += [(name,), *((name, below) for below in getattr(command, "commands", ()))]
    return found


def page() -> str:
    """The whole page."""
    parts = [f"## {' '.join(('oltpsim', *words))}\n\n```text\n{help_of(words)}\n```\n" for words in commands()]
    return "\n".join([HEAD, *parts])


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
