"""A workload of any kind, and what all kinds have: regions of pages, and words for their size."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from oltpsim.models.workloads.rows import RowWorkloadSpec, row_regions
from oltpsim.models.workloads.tpcc import WorkloadSpec, regions_of
from oltpsim.simulator.form import IntArray


def _of_a_kind(data: Any) -> Any:
    """One that doesn't say its kind is TPC-C."""
    return {"kind": "tpcc", **data} if isinstance(data, dict) else data


AnyWorkloadSpec = Annotated[WorkloadSpec | RowWorkloadSpec, Field(discriminator="kind"), BeforeValidator(_of_a_kind)]


def database_regions(workload: WorkloadSpec | RowWorkloadSpec) -> IntArray:
    """A row for each `RegionRow` of the whole database, as in a program; room to grow counted in. Not to be changed."""
    if isinstance(workload, RowWorkloadSpec):
        # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
        return row_regions(workload)  # pyright: ignore[reportArgumentType]
    return regions_of(workload.layout, workload.warehouses)


def data_words(workload: WorkloadSpec | RowWorkloadSpec) -> str:
    """The size of a workload's data: 40 warehouses, scale 1,000, 8 tables."""
    if isinstance(workload, RowWorkloadSpec):
        return f"{workload.scale:,} tables" if workload.unit == "tables" else f"scale {workload.scale:,}"
    return f"{workload.warehouses:,} warehouse{'s' if workload.warehouses != 1 else ''}"
