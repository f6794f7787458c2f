"""A made-up run for tests of pictures and tables: plausible and self-consistent, but nobody's machine.

No engine has computed it and nobody has measured it. Its figures only agree with each other: shares sum to 1,
times sum to response times, the counted rate is the mean of the series, Little's law holds.
"""

import math
from dataclasses import replace

from oltpsim.models.database import DatabaseSpec
from oltpsim.models.database.database import (
    BufferPoolSpec,
    CheckpointSpec,
    CriticalSectionSpec,
    LogSpec,
    PathLengthSpec,
)
from oltpsim.models.database.writer import WriterSpec
from oltpsim.models.machine import CpuSpec, DiskArraySpec, MachineSpec, RotatingDiskSpec
from oltpsim.models.operating_system import OperatingSystemSpec
from oltpsim.models.operating_system.operating_system import PageCacheSpec, SwapSpec, SystemCpuSpec
from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.models.scenario.scenario import MeasuredSpec
from oltpsim.models.workloads import ClosedClientsSpec, LayoutSpec, MixSpec, TpccWorkloadSpec
from oltpsim.simulator.results import (
    Bottleneck,
    CacheResult,
    ClassResult,
    CpuResult,
    DeviceResult,
    Estimate,
    Law,
    LockResult,
    LogResult,
    Result,
    Series,
    TableResult,
)

MADE_UP = "assumption: made up for tests"
STEP_S, WARM_UP_S, DURATION_S = 15.0, 900.0, 3600.0
CHECKPOINTS_S = [[1200.0, 1290.0], [2400.0, 2505.0], [3600.0, 3720.0]]
MIX = {"new order": 0.45, "payment": 0.43, "order status": 0.04, "delivery": 0.04, "stock level": 0.04}
TIME_BY_MS = {
    "new order": (21.0, 6.0, 3.1, 24.0, 212.0, 9.0, 0.0, 4.0, 31.0, 0.4),
    "payment": (6.1, 2.0, 1.2, 41.0, 88.0, 3.2, 0.0, 1.1, 30.0, 0.4),
    "order status": (5.2, 1.4, 0.8, 0.0, 97.0, 2.0, 0.0, 0.0, 0.0, 0.4),
    "delivery": (58.0, 14.0, 6.4, 133.0, 610.0, 21.0, 0.0, 12.0, 33.0, 0.4),
    "stock level": (44.0, 9.0, 2.2, 0.0, 402.0, 11.0, 0.0, 0.0, 0.0, 0.4),
}
ACTIVITIES = (
    "cpu",
    "cpu queue",
    "critical section",
    "row locks",
    "disk read",
    "page wait",
    "swap",
    "write throttle",
    "log",
    "network",
)
PERCENTILES = {"p50_s": 0.74, "p90_s": 2.05, "p95_s": 2.8, "p99_s": 5.2, "p999_s": 9.6}
TABLES = {
    "stock": (2_614_000, 0.912, 0.036),
    "customer": (1_322_000, 0.938, 0.030),
    "item": (1_010_000, 0.9996, 0.0004),
    "order line": (1_480_000, 0.981, 0.008),
    "orders": (402_000, 0.985, 0.006),
    "district": (388_000, 1.0, 0.0),
    "warehouse": (290_000, 1.0, 0.0),
    "history": (121_000, 0.982, 0.0),
    "customer name index": (262_000, 0.971, 0.018),
}


def example_scenario() -> ScenarioSpec:
    """A small made-up machine with one slow disk."""
    return ScenarioSpec(
        name="example server, one disk",
        machine=_machine(),
        operating_system=_operating_system(),
        database=_database(),
        workload=_workload(),
        interval=IntervalSpec(start="after_load", warm_up_s=WARM_UP_S, duration_s=DURATION_S),
        measured=MeasuredSpec(new_orders_per_minute=1180.0, cpu_cores_busy=0.72, role="predicted", source=MADE_UP),
        notes=(
            "Clients run on the server and share its processors.",
            "The database is striped over one file per disk.",
        ),
    )


def _machine() -> MachineSpec:
    disk = RotatingDiskSpec(
        name="example disk 10k",
        capacity_gib=68.0,
        rpm=10_000,
        seek_track_to_track_ms=0.5,
        seek_average_ms=4.7,
        seek_full_stroke_ms=11.0,
        overhead_ms=0.2,
        transfer_mib_per_s=58.0,
        queue_depth=32,
        source=MADE_UP,
    )
    cpu = CpuSpec(model="Example 1.8 GHz", cores=2, relative_speed=1.0, source=MADE_UP)
    disks = DiskArraySpec(disk=disk, count=1)
    return MachineSpec(name="Example Server", cpu=cpu, memory_gib=2.0, disks=disks, source=MADE_UP)


