"""The what-if grid: each cell is the engine's answer at those settings, or its refusal."""

from functools import cache
from itertools import product

import pytest

from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.scenarios.questions.explain import MachineSolver, with_busy_connections
from oltpsim.scenarios.questions.what_if import BUFFERS, CLIENTS, DISKS, RAM, MachineAnswer, WhatIf, what_if
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import KIB
from tests.scenarios.explained import TINY, scenario


def tiny() -> ScenarioSpec:
    return scenario(TINY)


@cache
def grid() -> WhatIf:
    return what_if(tiny(), lambda _, __: None)


def settings(found: WhatIf, places: tuple[int, ...]) -> dict[str, float]:
    """Values at places."""
    return {axis.key: axis.values[place] for axis, place in zip(found.axes, places, strict=True)}


def every_place(found: WhatIf) -> list[tuple[int, ...]]:
    return list(product(*(range(len(axis.values)) for axis in found.axes)))


def alone(values: dict[str, float]) -> float | str:
    """The engine's rate of one machine that is solved by itself, or why there is none."""
    try:
        (machine,) = MachineSolver()(with_values(with_busy_connections(tiny()), values))
    except InputError as error:
        return str(error)
    return machine.rate_per_min


def test_the_scenarios_own_values_are_in_the_grid_at_now() -> None:
    own = settings(grid(), grid().now)
    assert [axis.key for axis in grid().axes] == [RAM, BUFFERS, CLIENTS, DISKS]
    assert own == {
        RAM: tiny().machine.memory_gib,
        BUFFERS: tiny().database.pool.buffers,
        CLIENTS: tiny().workload.arrivals.clients,
        DISKS: tiny().machine.disks.count,
    }
    assert all(list(axis.values) == sorted(set(axis.values)) for axis in grid().axes)


@pytest.mark.parametrize("stride", [17])
def test_cells_are_the_engines_answers_at_their_settings(stride: int) -> None:
    places = [*every_place(grid())[::stride], grid().now]
    found = {places: grid().at(places) for places in places}
    expected = {places: alone(settings(grid(), places)) for places in places}
    answers = {places: cell for places, cell in found.items() if isinstance(cell, MachineAnswer)}
    assert len(answers) > 5
    for at, cell in answers.items():
        assert cell.rate_per_min == pytest.approx(expected[at], rel=1e-9)
        assert cell.low_per_min is not None
        assert cell.high_per_min is not None
        assert cell.low_per_min < cell.rate_per_min < cell.high_per_min
    assert {at for at, cell in found.items() if isinstance(cell, str)} == {
        at for at, rate in expected.items() if isinstance(rate, str)
    }


def test_another_cell_is_not_that_machines_answer() -> None:
    """The negative twin: the comparison above tells neighbours apart."""
    at = list(grid().now)
    clients = [axis.key for axis in grid().axes].index(CLIENTS)
    at[clients] = 0
    other = grid().at(tuple(at))
    assert isinstance(other, MachineAnswer)
    assert other.rate_per_min != pytest.approx(alone(settings(grid(), grid().now)), rel=1e-9)


def test_a_pool_beyond_the_memory_is_refused_with_numbers() -> None:
    places = (0, len(grid().axes[1].values) - 1, *grid().now[2:])
    big = what_if(with_values(tiny(), {BUFFERS: tiny().database.pool.buffers * 40}), lambda _, __: None)
    refused = [cell for cell in big.cells if isinstance(cell, str)]
    assert isinstance(big.at(places), str)
    assert refused
    assert all("database.pool.buffers" in reason and " take " in reason for reason in refused)
    assert not any(reason.startswith(tiny().name) for reason in refused)


@cache
def small_machine() -> WhatIf:
    """The V20z's grid, whose memory is short."""
    return what_if(scenario("v20z"), lambda _, __: None)


def test_no_answer_has_a_pool_that_the_memory_cannot_hold() -> None:
    found, own = small_machine(), scenario("v20z")
    refused = 0
    for places in every_place(found):
        values = settings(found, places)
        plan = memory_plan(with_values(own, {key: values[key] for key in (RAM, CLIENTS, DISKS)} | {BUFFERS: 1000}))
        pool_bytes = values[BUFFERS] * own.database.pool.memory_per_buffer_kib * KIB
        assert isinstance(found.at(places), str) == (pool_bytes > plan.free_bytes)
        refused += isinstance(found.at(places), str)
    assert 10 < refused < len(found.cells) - 10


def test_swapping_is_a_doubt() -> None:
    swaps = [
        cell.doubts
        for cell in small_machine().cells
        if isinstance(cell, MachineAnswer) and any("swaps" in doubt for doubt in cell.doubts)
    ]
    assert swaps
    assert not any(
        "swaps" in doubt for cell in grid().cells if isinstance(cell, MachineAnswer) for doubt in cell.doubts
    )


def test_arrivals_have_no_clients_to_vary() -> None:
    arriving = scenario(TINY, "workload.arrivals={kind: open, connections: 8, transactions_per_s: 20}")
    assert [axis.key for axis in what_if(arriving, lambda _, __: None).axes] == [RAM, BUFFERS, DISKS]


def test_progress_ends_with_all_of_it() -> None:
    said: list[float] = []
    what_if(tiny(), lambda share, _: said.append(share))
    assert said == sorted(said)
    assert len(said) == len(grid().axes[0].values)
    assert said[-1] == 1.0


def test_a_machine_that_the_formulas_refuse_has_no_grid() -> None:
    with pytest.raises(InputError, match=r"analytic|formulas"):
        what_if(scenario("scaleout/tpcc-failover"), lambda _, __: None)
