"""Write docs/decisions/index.md, the list of decisions, from their titles and the decisions that superseded them."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "decisions"
HEAD = """# Decisions

<!-- Made by `python docs/build_decisions.py` from the titles. Do not edit. -->

Why the project is built as it is, a page for each choice that someone will question: what was decided, what spoke for
it, what it costs. Later ones go before earlier ones; an earlier one names those that superseded it.
In short: [why it is built this way](../why.md).

"""


def entry(file: Path) -> str:
    """Line of a decision: its title, and by which later ones it is superseded."""
    text = file.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    status = re.search(r"^Superseded( in part)? by .*", text, re.MULTILINE)
    later = re.findall(r"\[decision (\d+)\]", status[0]) if status else []
    mark = f" (superseded{status[1] or ''} by {' and '.join(later)})" if status else ""
    return f"- [{title}]({file.name}){mark}\n"


def page() -> str:
    """The whole page, the newest decision first."""
    return HEAD + "".join(entry(file) for file in sorted(FOLDER.glob("[0-9]*.md"), reverse=True))


if __name__ == "__main__":
    (FOLDER / "index.md").write_text(page(), encoding="utf-8")
