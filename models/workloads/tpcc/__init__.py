"""TPC-C: its tables, rows, transactions and clients."""

from models.workloads.tpcc.clients import client_registers, terminals_of
from models.workloads.tpcc.folding import Sample
from models.workloads.tpcc.paths import ALONE, ClusterPaths, Interrupts, Paths
from models.workloads.tpcc.program import tpcc_program
from models.workloads.tpcc.tables import file_pages, loaded_pages, loaded_rows, pages_in, pages_of, regions_of
from simulator.form import FloatArray

__all__ = [
    "ALONE",
    "ClusterPaths",
    "FloatArray",
    "Interrupts",
    "Paths",
    "Sample",
    "client_registers",
    "file_pages",
    "loaded_pages",
    "loaded_rows",
    "pages_in",
    "pages_of",
    "regions_of",
    "terminals_of",
    "tpcc_program",
]
