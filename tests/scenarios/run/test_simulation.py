"""One simulation: what a scenario adds to the answer of its engine."""

from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import SimulationTask, simulate
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.kernel import compiled

TINY = Path(__file__).parents[1].parent / "scenarios" / "tiny.yaml"
PGBENCH = "workload={base: pgbench, page_kib: 8, scale: 1, arrivals: {clients: 2}}"


@pytest.mark.parametrize(("settings", "key"), [((), "new_orders_per_min"), ((PGBENCH,), "main_per_min")])
def test_the_rate_over_time_has_the_workloads_name(settings: tuple[str, ...], key: str) -> None:
    scenario = load_scenario(TINY, ("interval.duration_s=2", *settings))
    ours, engines = simulate(SimulationTask(scenario, 1)), kernel.simulate(build(scenario), 1)
    assert (ours.series.rate_key, engines.series.rate_key) == (key, "main_per_min")
    assert ours.series.values[key] == engines.series.values["main_per_min"]
    assert list(ours.series.values)[1:] == list(engines.series.values)[1:]
    assert replace(ours.series, values={"transactions_per_s": []}).rate_key == "", "a series without a rate"


def test_what_memory_has_no_room_for_is_refused_by_the_scenarios_key(monkeypatch: pytest.MonkeyPatch) -> None:
    task = SimulationTask(load_scenario(TINY, ("interval.duration_s=2",)), 1)
    monkeypatch.setattr(compiled, "available_bytes", lambda: 1 << 10)
    with pytest.raises(InputError, match=r"are free: simulate a share of the warehouses \(sampling_fraction\), or on"):
        simulate(task)
    monkeypatch.setattr(compiled, "available_bytes", lambda: 1 << 40)
    simulate(task)
