"""CPU times of one database engine on one machine, in nanoseconds."""

import math

from oltpsim.models.database import DatabaseSpec
from oltpsim.models.machine import MachineSpec, Sessions, cache_line_ns, speed_of
from oltpsim.models.operating_system import OperatingSystemSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring.memory import row_operation_ns
from oltpsim.models.workloads import InterruptTimes, PathTimes
from oltpsim.simulator.expectation import processor_ns_at_start
from oltpsim.simulator.form import NS_PER_US, Costs, IntArray, Program


def paths_of(machine: MachineSpec, system: OperatingSystemSpec, database: DatabaseSpec) -> PathTimes:
    """Path lengths as times on a machine; the critical sections' share is taken out of them.

    What references to memory take is of the machine's memory and caches, and not divided by the core's speed.
    """
    speed = speed_of(machine)
    share = database.critical_section.share_of_path
    path = database.path

    def user(time_us: float) -> int:
        return round(time_us * NS_PER_US * (1.0 - share) / speed)

    references_ns = round(row_operation_ns(machine, system, database) * (1.0 - share))
    local = machine.network.clients_on_server
    interrupts = interrupts_of(machine, system)
    extra_ns, per_message = (interrupts.added_ns, interrupts.per_message) if interrupts else (0.0, 0.0)
    return PathTimes(
        transaction_ns=user(path.transaction_us),
        row_ns=user(path.row_operation_us) + references_ns,
        scanned_row_ns=user(path.scanned_row_us),
        message_ns=max(round(system.cpu.message_us * NS_PER_US / speed + extra_ns * per_message + wake_ns(machine)), 0),
        network_ns=0 if local else round(machine.network.round_trip_us * NS_PER_US),
        client_fraction=path.client_fraction if local else 0.0,
        section_share=share,
        section_factor=1.0 + database.critical_section.memory_fraction * (speed - 1.0),
        driver_ns_per_us=NS_PER_US / speed if local else 0.0,
        transaction_phases=path.transaction_phases,
        statement_ns=user(path.statement_us),
        server_ns_per_us=NS_PER_US * (1.0 - share) / speed,
        interrupts=interrupts,
    )


def wake_ns(machine: MachineSpec) -> float:
    """Time of a message in which idle processors wake up; it is the hypervisor's, and not divided by a core's speed."""
    return machine.cpu.wake_us * NS_PER_US


def sessions_of(scenario: ScenarioSpec, program: Program, registers: IntArray) -> Sessions | None:
    """What taking turns costs the scenario's sessions; None if that isn't modelled."""
    cpu, path, workload = scenario.machine.cpu, scenario.database.path, scenario.workload
    if cpu.thread_placement != "kept" and not (cpu.wake_us or path.refill_fraction or path.session_fraction):
        return None
    waking_ns = workload.round_trips * wake_ns(scenario.machine)
    others = workload.clients - 1.0
    growth = path.session_fraction * others / (1.0 + others / (path.crowding_sessions or math.inf))
    return Sessions(
        workload.clients,
        threads=2 if scenario.machine.network.clients_on_server else 1,
        wake_share=waking_ns / max(processor_ns_at_start(program, registers), waking_ns) if waking_ns else 0.0,
        refill_fraction=path.refill_fraction,
        growth=1.0 + growth,
    )


def statement_ns(paths: PathTimes, rows_per_statement: float) -> float:
    """CPU time after which a thread has answered a statement and gives up its processor; 0: never before the end."""
    return paths.message_ns + rows_per_statement * paths.row_ns if rows_per_statement else 0.0


def line_share_of(machine: MachineSpec, system: OperatingSystemSpec, database: DatabaseSpec) -> float:
    """Time to fetch the shared cache lines of a row operation from other cores, by the operation's time alone."""
    path = database.path
    if path.shared_lines == 0:
        return 0.0
    row_ns = path.row_operation_us * NS_PER_US / speed_of(machine) + row_operation_ns(machine, system, database)
    return path.shared_lines * cache_line_ns(machine.cpu) / max(row_ns, 1.0)


def interrupts_of(machine: MachineSpec, system: OperatingSystemSpec) -> InterruptTimes | None:
    """Interrupts on a machine; without a mapping by locality any socket serves them, the device's own or another."""
    spec, sockets = system.interrupts, machine.cpu.sockets
    if spec is None:
        return None
    local_ns = spec.interrupt_us * NS_PER_US / speed_of(machine)
    elsewhere = 0.0 if spec.by_locality else (sockets - 1) / sockets
    served_ns = local_ns * (1.0 + elsewhere * (spec.remote_socket_factor - 1.0))
    return InterruptTimes(spec.per_message, local_ns, served_ns, spec.bound_processors)


def costs_of(machine: MachineSpec, system: OperatingSystemSpec, database: DatabaseSpec) -> Costs:
    """CPU times per page call."""

    def scaled(time_us: float) -> int:
        return round(time_us * NS_PER_US / speed_of(machine))

    interrupts = interrupts_of(machine, system)
    added_us = interrupts.added_ns * speed_of(machine) / NS_PER_US if interrupts else 0.0
    return Costs(
        read_ns=scaled(system.cpu.read_us),
        write_ns=scaled(system.cpu.write_us + (system.request_us if database.io == "direct" else 0.0)),
        miss_ns=scaled(database.path.page_miss_us),
        request_ns=max(scaled(system.cpu.disk_request_us + system.request_us + added_us), 0),
    )
