"""Runs that one file holds one after the other: logs that `>>` made, notes, a harness that appends by itself.

Each run is read from its own lines alone, so that no figure of one stands beside the clients of another.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.models.input import SourceFile


@dataclass(frozen=True)
class RunMarks:
    """Lines of a format by which runs in one file are told apart."""

    result: re.Pattern[str]
    """line that stands once in a run that ended"""
    opens: tuple[re.Pattern[str], ...] = ()
    """lines that stand once in a run, before its result"""
    goes_on: re.Pattern[str] | None = None
    """line that may stand often in a run, but not after its result"""


@dataclass(frozen=True)
class RunLines:
    """Lines of one run, from 0; `results` that stand among them: none if the run was stopped."""

    first: int
    end: int
    results: int


def split_runs(file: SourceFile, marks: RunMarks) -> tuple[list[SourceFile], list[str]]:
    """One file for each run with a result, the file itself if it holds only one; and notes of runs without one."""
    found = _runs(file.lines, marks)
    ended = [each for each in found if each.results]
    stopped = [each for each in found if not each.results and _is_begun(file.lines, each, marks)]
    if not ended or len(found) == 1:
        return [file], []
    notes = [f"lines {each.first + 1} to {each.end}: a run without its result, left out" for each in stopped]
    if len(ended) == 1:
        only = file.part(1, ended[0].first, ended[0].end)
        return [SourceFile(file.path, file.name, source=file, span=only.span)], notes
    return [file.part(number, each.first, each.end) for number, each in enumerate(ended, 1)], notes


def _runs(lines: Sequence[str], marks: RunMarks) -> list[RunLines]:
    """Every stretch of lines: a new one begins with an opening line that its run has already, or after a result."""
    runs: list[RunLines] = []
    first = results = 0
    seen: set[int] = set()
    for at, line in enumerate(lines):
        opened = next((number for number, pattern in enumerate(marks.opens) if pattern.search(line)), None)
        is_result = marks.result.search(line) is not None
        begins = results > 0 and (is_result or opened is not None or bool(marks.goes_on and marks.goes_on.search(line)))
        if begins or (opened is not None and opened in seen):
            runs.append(RunLines(first, at, results))
            first, results, seen = at, 0, set()
        if opened is not None:
            seen.add(opened)
        results += is_result
    runs.append(RunLines(first, len(lines), results))
    return runs


def _is_begun(lines: Sequence[str], run: RunLines, marks: RunMarks) -> bool:
    """Whether the last opening line, the one nearest to the load itself, or a report is among the lines."""
    signs = [*marks.opens[-1:], *([marks.goes_on] if marks.goes_on else [])]
    return any(sign.search(line) for line in lines[run.first : run.end] for sign in signs)
