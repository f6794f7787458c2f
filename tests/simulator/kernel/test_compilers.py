"""The same bytes by g++ and by clang++, with and without optimisation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from models.build import build
from models.reading import load_scenario
from simulator.form import System
from simulator.kernel import KernelEngine
from simulator.kernel.library import FOLDER, load
from simulator.results import result_json
from tests.simulator.kernel.test_engine import TIED
from tests.simulator.system_models import model_of_system
from tests.simulator.tpcc_systems import TINY
from tests.simulator.twins import kernel_contents, rows_of

ROOT = Path(__file__).resolve().parents[3]
OTHER_BUILDS = ("g++-O0", "clang++-O0", "clang++-O3")
"""beside the program's own, by g++ -O3"""


@pytest.fixture(scope="module")
def libraries() -> dict[str, Path]:
    """The kernel by each compiler."""
    if not shutil.which("clang++-19"):
        pytest.skip("clang++-19 is not installed: `make test` installs it from Debian's packages")
    subprocess.run([sys.executable, ROOT / ".ci" / "libraries.py", "compilers"], check=True)
    others = {name: ROOT / "out" / "libraries" / name / "libkernel.so" for name in OTHER_BUILDS}
    return {"g++-O3": FOLDER / "libkernel.so", **others}


def outcome(model: System, library: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """All that a run leaves behind."""
    loaded = load(library)
    monkeypatch.setattr("simulator.kernel.compiled.kernel_library", lambda: loaded)
    engine = KernelEngine(model, 1, traced=100_000)
    engine.run(None)
    return rows_of(engine, "trace"), kernel_contents(engine), result_json(engine.record.result())


MODELS = {
    "ties": model_of_system(TIED),
    "TPC-C": build(load_scenario(TINY, ["interval.duration_s=20"])),
    "v20z": build(load_scenario(ROOT / "scenarios" / "library" / "v20z.yaml", ["interval.duration_s=30"])),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_compiler_makes_the_same_bytes(
    model: System, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = {name: outcome(model, library, monkeypatch) for name, library in libraries.items()}
    assert len(outcomes["g++-O0"][0]) > 90
    assert [name for name in OTHER_BUILDS if outcomes[name] != outcomes["g++-O3"]] == []
