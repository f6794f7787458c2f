"""What windows remember after a load, before a transaction has entered a page."""

from types import ModuleType

import numpy as np
import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.expectation.start import loaded_state
from oltpsim.simulator.form import Assembler
from tests.simulator.conftest import make_model

GROUP_PAGES, LENGTH, OWNERS, LOADED = 50, 4, 6, 7
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])


def looking_up(weights: list[float] | None) -> Assembler:
    """A transaction that refers to one remembered page of the first owner. `weights`: of loaded pages; None: none."""
    asm = Assembler()
    owner = asm.register("owner")
    asm.region("elsewhere", 1, 3, 1)
    region = asm.region("table", 3, GROUP_PAGES, 1)
    window = asm.window(LENGTH, OWNERS)
    if weights is not None:
        asm.loaded_window(window, region, asm.table("loaded", weights))
    page = asm.reference("recent", "recent", region, owner, row=owner, window=window, stream=asm.stream("rows"))
    asm.emit("think", asm.distribution("constant", 1_000_000), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("look")
    asm.emit("touch", page, 0, 0)
    asm.emit("end")
    return asm


def test_rings_are_full_of_pages_of_their_owners_groups() -> None:
    """Six owners, three groups: two share one. Only the seventh page has a weight."""
    program = looking_up([float(page == LOADED) for page in range(GROUP_PAGES)]).finish("look")
    found = loaded_state(program)
    assert found.seen.tolist() == OWNERS * [LENGTH]
    groups = np.repeat([0, 0, 1, 1, 2, 2], LENGTH)
    assert found.windows.tolist() == (3 + GROUP_PAGES * groups + LOADED).tolist()
    empty = loaded_state(looking_up(None).finish("look"))
    assert set(empty.windows.tolist()) == {-1}
    assert not empty.seen.any()


def test_pages_are_drawn_by_their_weights() -> None:
    """24 draws, one in four from the first page; with equal weights it would be one in fifty."""
    program = looking_up([1.0, *(GROUP_PAGES - 1) * [3.0 / (GROUP_PAGES - 1)]]).finish("look")
    offsets = (loaded_state(program).windows - 3) % GROUP_PAGES
    assert 3 <= int((offsets == 0).sum()) <= 12
    assert len(set(offsets.tolist())) > 8


@ENGINES
def test_engines_find_what_a_load_left(engine: ModuleType) -> None:
    """A reference to a page that is remembered is one reference; to an empty window it is none."""
    even = [1.0] * GROUP_PAGES
    for weights, expected in ((even, 1.0), (None, 0.0)):
        result = engine.simulate(make_model(looking_up(weights), duration_s=1), 1)
        assert sum(each.references for each in result.tables) == pytest.approx(expected * result.transactions_per_s)
