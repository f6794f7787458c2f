"""Arguments that can't be are refused by one kind of exception; numbers of numpy and progress functions are taken."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import oltpsim

ROOT = Path(__file__).resolve().parents[3]
TINY = str(ROOT / "tests" / "scenarios" / "tiny.yaml")
TWO_DISKS = {"machine.disks.count": 2}


def tiny() -> oltpsim.Scenario:
    return oltpsim.load(TINY)


def mutex() -> oltpsim.Scenario:
    """A job."""
    return oltpsim.load("published/mutex-mac")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: oltpsim.load("v20"), "did you mean 'v20z'"),
        (lambda: tiny().changed({"machine.cpu.coers": 2}), "coers: unknown key"),
        (lambda: tiny().changed({"machine.cpu.cores": "two"}), "must be a whole number"),
        (lambda: oltpsim.describe("8 cors"), "did you mean 'cores'"),
        (lambda: oltpsim.sweep(tiny(), {"machine.cpu.coers": [1]}), "coers: unknown key"),
        (lambda: oltpsim.sweep(tiny(), {}), "nothing to vary"),
        (lambda: oltpsim.sweep(tiny(), {"machine.disks.count": []}), "give one value or more, each once"),
        (lambda: oltpsim.sweep(tiny(), {"machine.disks.count": [1, 1]}), "give one value or more, each once"),
        (lambda: oltpsim.sweep(tiny(), {"machine.disks.disk": "nvme"}), "got 'nvme'; give a list of values"),
        (lambda: oltpsim.sweep(mutex(), {"machine.memory_gib": [4, 8]}), "runs no transactions"),
        (lambda: oltpsim.compare([tiny()]), "give two or more"),
        (lambda: oltpsim.compare([tiny()] * 27), "got 27 scenarios; give two or more, at most 26"),
        (lambda: oltpsim.compare([tiny()] * 2, engine="analytic", replications=2), "draws nothing at random"),
        (lambda: oltpsim.compare(tiny()), "give a list of scenarios"),  # type: ignore[arg-type]
        (lambda: oltpsim.predict(oltpsim.read_model(), []), "got no scenario"),
        (lambda: oltpsim.predict(oltpsim.read_model(), [mutex()]), "runs no transactions"),
        (lambda: oltpsim.run("v20z"), "give a scenario, as oltpsim.load('v20z') makes one"),  # type: ignore[arg-type]
        (lambda: oltpsim.run(tiny(), replications=0), "replications: got 0; must be a whole number from 1"),
        (lambda: oltpsim.run(tiny(), workers=0), "workers: got 0; must be a whole number from 1"),
        (lambda: oltpsim.run(tiny(), seed=-1), "seed: got -1; must be a whole number from 0"),
        (lambda: oltpsim.run(tiny(), engine="analytic", replications=2), "draws nothing at random"),
        (lambda: oltpsim.run(mutex(), engine="analytic"), "engine: is for transactions"),
        (lambda: oltpsim.run(mutex(), replications=2), "replications: is for transactions"),
        (lambda: oltpsim.run(mutex()).new_orders_per_min, "this made none; its figure is .value, in times"),
        (lambda: tiny().changed({"machine.memory_gib": object()}), "give a number, a text, true or false"),
        (oltpsim.read_runs, "got no file, folder or name"),
        (lambda: oltpsim.calibrate(oltpsim.Runs("", "", "")), "got no run"),
        (lambda: oltpsim.plan(tiny(), 100, candidates="m7i.large"), "give a list of names"),
        (lambda: oltpsim.read_model("none.json"), "none.json: cannot be read"),
        (lambda: oltpsim.plan(tiny(), 1e12), "is the unit right"),
        (lambda: oltpsim.read_runs("none", base=tiny()), "none: no such file or run"),
        (lambda: oltpsim.run(tiny().changed({"machine.memory_gib": 0.01})), "GiB"),
    ],
)
def test_bad_input_is_one_kind_of_exception(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(oltpsim.InputError) as caught:
        ask()
    assert sentence in str(caught.value)


def test_values_of_numpy_are_numbers() -> None:
    found = oltpsim.sweep(tiny(), {"machine.disks.count": np.arange(1, 3)}, engine="analytic")  # type: ignore[dict-item]
    assert list(found.to_frame()["machine.disks.count"]) == [1, 2]


def test_progress_is_given_where_it_is_wanted() -> None:
    heard: list[tuple[float, str]] = []
    oltpsim.run(tiny(), progress=lambda fraction, words: heard.append((fraction, words)))
    assert heard
    assert all(0 <= fraction <= 1 for fraction, _ in heard)
