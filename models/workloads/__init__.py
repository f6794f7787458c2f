"""Workloads: what is asked of a machine."""

from oltpsim.models.workloads.arrivals import ClosedClientsSpec, OpenArrivalsSpec
from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.job import JobSpec, LoadSpec, LookupsSpec, MutexSpec, QueryMixSpec, ScanSpec
from oltpsim.models.workloads.pages import pages_in, pages_of
from oltpsim.models.workloads.partitioned_store import (
    CollectorSpec,
    NodeLossSpec,
    PartitionedStoreSpec,
    StorePathSpec,
    UpdatePathSpec,
)
from oltpsim.models.workloads.paths import SINGLE_SERVER, ClusterPaths, InterruptTimes, PathTimes
from oltpsim.models.workloads.protocol import JobTables
from oltpsim.models.workloads.rows import RowWorkloadSpec
from oltpsim.models.workloads.tpcc import LayoutSpec, MixSpec, TerminalsSpec, TpccWorkloadSpec
from oltpsim.models.workloads.transactions import INTERRUPTS
from oltpsim.models.workloads.workload import KINDS_WITH_UNIT_USERS, AnyWorkloadSpec
