"""The equations: machines solved, rows of numbers in and figures out, and how one that isn't warm gets so."""

from oltpsim.simulator.analytic.equations.solution import Solution, at_rate, rates, solve
from oltpsim.simulator.analytic.equations.warming import (
    STEADY,
    Course,
    counted_s,
    course,
    interval_mean_per_s,
    joined_courses,
    machine_at_mean_rate,
    policy_at,
)
