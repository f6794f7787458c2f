"""Engines by name, loaded when they answer: formulas need no SimPy, and nobody needs all three."""

from importlib import import_module
from typing import Any

from oltpsim.simulator.form import System
from oltpsim.simulator.results import Result

MODULES = {
    "kernel": "oltpsim.simulator.kernel",
    "reference": "oltpsim.simulator.reference",
    "analytic": "oltpsim.simulator.analytic",
}


def load_engine(name: str) -> Any:
    """The module of an engine, whose `simulate` answers for a model."""
    return import_module(MODULES[name])


def simulate_by_kernel(model: System, seed: int) -> Result:
    """The kernel's result of a model, for fits and predictions that it confirms."""
    result: Result = load_engine("kernel").simulate(model, seed)
    return result
