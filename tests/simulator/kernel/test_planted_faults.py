"""Faults planted in the kernel's C++, one in each part: the comparison with the reference engine finds every one."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import simulator.kernel
from simulator.form import System
from simulator.kernel import KernelEngine
from simulator.kernel.library import load
from simulator.results import result_json
from tests.simulator.kernel.test_engine import TIED
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, any_systems, fair_systems
from tests.simulator.twins import kernel_contents, of_few_events, reference_contents, rows_of, run_reference

SOURCES = Path(simulator.kernel.__file__).parent
SYSTEMS, MOST_EVENTS = 120, 3000


class Fault(NamedTuple):
    """A piece of a header, and what stands there instead."""

    header: str
    right: str
    wrong: str


FAULTS = {
    "events of one time in another order": Fault("calendar.hpp", "delay_ns, ++order", "delay_ns, --order"),
    "now before what was due": Fault("calendar.hpp", "next_ns == now_ns && now_ns < until_ns", "next_ns < now_ns"),
    "a lock goes to nobody who waits": Fault("locks.hpp", "if (lock.line.empty()) {", "if (true) {"),
    "a holder of a section waits behind others": Fault("stations.hpp", "if (urgent)", "if (urgent && false)"),
    "no handover": Fault("stations.hpp", "sections[tasks[who].section].handover_ns", "0"),
    "busy threads slow nobody down": Fault("stations.hpp", "slows_down |= ", "slows_down &= "),
    "CLOCK counts one use more": Fault("cache.hpp", "MOST_USAGE = 5", "MOST_USAGE = 6"),
    "LRU forgets a use": Fault("cache.hpp", "+ 1 != end_of_uses)", "+ 2 != end_of_uses)"),
    "a page that is being read is replaced": Fault("cache.hpp", " && !is_busy(uses[i])", ""),
    "the writer passes over a dirty page": Fault("cache.hpp", "is_current(i) && is_dirty", "is_dirty"),
    "written pages stay": Fault("page_cache.hpp", "if (free_behind && ", "if (false && "),
    "writes in flight are no dirt": Fault("page_cache.hpp", "dirty + writes_in_flight >=", "dirty >="),
    "no second chance": Fault("buffer_pool.hpp", "other] == Residence::idle", "other] != Residence::none"),
    "a rotation too many": Fault("disk.hpp", "ROUNDING_TURNS = 1e-9", "ROUNDING_TURNS = -1e-9"),
    "a seek within a cylinder": Fault("disk.hpp", "cylinders[i] == arm_cylinder ? 0.0 : seek", "seek"),
    "the arm never turns round": Fault("io_scheduler.hpp", "upwards = !upwards", "std::swap(ahead, behind)"),
    "a write cache without end": Fault("write_cache.hpp", "used_bytes + needed > cache_bytes", "false"),
    "writes wait in the line of reads": Fault("flash.hpp", "read && reads_per_write > 0", "read && false"),
    "credits of no worth": Fault("limits.hpp", "refilled = limiter.full_at_ps -", "refilled = 0 *"),
    "parity stays in its place": Fault("raid.hpp", "places - 1 - stripe % places", "places - 1"),
    "a slice without end": Fault("fair_queueing.hpp", "calendar.now_ns < slice_end_ns", "slice_end_ns > 0"),
    "a flush takes nobody along": Fault("log.hpp", "std::exchange(waiting.first, NONE)", "waiting.take(tasks)"),
    "writes are never merged": Fault("write_back.hpp", "run.pages < merged_pages", "run.pages < 1"),
    "neighbours stay behind": Fault("page_writes.hpp", "coalesced_pages && run.first_page +", "0 && run.first_page +"),
    "the writer stops too early": Fault("daemons.hpp", "pool.dirty - step.a", "(pool.dirty - step.a + 1) / 2"),
    "a checkpoint without sync": Fault("daemons.hpp", "daemon.sync.start();", "return true;"),
    "daemons are due too late": Fault("daemons.hpp", "daemon.due_ns + step.a,", "calendar.now_ns + step.a,"),
    "a writer sleeps for ever": Fault("daemons.hpp", "asleep.resize(kept)", "asleep.resize(0)"),
    "young pages have expired": Fault("daemons.hpp", "flush(calendar.now_ns - age_ns,", "flush(calendar.now_ns,"),
    "users think for ever": Fault("terminals.hpp", "longest_think * mean_ns)", "1000 * mean_ns)"),
    "the oldest of recent pages": Fault("program.hpp", "reference.stream], filled)", "reference.stream], 1)"),
    "another value is the same": Fault("interpreter.hpp", "drawn >= reg[now.c]", "drawn > reg[now.c]"),
    "a gate that closes later": Fault("interpreter.hpp", "_left = counters[2];", "_left = counters[2] + 1;"),
    "a rollback is a commit": Fault("interpreter.hpp", "task.rolled_back = true;", "task.rolled_back = false;"),
    "tasks asleep count twice": Fault("io_wait.hpp", "asleep += by;", "asleep += 2 * by;"),
}  # fmt: skip


class Outcome(NamedTuple):
    """A system and what the reference engine made of it."""

    model: System
    ends: list[tuple[int, ...]]
    contents: dict[str, Any]
    result: str


def drawn(number: int) -> DrawnSystem:
    """One of many systems: other seeds give others, where more examples of one seed are often alike."""
    examples: list[DrawnSystem] = []

    @seed(number)
    @settings(
        max_examples=2,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(any_systems(), any_systems(), fair_systems()))
    def draw(system: DrawnSystem) -> None:
        examples.append(system)

    draw()
    return examples[-1]


@cache
def outcomes() -> list[Outcome]:
    """Random systems and the reference engine's runs of them."""
    found = []
    for system in [TIED, *map(drawn, range(SYSTEMS))]:
        model = of_few_events(model_of_system(system), 1, MOST_EVENTS)
        engine = run_reference(model, 1)
        found.append(Outcome(model, engine.ends, reference_contents(engine), result_json(engine.record.result())))
    return found


