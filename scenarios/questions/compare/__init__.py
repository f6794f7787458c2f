"""Scenarios side by side: the same seeds for all of them, so that what chance does to one it does to the others."""

from scenarios.questions.compare.comparison import Comparer, Comparison
from scenarios.questions.compare.pairing import Difference, Interval
from scenarios.questions.compare.side import sides

__all__ = ["Comparer", "Comparison", "Difference", "Interval", "sides"]
