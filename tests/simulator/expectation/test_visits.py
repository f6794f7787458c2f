"""A program executed once with probabilities, against sums by hand and against counted runs; others are refused."""

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation import Frontier, ProgramReader, spent_times
from oltpsim.simulator.form import CODES, CUT_ONE, Assembler, Costs, Program, System
from tests.simulator.rounds import Rounds
from tests.simulator.tpcc_systems import TINY

FloatArray = npt.NDArray[np.float64]
MANY_DELIVERIES = "workload.mix={new_order: 0.1, payment: 0.4, order_status: 0.1, delivery: 0.3, stock_level: 0.1}"


def reader_of(program: Program) -> ProgramReader:
    return ProgramReader(program, np.zeros((3, max(len(program.registers), 1)), dtype=np.int64))


# By hand


def by_hand(skip: float = 0.25, bound: int = 5, log_bytes: int = 300, makes: float = 3.0) -> Program:
    """CPU of 1000 ns, with chance 1 - `skip` 400 more; 2 .. `bound` + 1 rounds with a page each; an order; a lock."""
    asm = Assembler()
    draws, group, rounds = asm.stream("draws"), asm.register("group"), asm.register("rounds")
    row = asm.register("row")
    asm.emit("think", asm.distribution("exponential", 70), draws)
    asm.emit("choose", asm.table("mix", [makes, 1.0]), draws)
    pages = asm.region("pages", 1, 40, 1)
    popular = asm.reference("popular", "popular", pages, group, table=asm.table("even", np.ones(40)), stream=draws)
    orders, delivered, lock = asm.counter("orders", 1, 0), asm.counter("delivered", 1, 0), asm.lock("row", 8)
    asm.begin_class("make")
    asm.emit("cpu", 1000, 100, 10)
    skipped = asm.label()
    asm.emit("maybe", round(skip * CUT_ONE), draws, skipped)
    asm.emit("cpu", 400, 0, 0)
    asm.emit("log", log_bytes)
    asm.place(skipped)
    asm.emit("uniform", rounds, bound, 2, draws)
    again = asm.label()
    asm.place(again)
    asm.emit("touch", popular, 1, 7)
    asm.emit("loop", rounds, again)
    asm.emit("uniform", row, 8, 0, draws)
    asm.emit("lock", lock, row)
    asm.emit("take", row, orders, group, 1)
    asm.emit("network", 5000)
    asm.emit("log", 100)
    asm.emit("commit")
    asm.emit("end")
    asm.begin_class("deliver")
    nothing = asm.label()
    for _ in range(6):
        asm.emit("claim", row, delivered, group, orders, nothing)
        asm.emit("cpu", 50, 0, 0)
    asm.place(nothing)
    asm.emit("commit")
    asm.emit("end")
    return asm.finish("make")


def seen(program: Program) -> dict[str, float]:
    """What a transaction of the first class needs, as figures."""
    work = reader_of(program).works[0]
    spent = spent_times(program, work.executed[None])
    return {
        "user_ns": float(spent.user_ns[0]),
        "system_ns": float(spent.system_ns[0]),
        "client_ns": float(spent.client_ns[0]),
        "network_ns": float(spent.network_ns[0]),
        "log_bytes": work.log_bytes,
        "commits": work.commits,
        "touches": sum(touches.visits for touches in work.touches.values()),
        "locks": sum(acquisitions for _, acquisitions, *_ in work.locks),
    }


EXPECTED = {
    "user_ns": 1000 + 0.75 * 400 + 4 * 7,
    "system_ns": 100,
    "client_ns": 10,
    "network_ns": 5000,
    "log_bytes": 0.75 * 300 + 100,
    "commits": 1,
    "touches": 4,
    "locks": 1,
}
"""Of class `make`: rounds are 2 .. 6, evenly."""


