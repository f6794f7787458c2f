"""Draw described lines by a seed, and hold the kernel's answers against the formulas'.

python -m benchmarks.described_grid 20          20 lines, some seconds of a core each; a row for each, then the summary
python -m benchmarks.described_grid 300 2       300 lines by another seed, an hour of two cores
"""

from __future__ import annotations

import random
import sys
import time
from statistics import median, quantiles

from oltpsim.models.reading import read_description
from oltpsim.scenarios.run import SimulationTask, simulate

ENGINES = {
    "PostgreSQL 13": "PostgreSQL", "PostgreSQL 17": "PostgreSQL", "MySQL 8.0": "InnoDB", "MySQL 8.4": "InnoDB",
    "MariaDB 11": "InnoDB",
}  # fmt: skip
WORKLOADS = {
    "PostgreSQL": (
        "go-tpc, {} warehouses",
        "HammerDB, {} warehouses",
        "pgbench, scale {}",
        "pgbench select only, scale {}",
    ),
    "InnoDB": ("HammerDB, {} warehouses", "sysbench-tpcc, {} warehouses", "sysbench read-write, {} tables"),
}
MACHINES = ("2 vCPU, 8 GB", "4 cores, 16 GB", "8 cores, 32 GB", "16 cores, 64 GB")
STORAGE = ("SSD 2 TB", "NVMe", "gp3 500 GiB", "io1 500 GiB 5000 IOPS", "pd-ssd 500 GiB", "4 SATA")
SIZES, CLIENTS = (20, 100, 400), (4, 16, 64)


def lines(count: int, seed: int) -> list[str]:
    """So many lines, each of an engine, a workload and its size, a machine, its storage and clients."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        engine, machine, storage = (draw.choice(each) for each in ([*ENGINES], MACHINES, STORAGE))
        size, clients = draw.choice(SIZES), draw.choice(CLIENTS)
        workload = draw.choice(WORKLOADS[ENGINES[engine]]).format(size)
        found.append(f"{machine}, {storage}, {engine}, {workload}, {clients} clients")
    return found


def ratio(line: str) -> tuple[float, float]:
    """The formulas' rate by the kernel's, and seconds of CPU that the kernel took."""
    scenario = read_description(line).scenario
    begun_s = time.process_time()
    simulated = simulate(SimulationTask(scenario, 1)).transactions_per_s
    kernel_s = time.process_time() - begun_s
    calculated = simulate(SimulationTask(scenario.model_copy(update={"engine": "analytic"}), 1)).transactions_per_s
    return calculated / simulated, kernel_s


def main() -> None:
    """Print each line's ratio, and the errors' median and 95th percentile."""
    count, seed, *_ = [*map(int, sys.argv[1:]), 1] if len(sys.argv) > 1 else (20, 1)
    errors = []
    for line in lines(count, seed):
        found, kernel_s = ratio(line)
        errors.append(abs(found - 1.0))
        sys.stdout.write(f"{found:.2f}  {kernel_s:5.1f} s  {line}\n")
    most = quantiles(errors, n=20)[-1] if len(errors) > 1 else errors[0]
    sys.stdout.write(f"median {median(errors):.1%}, 95th percentile {most:.1%}\n")


if __name__ == "__main__":
    main()
