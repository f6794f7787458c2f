"""Run the commands in README and in the pages of docs/ and put what they print below them.

A page says `<!-- run: oltpsim ... -->` and a block marked `text` follows; its content is replaced by the command
behind a `$`, since a page's reader sees no comment, and its stdout, run from the root of the checkout. Pages named on
the command line are built alone.

The other scripts write blocks between two marks, and tables in them, by functions of this file.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
FOLDERS = (".", "model", "evidence", "how-to", "decisions")
"""Folders of pages that may hold commands"""
RUN = re.compile(r"<!-- run: (oltpsim .+?) -->")
BLOCK = re.compile(rf"({RUN.pattern}\n\n```text\n)(?:\$ [^\n]*\n)?(.*?)(```\n)", re.DOTALL)
START = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"


def pages() -> list[Path]:
    """Every page that may hold commands."""
    return [
        DOCS.parent / "README.md",
        *sorted(page for folder in FOLDERS for page in DOCS.glob(f"{folder}/*.md")),
    ]


def output_of(command: str) -> str:
    """What a command prints to stdout. Raises CalledProcessError if it fails; a missed target is none."""
    words = shlex.split(command)[1:]
    done = subprocess.run(  # noqa: S603 - the words come from our own pages
        [sys.executable, "-c", START, *words], cwd=DOCS.parent, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 1):
        done.check_returncode()
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines()) + "\n"


def build(page: Path) -> None:
    """Run the page's commands in order and rewrite it."""
    text = page.read_text(encoding="utf-8")
    built = BLOCK.sub(lambda block: f"{block[1]}$ {block[2]}\n{output_of(block[2])}{block[4]}", text)
    page.write_text(built, encoding="utf-8")


def replaced(page: str, begin: str, end: str, content: str, block: str = "") -> str:
    """The page with other content between the lines `begin` and `end`. `block`: what stands for {} in both.

    Raises ValueError unless the page has `begin` once, IndexError if no `end` follows.
    """
    begin, end = begin.format(block), end.format(block)
    before, rest = page.split(begin)
    return before + begin + content + end + rest.split(end)[1]


def line(*cells: str) -> str:
    """Cells as a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


def head(*names: str, figures: bool = False) -> str:
    """The first two lines of a Markdown table. `figures`: all columns but the first hold some, aligned to the right."""
    return line(*names) + line("---", *("---:" if figures else "---" for _ in names[1:]))


if __name__ == "__main__":
    for chosen in [Path(word).resolve() for word in sys.argv[1:]] or pages():
        build(chosen)
