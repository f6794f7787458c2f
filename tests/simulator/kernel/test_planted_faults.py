"""Faults planted in the kernel's C++, one in each part: the comparison with the reference engine finds every one.

One library has them all, and a variable `planted_fault` with the number of the one that acts.
"""

import ctypes
import dataclasses
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from resource import RLIMIT_CPU, RLIMIT_DATA, setrlimit
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import oltpsim.simulator.kernel
from oltpsim.simulator.form import System
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.kernel.library import LIBRARY
from oltpsim.simulator.results import result_json
from tests.simulator.kernel.test_engine import TIED
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, any_systems, fair_systems, flushing_systems
from tests.simulator.twins import ends_of, kernel_contents, of_few_events, reference_contents, run_reference

pytestmark = pytest.mark.uncounted

SOURCES = Path(oltpsim.simulator.kernel.__file__).parent
SYSTEMS, MOST_EVENTS = 121, 3000
MOST_CPU_S, MOST_BYTES = 60, 1 << 30
"""of a process in which a kernel runs all systems, ten times what that takes: more shows a fault too"""


class Fault(NamedTuple):
    """An expression of a file, and what stands there instead."""

    file: str
    right: str
    wrong: str


FAULTS = {
    "events of one time in another order": Fault(
        "calendar.hpp", "++order << CODE_BITS | code(kind, number)", "--order << CODE_BITS | code(kind, number)"
    ),
    "an event overtakes others": Fault(
        "calendar.hpp", "base_ns + (i64{1} << group) - 1", "base_ns + (i64{8} << group) - 1"
    ),
    "now before what was due": Fault("calendar.hpp", "next_ns == now_ns && now_ns < until_ns", "next_ns < now_ns"),
    "a new page is logged whole": Fault("page_images.hpp", "is_new ? 0 : bytes", "bytes"),
    "log of the checkpoints before counts": Fault(
        "daemons.hpp", "pool.log_end_bytes() - daemon.began_bytes < log_bytes", "pool.log_end_bytes() < log_bytes"
    ),
    "write-back sleeps when its first pages are on their way": Fault(
        "daemons.hpp", "!interpreter.page_cache.has_dirty_since(latest_ns)", "write_back.free_pages() <= 0"
    ),
    "a lock goes to nobody who waits": Fault("locks.hpp", "lock.line.empty()", "true"),
    "a holder of a section waits behind others": Fault("stations.hpp", "(urgent)", "false"),
    "no handover": Fault("stations.hpp", "sections[tasks[who].section].handover_ns", "0"),
    "busy threads slow nobody down": Fault(
        "stations.hpp", "slows_down |= slowdown_ppm[i] != form::PPM", "slows_down &= slowdown_ppm[i] != form::PPM"
    ),
    "CLOCK counts one use more": Fault("cache.hpp", "state.used < MOST_USAGE", "state.used <= MOST_USAGE"),
    "LRU forgets a use": Fault("cache.hpp", "i64{state.used} + 1 != end_of_uses", "i64{state.used} + 2 != end_of_uses"),
    "a page that is being read is replaced": Fault("cache.hpp", "is_busy(page)", "false"),
    "what was just read becomes young": Fault(
        "midpoint_list.hpp", "number_of(now_ns) - i64{mark & ~OLD} < old_ms", "false"
    ),
    "a midpoint that stays": Fault("midpoint_list.hpp", "old < wanted", "false"),
    "young pages that always move": Fault(
        "midpoint_list.hpp", "((static_cast<u32>(evictions) - mark) & ~OLD) < far_enough", "false"
    ),
    "a page that has left the end of the list is written": Fault(
        "midpoint_list.hpp", "place.in_tail && is_dirty(slot)", "is_dirty(slot)"
    ),
    "what becomes dirty at the end of the list is forgotten": Fault(
        "midpoint_list.hpp", "tail_length > 0 && places[slot].in_tail", "false"
    ),
    "the end of the list grows": Fault("midpoint_list.hpp", "tail_length > tail_depth", "false"),
    "the writer passes over a dirty page": Fault(
        "cache.hpp", "is_current(i) && is_dirty(uses[i])", "is_dirty(uses[i])"
    ),
    "the page cache forgets uses": Fault("page_cache.hpp", "by_use.last == slot", "by_use.last != NONE"),
    "written pages stay": Fault("page_cache.hpp", "given.free_behind && !is_dirty(page)", "false"),
    "writes in flight are no dirt": Fault(
        "page_cache.hpp", "dirty + writes_in_flight >= given.dirty_limit_pages", "dirty >= given.dirty_limit_pages"
    ),
    "no second chance": Fault("memory.hpp", "!was_used(other)", "residence[other] >= Residence::idle"),
    "a rotation too many": Fault(
        "disk.hpp",
        "places[i] - angle - there / disk.revolution + ROUNDING_TURNS",
        "places[i] - angle - there / disk.revolution - ROUNDING_TURNS",
    ),
    "a seek within a cylinder": Fault("disk.hpp", "cylinders[i] == arm_cylinder ? disk.head_switch : longer", "longer"),
    "the arm never turns round": Fault("io_scheduler.hpp", "upwards = !upwards", "std::swap(ahead, behind), upwards"),
    "a write cache without end": Fault("write_cache.hpp", "used_bytes + needed > cache.cache_bytes", "false"),
    "writes wait in the line of reads": Fault("flash.hpp", "record.reads_per_write > 0", "false"),
    "reads take no time from programs": Fault(
        "ssd.hpp", "buffer_drained_ns += (service_ns + ssd.interrupted_ns) / dies", "buffer_drained_ns += 0"
    ),
    "credits of no worth": Fault("limits.hpp", "std::max(start, limiter.refilled_ps())", "start"),
    "parity stays in its place": Fault("raid.hpp", "places - 1 - stripe % places", "places - 1"),
    "a slice without end": Fault("fair_queueing.hpp", "calendar.now_ns < slice_end_ns", "slice_end_ns > 0"),
    "a flush takes nobody along": Fault(
        "log.hpp",
        "std::exchange(flusher.waiting.first, NONE)",
        "[&] { const i32 one = flusher.waiting.take(tasks); tasks[one].next = NONE; return one; }()",
    ),
    "writes are never merged": Fault(
        "write_back.hpp", "run.pages > 0 && run.pages < merged_pages", "run.pages > 0 && false"
    ),
    "write-back begins anew in the files": Fault(
        "write_back.hpp", "page_cache.next_dirty(next_in_files)", "page_cache.next_dirty(0)"
    ),
    "no file is locked": Fault("page_cache.hpp", "locked_until_ns[file_of(page)] - now_ns", "i64{0}"),
    "a pause for each page": Fault("interpreter.hpp", "task.unpaid_pages >= enough", "task.unpaid_pages > 0"),
    "a batch is over before the disks have it": Fault(
        "page_writes.hpp", "write_back.pages_written < pages_synced", "false"
    ),
    "no copies by buffered I/O": Fault("page_writes.hpp", "(system.direct_io || is_synced)", "(system.direct_io)"),
    "a victim leaves the page cache": Fault("clients.hpp", "interpreter.keep_written(page)", "void()"),
    "what is to be pushed stays": Fault("page_writes.hpp", "(is_pushed)", "false"),
    "an index page never changes": Fault("interpreter.hpp", "now.b == form::WITH_INDEX_PAGE", "false"),
    "neighbours stay behind": Fault(
        "page_writes.hpp",
        "run.pages < rules.coalesced_pages && run.first_page + run.pages * extent.devices < end",
        "false",
    ),
    "the writer stops too early": Fault(
        "daemons.hpp", "pool.dirty - step.operands[0]", "(pool.dirty - step.operands[0] + 1) / 2"
    ),
    "a sync flushes nothing": Fault("write_back.hpp", "page_cache.has_dirty_since(began_ns)", "false"),
    "daemons are due too late": Fault(
        "daemons.hpp", "daemon.due_ns + step.operands[0]", "calendar.now_ns + step.operands[0]"
    ),
    "a writer sleeps for ever": Fault("daemons.hpp", "asleep.resize(kept)", "asleep.resize(0)"),
    "young pages have expired": Fault("daemons.hpp", "calendar.now_ns - age_ns", "calendar.now_ns"),
    "users think for ever": Fault("terminals.hpp", "rules->longest_think * mean_ns", "1000 * mean_ns"),
    "the oldest of recent pages": Fault(
        "program.hpp", "uniform_below(stream[reference.stream], filled)", "uniform_below(stream[reference.stream], 1)"
    ),
    "another value is the same": Fault("interpreter.hpp", "drawn >= reg[now.c]", "drawn > reg[now.c]"),
    "a gate that closes later": Fault(
        "interpreter.hpp", "passages_left = counters[2]", "passages_left = counters[2] + 1"
    ),
    "a rollback is a commit": Fault("interpreter.hpp", "task.rolled_back = true", "task.rolled_back = false"),
    "what is put aside is read": Fault("interpreter.hpp", "now.code == Code::put_aside", "false"),
    "a page comes in without what waits": Fault("buffer_pool.hpp", "waiting.take(page)", "false"),
    "the last page that waits is merged": Fault("merges.hpp", "uniform_below(stream, left)", "left - 1"),
    "a merge overwrites what is dirty": Fault("merges.hpp", "pool.is_dirty(victim.page)", "false"),
    "parts of pages to merge are forgotten": Fault(
        "daemons.hpp", "daemon.left_milli_pages + milli_pages", "milli_pages"
    ),
    "tasks asleep count twice": Fault("io_wait.hpp", "asleep += by", "asleep += 2 * by"),
}
"""Each makes another trajectory."""
RUNS = "static_cast<Handle*>(handle)->kernel.run(until_ns)"
ENDS = {
    "a kernel that ends its process": Fault("kernel.cpp", RUNS, "__builtin_trap()"),
    "a kernel that runs for ever": Fault("kernel.cpp", RUNS, "[] { for (volatile i64 n = 0; n == 0;) {} }()"),
}
LAST_ORDER = "(u64{1} << (64 - CODE_BITS)) - 1"
PLANTED = {name: (number, fault) for number, (name, fault) in enumerate({**FAULTS, **ENDS}.items(), 1)}
"""Number, which is the value of `planted_fault`, and fault, by name."""


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
    @given(st.one_of(any_systems(), any_systems(), fair_systems(), flushing_systems()))
    def draw(system: DrawnSystem) -> None:
        examples.append(system)

    draw()
    return examples[-1]


