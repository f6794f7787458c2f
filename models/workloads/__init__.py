"""Workloads: what is asked of a machine."""

from models.workloads.arrivals import ClosedClientsSpec, OpenArrivalsSpec
from models.workloads.job import JobSpec, LoadSpec, LookupsSpec, MutexSpec, QueryMixSpec, ScanSpec
from models.workloads.partitioned_store import (
    CollectorSpec,
    NodeLossSpec,
    PartitionedStoreSpec,
    StorePathSpec,
    UpdatePathSpec,
)
from models.workloads.tpcc.layout import LayoutSpec
from models.workloads.tpcc.terminals import TerminalsSpec
from models.workloads.tpcc.workload import MixSpec, WorkloadSpec
