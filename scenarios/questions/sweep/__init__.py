"""Sweeps: one scenario over values of its fields, each run stored as soon as it ends.

axes and points: what is run; replications: how often; runner: runs what the store doesn't hold; answer: the outcome;
measurements: where they would fall.
"""

from oltpsim.scenarios.questions.sweep.answer import Sweep, sweep_from_json, sweep_json
from oltpsim.scenarios.questions.sweep.design import Axis, SampledAxis, SweepPoint, parse_axes, parse_axis, sweep_points
from oltpsim.scenarios.questions.sweep.library_rates import MeasuredPoint, measured_points
from oltpsim.scenarios.questions.sweep.measurements import MOST_MEASURED, calibrated_points, with_measurements
from oltpsim.scenarios.questions.sweep.runner import MOST_UNTIL, ReplicationRule, SweepRunner
