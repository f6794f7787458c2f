"""Memory that pool and page cache share: who loses some, what comes back, and how swap is written."""

import dataclasses
import os
from collections import Counter
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator import kernel, reference
from oltpsim.simulator.form import Assembler, Reclaim, System, from_s
from oltpsim.simulator.kernel import KernelEngine
from tests.simulator.conftest import make_model
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import MS, DrawnSystem, systems
from tests.simulator.twins import Finished, differences, of_few_events, with_value

ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
SOAK = int(os.environ.get("OLTPSIM_SOAK_EXAMPLES", "0"))
PAGE_BYTES, TURNS = 8192, 12


@st.composite
def sharing_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems whose pool and page cache share memory, from a page to room for both."""
    system = draw(systems().filter(lambda one: not one.direct_io))
    both = system.pool.resident_pages + system.cache.pages
    pages = draw(st.sampled_from([both, both, max(both // 2, 1), 1]))
    swappiness, batch = draw(st.sampled_from([0, 1, 60, 200])), draw(st.sampled_from([1, 4, 16]))
    reclaim = Reclaim(pages, swappiness, batch, draw(st.sampled_from([0, 0, 100 * MS])))
    return dataclasses.replace(system, reclaim=reclaim)


def test_shared_memory_gives_one_trajectory_and_shows_all_it_can() -> None:
    met: Counter[str] = Counter()

    @settings(
        max_examples=SOAK or 100,
        derandomize=not SOAK,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(system=sharing_systems(), seed=st.integers(1, 3))
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        finished: list[Finished] = []
        assert differences(of_few_events(model_of_system(system), seed, 3_000), seed, finished=finished) == []
        engine = finished[0].reference
        memory = engine.pool.memory
        met["swapped out"] += memory.swap_outs > 0
        met["swapped in"] += engine.swap.swap_ins > 0
        met["files came back"] += memory.files.returned > 0
        met["buffers came back"] += memory.anonymous.returned > 0
        met["passed over"] += bool(memory.rotated)
        met["dirty ones went"] += engine.page_cache.cache.dirty_evictions > 0

    both_engines_agree()
    assert min(met.values()) > 5, met
    assert len(met) == 6


def machine(reclaim: Reclaim | None, request_bytes: int = 0) -> System:
    """A laboratory's machine of 1 GiB, of which the pool has 80 %: all buffers have room at the start."""
    path = library_files()["laboratory/postgresql-pool-80"]
    interval = (
        "interval={start: after_prewarm, lead_in: {transactions: 20000, speed: full}, warm_up_s: 5, duration_s: 20}"
    )
    model = build(load_scenario_file(path, [interval]))
    assert model.reclaim is not None
    shared = reclaim and replace(reclaim, pages=model.reclaim.pages)
    return replace(model, storage=replace(model.storage, swap_request_bytes=request_bytes), reclaim=shared)


def test_idle_buffers_are_swapped_though_all_have_room() -> None:
    """The more the higher swappiness is; none of a pool that keeps its own, nor with swappiness 0."""
    rules = (None, Reclaim(0, 0, 16), Reclaim(0, 20, 16), Reclaim(0, 100, 16))
    out = [kernel.simulate(machine(reclaim), 1).swap_out_per_s for reclaim in rules]
    assert out[:2] == [0.0, 0.0]
    assert 0.0 < out[2] < out[3]


def test_old_figures_decide_otherwise() -> None:
    """In a container reclaim doesn't see at once what comes back, nor which list is too short."""
    out = [kernel.simulate(machine(Reclaim(0, 60, 16, age_ns)), 1).swap_out_per_s for age_ns in (0, 2_000_000_000)]
    assert out[0] != pytest.approx(out[1], rel=0.3)


@pytest.mark.parametrize("request_bytes", [4096, 6144, 0])
def test_swap_is_written_by_requests(request_bytes: int) -> None:
    """As many bytes as were swapped out; 0: eight pages at once, as `swap_cluster_pages` says."""
    result = kernel.simulate(machine(Reclaim(0, 60, 16), request_bytes), 1)
    requests = result.devices[0].by_purpose_per_s["swap out"]
    assert requests * (request_bytes or 8 * PAGE_BYTES) == pytest.approx(result.swap_out_per_s * PAGE_BYTES, rel=0.1)


def reading_in_turn(reclaim: Reclaim | None) -> System:
    """A client that reads page 0, 1, 2 and 0 again by two buffers, and logs a page each time; a page cache of five."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", from_s(1.0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    zero, row = asm.register("zero"), asm.register("row")
    region = asm.region("table", 1, 3, 1)
    asm.emit("take", row, asm.counter("turn", 1, 0), zero, 1)
    asm.emit("touch", asm.reference("page", "row", region, zero, row=row), 0, 1_000_000)
    asm.emit("log", PAGE_BYTES)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, pool_pages=2, cache_pages=5, durable=True, duration_s=TURNS + 0.9)
    cache = replace(model.page_cache, log_pages=100, log_page_bytes=PAGE_BYTES)
    return replace(model, page_cache=cache, reclaim=reclaim)


@ENGINES
def test_what_comes_back_is_kept_from_what_is_used_once(engine: ModuleType) -> None:
    """LRU loses each page to the log before its next read; on two lists those that come back stay."""

    def reads(reclaim: Reclaim | None) -> int:
        return sum(table.disk_reads for table in engine.simulate(reading_in_turn(reclaim), 1).tables)

    assert reads(None) == TURNS
    assert reads(Reclaim(7, 0, 16)) < TURNS / 1.5


@pytest.mark.parametrize(("path", "is_noticed"), [("pages", True), ("batch_pages", False)])
def test_another_rule_is_noticed(path: str, is_noticed: bool) -> None:
    """A page less; of a batch's length nothing depends where buffers are left alone."""
    model = reading_in_turn(Reclaim(7, 0, 16))
    tampered: type[KernelEngine] = with_value(f"system.reclaim.{path}", lambda value: value - 1)
    assert (differences(model, 1, tampered) != []) is is_noticed
