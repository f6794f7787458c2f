"""From the spec of a partitioned store to its model, and what is wrong with a spec; neither needs an engine."""

from collections.abc import Iterator

from oltpsim.models.jobs.store_program import Speeds, StoreWriter
from oltpsim.models.machine import speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import PartitionedStoreSpec
from oltpsim.simulator import form
from oltpsim.simulator.form import NS_PER_MS, from_s

LEAST_SERVERS_OF_A_LOSS = 3
STEPS = 300
"""of the time series, each of whole milliseconds"""
NO_STORAGE = form.Storage(
    devices=(form.FlashDevice("none", 1, 1, 1),),
    data_devices=1,
    log_device=0,
    page_bytes=8192,
    data_start_bytes=0,
    log_start_bytes=0,
    log_bytes=1 << 20,
    swap_start_bytes=0,
    swap_cluster_pages=1,
    merged_pages=1,
    requests_per_device=1,
)
"""of a program without pages"""


def store_faults(job: PartitionedStoreSpec) -> Iterator[str]:
    """What no single key can say, a line each."""
    if job.servers <= job.copies:
        yield f"job.copies: got {job.copies}; a further copy is on another server: at least {job.copies + 1} servers"
    loss = job.loss
    if loss is None:
        return
    if job.copies == 0 or job.servers < LEAST_SERVERS_OF_A_LOSS:
        yield (
            f"job.loss: {job.servers} servers with {job.copies} further copies; what a server had is taken over by its "
            f"copies and copied again: at least {LEAST_SERVERS_OF_A_LOSS} servers with 1"
        )
    end_s = job.warm_up_s + job.duration_s
    if not job.warm_up_s < loss.at_s < loss.at_s + loss.detection_s < end_s:
        yield (
            f"job.loss.at_s: got {loss.at_s:g} s, noticed {loss.detection_s:g} s later; both must lie behind the "
            f"warm-up, {job.warm_up_s:g} s, and before the end, {end_s:g} s"
        )


def store_model(scenario: ScenarioSpec, job: PartitionedStoreSpec) -> form.System:
    """The stations and the program of a store, for any engine; a station has one server, a gate several."""
    cpu, speed = scenario.machine.cpu, speed_of(scenario.machine)
    speeds = Speeds(cpu.cores, speed, job.client_cores or cpu.cores, job.client_relative_speed or speed)
    writer = StoreWriter(job, speeds, scenario.machine.network.round_trip_us)
    program = writer.write()
    return form.System(
        name=scenario.name,
        program=program,
        client_registers=writer.registers(program),
        arrivals_per_s=0.0,
        cpu=form.Cpu(1),
        sections=(),
        stations=tuple(form.Station(station, writer.servers.get(station, 1)) for station in program.stations),
        pool=form.Pool(1, "lru", 1),
        page_cache=form.PageCache(1, 1, 1, False),
        storage=NO_STORAGE,
        log=form.Log(durable=False, flush_overhead_ns=0),
        costs=form.Costs(0, 0, 0, 0),
        direct_io=True,
        interval=form.Interval("cold", from_s(job.warm_up_s), from_s(job.duration_s)),
        step_ns=max(from_s(job.warm_up_s + job.duration_s) // (STEPS * NS_PER_MS), 1) * NS_PER_MS,
    )
