"""The parts of docs/performance.md: text, tables, figures, goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill

WIDTH = 120
LAID_OUT = ("#", "|", "- ")
"""How blocks begin whose lines stay as they are"""


@dataclass(frozen=True)
class Goal:
    """What was to be reached, what was measured, and whether that is enough; None: not measured."""

    text: str
    found: str
    met: bool | None

    @property
    def verdict(self) -> str:
        if self.met is None:
            return self.found
        return f"met at {self.found}" if self.met else f"falls short at {self.found}"


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    title: str
    blocks: Sequence[str]
    goals: Sequence[Goal] = field(default=())

    def text(self) -> str:
        """As Markdown, the goals at its end."""
        goals = "\n".join(f"- Goal: {goal.text}: {goal.verdict}." for goal in self.goals)
        return part(f"## {self.title}", *self.blocks, *([goals] if goals else []))


def at_least(text: str, limit: float, value: float | None, unit: str = "") -> Goal:
    """A goal that a figure has to reach."""
    return _goal(f"{text} at least {figure(limit, unit)}", value, unit, value is not None and value >= limit)


def at_most(text: str, limit: float, value: float | None, unit: str = "") -> Goal:
    """A goal that a figure must not exceed."""
    return _goal(f"{text} at most {figure(limit, unit)}", value, unit, value is not None and value <= limit)


def _goal(text: str, value: float | None, unit: str, met: bool) -> Goal:
    return Goal(text, "not measured", None) if value is None else Goal(text, figure(value, unit), met)


def part(*blocks: str) -> str:
    """Blocks of Markdown with empty lines between them."""
    return "\n\n".join(block if block.startswith(LAID_OUT) else fill(block, WIDTH) for block in blocks)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def goals_table(sections: Sequence[Section]) -> str:
    """Every goal of the page, one below the other."""
    rows = [
        [section.title, goal.text, goal.found if goal.met is not None else "", _word(goal)]
        for section in sections
        for goal in section.goals
    ]
    head, below = "| section | goal | measured | met |", "|---|---|---:|---|"
    return "\n".join([head, below, *("| " + " | ".join(row) + " |" for row in rows)])


def with_section(page: str, section: Section) -> str:
    """The page with a section and its goals in the places of the former ones, or at the ends if it had none."""
    head, *parts = page.rstrip("\n").split("\n## ")
    parts = [_with_goals(each, section) if each.startswith("Goals\n") else each for each in parts]
    titles = [each.partition("\n")[0] for each in parts]
    new = section.text().removeprefix("## ") + "\n"
    if section.title in titles:
        parts[titles.index(section.title)] = new
    else:
        parts = [*parts[:-1], parts[-1].rstrip("\n") + "\n", new]
    return "\n## ".join([head, *parts]).rstrip("\n") + "\n"


def _with_goals(text: str, section: Section) -> str:
    """The part of the goals with the section's rows for its former ones."""
    lines, start = text.rstrip("\n").split("\n"), f"| {section.title} |"
    rows = goals_table([section]).split("\n")[2:]
    place = next((number for number, line in enumerate(lines) if line.startswith(start)), len(lines))
    others = [line for line in lines if not line.startswith(start)]
    return "\n".join([*others[:place], *rows, *others[place:]]) + "\n"


def _word(goal: Goal) -> str:
    return goal.found if goal.met is None else ("yes" if goal.met else "no")


def figure(value: float, unit: str = "") -> str:
    """Three digits, in thousands or millions where that is shorter."""
    for factor, word in ((1e6, " M"), (1e3, " k")):
        if value >= 10 * factor or (value >= factor and factor == 1e6):
            return f"{value / factor:.3g}{word}{unit}"
    return f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"
