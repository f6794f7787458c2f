"""One line of the table of what was understood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What a description comes to for one key of the scenario, and how well that is known.

    `piece`: the words of the line, None for a guess. `factor`: one standard deviation of the value, times or divided
    by, None if it is taken for exact. `others`: settings (key=value) that would have been as good a guess.
    """

    what: str
    key: str
    value: str
    piece: str | None
    source: str
    factor: float | None = None
    others: tuple[str, ...] = ()

    @property
    def uncertain(self) -> bool:
        """Whether the answer's interval has to hold it."""
        return self.factor is not None or bool(self.others)

    @property
    def uncertainty(self) -> str:
        """In words for the table."""
        if self.factor is not None:
            return f"times or divided by {self.factor:.3g}"
        if self.others:
            named = (other.partition("=")[2].removeprefix('{"base": "').partition('"')[0] for other in self.others)
            return f"or {' or '.join(named)}"
        return ""
