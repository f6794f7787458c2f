"""From the spec of a partitioned store to its model, and what is wrong with a spec; neither needs an engine."""

from __future__ import annotations

from collections.abc import Iterator

from models.jobs.stations import model_of_stations
from models.jobs.store_program import Speeds, StoreWriter
from models.machine import speed_of
from models.scenario import ScenarioSpec
from models.workloads import PartitionedStoreSpec
from simulator.form import Model

LEAST_SERVERS_OF_A_LOSS = 3


def faults(job: PartitionedStoreSpec) -> Iterator[str]:
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


def store_model(scenario: ScenarioSpec, job: PartitionedStoreSpec) -> Model:
    """The stations and the program of a store, for any engine that simulates."""
    cpu, speed = scenario.machine.cpu, speed_of(scenario.machine)
    speeds = Speeds(cpu.cores, speed, job.client_cores or cpu.cores, job.client_relative_speed or speed)
    writer = StoreWriter(job, speeds, scenario.machine.network.round_trip_us)
    program = writer.write()
    registers = writer.registers(program)
    return model_of_stations(scenario.name, program, registers, writer.servers, job.warm_up_s, job.duration_s)
