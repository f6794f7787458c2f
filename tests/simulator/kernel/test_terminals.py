"""Terminals before few connections: against queueing theory, against the other engine, and nobody is lost."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import CODES, Assembler, Interrupts, System, Terminals
from oltpsim.simulator.reference.terminals import TerminalQueue
from oltpsim.simulator.results import TerminalLevels
from tests.simulator.reference.test_closed_forms import repairman
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import systems
from tests.simulator.tpcc_systems import TINY
from tests.simulator.twins import Finished, differences, of_few_events

MS, S = 1_000_000, 1_000_000_000
ModelOf = Callable[..., System]
TYPED = "{new_order: 0.018, payment: 0.003, order_status: 0.002, delivery: 0.002, stock_level: 0.002}"
THOUGHT = "{new_order: 0.12, payment: 0.12, order_status: 0.1, delivery: 0.05, stock_level: 0.05}"


def served(
    model_of: ModelOf, services: list[tuple[str, int]], connections: int, shares: tuple[float, ...] = (1.0,),
    duration_s: float = 100, **terminals: Any,
) -> System:  # fmt: skip
    """Terminals whose classes take (distribution, ns) with a connection each, and nothing else that is ever full."""
    asm = Assembler()
    mix = asm.table("mix", shares)
    asm.emit("arrive")
    asm.emit("enter")
    station = asm.station("service")
    for number, (kind, time_ns) in enumerate(services):
        asm.begin_class(f"class {number}")
        asm.emit("visit", station, asm.distribution(kind, time_ns), asm.stream("service"))
        asm.emit("end")
    model = model_of(asm, clients=connections, servers={"service": connections}, warm_up_s=5, duration_s=duration_s)
    asked = {"count": 20, "homes": 1, "registers": (), "mix": mix, "thinking_ns": (S,), "keying_ns": (0,)} | terminals
    return dataclasses.replace(model, terminals=Terminals(**asked))


def tpcc(*changes: str, kind: str = "connections: 6, middle_tier_ms: 5") -> System:
    """Four warehouses of terminals a hundred times as fast as the specification's."""
    arrivals = f"{{kind: terminals, {kind}, keying_time_s: {TYPED}, think_time_s: {THOUGHT}}}"
    common = ("workload.warehouses=4", "machine.cpu.cores=2", "interval.duration_s=3", "database.log.commit=durable")
    return build(load_scenario(TINY, [*common, f"workload.arrivals={arrivals}", *changes]))


def test_without_service_the_rate_is_the_bound(model_of: ModelOf) -> None:
    """Every terminal ends a transaction every 2 s; but for two classes alike in turn, by the mix."""
    model = served(model_of, [("constant", 0)], 1, keying_ns=(2 * S,), thinking_ns=(0,))
    assert kernel.simulate(model, 1).classes[0].completed == pytest.approx(20 * 100 / 2, abs=20)
    mixed = served(
        model_of, [("constant", 0)] * 2, 1, (0.25, 0.75), keying_ns=(4 * S, S), thinking_ns=(0, 4 * S), count=500
    )
    result = kernel.simulate(mixed, 1)
    assert result.transactions_per_s == pytest.approx(500 / (1 + 0.75 + 3), rel=0.01)


def test_the_specifications_times_allow_12_86_new_orders_a_minute_and_warehouse() -> None:
    model = build(load_scenario(TINY, ["workload.warehouses=4", "workload.arrivals={kind: terminals, connections: 9}"]))
    terminals, share = model.terminals, np.array([0.45, 0.43, 0.04, 0.04, 0.04])
    assert terminals is not None
    assert (terminals.count, terminals.homes) == (40, 4)
    away_s = share @ (np.array(terminals.keying_ns) + np.array(terminals.thinking_ns)) / S
    assert away_s == pytest.approx(20.99, abs=0.005)
    assert 10 * 60 / away_s * 0.45 == pytest.approx(12.86, abs=0.005)


