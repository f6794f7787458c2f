"""Why a model's rate is not the measured one: the gap, split into what the record tells of the run.

Each quantity of a transaction that the record tells is a part, by what its factor does to the model's rate
(simulator/analytic/answer/factors.py); the rest is not told.
"""

import math

from oltpsim.calibration.fit import AnalyticReader, FigureChoice, Gap, GapPart, measured_devices, measured_rates
from oltpsim.calibration.records import MeasuredDevice, RunRecord, sum_observed
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.analytic import CPU_PART, DEVICE_PART, MISSES_PART, READS_PART, WRITES_PART, rate_factors

CONTENTION = "contention"
"""no observable of a record tells it: it is in what is not told"""


def explain_gap(record: RunRecord, scenario: ScenarioSpec, choice: FigureChoice, model_per_min: float) -> Gap:
    """The gap of one run. `scenario`: with the calibrated values; `model_per_min`: what the model says, in new orders.

    Raises InputError if there is no such machine.
    """
    measured_per_min, per_s = measured_rates(record, scenario.workload.main_share)
    machine = AnalyticReader().read(scenario)
    measured = _demands(record, scenario, choice, per_s)
    notes = {}
    if measured[MISSES_PART] is None and machine.system.direct_io:
        measured[MISSES_PART] = measured[READS_PART]
        notes[MISSES_PART] = "by the device's reads: with direct I/O every miss is one"
    if measured[MISSES_PART] is None:
        notes[READS_PART] = "with the pool's misses, which the record doesn't tell"
    known = {name: value for name, value in measured.items() if value is not None}
    factors = rate_factors(machine.system, machine.workload, machine.parameters, per_s, known)
    gap = math.log(model_per_min / measured_per_min)
    return Gap(
        name=record.name,
        measured=measured_per_min,
        model=model_per_min,
        log=gap,
        parts=tuple(
            GapPart(name=f.name, log=0.0 - f.effect, measured=f.measured, model=f.model, note=notes.get(f.name))
            for f in factors
        ),
        not_told_log=gap - math.fsum(0.0 - factor.effect for factor in factors),
        not_told=(*(name for name, value in measured.items() if value is None), CONTENTION),
    )


def _demands(record: RunRecord, scenario: ScenarioSpec, choice: FigureChoice, per_s: float) -> dict[str, float | None]:
    """Measured demands of a transaction of the mix, times in s.

    A figure that the mapping doesn't use counts here: it is not fitted, but it was measured.
    """
    resources = record.resources
    user, system = resources.cpu_user_fraction, resources.cpu_system_fraction
    devices = measured_devices(record, choice, [])
    reads = sum_observed([device.reads_per_s for device in devices])
    writes = sum_observed([device.writes_per_s for device in devices])
    arm = scenario.machine.disks.disk.kind == "rotating"
    return {
        MISSES_PART: resources.buffer_reads_per_s.value / per_s if resources.buffer_reads_per_s else None,
        READS_PART: None if reads is None else reads / per_s,
        WRITES_PART: None if writes is None else writes / per_s,
        CPU_PART: (user.value + system.value) * scenario.machine.cpu.threads / per_s if user and system else None,
        DEVICE_PART: _service_s(devices, reads, writes) if arm else _response_s(devices),
    }


def _service_s(devices: list[MeasuredDevice], reads: float | None, writes: float | None) -> float | None:
    """Utilisation law: busy share = requests/s x service."""
    busy = sum_observed([device.utilisation_fraction for device in devices])
    if busy is None or reads is None or writes is None or reads + writes <= 0:
        return None
    return busy / (reads + writes)


def _response_s(devices: list[MeasuredDevice]) -> float | None:
    """Mean over all reads."""
    counts = [each.reads_per_s.value if each.reads_per_s else 0.0 for each in devices]
    times = [each.read_await_ms.value / 1000.0 if each.read_await_ms else None for each in devices]
    if not sum(counts) or None in times:
        return None
    return sum(count * (time or 0.0) for count, time in zip(counts, times, strict=True)) / sum(counts) or None