def _operating_system() -> OperatingSystemSpec:
    return OperatingSystemSpec(
        name="Example OS",
        reserved_memory_gib=0.15,
        memory_per_client_mib=3.0,
        page_cache=PageCacheSpec(
            floor_fraction=0.06,
            dirty_expire_s=30.0,
            flush_interval_s=5.0,
            dirty_limit_fraction=0.4,
            in_flight_pages=128,
        ),
        swap=SwapSpec(cluster_pages=8),
        cpu=SystemCpuSpec(
            read_us=12.0,
            write_us=14.0,
            disk_request_us=18.0,
            message_us=21.0,
            contended_handover_us=6.0,
        ),
        source=MADE_UP,
    )


def _database() -> DatabaseSpec:
    return DatabaseSpec(
        name="Example DB",
        page_kib=8.0,
        io="buffered",
        process_memory_gib=0.1,
        requests_per_file=32,
        pool=BufferPoolSpec(buffers=120_000, memory_per_buffer_kib=8.6),
        writer=WriterSpec(dirty_high_fraction=0.6, dirty_low_fraction=0.4),
        checkpoint=CheckpointSpec(interval_s=1200.0),
        log=LogSpec(commit="durable", flush_overhead_us=50.0),
        path=PathLengthSpec(
            transaction_us=310.0,
            row_operation_us=62.0,
            scanned_row_us=4.0,
            page_miss_us=28.0,
            client_fraction=0.05,
        ),
        critical_section=CriticalSectionSpec(share_of_path=0.08, entries_per_transaction=120),
        source=MADE_UP,
    )


def _workload() -> TpccWorkloadSpec:
    layout = LayoutSpec(
        page_kib=8.0,
        stock_rows_per_page=22,
        customer_rows_per_page=12,
        item_rows_per_page=80,
        order_rows_per_page=180,
        order_line_rows_per_page=110,
        new_order_rows_per_page=500,
        history_rows_per_page=140,
        index_entries_per_page=300,
        source=MADE_UP,
    )
    mix = MixSpec(**{name.replace(" ", "_"): part for name, part in MIX.items()})
    arrivals = ClosedClientsSpec(clients=80, think_time_s=1.6)
    return TpccWorkloadSpec(
        name="example mix", mix=mix, layout=layout, warehouses=40, arrivals=arrivals, source=MADE_UP
    )


def example_result() -> Result:
    """The made-up run: limited by its disk, every law holds, no warning."""
    series = _series()
    counted = series.values["new_orders_per_min"][int(WARM_UP_S / STEP_S) :]
    rate = math.fsum(counted) / len(counted)
    steady = math.fsum(counted[20:]) / len(counted[20:])
    per_s = rate / 60 / MIX["new order"]
    classes = [_class(name, rate * part / MIX["new order"]) for name, part in MIX.items()]
    busy = {
        "transaction": 0.214,
        "client program": 0.011,
        "system calls": 0.074,
        "write-back": 0.031,
        "log": 0.008,
    }
    cpu = CpuResult(cores=2, user=0.225, system=0.113, iowait=0.611, idle=0.051, by_activity=busy)
    return Result(
        scenario="example server, one disk",
        engine="reference",
        seed=1,
        versions={"oltpsim": "0.1.0", "numpy": "2.3.0", "python": "3.11.9"},
        model_hash="0123456789abcdef",
        start="after_load",
        warm_up_s=WARM_UP_S,
        duration_s=DURATION_S,
        main_class="new order",
        rate_per_min=Estimate(rate, rate - 31.0, rate + 31.0, 0.9, "batch means, 8 of 300 s"),
        steady_rate_per_min=Estimate(steady, steady - 24.0, steady + 24.0, 0.9, "batch means, 8 of 300 s"),
        steady_from_s=WARM_UP_S + 20 * STEP_S,
        transactions_per_s=per_s,
        classes=classes,
        cpu=cpu,
        devices=[_disk(classes, per_s)],
        reads_pending=7.55,
        caches=_caches(),
        tables=_tables(),
        locks=[
            LockResult("row locks", 4_102_330, 71_204, 0.0823, 0.0),
            LockResult("critical section", 18_920_000, 902_110, 0.000_31, 0.142),
        ],
        log=LogResult(bytes_per_s=148_000.0, commits_per_s=per_s * 0.92, flushes_per_s=22.5),
        swap_in_per_s=0.0,
        swap_out_per_s=0.0,
        checkpoints_s=CHECKPOINTS_S,
        bottleneck=Bottleneck("disk 1", 0.968, "cpu", 0.338),
        series=series,
        laws=_laws(classes, cpu, per_s),
    )


def broken_result() -> Result:
    """The same run with one law broken and two warnings."""
    result = example_result()
    law = Law("flow balance: disk 1", 131.0, 140.5, 1.4, False)
    return replace(
        result,
        laws=[*result.laws, law],
        warnings=[
            "the machine swaps: 12.4 buffers/s are read back from swap; fewer buffers are faster",
            "memory of 2 GiB lies outside the range that was calibrated (4 to 64 GiB)",
        ],
    )


