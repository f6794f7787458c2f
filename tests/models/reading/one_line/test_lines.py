"""Lines that people could write, half of them from public questions: each says what it should, or is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import read_description
from oltpsim.models.reading.one_line.pieces import read_line
from oltpsim.models.reading.one_line.words import LineSetting
from oltpsim.simulator.errors import InputError

LINES = [
    line for line in Path(__file__).with_name("lines.txt").read_text("utf-8").splitlines() if not line.startswith("#")
]
UNDERSTOOD = [tuple(line.split(" => ")) for line in LINES if " => " in line]
REFUSED = [tuple(line.split(" !! ")) for line in LINES if " !! " in line]


def _text(value: Any) -> str:
    value = value.value if isinstance(value, LineSetting) else value
    if hasattr(value, "entry"):
        return f"{value.entry or 'linux'}{'?' if value.nearest or not value.entry else ''}"
    if isinstance(value, dict):
        return str(value["distribution"])
    return " ".join(value) if isinstance(value, tuple) else f"{value:.6g}" if isinstance(value, float) else str(value)


def _said(line: str) -> str:
    """What the reader tells its parts, in the file's form."""
    return " | ".join(f"{thing} {_text(phrase.value)}" for thing, phrase in sorted(read_line(line).items()))


def test_there_are_enough_lines_half_of_them_public() -> None:
    text = Path(__file__).with_name("lines.txt").read_text("utf-8")
    public = [line for line in text.split("# ---- own")[0].splitlines() if not line.startswith("#")]
    assert len(LINES) == len(UNDERSTOOD) + len(REFUSED) == len({line.split(" => ")[0] for line in LINES})
    assert len(LINES) >= 480
    assert len(public) >= 200


@pytest.mark.parametrize(("line", "said"), UNDERSTOOD, ids=[line for line, _ in UNDERSTOOD])
def test_a_line_says_what_it_should_and_no_more(line: str, said: str) -> None:
    assert _said(line) == said
    read_description(line)


@pytest.mark.parametrize(("line", "words"), REFUSED, ids=[line for line, _ in REFUSED])
def test_a_line_is_refused_in_three_lines_at_most(line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description(line)
    assert str(caught.value).removeprefix("machine: ").startswith(words)
    assert str(caught.value).count("\n") <= 2


@pytest.mark.parametrize("line", [line for line, _ in UNDERSTOOD][::9])
def test_a_strange_word_is_never_passed_over(line: str) -> None:
    for strange in (f"{line}, 99 red balloons", f"{line} balloons", f"balloons, {line}"):
        with pytest.raises(InputError, match="balloons"):
            read_line(strange)


@pytest.mark.parametrize(
    "line", [line for line, _ in UNDERSTOOD if "threads" not in line and re.search(r"\b8 cores\b", line)][::5]
)
def test_another_number_says_something_else(line: str) -> None:
    assert _said(re.sub(r"\b8 cores\b", "6 cores", line)) != _said(line)
