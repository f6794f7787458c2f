"""Row workloads: tables, and transactions of statements for their rows (pgbench, sysbench, YCSB, one's own)."""

from oltpsim.models.workloads.rows.kind import RowWorkloadSpec
from oltpsim.models.workloads.rows.workload import MOST_LOCKED_ROWS
