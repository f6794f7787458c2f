"""What the reader of a result must know of its scenario, though nothing is wrong with it."""

from models.build.cluster import cluster_remarks
from models.build.memory import clients_of
from models.build.sampling import sampling_remarks
from models.scenario import ScenarioSpec
from simulator.results import Result


def scenario_remarks(scenario: ScenarioSpec, result: Result) -> list[str]:
    """A sentence each; nothing for a scenario that is what it seems."""
    return [*_idle_warehouses(scenario), *sampling_remarks(scenario, result), *cluster_remarks(scenario, result)]


def _idle_warehouses(scenario: ScenarioSpec) -> list[str]:
    workload = scenario.workload
    active, clients = workload.active_warehouses or workload.warehouses, clients_of(workload)
    everywhere = workload.tpcc.home_warehouse == "drawn" or workload.arrivals.kind == "terminals"
    if clients >= active or everywhere:
        return []
    why = f"each client works for one of its own, and there are {clients:,} clients"
    return [f"{clients:,} of {active:,} warehouses are in use: {why}"]