class FaultyKernels:
    """Process of its own in which kernels run: one with a fault may write where it must not, and end its process."""

    def __init__(self) -> None:
        self.process = ProcessPoolExecutor(1, get_context("spawn"))

    def find(self, library: Path) -> str | None:
        """What shows that a library's kernel has a fault; None if nothing does."""
        try:
            number = self.process.submit(first_difference, library, outcomes()).result()
        except BrokenProcessPool:
            self.process.shutdown()
            self.process = ProcessPoolExecutor(1, get_context("spawn"))
            return "its process died"
        return None if number is None else f"system {number} differs"


@pytest.fixture(scope="module")
def kernels() -> Iterator[FaultyKernels]:
    faulty = FaultyKernels()
    yield faulty
    faulty.process.shutdown()


def first_difference(library: Path, outcomes: list[Outcome]) -> int | None:
    """The number of the first system of which a library's kernel makes something else."""
    loaded = load(library)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simulator.kernel.compiled.kernel_library", lambda: loaded)
        return next((number for number, outcome in enumerate(outcomes) if differs(outcome)), None)


def differs(outcome: Outcome) -> bool:
    engine = KernelEngine(outcome.model, 1, traced=len(outcome.ends) + 1)
    engine.run(None)
    if [tuple(row) for row in rows_of(engine, "trace")] != outcome.ends:
        return True
    result = dataclasses.replace(engine.record.result(), engine="reference")
    return kernel_contents(engine) != outcome.contents or result_json(result) != outcome.result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the kernel's sources."""
    for source in SOURCES.glob("*.[ch]pp"):
        shutil.copy(source, tmp_path)
    return tmp_path


def compiled(folder: Path) -> Path:
    library = folder / "libkernel.so"
    floats = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    command = ["g++", "-O0", "-std=c++20", *floats, "-fPIC", "-shared", "-o", str(library), str(folder / "kernel.cpp")]
    subprocess.run(command, check=True)
    return library


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(fault: Fault, folder: Path, kernels: FaultyKernels) -> None:
    header = folder / fault.header
    text = header.read_text()
    assert text.count(fault.right) == 1
    header.write_text(text.replace(fault.right, fault.wrong))
    assert kernels.find(compiled(folder))


def test_without_a_fault_nothing_is_found(folder: Path, kernels: FaultyKernels) -> None:
    """And by another optimisation than the program's own."""
    assert kernels.find(compiled(folder)) is None


def test_events_that_get_new_numbers_keep_their_order(folder: Path, kernels: FaultyKernels) -> None:
    """After a thousand events, where the program's kernel does it after 2^36."""
    header = folder / "calendar.hpp"
    text = header.read_text()
    last = "(u64{1} << (64 - CODE_BITS)) - 1"
    assert text.count(last) == 1
    header.write_text(text.replace(last, "1000"))
    assert kernels.find(compiled(folder)) is None


def test_a_fault_that_ends_the_process_is_found_and_the_next_kernel_runs(folder: Path, kernels: FaultyKernels) -> None:
    source = folder / "kernel.cpp"
    text = source.read_text()
    source.write_text(text.replace("static_cast<Handle*>(handle)->kernel->run(until_ns);", "__builtin_trap();"))
    assert kernels.find(compiled(folder)) == "its process died"
