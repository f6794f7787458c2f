"""Where the analytic engine's assumptions don't hold, in words.

The thresholds were set on random systems; docs/analytic.md lists those off by more than 30 % without a doubt.
"""

from collections.abc import Iterator

from simulator.analytic.figures import Case
from simulator.form import NS_PER_S, RotatingDevice

CHECK = "check with the kernel engine"
LONG_HEAPS, WRITING_ARM = 0.6, 0.7
"""shares of time: with heaps of writes at the disks; for writes at a busy arm"""
BUSY_ARM, WRITING_CLIENTS, WRITING_VOLUME = 0.6, 0.3, 0.45
LONG_COMMIT, LONG_FAULTS = 0.8, 0.4
"""shares of the response time from which on waits decide"""
BUSY_CONTROLLER, BUSY_PARITY = 0.3, 0.6
"""shares of their time: that disks would wait for a controller if each had its part of it; of a RAID set's disks"""


def doubts(case: Case) -> list[str]:
    """Sentences for the user, none if nothing is in doubt."""
    return [f"{reason}: {CHECK}" for reason in _reasons(case)]


def _reasons(case: Case) -> Iterator[str]:
    """What doesn't hold, a clause each."""
    residence, storage, p = case.solution, case.system.storage, case.parameters
    response = max(case.response_s, 1.0 / NS_PER_S)
    arm = isinstance(storage.data_disk, RotatingDevice)
    busy = float(residence.first_busy[0])
    heaps, writing = float(residence.heaps[0]), float(residence.writes_busy[0])
    if arm and heaps > LONG_HEAPS:
        yield (
            f"heaps of writes are at the disks for {100 * heaps:.0f} % of the time and hold up who reads; how they "
            "come together is known only roughly"
        )
    elif arm and busy > BUSY_ARM and writing > WRITING_ARM:
        yield (
            f"disks are {100 * busy:.0f} % busy, {100 * writing:.0f} % of the time with writes, whose order mean "
            "values don't know"
        )
    if p.limited[0] and not p.direct[0] and busy > BUSY_ARM and writing > WRITING_VOLUME:
        yield (
            f"write-back keeps volumes {100 * writing:.0f} % busy that let through no more; how it queues for them is "
            "known only roughly"
        )
    yield from _of_arrays(case)
    if case.system.interrupts and case.system.interrupts.station >= 0:
        yield "processors are set aside for interrupts, at which reads queue; that queue is left out"
    victims = case.mean(residence.victim_s) / response
    if arm and victims > WRITING_CLIENTS:
        yield f"clients write evicted pages for {100 * victims:.0f} % of the time, in turns with reads of the same arms"
    commit = case.mean(residence.log_s) / response
    if arm and p.durable[0] and not p.log_own[0] and commit > LONG_COMMIT:
        yield f"commits wait {100 * commit:.0f} % of the time for a log on a data disk, whose arm they take turns for"
    faults = case.mean(residence.fault_s) / response
    if faults > LONG_FAULTS:
        yield f"{100 * faults:.0f} % of the time goes into page faults; how the system swaps decides"
    if arm and p.direct[0] and p.parities[0] and busy > BUSY_PARITY:
        yield "a RAID set reads before it writes; how its disks take turns between these is known only roughly"


def _of_arrays(case: Case) -> Iterator[str]:
    """What mean values of equal disks don't know of storage arrays."""
    if case.system.extents:
        yield "each table is on disks of its own, which are taken for equally busy"
    if case.system.fair_queueing and case.system.scheduled_devices:
        yield "the disks' scheduler serves one process at a time, which isn't in the equations"
    if case.system.controllers and case.solution.first_busy[0] > BUSY_CONTROLLER:
        yield "disks share controllers, and each is taken to have its part of them for itself"