@pytest.mark.parametrize("connections", [1, 2])
@pytest.mark.parametrize("keying_ns", [0, S // 2])
def test_machine_repairman(model_of: ModelOf, connections: int, keying_ns: int) -> None:
    """M/M/c//N whatever the time away is made of (constant keying, too): its mean alone counts."""
    rates = []
    for seed in range(1, 7):
        model = served(
            model_of, [("exponential", 100 * MS)], connections, thinking_ns=(S - keying_ns,), keying_ns=(keying_ns,),
            longest_think=100,
        )  # fmt: skip
        rates.append(kernel.simulate(model, seed).transactions_per_s)
    error = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - repairman(20, connections, 1.0, 0.1)) < 4 * error
    assert abs(np.mean(rates) - repairman(20, 3 - connections, 1.0, 0.1)) > 4 * error


def test_waiting_for_a_connection_is_part_of_the_response_and_so_is_the_middle_tier(model_of: ModelOf) -> None:
    model = served(model_of, [("constant", 100 * MS)], 1, middle_tier_ns=30 * MS)
    result = kernel.simulate(model, 1)
    [own] = result.classes
    assert own.time_by_s["network"] == pytest.approx(0.03)
    assert own.time_by_s["stations"] == pytest.approx(0.1)
    assert own.mean_s == pytest.approx(0.13 + own.time_by_s["connection"], rel=1e-6)
    assert own.mean_s == pytest.approx(20 / result.transactions_per_s - 1.0, rel=0.03)
    assert result.broken_laws == []
    [connections] = [each for each in result.stations if each.name == "connections"]
    assert connections.utilisation == pytest.approx(1.0, abs=0.01)


def test_nobody_waits_for_what_is_deferred(model_of: ModelOf) -> None:
    """Half of the transactions take 2 s. Deferred, they don't hold up their terminals."""
    services = [("constant", 0), ("constant", 2 * S)]
    times = {"count": 50, "keying_ns": (0, 0), "thinking_ns": (S, S)}
    rates = [
        kernel.simulate(served(model_of, services, 200, (0.5, 0.5), deferred_class=deferred, **times), 1)
        for deferred in (1, -1)
    ]
    assert rates[0].transactions_per_s == pytest.approx(50.0, rel=0.05)
    assert rates[1].transactions_per_s == pytest.approx(25.0, rel=0.05)
    assert [each.classes[1].mean_s for each in rates] == pytest.approx([2.0, 2.0])
    assert not [law for each in rates for law in each.broken_laws]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ([], "connections: 6, middle_tier_ms: 5"),
        (["database.pool.buffers=300", "interval.start=warm", "database.io=direct"], "connections: 2"),
        (["interval.start=after_load"], "connections: 40, deferred_delivery: false"),
        (["workload.tpcc.home_warehouse=drawn", "workload.active_warehouses=3"], "connections: 3"),
    ],
)
def test_engines_agree(changes: list[str], kind: str) -> None:
    model = tpcc(*changes, kind=kind)
    assert not differences(model, 1)
    result = kernel.simulate(model, 1)
    assert result.broken_laws == []
    assert result.transactions_per_s > 5


def test_events_at_one_instant_come_in_one_order(model_of: ModelOf) -> None:
    """Everything on a grid of whole seconds: many arrive, end and leave at the same nanosecond."""
    services = [("constant", S), ("constant", 0), ("uniform", 0)]
    model = served(
        model_of, services, 3, (0.4, 0.3, 0.3), duration_s=30, keying_ns=(S, 0, 2 * S), thinking_ns=(0, 0, 0),
        deferred_class=1, count=9,
    )  # fmt: skip
    assert not differences(model, 1)