def test_expected_visits_are_those_by_hand() -> None:
    reader = reader_of(by_hand())
    assert reader.mix.tolist() == pytest.approx([0.75, 0.25])
    assert reader.think_ns == 70
    assert seen(by_hand()) == pytest.approx(EXPECTED)


@pytest.mark.parametrize(
    ("program", "changed"),
    [
        (by_hand(skip=0.5), {"user_ns", "log_bytes"}),
        (by_hand(bound=7), {"user_ns", "touches"}),
        (by_hand(log_bytes=200), {"log_bytes"}),
    ],
)
def test_another_program_has_other_sums(program: Program, changed: set[str]) -> None:
    found = seen(program)
    assert {name for name in EXPECTED if found[name] != pytest.approx(EXPECTED[name])} == changed


def test_locks_know_what_has_gone_before() -> None:
    ((kind, acquisitions, row, before),) = reader_of(by_hand()).works[0].locks
    assert (kind, acquisitions) == (0, 1.0)
    spent = spent_times(by_hand(), before.executed[None])
    assert spent.user_ns[0] == pytest.approx(EXPECTED["user_ns"])
    assert spent.network_ns[0] == 0.0 != EXPECTED["network_ns"]
    ((_, part),) = row
    assert not isinstance(part, Frontier)
    assert part.share.tolist() == pytest.approx([1 / 8] * 8)


def delivered_by(reader: ProgramReader) -> float:
    """User time of a delivery, in rows claimed."""
    return float(spent_times(reader.program, reader.works[1].executed[None]).user_ns[0]) / 50


def test_claims_take_no_more_than_is_made() -> None:
    """Three orders for each delivery, which would take six; whoever finds none leaves off."""
    reader = reader_of(by_hand())
    made, claimed = reader.moves_per_transaction
    assert made == pytest.approx(0.75)
    assert claimed <= made * (1 + 1e-9)
    assert float(reader.claims[1]) < 1.0
    assert delivered_by(reader) < 6
    enough = reader_of(by_hand(makes=7.0))
    assert float(enough.claims[1]) == 1.0
    assert delivered_by(enough) == 6


def test_a_loop_without_a_bound_is_refused() -> None:
    asm = Assembler()
    draws = asm.stream("draws")
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    asm.begin_class("endless")
    again = asm.label()
    asm.place(again)
    asm.emit("cpu", 1, 0, 0)
    asm.emit("jump", again)
    with pytest.raises(InputError, match="loops with bounds"):
        reader_of(asm.finish("endless"))


def test_a_loop_that_counts_a_counter_is_refused() -> None:
    program = by_hand()
    tampered = program.operations.copy()
    (loop,) = np.flatnonzero(tampered[:, 0] == CODES["loop"])
    (uniform, *_) = np.flatnonzero(tampered[:, 0] == CODES["uniform"])
    tampered[uniform, :5] = [CODES["take"], tampered[loop, 1], 0, 0, 1]
    with pytest.raises(InputError, match="can't bound it"):
        reader_of(replace(program, operations=tampered))
    reader_of(program)


# TPC-C, against a run


CLIENTS = 200
MANY_CLIENTS = [
    "machine.memory_gib=8",
    f"workload.arrivals={{kind: closed, clients: {CLIENTS}, think_time_s: 0}}",
    "database.pool.buffers=30000",
]
ROUNDS, WARM = 1500, 100
TOLERANCE = 0.02
"""Relative; stock levels, which refer to much, have a standard deviation of 0.9 % here"""


@cache
def model_of(*settings: str) -> System:
    """The small scenario with many clients; a page miss costs nothing, so that all CPU is the program's."""
    return replace(build(load_scenario(TINY, [*MANY_CLIENTS, *settings])), costs=Costs(0, 0, 0, 0))


