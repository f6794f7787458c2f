"""Progress of long work, as a protocol: who shows it, and how, is the caller's business."""

from typing import Protocol


class Display(Protocol):
    """Display of how far long work is."""

    def step(self, name: str) -> None:
        """A named step of unknown length begins."""

    def advance(self, fraction: float, detail: str) -> None:
        """`fraction` of the measurable work is done; `detail` says it in the work's own units."""


class Silent:
    """Display that shows nothing: --quiet, and tests."""

    def step(self, name: str) -> None:
        """Ignored."""

    def advance(self, fraction: float, detail: str) -> None:
        """Ignored."""
