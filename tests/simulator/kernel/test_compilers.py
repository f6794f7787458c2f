"""The same bytes by g++ and by clang++, with and without optimisation."""

from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.form import System
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.kernel.library import LIBRARY
from oltpsim.simulator.results import result_json
from tests.simulator.builds import OTHER_BUILDS, ROOT, builds_of
from tests.simulator.kernel.test_engine import TIED
from tests.simulator.system_models import model_of_system
from tests.simulator.tpcc_systems import TINY
from tests.simulator.twins import ends_of, kernel_contents


@pytest.fixture(scope="module")
def libraries() -> dict[str, Path]:
    """The kernel by each compiler."""
    return builds_of(LIBRARY)


def outcome(model: System, library: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """All that a run leaves behind."""
    loaded = LIBRARY.load_from(library)
    monkeypatch.setattr("oltpsim.simulator.kernel.compiled.kernel_library", lambda: loaded)
    engine = KernelEngine(model, 1, traced=100_000)
    engine.run(None)
    return ends_of(engine), kernel_contents(engine), result_json(engine.record.result())


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
