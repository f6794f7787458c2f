"""The same result whatever BLAS there is: threads, kinds of core, from Python and from the command line."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

SCENARIOS = ["sysbench/read-write-2-gib", "postgresql-15", "v20z-10-warehouses"]
ASK = """
import json, sys, oltpsim
print(json.dumps([oltpsim.run(oltpsim.load(name), engine="analytic").to_json() for name in sys.argv[1:]]))
"""
MACHINES = [
    {"OPENBLAS_NUM_THREADS": "1"},
    {"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_NUM_THREADS": "4", "OPENBLAS_CORETYPE": "Prescott"},
]
"""Variables of BLAS in each process."""


def rates(answers: list[dict[str, Any]]) -> str:
    """Every figure of the answers as text, without the interval that `calibration` adds."""
    return json.dumps([answer | {"measurement": None} for answer in answers], sort_keys=True)


def python_answers(environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", ASK, *SCENARIOS]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return rates(json.loads(done.stdout))


def command_answers() -> str:
    command = [sys.executable, "-m", "oltpsim", "run", "--engine", "analytic", "--quiet", "--output", "json"]
    found = []
    for name in SCENARIOS:
        done = subprocess.run([*command, name], capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout))
    return rates(found)


@pytest.mark.slow
def test_threads_and_kinds_of_core_change_no_byte() -> None:
    first, *others = (python_answers(environment) for environment in MACHINES)
    assert others == [first] * len(others)
    assert command_answers() == first


def test_a_difference_in_the_last_digit_would_be_seen() -> None:
    assert rates([{"rate": 0.1 + 0.2}]) != rates([{"rate": 0.3}])
