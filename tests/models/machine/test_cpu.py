"""Hardware threads, clock, memory bus and shared cache lines: against enumeration, networks by hand, and laws."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.calibration.fit import apply_calibration, calibration_path, engine_doubts, read_calibration
from oltpsim.models.machine import CpuSpec, Sessions
from oltpsim.models.machine.cpu import KEPT_SHARE, cache_line_ns, slowdowns
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build, unmeasured_threads
from oltpsim.models.wiring.paths import paths_of
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from tests.simulator.tpcc_systems import TINY


def cpu(cores: int, threads_per_core: int = 1, gain: float = 0.2, bus: float = 0.0, **keys: Any) -> CpuSpec:
    return CpuSpec(
        model="test", cores=cores, relative_speed=1.0, threads_per_core=threads_per_core, second_thread_gain=gain,
        memory_bus_share=bus, source="assumption: for tests", **keys,
    )  # fmt: skip


def test_plain_cores_do_not_slow_each_other_down() -> None:
    assert slowdowns(cpu(6)).tolist() == [1.0] * 6


def test_two_siblings_do_a_fifth_more_than_one() -> None:
    """1.2 times the work of one thread, so each takes 2 / 1.2 of its time alone."""
    assert slowdowns(cpu(1, 2)).tolist() == pytest.approx([1.0, 2 / 1.2])
    assert slowdowns(cpu(1, 2, gain=1.0)).tolist() == pytest.approx([1.0, 1.0])
    assert slowdowns(cpu(1, 2, gain=0.0)).tolist() == pytest.approx([1.0, 2.0])


def test_idle_cores_are_filled_first() -> None:
    """Four threads of two cores: nobody is slower until a third comes; then two of three share a core."""
    assert slowdowns(cpu(2, 2)).tolist() == pytest.approx([1.0, 1.0, 3 / 2.2, 4 / 2.4])


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_under_a_hypervisor_every_placement_is_as_likely(cores: int) -> None:
    """The mean work of all ways to put so many busy threads on the processors, counted one by one."""
    found = slowdowns(cpu(cores, 2, gain=0.3), placed_by_cores=False)
    for busy in range(1, 2 * cores + 1):
        work = []
        for places in combinations(range(2 * cores), busy):
            on_core = np.bincount([place // 2 for place in places], minlength=cores)
            work.append((on_core == 1).sum() + 1.3 * (on_core == 2).sum())
        assert found[busy - 1] == pytest.approx(busy / np.mean(work))


def test_the_bus_is_a_queue_that_the_cores_visit() -> None:
    """Two and three cores with 0.2 of their time at the bus, by hand: R = 0.2 (1 + Q), Q = n R / (0.8 + R)."""
    second = 0.2 * (1 + 0.2)
    third = 0.2 * (1 + 2 * second / (0.8 + second))
    assert slowdowns(cpu(3, bus=0.2)).tolist() == pytest.approx([1.0, 0.8 + second, 0.8 + third])


@pytest.mark.parametrize(("cores", "share"), [(2, 0.3), (5, 0.1), (8, 0.6)])
def test_the_bus_is_a_machine_repairman(cores: int, share: float) -> None:
    """Exact for exponential times: the stationary distribution of the birth and death process."""
    weights = [1.0]
    for waiting in range(cores):
        weights.append(weights[-1] * (cores - waiting) * share / (1.0 - share))
    idle = weights[0] / sum(weights)
    per_core = (1.0 - idle) / share / cores
    assert slowdowns(cpu(cores, bus=share))[-1] == pytest.approx(1.0 / per_core)
    assert slowdowns(cpu(cores, bus=share * 1.01))[-1] != pytest.approx(1.0 / per_core)


def test_a_bus_that_is_all_there_is_serves_one_at_a_time() -> None:
    assert slowdowns(cpu(4, bus=1.0)).tolist() == pytest.approx([1.0, 2.0, 3.0, 4.0])


def test_the_clock_falls_from_one_busy_core_to_all() -> None:
    """3.5 GHz alone and 3.1 GHz with all five cores: a ninth of the loss with each quarter of the others."""
    longer = slowdowns(cpu(5, all_core_clock_fraction=3.1 / 3.5))
    assert longer.tolist() == pytest.approx([3.5 / ghz for ghz in (3.5, 3.4, 3.3, 3.2, 3.1)])
    siblings = slowdowns(cpu(1, 2, all_core_clock_fraction=0.5))
    assert siblings.tolist() == slowdowns(cpu(1, 2)).tolist(), "one core is always all of them"


def test_a_cache_line_of_another_socket_is_farther() -> None:
    assert cache_line_ns(cpu(4)) == 20
    assert cache_line_ns(cpu(4, sockets=2)) == pytest.approx((20 + 150) / 2)
    assert cache_line_ns(cpu(4, sockets=4, cache_line_ns=10, remote_cache_line_ns=90)) == pytest.approx(70)


def test_lines_that_all_write_by_hand() -> None:
    """0.2 of the time alone if each were fetched: half of that with two threads, two thirds with three, in a queue."""
    second = 0.1 * (1 + 0.1 / 1.1)
    fetch = 0.2 * 2 / 3
    once = fetch * (1 + fetch / (1 + fetch))
    third = fetch * (1 + 2 * once / (1 + once))
    assert slowdowns(cpu(3), line_share=0.2).tolist() == pytest.approx([1.0, 1 + second, 1 + third])
    assert slowdowns(cpu(3), line_share=0.2).tolist() != slowdowns(cpu(3, bus=0.2)).tolist()


def test_one_line_bounds_what_any_number_of_cores_does() -> None:
    """As a machine repairman with one repairer: 1 / line_share pieces of work in the time of one, less than ever."""
    longer = slowdowns(cpu(512), line_share=0.02)
    done = np.arange(1, 513) / longer
    assert done[-1] == pytest.approx(1 / 0.02, rel=0.01)
    assert done[-1] < 1 / (0.02 * 511 / 512) + 1e-9
    assert slowdowns(cpu(512))[-1] == 1.0


@given(st.integers(1, 24), st.integers(1, 2), st.floats(0.3, 1), st.floats(0, 0.4), st.floats(0, 0.3), st.booleans())
def test_nothing_gets_faster_with_more_busy(
    cores: int, threads: int, clock: float, bus: float, line_share: float, placed_by_cores: bool
) -> None:
    """Each piece of work takes longer beside more; all together may do less where the clock falls fast."""
    spec = cpu(cores, threads, 0.3, bus, all_core_clock_fraction=clock)
    longer = slowdowns(spec, placed_by_cores=placed_by_cores, line_share=line_share)
    assert longer[0] == pytest.approx(1.0)
    assert (np.diff(longer) >= -1e-9).all()
    plain = slowdowns(cpu(cores, threads, 0.3, bus), placed_by_cores=placed_by_cores)
    assert (longer >= plain - 1e-9).all()


processors = st.builds(cpu, st.integers(1, 24), st.integers(1, 2), st.floats(0, 1), st.floats(0, 1))


@given(processors, st.booleans())
def test_more_busy_threads_never_do_less(spec: CpuSpec, placed_by_cores: bool) -> None:
    longer = slowdowns(spec, placed_by_cores=placed_by_cores)
    assert longer[0] == pytest.approx(1.0)
    done = np.arange(1, len(longer) + 1) / longer
    assert (np.diff(done) >= -1e-9).all()
    assert (np.diff(longer) >= -1e-9).all()


@given(st.integers(1, 24), st.floats(0, 1), st.booleans())
def test_all_threads_together_do_the_cores_and_their_gain(cores: int, gain: float, placed_by_cores: bool) -> None:
    longer = slowdowns(cpu(cores, 2, gain), placed_by_cores=placed_by_cores)
    assert 2 * cores / longer[-1] == pytest.approx(cores * (1.0 + gain))


def test_a_model_has_threads_only_where_they_slow_each_other_down() -> None:
    def sharing(*settings: str) -> tuple[int, tuple[int, ...] | None]:
        model = build(load_scenario(TINY, [f"machine.cpu.{each}" for each in settings]))
        return model.processors, model.sharing.ppm if model.sharing else None

    assert sharing("cores=3") == (3, None)
    assert sharing("cores=1", "memory_bus_share=0.5") == (1, None)
    assert sharing("cores=2", "threads_per_core=2") == (4, (1_000_000, 1_000_000, 1_363_636, 1_666_667))
    threads = "machine.cpu={cores: 2, threads_per_core: 2}"
    under = build(load_scenario(TINY, [threads, "machine.hardware_share_lost=0.1"]))
    assert under.sharing is not None
    assert under.sharing.ppm[:2] == (1_000_000, round(1e6 * 2 / (2 - 2 / 3 + 1.2 / 3)))


def test_threads_are_placed_as_the_machine_says() -> None:
    words = ["machine.cpu={cores: 2, threads_per_core: 2}"]
    by_cores, by_chance = (
        build(load_scenario(TINY, [*words, f"machine.cpu.thread_placement={each}"])).sharing
        for each in ("by_cores", "by_chance")
    )
    assert by_cores is not None and by_chance is not None  # noqa: PT018
    assert by_cores.ppm[1] == 1_000_000 < by_chance.ppm[1]
    assert by_cores.ppm[3] == by_chance.ppm[3]


def test_lines_of_a_row_operation_by_its_time() -> None:
    """20 lines of 20 ns in 20 us alone are 2 %; a core twice as fast makes the same lines 4 %."""

    def share(*settings: str) -> float:
        words = [
            "database.path.row_operation_us=20",
            "database.path.shared_lines=20",
            "machine.cpu.cores=64",
            *settings,
        ]
        sharing = build(load_scenario(TINY, words)).sharing
        assert sharing is not None
        return 64 * 1e6 / sharing.ppm[-1]

    # 63/64 of the lines come from elsewhere; the queue is nearly full
    assert share("machine.cpu.relative_speed=1") == pytest.approx(1 / 0.02 * 64 / 63, rel=0.1)
    assert share("machine.cpu.relative_speed=2") == pytest.approx(1 / 0.04 * 64 / 63, rel=0.01)
    assert share("machine.cpu.relative_speed=1", "machine.cpu.sockets=2") == pytest.approx(
        1 / 0.085 * 64 / 63, rel=0.01
    )


def test_many_more_threads_than_any_run_had_are_a_doubt() -> None:
    few, many = (load_scenario(TINY, [f"machine.cpu.cores={cores}"]) for cores in (16, 17))
    assert unmeasured_threads(few) == []
    assert "17 hardware threads" in unmeasured_threads(many)[0]
    assert unmeasured_threads(load_scenario(TINY, ["machine.cpu.cores=17", "database.measured_threads=9"])) == []
    assert any("hardware threads" in each for each in engine_doubts([many])[0])
    assert not any("hardware threads" in each for each in engine_doubts([few])[0])


def test_a_run_of_as_many_threads_takes_the_doubt_away() -> None:
    """A model fitted on 80 hardware threads said that no run of MySQL 8.4 had more than 8."""
    scenario = load_scenario_file(scenario_path("innodb/hammerdb-80-users"))
    asked = scenario.model_copy(update={"measured": None})
    assert scenario.machine.cpu.threads == 80
    assert unmeasured_threads(scenario) == [], "it has been measured itself"
    assert "80 hardware threads" in unmeasured_threads(asked)[0]
    mysql, other = (read_calibration(calibration_path(Path(name))) for name in ("mysql", "postgresql"))
    assert unmeasured_threads(apply_calibration(mysql, asked)) == []
    assert unmeasured_threads(apply_calibration(other, asked)), "of another database"


def kept(cores: int, clients: int, threads_per_core: int = 1, threads: int = 2, **costs: float) -> list[float]:
    """Slowdowns of processors whose threads keep them."""
    spec = cpu(cores, threads_per_core, gain=0.3, thread_placement="kept")
    return slowdowns(spec, sessions=Sessions(clients, threads, **costs)).tolist()  # pyright: ignore[reportArgumentType]


def chance_that_none_runs(sessions: int, here: int) -> float:
    """Counted one by one: one of each `sessions` pairs of threads runs, any of all threads as likely."""
    every = list(combinations(range(2 * sessions), sessions))
    return sum(all(thread >= here for thread in running) for running in every) / len(every)


@pytest.mark.parametrize(("clients", "here"), [(4, 2), (6, 3), (8, 4)])
def test_threads_that_keep_their_processors_leave_others_idle(clients: int, here: int) -> None:
    """A client's and the server's thread of each session on four cores: some core has none that runs."""
    idle = chance_that_none_runs(clients, here)
    assert kept(4, clients)[3] == pytest.approx(1.0 / (1.0 - KEPT_SHARE * idle))
    assert kept(4, clients, threads=1)[3] == 1.0, "clients on other machines: no thread sleeps beside one that runs"
    assert kept(4, 1000)[3] == pytest.approx(1.0, abs=1e-6), "with many sessions no core is without work"
    assert kept(4, clients)[:2] == [1.0, 1.0], "each thread has a core of its own"


def test_threads_that_keep_their_processors_fill_cores_first() -> None:
    """Eight cores of two threads: four sessions' eight threads have a core each, eight sessions' a sibling each."""
    four, eight, full = (kept(8, 500, 2)[busy - 1] for busy in (4, 8, 16))
    assert four == 1.0
    seen_busy = 7 / 15
    idle = chance_that_none_runs(8, 2) - (1 - (8 - 8 * seen_busy / 2) / 8)
    assert eight == pytest.approx(1 / (1 - seen_busy * (1 - 1.3 / 2)) / (1 - KEPT_SHARE * idle))
    assert full == pytest.approx(2 / 1.3)


def test_processors_with_turns_to_give_do_not_sleep() -> None:
    """A fifth of a lone transaction are wake-ups: gone on full processors, where refills take their place."""
    assert kept(2, 1, wake_share=0.2)[0] == 1.0
    assert kept(2, 1000, wake_share=0.2)[1] == pytest.approx(0.8)
    assert kept(2, 1000, wake_share=0.2, refill_fraction=0.5)[1] == pytest.approx(0.8 * 1.5)
    assert kept(2, 2, wake_share=0.2)[1] > kept(2, 4, wake_share=0.2)[1] > 0.8
    assert kept(2, 1, growth=1.25)[0] == 1.25


def test_costs_of_turns_come_from_the_scenario() -> None:
    """The keys that no saved file has change nothing; those of wake-ups and sessions change all processors' times."""

    def sharing(*settings: str) -> tuple[int, ...] | None:
        found = build(load_scenario(TINY, ["machine.cpu.cores=2", "workload.arrivals.clients=5", *settings])).sharing
        return found and found.ppm

    assert sharing() is None
    assert sharing("database.path.session_fraction=0.01") == (1_040_000, 1_040_000)
    crowded = sharing("database.path.session_fraction=0.01", "database.path.crowding_sessions=4")
    assert crowded == (1_020_000, 1_020_000)
    woken, refilled = sharing("machine.cpu.wake_us=100"), sharing("database.path.refill_fraction=0.1")
    assert woken is not None and woken[0] == 1_000_000 > woken[1]  # noqa: PT018
    assert refilled is not None and refilled[0] == 1_000_000 < refilled[1] < 1_100_000  # noqa: PT018
    remote = ["machine.network={clients_on_server: false, round_trip_us: 100, source: test}"]
    assert sharing("machine.cpu.thread_placement=kept") != sharing("machine.cpu.thread_placement=kept", *remote)


def test_a_message_wakes_processors_up_whatever_their_speed() -> None:
    def message_ns(*settings: str) -> int:
        scenario = load_scenario(TINY, list(settings))
        return paths_of(scenario.machine, scenario.operating_system, scenario.database).message_ns

    for speed in (1, 4):
        words = f"machine.cpu.relative_speed={speed}"
        assert message_ns(words, "machine.cpu.wake_us=30") - message_ns(words) == 30_000