@cache
def outcome(number: int) -> Outcome:
    """One of the systems, all but the first at random, and the reference engine's run of it."""
    model = of_few_events(model_of_system(drawn(number - 1) if number else TIED), 1, MOST_EVENTS)
    engine = run_reference(model, 1)
    return Outcome(model, engine.ends, reference_contents(engine), result_json(engine.record.result()))


def differs(outcome: Outcome) -> bool:
    engine = KernelEngine(outcome.model, 1, traced=len(outcome.ends) + 1)
    engine.run(None)
    if ends_of(engine) != outcome.ends:
        return True
    result = dataclasses.replace(engine.record.result(), engine="reference")
    return kernel_contents(engine) != outcome.contents or result_json(result) != outcome.result


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str | None]]:
    """`shown(number)`: what shows that a planted fault acts, None if nothing does; see `what_shows`."""
    library = compiled(tmp_path_factory.mktemp("kernel"))
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        yield lambda *arguments: process.submit(what_shows, library, *arguments).result()


def compiled(folder: Path) -> Path:
    """The library with all faults, in a folder. Its events get new numbers after a thousand instead of 2^36."""
    for source in SOURCES.glob("*.[ch]pp"):
        shutil.copy(source, folder)
    calendar = (folder / "calendar.hpp").read_text()
    assert calendar.count(LAST_ORDER) == 1
    (folder / "calendar.hpp").write_text(calendar.replace(LAST_ORDER, "1000"))
    for number, (name, right, wrong) in PLANTED.values():
        text = (folder / name).read_text()
        assert text.count(right) == 1, right
        (folder / name).write_text(text.replace(right, f"(planted_fault == {number} ? ({wrong}) : ({right}))"))
    (folder / "planted.hpp").write_text('extern "C" { int planted_fault = 0; }')
    library = folder / "libkernel.so"
    floats = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    command = ["g++", "-O0", "-std=c++20", *floats, "-fPIC", "-shared", "-include", "planted.hpp"]
    subprocess.run([*command, "-o", str(library), "kernel.cpp"], cwd=folder, check=True)
    return library


