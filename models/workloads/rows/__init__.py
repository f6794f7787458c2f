"""Row workloads: tables, and transactions of statements for their rows (pgbench, sysbench, YCSB, one's own)."""

from oltpsim.models.workloads.rows.program import rows_program
from oltpsim.models.workloads.rows.tables import loaded_row_pages, row_regions
from oltpsim.models.workloads.rows.workload import MOST_LOCKED_ROWS, RowWorkloadSpec
