"""TPC-C: its keys, tables, rows, transactions and clients."""

from oltpsim.models.workloads.tpcc.clients import client_registers, terminals_of
from oltpsim.models.workloads.tpcc.folding import WarehouseSample
from oltpsim.models.workloads.tpcc.layout import LayoutSpec
from oltpsim.models.workloads.tpcc.program import CLASSES, tpcc_program
from oltpsim.models.workloads.tpcc.rows import nurand_pmf
from oltpsim.models.workloads.tpcc.tables import (
    add_loaded_tables,
    file_pages,
    loaded_pages,
    loaded_rows,
    pages_in,
    pages_of,
    regions_of,
)
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec
from oltpsim.models.workloads.tpcc.workload import MixSpec, WorkloadSpec
