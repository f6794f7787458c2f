"""Workloads: what is asked of a machine."""

from models.workloads.job import JobSpec, LoadSpec, LookupsSpec, MutexSpec, QueryMixSpec, ScanSpec
from models.workloads.partitioned_store import (
    CollectorSpec,
    NodeLossSpec,
    PartitionedStoreSpec,
    StorePathSpec,
    UpdatePathSpec,
)
from models.workloads.workload import (
    ClosedClientsSpec,
    LayoutSpec,
    MixSpec,
    OpenArrivalsSpec,
    TerminalsSpec,
    WorkloadSpec,
)

__all__ = [
    "ClosedClientsSpec",
    "CollectorSpec",
    "JobSpec",
    "LayoutSpec",
    "LoadSpec",
    "LookupsSpec",
    "MixSpec",
    "MutexSpec",
    "NodeLossSpec",
    "OpenArrivalsSpec",
    "PartitionedStoreSpec",
    "QueryMixSpec",
    "ScanSpec",
    "StorePathSpec",
    "TerminalsSpec",
    "UpdatePathSpec",
    "WorkloadSpec",
]
