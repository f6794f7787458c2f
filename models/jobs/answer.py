"""From a scenario with a job to its figure."""

from collections.abc import Iterator

from oltpsim.models.input import specs_by_kind
from oltpsim.models.jobs.load import load
from oltpsim.models.jobs.lookups import MOST_THREADS, lookups
from oltpsim.models.jobs.mutex import mutex
from oltpsim.models.jobs.partitioned_store import partitioned_store
from oltpsim.models.jobs.query_mix import query_mix, request_faults
from oltpsim.models.jobs.result import JobResult
from oltpsim.models.jobs.scan import scan
from oltpsim.models.jobs.store_model import store_faults, store_model
from oltpsim.models.jobs.store_run import simulate_store
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.models.workloads import (
    JobSpec,
    LoadSpec,
    LookupsSpec,
    MutexSpec,
    PartitionedStoreSpec,
    QueryMixSpec,
    ScanSpec,
)
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import GIB, KIB


def run_job(scenario: ScenarioSpec, seed: int = 1) -> JobResult:
    """What the job of a scenario takes or does, simulated by the kernel with this seed; a mutex is calculated.

    Raises InputError for a scenario without a job, or whose parts don't say what its job needs.
    """
    wrong = list(job_faults(scenario))
    if scenario.job is None:
        raise InputError(
            f"{scenario.name}: job: missing; add 'job: {{kind: ...}}' with {', '.join(specs_by_kind(JobSpec))}"
        )
    if wrong:
        raise InputError("\n".join(f"{scenario.name}: {line}" for line in wrong))
    match scenario.job:
        case LoadSpec():
            return load(scenario, seed)
        case ScanSpec():
            return scan(scenario, scenario.job, seed)
        case LookupsSpec():
            return lookups(scenario, scenario.job, seed)
        case MutexSpec():
            return mutex(scenario, scenario.job)
        case QueryMixSpec():
            return query_mix(scenario, scenario.job, seed)
        case PartitionedStoreSpec():
            return partitioned_store(scenario, scenario.job, simulate_store(store_model(scenario, scenario.job), seed))
    raise InternalError(f"no job {scenario.job!r}")


def job_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """What a scenario lacks for its job, a line each; nothing if it has none."""
    job, database = scenario.job, scenario.database
    workload = scenario.workload
    if job is not None and workload.job_tables is None:
        kind = f"the workload is of kind {workload.kind}"
        yield f"job: {job.kind} is about TPC-C's tables, {kind}: take the job out, or give TPC-C"
        return
    if isinstance(job, LoadSpec) and database.path.load_row_us is None:
        yield (
            "database.path.load_row_us: missing; a load needs the CPU time of one inserted row on the reference core: "
            "add it to the database"
        )
    if isinstance(job, LoadSpec) and scenario.job_tables.bloat_fraction > 0:
        got = f"workload.layout.bloat_fraction: got {scenario.job_tables.bloat_fraction:g}"
        yield f"{got}; a load leaves no dead rows: expected 0; take it out, or the job"
    if isinstance(job, ScanSpec) and job.fragment_kib < database.page_kib:
        yield f"job.fragment_kib: got {job.fragment_kib:g}; at least the page of {database.page_kib:g} KiB"
    if isinstance(job, LookupsSpec) and job.queries * job.processes > MOST_THREADS:
        yield (
            f"job.queries: got {job.queries:,} x {job.processes:,} processes, {job.queries * job.processes:,} threads; "
            f"at most {MOST_THREADS:,} are simulated: give fewer, the processors have been busy for long by then"
        )
    if isinstance(job, PartitionedStoreSpec):
        yield from store_faults(job)
    if isinstance(job, QueryMixSpec):
        yield from request_faults(job)
        plan = memory_plan(scenario)
        pages = plan.resident_buffers + (plan.page_cache_pages if database.io == "buffered" else 0)
        room_gib = pages * database.page_kib * KIB / GIB
        if job.page_requests_per_mix and job.data_gib > room_gib:
            yield (
                f"job.data_gib: got {job.data_gib:g}; pool and page cache hold {room_gib:.4g} GiB, and a query mix "
                "reads no disks: give the machine more memory, or less data"
            )
