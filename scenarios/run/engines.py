"""Engines by name, loaded when they answer: the compiler takes two seconds to load, which formulas don't need."""

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from simulator.form import Model
from simulator.results import Result

MODULES = {"kernel": "simulator.kernel", "reference": "simulator.reference", "analytic": "simulator.analytic"}


def load_engine(name: str) -> Any:
    """The module of an engine, whose `simulate` answers for a model."""
    return import_module(MODULES[name])


def simulate_by_kernel(model: Model, seed: int) -> Result:
    """The kernel's result of a model, for fits and predictions that it confirms."""
    result: Result = load_engine("kernel").simulate(model, seed)
    return result


def why_not_cached() -> str:
    """Why machine code can't be written to its folder; empty if it can."""
    return str(load_engine("kernel").MACHINE_CODE_NOT_KEPT)


def must_compile(engine: str) -> bool:
    """Whether an engine's first answer waits for the compiler."""
    return engine != "analytic" and not load_engine("kernel").is_compiled_already(engine)


@contextmanager
def compiled_once(engines: Iterable[str]) -> Iterator[str]:
    """Lock of workers that share a folder for machine code: the first one compiles and the others wait for it.

    Yields why machine code can't be cached; empty if it can, or if these engines need none.
    """
    if "kernel" not in engines:
        yield ""
        return
    if why_not_cached() or not must_compile("kernel"):
        yield why_not_cached()
        return
    with (load_engine("kernel").MACHINE_CODE_FOLDER / "compiling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not must_compile("kernel"):
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield ""