times = st.sampled_from([0, 0, 1, MS, 20 * MS, S // 7, S])
typing_times = st.sampled_from([20 * MS, 100 * MS, S // 7, S])
"""long enough that those who wait for nothing don't flood the queue"""


@st.composite
def with_terminals(draw: st.DrawFn) -> System:
    """Any system of the kernel's tests, behind terminals; some of its reads are ended by processors set aside."""
    system = dataclasses.replace(draw(systems()), think=None, arrivals_per_s=0.0)
    model = model_of_system(system)
    operations, classes = model.program.operations.copy(), len(model.program.classes)
    assert operations[:2, 0].tolist() == [CODES["arrive"], CODES["choose"]]
    mix = int(operations[1, 1])
    operations[1] = [CODES["enter"], 0, 0, 0, 0, 0]
    each = st.tuples(*[times] * classes)
    keying = draw(st.tuples(*[typing_times] * classes))
    return dataclasses.replace(
        model,
        program=dataclasses.replace(model.program, operations=operations),
        terminals=Terminals(
            draw(st.integers(1, 60)), system.groups, ((model.program.registers.index("home"), 1, 1),), mix, keying,
            draw(each), draw(st.sampled_from([1, 10])), draw(st.integers(-1, classes - 1)), draw(times),
        ),
        interrupts=draw(st.sampled_from([None, Interrupts(1.0, 0, MS)])) if model.stations else None,
    )  # fmt: skip


@settings(max_examples=40, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(model=with_terminals(), seed=st.integers(1, 2**31))
def test_random_systems_behind_terminals_give_one_trajectory(model: System, seed: int) -> None:
    assert differences(of_few_events(model, seed, 20_000), seed) == []


def test_nobody_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many terminals have an event to come as are counted away; the others wait for an answer."""
    coming: list[int] = []
    send_after, send = TerminalQueue._send_after, TerminalQueue._send

    def noted_before(queue: TerminalQueue, delay_ns: int, number: int) -> None:
        coming.append(number)
        send_after(queue, delay_ns, number)

    def noted_at(queue: TerminalQueue, number: int) -> None:
        coming.remove(number)
        send(queue, number)

    monkeypatch.setattr(TerminalQueue, "_send_after", noted_before)
    monkeypatch.setattr(TerminalQueue, "_send", noted_at)
    engines: list[Finished] = []
    assert differences(tpcc("interval.start=warm", kind="connections: 2"), 1, finished=engines) == []
    ((engine, _),) = engines
    away = engine.record.snapshots[-1].levels.terminals.away
    assert 0 < away < 40
    assert len(coming) == len(set(coming)) == away
    assert engine.record.result().broken_laws == []
    last = engine.record.snapshots[-1]
    miscounted = replace(last.levels, terminals=TerminalLevels(away - 1, 40 - away))
    engine.record.snapshots[-1] = replace(last, levels=miscounted)
    assert [law.name for law in engine.record.result().broken_laws] == ["terminals away + waiting for answers = all"]


def test_homes_are_all_warehouses_and_a_sample_folds_them() -> None:
    """Every active home, its pages of those held, and its own locks."""
    eight = ["workload.warehouses=8", "interval.start=warm", "database.pool.buffers=4000"]
    whole = tpcc(*eight)
    held = tpcc(*eight, "sampling_fraction=0.5")
    assert whole.terminals is not None
    assert held.terminals is not None
    assert [each[1:] for each in whole.terminals.registers] == [(8, 8)]
    assert [each[1:] for each in held.terminals.registers] == [(4, 8), (1, 1)]
    assert not differences(held, 1)
    rates = [kernel.simulate(model, 1).rate_per_min.mean for model in (whole, held)]
    assert rates[0] == pytest.approx(rates[1], rel=0.05)


@pytest.mark.parametrize(("connections", "network_ms"), [(40, 5), (2, 20), (1, 0)])
def test_the_calculated_rate_is_the_simulated_one(connections: int, network_ms: int) -> None:
    """In memory: with connections to spare, and with too few."""
    network = f"machine.network={{clients_on_server: false, round_trip_us: {1000 * network_ms}}}"
    in_memory = ("database.pool.buffers=60000", "database.log.commit=buffered", "interval.start=warm", network)
    model = tpcc(*in_memory, "interval.duration_s=20", kind=f"connections: {connections}, middle_tier_ms: 10")
    found, simulated = analytic.simulate(model, 1), kernel.simulate(model, 1)
    assert found.transactions_per_s == pytest.approx(simulated.transactions_per_s, rel=0.03)
    assert found.classes[0].mean_s == pytest.approx(simulated.classes[0].mean_s, rel=0.25)
    assert found.broken_laws == []
    busy = [next(each for each in one.stations if each.name == "connections") for one in (found, simulated)]
    assert busy[0].utilisation == pytest.approx(busy[1].utilisation, abs=0.03)
