"""Times of a program are sums over its operations; what is executed is read once for all programs of one key."""

from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.expectation import ProgramKey, ProgramReader, processor_ns_at_start, spent_times
from oltpsim.simulator.form import DISTRIBUTION_KINDS, OPERATIONS, Program, System
from tests.simulator.tpcc_systems import TINY

APART = "machine.network={clients_on_server: false, round_trip_us: 100}"
PROCESSOR = ("user_ns", "system_ns", "client_ns", "hold_ns")
NETWORK = "machine.network.round_trip_us=250"
TIMES = (
    (),
    ("database.path.row_operation_us=55", "database.path.transaction_phases=4"),
    ("operating_system.cpu.message_us=33", NETWORK),
    ("database.critical_section.share_of_path=0.3",),
)


def added_up(program: Program, executed: npt.NDArray[np.float64]) -> dict[str, float]:
    """Times by their names in OPERATIONS and in critical sections, one operation after the other."""
    found: dict[str, float] = defaultdict(float)
    names = tuple(OPERATIONS)
    for (code, *operands), times in zip(program.operations.tolist(), executed.tolist(), strict=True):
        for operand, value in zip(OPERATIONS[names[code]], operands, strict=False):
            if operand.endswith("_ns"):
                found["network_ns" if operand == "delay_ns" else operand] += times * value
            if names[code] == "work" and operand == "distribution":
                kind, a, b = program.distributions[value].tolist()
                found["user_ns"] += times * ((a + b) / 2 if DISTRIBUTION_KINDS[kind] == "uniform" else a)
    return found


def model_of(*settings: str) -> System:
    return build(load_scenario(TINY, (APART, *settings)))


@pytest.mark.parametrize("settings", TIMES)
def test_times_are_those_that_operations_add_up_to(settings: tuple[str, ...]) -> None:
    model = model_of(*settings)
    executed = np.array([work.executed for work in ProgramReader(model.program, model.client_registers).works])
    spent = spent_times(model.program, executed)
    wanted = [added_up(model.program, each) for each in executed]
    for name in ("user_ns", "system_ns", "client_ns", "network_ns"):
        assert getattr(spent, name) == pytest.approx([each[name] for each in wanted], rel=1e-12), name
    assert spent.network_ns[0] == (250e3 if NETWORK in settings else 100e3)
    assert spent.inside_ns.sum(axis=1) == pytest.approx([each["hold_ns"] for each in wanted], rel=1e-12)
    assert spent.processor_ns == pytest.approx([sum(each[name] for name in PROCESSOR) for each in wanted])


def test_processor_time_at_the_start_follows_each_programs_own_times() -> None:
    """One after the other, so that each finds what those before have left."""
    found = []
    for settings in (*TIMES, *TIMES):
        model = model_of(*settings)
        reader = ProgramReader(model.program, model.client_registers, at_start=True)
        times = [added_up(model.program, work.executed) for work in reader.works]
        wanted = [sum(each[name] for name in PROCESSOR) for each in times]
        found.append(processor_ns_at_start(model.program, model.client_registers))
        assert found[-1] == pytest.approx(float(reader.mix @ np.array(wanted)), rel=1e-12)
    assert len({round(each) for each in found[: len(TIMES)]}) == len(TIMES)


@pytest.mark.parametrize(
    ("settings", "alike"),
    [
        (("database.path.row_operation_us=55",), True),
        ((NETWORK,), True),
        (("workload.warehouses=2",), False),
        (("workload.tpcc.remote_stock_fraction=0.2",), False),
        (("workload.layout.stock_rows_per_page=20",), False),
    ],
)
def test_programs_have_one_key_if_they_differ_in_times_alone(settings: tuple[str, ...], alike: bool) -> None:
    one, other = (ProgramKey(each.program, each.client_registers) for each in (model_of(), model_of(*settings)))
    assert (one == other) is alike
    assert not alike or hash(one) == hash(other)
