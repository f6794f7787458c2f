"""Times of a program are sums over its operations; what is executed is read once for all programs of one key."""

from __future__ import annotations

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.expectation import ProgramKey, ProgramReader, processor_ns_at_start, spent_times
from oltpsim.simulator.form import System
from tests.simulator.tpcc_systems import TINY

APART = "machine.network={clients_on_server: false, round_trip_us: 100}"
NETWORK = "machine.network.round_trip_us=250"
TIMES = (
    (),
    ("database.path.row_operation_us=55", "database.path.transaction_phases=4"),
    ("operating_system.cpu.message_us=33", NETWORK),
    ("database.critical_section.share_of_path=0.3",),
)


def model_of(*settings: str) -> System:
    return build(load_scenario(TINY, (APART, *settings)))


@pytest.mark.parametrize("settings", TIMES)
def test_times_are_those_that_the_reader_adds_up(settings: tuple[str, ...]) -> None:
    model = model_of(*settings)
    works = ProgramReader(model.program, model.client_registers).works
    spent = spent_times(model.program, np.array([work.executed for work in works]))
    for name in ("user_ns", "system_ns", "client_ns", "network_ns"):
        assert getattr(spent, name) == pytest.approx([getattr(work, name) for work in works], rel=1e-12), name
    assert spent.network_ns[0] == (250e3 if NETWORK in settings else 100e3)
    inside = [sum(ns for _, ns in work.sections.values()) for work in works]
    assert spent.inside_ns.sum(axis=1) == pytest.approx(inside, rel=1e-12)
    assert spent.processor_ns == pytest.approx(
        [work.user_ns + work.system_ns + work.client_ns + more for work, more in zip(works, inside, strict=True)]
    )


def test_processor_time_at_the_start_follows_each_programs_own_times() -> None:
    """One after the other, so that each finds what those before have left."""
    found = []
    for settings in (*TIMES, *TIMES):
        model = model_of(*settings)
        reader = ProgramReader(model.program, model.client_registers, at_start=True)
        wanted = [
            work.user_ns + work.system_ns + work.client_ns + sum(ns for _, ns in work.sections.values())
            for work in reader.works
        ]
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
