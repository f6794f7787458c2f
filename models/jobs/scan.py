"""Serial read of fragmented tables from disks: ordered read-ahead by one thread for each disk."""

from models.jobs.disks import turn_s
from models.jobs.processors import NS, US
from models.jobs.result import JobResult
from models.machine import speed_of
from models.scenario import ScenarioSpec
from models.workloads import ScanSpec
from models.workloads.tpcc import file_pages, loaded_pages, loaded_rows
from simulator.analytic import in_order_s
from simulator.form import KIB, FlashDevice, RotatingDevice

MB = 1e6


def scan(scenario: ScenarioSpec, job: ScanSpec) -> JobResult:
    """MB/s (10^6 bytes) of pages that the scanning thread gets.

    An index page tells the read-ahead which pages come next; it sorts them by their places and deals them out to the
    disks' threads, each of which reads one run of neighbours after the other. All disks work at the same time, and so
    much ahead of the scanning thread that the slower of them and it sets the pace.
    """
    database, disks, workload = scenario.database, scenario.machine.disks, scenario.workload
    system, speed = scenario.operating_system.cpu, speed_of(scenario.machine)
    page_bytes = database.page_kib * KIB
    pages = loaded_pages(workload.layout, workload.warehouses)
    run_pages = min(job.fragment_kib / database.page_kib, max(pages / disks.count, 1.0))
    sorted_runs = max(workload.layout.index_entries_per_page / (run_pages * disks.count), 1.0)
    span_bytes = file_pages(workload.layout, workload.warehouses) / disks.count * page_bytes
    device = disks.disk.device("disk")
    if isinstance(device, RotatingDevice):
        arm_s, overhead_s, transfer_s = in_order_s(device, span_bytes, sorted_runs, run_pages * page_bytes)
    else:
        assert isinstance(device, FlashDevice)
        arm_s, overhead_s = 0.0, 0.0
        transfer_s = run_pages * max(device.read_ns * NS, turn_s(scenario.machine, page_bytes))
    rows_us = loaded_rows(workload.warehouses) / pages * database.path.scanned_row_us
    thread_s = (rows_us + database.path.page_miss_us) * US
    calls_s = (system.read_us + system.disk_request_us / run_pages) * US
    page_s = {
        "disks: one read after the other on each": (arm_s + overhead_s + transfer_s) / run_pages / disks.count,
        "processor: one thread takes in all rows": thread_s / speed,
        "processors": (thread_s + calls_s) / speed / scenario.machine.cpu.cores,
    }
    limit = max(page_s, key=lambda part: page_s[part])
    total_s = pages * page_s[limit]
    runs = pages / disks.count / run_pages
    parts_s = {"seek and rotation": runs * arm_s, "overhead": runs * overhead_s, "transfer": runs * transfer_s}
    return JobResult(
        kind="scan",
        figure="MB read per second",
        value=page_bytes / MB / page_s[limit],
        unit="MB/s",
        cpu_cores_busy=(thread_s + calls_s) / speed / page_s[limit],
        seconds=total_s,
        limited_by=limit,
        parts_of="the scan, on each disk",
        parts_s={**parts_s, "waiting for the scanning thread": max(total_s - sum(parts_s.values()), 0.0)},
        also={"pages per second": 1.0 / page_s[limit]},
    )
