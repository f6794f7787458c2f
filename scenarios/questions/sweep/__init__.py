"""Sweeps: one scenario over values of its fields, kept as it goes.

axes and design say what is run, replications how often, store what is done already; runner runs the rest in one of the
places of scenarios.places or on a cluster; answer is the frozen outcome, and text, figures and export show it.
"""

from scenarios.questions.sweep.answer import Sweep, SweepRow, sweep_from_json, sweep_json
from scenarios.questions.sweep.axes import Axis, SampledAxis, parse_axes, parse_axis
from scenarios.questions.sweep.points import SweepPoint, sweep_points
from scenarios.questions.sweep.replications import MOST_UNTIL, ReplicationRule
from scenarios.questions.sweep.runner import SweepRunner

__all__ = [
    "MOST_UNTIL",
    "Axis",
    "ReplicationRule",
    "SampledAxis",
    "Sweep",
    "SweepPoint",
    "SweepRow",
    "SweepRunner",
    "parse_axes",
    "parse_axis",
    "sweep_from_json",
    "sweep_json",
    "sweep_points",
]
