"""docs/reference/commands.md says what the program says."""

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_reference_of_commands_is_current() -> None:
    page = runpy.run_path(str(DOCS / "build_commands.py"))["page"]()
    current = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert current == page, "run `python docs/build_commands.py`"
