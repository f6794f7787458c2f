"""A workload of any kind: the table of kinds."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from oltpsim.models.workloads.rows import RowWorkloadSpec
from oltpsim.models.workloads.tpcc import TpccWorkloadSpec


def _of_a_kind(data: Any) -> Any:
    """One that doesn't say its kind is TPC-C."""
    return {"kind": "tpcc", **data} if isinstance(data, dict) else data


AnyWorkloadSpec = Annotated[
    TpccWorkloadSpec | RowWorkloadSpec,
    Field(discriminator="kind"),
    BeforeValidator(_of_a_kind),
]
