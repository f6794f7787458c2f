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
from models.workloads.paths import SINGLE_SERVER, ClusterPaths, InterruptTimes, PathTimes
from models.workloads.rows import RowWorkloadSpec
from models.workloads.tpcc import LayoutSpec, MixSpec, TerminalsSpec, WorkloadSpec
from models.workloads.transactions import INTERRUPTS
from models.workloads.workload import AnyWorkloadSpec, data_words, database_regions
