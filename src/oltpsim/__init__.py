"""oltpsim from Python: describe or load a scenario, then run, sweep, compare, explain, plan, calibrate and predict.

    import oltpsim

    box = oltpsim.load("v20z")
    answer = oltpsim.run(box.changed({"machine.disks.count": 2}))
    answer.new_orders_per_min, answer.low_per_min, answer.high_per_min
    oltpsim.sweep(box, {"machine.memory_gib": [2, 4, 8]}).figure()

Every answer has the figures that the command of the same name prints: `str(answer)` is its table, `to_json()` what
`--output json` writes, `to_frame()` the rows of `--output csv`. Rates are new orders per minute (NOPM), with the
interval in which a measurement would fall 9 times of 10. What is wrong with an input raises InputError, whose text
names the key, what came and what is allowed. Nothing is printed, and nothing is sent anywhere.

`oltpsim.simulator`, `oltpsim.models`, `oltpsim.calibration` and `oltpsim.scenarios` are the four packages of the code.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oltpsim.scenarios.python.interface import (
        Answer,
        InputError,
        Model,
        Predictions,
        Run,
        Runs,
        Scenario,
        calibrate,
        compare,
        describe,
        explain,
        library,
        load,
        plan,
        predict,
        read_model,
        read_runs,
        run,
        sweep,
    )

    __version__: str

__all__ = [
    "Answer",
    "InputError",
    "Model",
    "Predictions",
    "Run",
    "Runs",
    "Scenario",
    "__version__",
    "calibrate",
    "compare",
    "describe",
    "explain",
    "library",
    "load",
    "plan",
    "predict",
    "read_model",
    "read_runs",
    "run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """A name of the Python interface, loaded when it is first used: modules of the packages are imported without it."""
    if name == "__version__":
        return version("oltpsim")
    if name not in __all__:
        raise AttributeError(f"module 'oltpsim' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("oltpsim.scenarios.python.interface"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
