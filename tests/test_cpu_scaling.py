"""The page of throughput by clients: its tables are today's, and every predicted point is within its bound."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from oltpsim.models.machine import slowdowns

DOCS = Path(__file__).resolve().parents[1] / "docs"
SETS = "m6i.16xl", "MySQL on UCS", "m6g.16xl", "m5.16xl"
BOUND, MEAN_BOUND = 0.12, 0.05


@cache
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build_cpu_scaling.py"))


def test_the_page_is_what_its_script_makes() -> None:
    text = (DOCS / "cpu-scaling.md").read_text(encoding="utf-8")
    assert script()["page"](text) == text, "run docs/build_cpu_scaling.py"
    picture = DOCS / "pictures" / "cpu-scaling.svg"
    if picture.exists():  # drawn where there is a browser
        assert f"<desc>charts {script()['digest']()}</desc>" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETS)
def test_every_point_is_near_from_two_of_them(name: str) -> None:
    off = np.abs([*script()["errors"](name).values()])
    assert len(off) == len(script()["measured_sets"]()[name].points) - 2
    assert off.max() <= BOUND
    assert off.mean() <= MEAN_BOUND


@pytest.mark.parametrize("name", SETS)
def test_without_lines_that_move_a_full_machine_would_do_too_much(name: str) -> None:
    measured = script()["measured_sets"]()[name]
    alone, full = measured.fitted
    plain = measured.cpu.threads / script()["longer_at"](measured, full, 0.0)[-1] * measured.points[alone]
    assert plain > 1.02 * measured.points[full]


@pytest.mark.parametrize("name", SETS)
def test_without_turns_the_points_are_farther_off(name: str) -> None:
    """The negative twin: siblings met by chance, no wake-ups, refills and sessions, fitted to the same two points."""
    measured = script()["measured_sets"]()[name]
    alone, full = measured.fitted

    def rate(clients: int, line_share: float) -> float:
        longer = slowdowns(measured.cpu, placed_by_cores=False, line_share=line_share)
        busy = min(clients, measured.cpu.threads)
        return float(busy / longer[busy - 1]) * measured.points[alone]

    share = brentq(lambda each: rate(full, each) - measured.points[full], 0.0, 0.2)
    off = [abs(rate(clients, share) / measured.points[clients] - 1.0) for clients in script()["errors"](name)]
    assert np.mean(off) > 1.1 * np.mean(np.abs([*script()["errors"](name).values()]))


@pytest.mark.parametrize("name", SETS)
def test_mean_values_are_those_of_the_kernel(name: str) -> None:
    found = script()["fits"]()[name]
    for clients, rate in found.kernel_per_s.items():
        assert found.analytic_per_s[clients] == pytest.approx(rate, rel=0.025)


def test_the_rule_is_about_clients_and_hardware_threads_alone() -> None:
    fitted = {name: measured.fitted for name, measured in script()["measured_sets"]().items()}
    assert fitted == {"m6i.16xl": (1, 64), "MySQL on UCS": (1, 24), "m6g.16xl": (1, 64), "m5.16xl": (1, 64)}
