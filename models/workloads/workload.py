"""A workload of any kind: the table of kinds."""

from typing import Annotated, Any, get_args

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
KINDS_WITH_UNIT_USERS = tuple(
    kind.model_fields["kind"].default for kind in get_args(get_args(AnyWorkloadSpec)[0]) if kind.unit_users
)
"""kinds of workloads of which a unit has users and pages of its own"""
