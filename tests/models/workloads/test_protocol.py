"""Every kind of workload answers the protocol's questions, and one that doesn't can't be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.input import specs_by_kind
from oltpsim.models.reading import load_scenario, numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import AnyWorkloadSpec, OpenArrivalsSpec
from oltpsim.models.workloads.protocol import WorkloadSpec
from oltpsim.models.workloads.tpcc.workload import TpccFields
from oltpsim.simulator.errors import InputError

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
SETTINGS = {
    "tpcc": (),
    "rows": ("workload={base: pgbench, page_kib: 8, scale: 2, arrivals: {clients: 2}}",),
}
KINDS = sorted(SETTINGS)


def scenario(kind: str, *more: str) -> ScenarioSpec:
    return load_scenario(TINY, (*SETTINGS[kind], *more))


def test_every_kind_is_tried_here() -> None:
    assert set(specs_by_kind(AnyWorkloadSpec)) == set(KINDS)
    assert all(issubclass(kind, WorkloadSpec) for kind in specs_by_kind(AnyWorkloadSpec).values())


def test_a_kind_that_leaves_a_question_open_cannot_be_made() -> None:
    workload = scenario("tpcc").workload
    keys = {key: getattr(workload, key) for key in TpccFields.model_fields}
    assert type(workload)(**keys) == workload
    with pytest.raises(TypeError, match="abstract"):
        TpccFields(**keys)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_a_kind_names_are_its_own(kind: str) -> None:
    found = scenario(kind)
    for key, value in (
        (found.workload.loaded_key, found.workload.loaded),
        (found.workload.size_key, found.workload.size),
        (found.workload.page_key, found.workload.page_kib),
    ):
        assert numeric_value(found, key) == value
    assert found.workload.main_class == found.workload.classes[0]
    assert 0 < found.workload.main_share <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_more_units_are_more_pages_by_either_way(kind: str) -> None:
    found = scenario(kind)
    more = found.workload.with_units(3 * found.workload.loaded)
    assert with_values(found, found.workload.keys_of_size(more.loaded, 10**6)).workload.regions.tolist() == (
        more.regions.tolist()
    )
    assert more.loaded_pages > 2 * found.workload.loaded_pages
    assert more.loaded_pages <= more.file_pages
    assert more.size_words != found.workload.size_words


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_workload_goes_anywhere(kind: str) -> None:
    arrivals = OpenArrivalsSpec(transactions_per_s=5.0, connections=7)
    asked = scenario(kind).workload.open_to_all(arrivals)
    assert (asked.arrivals, asked.clients, asked.goes_anywhere) == (arrivals, 7, True)
    assert asked.units_in_use == asked.size


@pytest.mark.parametrize(
    ("one", "other", "same"), [("tpcc", "tpcc", True), ("rows", "rows", True), ("tpcc", "rows", False)]
)
def test_sizes_are_compared_within_a_benchmark(one: str, other: str, same: bool) -> None:
    ours, theirs = scenario(one).workload, scenario(other).workload
    assert ours.compares_with(theirs) == theirs.compares_with(ours) == same
    renamed: Any = scenario("rows", "workload.name=mine").workload
    assert not renamed.compares_with(theirs)


def test_a_question_about_units_names_the_workload_that_has_none() -> None:
    assert scenario("tpcc").unit_workload == scenario("tpcc").workload
    with pytest.raises(InputError, match=r"got rows \(.*\), whose units of scale have no users .* ask it of tpcc, or"):
        _ = scenario("rows").unit_workload
    assert scenario("rows").workload.job_tables is None