def what_shows(library: Path, number: int, systems: int = SYSTEMS, most_cpu_s: int = MOST_CPU_S) -> str | None:
    """What shows that a fault acts in the first so many systems; None if nothing does.

    The kernel has a process of its own, for it may write where it must not, end its process or never come to an end.
    """
    outcomes = [outcome(system) for system in range(systems)]  # here, where they stay
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=compare, args=(library, number, outcomes, most_cpu_s, sender))
    process.start()
    sender.close()
    try:
        shows: str | None = receiver.recv()
    except EOFError:
        process.join()
        assert process.exitcode is not None
        code = process.exitcode
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
    process.join()
    return shows


def compare(library: Path, number: int, outcomes: list[Outcome], most_cpu_s: int, sender: Connection) -> None:
    """Send which system shows that a fault acts, and how; None if none does."""
    setrlimit(RLIMIT_CPU, (most_cpu_s, most_cpu_s + 1))
    setrlimit(RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    loaded = LIBRARY.load_from(library)
    ctypes.c_int.in_dll(loaded, "planted_fault").value = number
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oltpsim.simulator.kernel.compiled.kernel_library", lambda: loaded)
        for system, reference in enumerate(outcomes):
            try:
                if differs(reference):
                    return sender.send(f"system {system} differs")
            except Exception as error:  # noqa: BLE001 - whatever a kernel with a fault makes its readers do
                return sender.send(f"system {system} fails: {error}")
    return sender.send(None)


Shown = Callable[..., str | None]


def test_a_planted_fault_is_found(shown: Shown) -> None:
    """And where none acts, nothing is found, by another optimisation than the program's own."""
    assert shown(0) is None
    assert [name for name in FAULTS if shown(PLANTED[name][0]) is None] == []


def test_a_fault_that_ends_the_process_is_found_and_the_next_kernel_runs(shown: Shown) -> None:
    assert shown(PLANTED["a kernel that ends its process"][0], 1) in {"ended by SIGILL", "ended by SIGTRAP"}
    assert shown(PLANTED["no handover"][0], 1) == "system 0 differs"


def test_a_fault_that_never_comes_to_an_end_is_found(shown: Shown) -> None:
    assert shown(PLANTED["a kernel that runs for ever"][0], 1, 1) == "ended by SIGXCPU"