def _class(name: str, rate_per_min: float) -> ClassResult:
    time_by_s = {key: ms / 1e3 for key, ms in zip(ACTIVITIES, TIME_BY_MS[name], strict=True)}
    mean_s = math.fsum(time_by_s.values())
    completed = round(rate_per_min * DURATION_S / 60)
    return ClassResult(
        name=name,
        completed=completed,
        rolled_back=completed // 100 if name == "new order" else 0,
        rate_per_min=rate_per_min,
        mean_s=mean_s,
        **{key: mean_s * factor for key, factor in PERCENTILES.items()},
        time_by_s=time_by_s,
    )


def _disk(classes: list[ClassResult], per_s: float) -> DeviceResult:
    reads = sum(table.disk_reads for table in _tables()) / DURATION_S
    purposes = {"data read": reads, "write-back": 28.0, "eviction write": 3.5, "log": 22.5}
    writes = sum(purposes.values()) - reads
    response = 0.135
    return DeviceResult(
        name="disk 1",
        kind="rotating",
        reads_per_s=reads,
        writes_per_s=writes,
        utilisation=0.968,
        mean_queue=(reads + writes) * response,
        mean_service_s=0.968 / (reads + writes),
        mean_response_s=response,
        by_purpose_per_s=purposes,
    )


def _tables() -> list[TableResult]:
    tables = []
    for name, (references, in_pool, in_cache) in TABLES.items():
        pool, cache = round(references * in_pool), round(references * in_cache)
        created = references - pool - cache if name == "history" else 0
        disk = references - pool - cache - created
        tables.append(TableResult(name, references, pool, cache, disk, created))
    return tables


def _caches() -> list[CacheResult]:
    tables = _tables()
    references, pool = sum(t.references for t in tables), sum(t.pool_hits for t in tables)
    created, cache = sum(t.created for t in tables), sum(t.page_cache_hits for t in tables)
    missed = references - pool - created
    return [
        CacheResult("buffer pool", 120_000, references, pool, pool / references, 338_000, 41_000, 0.436, 1.0),
        CacheResult("page cache", 84_000, missed, cache, cache / missed, 212_000, 9_000, 0.082, 1.0),
    ]


def _laws(classes: list[ClassResult], cpu: CpuResult, per_s: float) -> list[Law]:
    number = math.fsum(c.completed * c.mean_s for c in classes) / DURATION_S
    laws = [
        Law("Little: number in system = rate × response time", number * 1.003, number, number * 0.02, True),
        Law("cpu shares sum to 1", cpu.user + cpu.system + cpu.iowait + cpu.idle, 1.0, 1e-6, True),
        Law("cpu utilisation <= 1", cpu.utilisation, 1.0, 1e-6, True),
        Law("disk 1 utilisation <= 1", 0.968, 1.0, 1e-6, True),
        Law("transactions per second = sum over classes", per_s, per_s, 1e-6, True),
    ]
    return laws + [
        Law(f"{c.name}: times sum to the response time", math.fsum(c.time_by_s.values()), c.mean_s, 1e-6, True)
        for c in classes
    ]


def _series() -> Series:
    values: dict[str, list[float]] = {}
    for step in range(int((WARM_UP_S + DURATION_S) / STEP_S)):
        at_s = (step + 0.5) * STEP_S
        warm = 1.0 - math.exp(-at_s / 420.0)
        dip = any(begin <= at_s <= end for begin, end in CHECKPOINTS_S)
        wobble = math.sin(step * 12.9898) * math.cos(step * 78.233)
        rate = (300.0 + 920.0 * warm) * (0.62 if dip else 1.0) + 55.0 * wobble
        row = {
            "new_orders_per_min": rate,
            "transactions_per_s": rate / 60 / MIX["new order"],
            "cpu_user": 0.225 * rate / 1180.0,
            "cpu_system": 0.113 * rate / 1180.0 + (0.05 if dip else 0.0),
            "disk 1 utilisation": min(1.0, 0.95 + 0.03 * wobble + (0.02 if dip else 0.0)),
            "reads_pending": 6.6 + 2.0 * wobble + (7.0 if dip else 0.0),
            "pool_hit_ratio": 0.78 + 0.18 * warm + 0.004 * wobble,
            "page_cache_hit_ratio": 0.21 + 0.22 * warm + 0.02 * wobble,
            "pool_dirty_fraction": 0.05 if dip else min(0.6, 0.08 + 0.5 * ((at_s % 1200.0) / 1200.0)),
            "page_cache_dirty_fraction": 0.3 if dip else 0.06 + 0.03 * abs(wobble),
        }
        for key, value in row.items():
            values.setdefault(key, []).append(value)
    return Series(STEP_S, values)
