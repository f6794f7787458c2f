"""Kinds of workloads are asked by their protocol alone, and the simulator says no word of them."""

import ast
import re
from collections.abc import Iterable

import pytest

from tests.test_house import ROOT, Source, committed_files, sources

WORDS_OF_MODELS = re.compile(r"warehouse|new.?order(?!ing)|tpc-?c\b|sampling_fraction", re.IGNORECASE)
KEYS_OF_SCENARIOS = re.compile(r"\b(?:machine|operating_system|database|workload)\.(?!hpp\b)[a-z_]+")
NAMES_KEYS_IN_DOUBT = "simulator/analytic/answer/doubt.py"
"""the one file that names scenario keys: settings of which the formulas know nothing"""

ASKS_FOR_A_KIND = re.compile(
    r"isinstance\([^)]*\b(?:Tpcc|Row)?WorkloadSpec\b|workload\.kind [!=]=|(?<!workloads)(?<!\"workload)\.tpcc\."
)
OF_ONE_KIND = ("models/workloads/", "calibration/lab/tpcc_kit.py", "calibration/lab/pgbench.py")
"""the kinds themselves, and the drivers of one each"""


def words_of_models(found: Iterable[Source]) -> set[str]:
    """Words of a workload in code, comments and messages, and scenario keys in texts of Python."""
    words = {
        f"{source.path}:{number}: {match[0]}"
        for source in found
        for number, line in enumerate(source.text.splitlines(), 1)
        for match in WORDS_OF_MODELS.finditer(line)
    }
    return words | {
        f"{source.path}:{node.lineno}: {match[0]}"
        for source in found
        if source.path.endswith(".py") and source.path != NAMES_KEYS_IN_DOUBT
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in KEYS_OF_SCENARIOS.finditer(node.value)
    }


def questions_of_kind(found: Iterable[Source]) -> set[str]:
    """Places that ask which kind a workload is, for which each has an answer (models/workloads/protocol.py)."""
    return {
        f"{source.path}:{number}: {line.strip()}"
        for source in found
        if not source.path.startswith(OF_ONE_KIND)
        for number, line in enumerate(source.text.splitlines(), 1)
        if ASKS_FOR_A_KIND.search(line)
    }


def compiled_sources(folder: str) -> list[Source]:
    """C++ as text; its syntax isn't read."""
    files = [path.relative_to(ROOT) for path in committed_files() if path.suffix in {".cpp", ".hpp"}]
    return [Source(path.as_posix(), (ROOT / path).read_text("utf-8")) for path in files if path.parts[0] == folder]


def test_the_simulator_says_nothing_of_workloads_and_scenarios() -> None:
    found = words_of_models([*sources("simulator"), *compiled_sources("simulator")])
    assert not found, "pass these words in as data (models/wiring/notes.py):\n" + "\n".join(sorted(found))


@pytest.mark.parametrize(
    ("path", "line", "word"),
    [
        ("simulator/results/result.py", 'KEY = "new_orders_per_min"', "new_order"),
        ("simulator/form/system.py", "x = 1  # of each Warehouse", "Warehouse"),
        ("simulator/kernel/cache.hpp", "// as many as TPC-C's", "TPC-C"),
        ("simulator/kernel/kernel.hpp", '"simulate less (sampling_fraction)"', "sampling_fraction"),
        ("simulator/form/checking.py", 'f"machine.cpu: got {1}"', "machine.cpu"),
    ],
)
def test_a_word_of_a_workload_in_the_simulator_is_found(path: str, line: str, word: str) -> None:
    assert words_of_models([Source(path, line)]) == {f"{path}:1: {word}"}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("simulator/form/system.py", "rate = machine.cpu + workload.rate"),
        ("simulator/form/system.py", '"interval.start"  # a new ordering of blocks'),
        ("simulator/analytic/equations/compiled.py", '"tables by their names in workload.hpp"'),
        ("simulator/kernel/cache.hpp", "machine.disks.count"),
    ],
)
def test_a_word_of_a_system_in_the_simulator_is_not(path: str, line: str) -> None:
    assert not words_of_models([Source(path, line)])


def test_nobody_asks_which_kind_a_workload_is() -> None:
    found = questions_of_kind(sources("models", "calibration", "scenarios"))
    assert not found, "let every kind answer, in models/workloads/protocol.py:\n" + "\n".join(sorted(found))


@pytest.mark.parametrize(
    "line",
    ["if isinstance(x.workload, RowWorkloadSpec):", 'if scenario.workload.kind == "rows":', "n = workload.tpcc.mix"],
)
def test_a_question_of_kind_is_found(line: str) -> None:
    assert questions_of_kind([Source("scenarios/show/plan.py", line)])
    assert not questions_of_kind([Source("models/workloads/tpcc/kind.py", line)])


@pytest.mark.parametrize(
    "line", ["workload.loaded * 2", "from oltpsim.models.workloads.tpcc.rows import ITEMS", 'key = "workload.tpcc.mix"']
)
def test_a_question_of_the_protocol_is_not(line: str) -> None:
    assert not questions_of_kind([Source("scenarios/show/plan.py", line)])
