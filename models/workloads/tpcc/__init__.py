"""TPC-C: its keys, tables, rows, transactions and clients."""

from oltpsim.models.workloads.tpcc.kind import TpccWorkloadSpec
from oltpsim.models.workloads.tpcc.layout import LayoutSpec
from oltpsim.models.workloads.tpcc.rows import nurand_pmf
from oltpsim.models.workloads.tpcc.tables import loaded_pages
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec
from oltpsim.models.workloads.tpcc.workload import MixSpec
