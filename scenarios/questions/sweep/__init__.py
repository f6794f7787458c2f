"""Sweeps: one scenario over values of its fields, kept as it goes.

axes and design say what is run, replications how often, store what is done already; runner runs the rest in one of the
places of scenarios.places or on a cluster; answer is the frozen outcome, and text, figures and export show it.
"""

from scenarios.questions.sweep.answer import Row, Sweep, from_json, to_json
from scenarios.questions.sweep.axes import Axis, Interval, parse_axes, parse_axis
from scenarios.questions.sweep.points import Point, design
from scenarios.questions.sweep.replications import MOST_UNTIL, Rule
from scenarios.questions.sweep.runner import Runner

__all__ = [
    "MOST_UNTIL",
    "Axis",
    "Interval",
    "Point",
    "Row",
    "Rule",
    "Runner",
    "Sweep",
    "design",
    "from_json",
    "parse_axes",
    "parse_axis",
    "to_json",
]