@cache
def counted(*settings: str) -> tuple[FloatArray, FloatArray]:
    """References by region, and user, system and client CPU in ns outside of sections, per transaction of a run."""
    model = model_of(*settings)
    operations = model.program.operations.copy()
    operations[operations[:, 0] == CODES["section"], 2] = 0
    rounds = Rounds(replace(model, program=replace(model.program, operations=operations)), 5)
    references, cpu = [], []
    for number in (WARM, ROUNDS):
        rounds.run(number)
        counters = rounds.engine.kernel.figures().counters
        references.append(np.array([table.references for table in counters.tables]))
        used = counters.cpu_time
        cpu.append(np.array([used.transaction, used.system_calls, used.client_program]))
    return (references[1] - references[0]) / (ROUNDS * CLIENTS), (cpu[1] - cpu[0]) / (ROUNDS * CLIENTS)


def references_of(reader: ProgramReader) -> FloatArray:
    """Expected references by region of one transaction of the mix; index pages are asked for by way of their table."""
    program = reader.program
    found = np.zeros(len(program.regions))
    for share, work in zip(reader.mix, reader.works, strict=True):
        for touches in work.touches.values():
            region = program.references[touches.reference, 1]
            found[region] += share * touches.visits
    for region, interior in enumerate(program.regions[:, 4].tolist()):
        if interior >= 0:
            found[interior] = found[region]
    return found


def cpu_of(reader: ProgramReader) -> FloatArray:
    """User, system and client CPU in ns of one transaction of the mix."""
    spent = spent_times(reader.program, np.array([work.executed for work in reader.works]))
    return np.array([reader.mix @ each for each in (spent.user_ns, spent.system_ns, spent.client_ns)])


def is_refused(found: FloatArray, expected: FloatArray) -> bool:
    return not np.allclose(found, expected, rtol=TOLERANCE, atol=0.0)


@pytest.mark.parametrize("settings", [(), (MANY_DELIVERIES,)])
def test_tpcc_refers_and_computes_as_a_run_does(settings: tuple[str, ...]) -> None:
    model = model_of(*settings)
    reader = ProgramReader(model.program, model.client_registers)
    references, cpu = counted(*settings)
    assert not is_refused(references, references_of(reader))
    assert not is_refused(cpu, cpu_of(reader))


def test_tpcc_of_another_mix_is_refused() -> None:
    model = model_of(MANY_DELIVERIES)
    reader = ProgramReader(model.program, model.client_registers)
    references, cpu = counted()
    assert is_refused(references, references_of(reader))
    assert is_refused(cpu, cpu_of(reader))


def test_deliveries_find_no_more_orders_than_are_made() -> None:
    reader = ProgramReader(model_of().program, model_of().client_registers)
    assert reader.claims.tolist() == [1.0] * len(reader.claims)
    busy = model_of(MANY_DELIVERIES)
    reader = ProgramReader(busy.program, busy.client_registers)
    (claimed,) = np.flatnonzero(reader.claims < 1.0)
    assert reader.claims[claimed] == pytest.approx(0.1 / 3.0, rel=0.01)
    with_all = ProgramReader(busy.program, busy.client_registers)
    with_all.claims[:] = 1.0
    with_all.works = with_all._classes()
    assert is_refused(counted(MANY_DELIVERIES)[0], references_of(with_all))


def test_tampered_programs_are_refused() -> None:
    """A touch more, a longer burst of CPU: each is noticed where it belongs."""
    model = model_of()
    operations = model.program.operations.copy()
    cpu = np.flatnonzero(operations[:, 0] == CODES["cpu"])
    operations[cpu, 1] += operations[cpu, 1] // 10 + 50_000
    reader = ProgramReader(replace(model.program, operations=operations), model.client_registers)
    assert is_refused(counted()[1][:1], cpu_of(reader)[:1])
    assert not is_refused(counted()[1][1:], cpu_of(reader)[1:])
    loops = np.flatnonzero(operations[:, 0] == CODES["loop"])
    operations[loops] = [CODES["network"], 0, 0, 0, 0, 0]
    reader = ProgramReader(replace(model.program, operations=operations), model.client_registers)
    assert is_refused(counted()[0], references_of(reader))
