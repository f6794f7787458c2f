"""One whole run, frozen: the result of tests/scenarios/tiny.yaml with a shorter interval.

When a change of the model is meant to change results, regenerate the file in a commit of its own:

    .venv/bin/python tests/simulator/reference/test_golden.py

Left out of the comparison: versions, and the hash of the model (tables made with floating point may differ in a
last bit between NumPy versions). Floats are compared to nine digits, integers exactly.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.reference import simulate
from oltpsim.simulator.results import result_json

HERE = Path(__file__).resolve()
SCENARIO = HERE.parents[2] / "scenarios" / "tiny.yaml"
GOLDEN = HERE.parents[2] / "golden" / "tiny.json"
SETTINGS = (
    "machine.memory_gib=0.22", "interval.warm_up_s=1", "interval.duration_s=5", "database.checkpoint.interval_s=2",
)  # fmt: skip
SEED = 1
LEFT_OUT = ("versions", "model_hash")
REMEDY = "if the change is meant, run: .venv/bin/python tests/simulator/reference/test_golden.py"


def compared(seed: int = SEED, *more: str) -> dict[str, Any]:
    """The run's result as plain data, without what depends on the installation."""
    result = json.loads(result_json(simulate(build(load_scenario(SCENARIO, (*SETTINGS, *more))), seed)))
    return {key: value for key, value in result.items() if key not in LEFT_OUT}


def differences(ours: Any, golden: Any, where: str = "result") -> Iterator[str]:
    """One line for each value that differs."""
    if isinstance(golden, dict) and isinstance(ours, dict):
        for key in sorted(set(golden) | set(ours)):
            yield from differences(ours.get(key), golden.get(key), f"{where}.{key}")
    elif isinstance(golden, list) and isinstance(ours, list) and len(ours) == len(golden):
        for number, (one, other) in enumerate(zip(ours, golden, strict=True)):
            yield from differences(one, other, f"{where}[{number}]")
    elif isinstance(golden, float) and isinstance(ours, float):
        if ours != pytest.approx(golden, rel=1e-9, abs=1e-12):
            yield f"{where}: {ours!r}, golden {golden!r}"
    elif ours != golden or type(ours) is not type(golden):
        yield f"{where}: {ours!r}, golden {golden!r}"


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return stored


def test_the_run_is_the_golden_one(golden: dict[str, Any]) -> None:
    found = list(differences(compared(), golden))
    assert not found, "\n".join([f"{len(found)} values differ; {REMEDY}", *found[:20]])


def test_the_golden_run_shows_every_part_at_work(golden: dict[str, Any]) -> None:
    """All five classes, a checkpoint, both caches, the disk, row locks; no law broken."""
    assert [each["completed"] > 0 for each in golden["classes"]] == [True] * 5
    assert golden["checkpoints_s"]
    assert all(each["hits"] > 0 for each in golden["caches"])
    assert golden["devices"][0]["reads_per_s"] > 0 < golden["devices"][0]["writes_per_s"]
    assert golden["locks"][0]["waits"] > 0
    assert all(law["holds"] for law in golden["laws"])


@pytest.mark.parametrize(
    ("seed", "setting"),
    [(2, ()), (SEED, ("machine.disks.disk.transfer_mib_per_s=60.01",)), (SEED, ("database.pool.buffers=2001",))],
)
def test_a_small_change_is_noticed(golden: dict[str, Any], seed: int, setting: tuple[str, ...]) -> None:
    """Another seed, a disk faster by 0.02 %, one buffer more."""
    assert len(list(differences(compared(seed, *setting), golden))) > 20


def test_the_comparison_notices_each_kind_of_difference() -> None:
    whole = {"a": 1, "b": [1.0, 2.0], "c": {"d": "x"}}
    others: list[dict[str, Any]] = [
        whole | {"a": 2}, whole | {"a": 1.0}, whole | {"b": [1.0]}, whole | {"b": [1.0, 2.00001]}, whole | {"c": {}},
        whole | {"e": 0},
    ]  # fmt: skip
    assert [len(list(differences(other, whole))) for other in others] == [1] * len(others)
    assert list(differences(whole | {"b": [1.0, 2.0 + 1e-12]}, whole)) == []


def test_another_process_gives_the_same_bytes() -> None:
    """Whatever the order of its sets: two interpreters with other hash seeds print one and the same run."""
    printed = [
        subprocess.run(
            [sys.executable, str(HERE), "--print"], env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert len(printed[0]) > 1000


def main() -> None:
    """Write the golden file, or print what would be written."""
    text = json.dumps(compared(), indent=1, sort_keys=True) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
