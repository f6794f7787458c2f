"""Write docs/decisions/index.md, the list of decisions, from their titles."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "decisions"
HEAD = """# Decisions

<!-- Made by `python docs/build_decisions.py` from the titles. Do not edit. -->

Why the project is built as it is, a page for each choice that someone will question: what was decided, what spoke for
it, what it costs. Later ones go before earlier ones. In short: [why it is built this way](../why.md).

"""


def page() -> str:
    """The whole page, the newest decision first."""
    files = sorted(FOLDER.glob("[0-9]*.md"), reverse=True)
    titles = [file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for file in files]
    return HEAD + "".join(f"- [{title}]({file.name})\n" for file, title in zip(files, titles, strict=True))


if __name__ == "__main__":
    (FOLDER / "index.md").write_text(page(), encoding="utf-8")
