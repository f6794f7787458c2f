"""Group commit: how long commits wait for the log, on a device of its own or on an arm that also has data.

Sources: docs/model.md, section 7.
"""

from dataclasses import dataclass

import numpy as np

from simulator.analytic.devices import Writes, batch_there, depth
from simulator.analytic.disks import at_queue
from simulator.analytic.parameters import Parameters
from simulator.analytic.queues import TINY
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

LOG_ROUNDS = 3
LAST_OF_BATCH = 2.0
"""writes of a batch that are left when the log has a chance again"""


@dataclass(frozen=True)
class ReadsBesideLog:
    """What else a device that has the log does, (configurations,)."""

    asked_per_s: FloatArray
    """reads"""
    wait_s: FloatArray
    """their response"""
    service_s: FloatArray
    left: FloatArray
    """share of its time that writes leave"""
    log_waits_s: FloatArray
    """what a log on a device of its own waits for them, behind one limit"""


@dataclass(frozen=True)
class LogFlushes:
    """The log's flushes, (configurations,)."""

    flush_s: FloatArray
    flushing: FloatArray
    """share of time"""
    flushes: FloatArray
    busy: FloatArray
    in_the_way_s: FloatArray
    """what a read of the same device waits for them"""


def flushes(
    w: Workload, p: Parameters, x: FloatArray, reading: ReadsBesideLog, volume: FloatArray, writes: Writes
) -> LogFlushes:
    """Group commit: who commits during a flush shares the next one. On a shared device reads get their turns.

    `volume`: share of the device's time that an unforced log's bytes take.
    """
    asked, wait_s, service_s, left = reading.asked_per_s, reading.wait_s, reading.service_s, reading.left
    rate = x * float(w.commits @ w.mix)
    size_s = float(w.log_bytes @ w.mix) / max(float(w.commits @ w.mix), TINY) * p.log_byte_s
    again_s, first_s = p.log_again_s + size_s, p.log_first_s + size_s
    shared = p.log_own <= 0
    busy = np.clip(asked * service_s / np.minimum(p.parallel, p.calls), 0.0, 1.0) / left
    others = np.where(shared, np.minimum(busy, 1.0), 0.0)
    write_again = (1.0 - others) * again_s + others * first_s
    between = np.where(
        shared, _before_log(p, np.minimum(asked * wait_s, p.clients), service_s, writes), reading.log_waits_s
    )
    # what trickles in among reads and log is counted by the turns that it takes
    room = np.where(shared, np.minimum(left + writes.trickling, 1.0), 1.0)
    flush_again = p.flush_overhead_s + (write_again - p.flush_overhead_s) / room + between + p.log_delay_s
    flush_first = p.flush_overhead_s + (first_s - p.flush_overhead_s) / room + between + p.log_delay_s
    flushing, flush = np.clip(rate * flush_again, 0.0, 1.0), flush_first
    for _ in range(LOG_ROUNDS):
        flush = flushing * flush_again + (1.0 - flushing) * flush_first
        ends = np.exp(-np.minimum(rate * flush, 50.0))  # chance that nobody has come during a flush
        flushing = flush / (flush + ends / np.maximum(rate, TINY))
    number = np.where(p.durable > 0, flushing / np.maximum(flush, TINY), 1.0 / np.maximum(p.flush_s, TINY))
    written = flushing * write_again + (1.0 - flushing) * first_s - p.flush_overhead_s
    in_the_way = np.where(shared, number * (first_s - p.flush_overhead_s) ** 2 / room, 0.0) / p.parallel
    return LogFlushes(flush, flushing, number, number * written + volume, in_the_way)


def flushes_beside(w: Workload, p: Parameters, x: FloatArray, waits_s: FloatArray) -> FloatArray:
    """Flushes per second on a device of its own, one after the other as in `flushes`, if each waits so long."""
    rate = x * float(w.commits @ w.mix)
    flush = p.log_first_s + waits_s
    ends = np.exp(-np.minimum(rate * flush, 50.0))
    forced = 1.0 / (flush + ends / np.maximum(rate, TINY))
    return np.where(p.durable > 0, forced, 1.0 / np.maximum(p.flush_s, TINY))


def _before_log(p: Parameters, reads: FloatArray, service_s: FloatArray, writes: Writes) -> FloatArray:
    """What a device with so many reads serves before the log's turn comes, in seconds.

    Among a batch of writes it comes when they are all but through, at the latest.
    """

    def before(others: FloatArray) -> FloatArray:
        """Requests, with so many others there; fewer than one are there for so much of the time."""
        return (at_queue(p.log_turns, others) - 1.0) * np.minimum(others, 1.0)

    half = np.maximum(writes.batch / 2.0, 0.5)
    batched = np.minimum(before(reads + half), half + before(reads + LAST_OF_BATCH)) * at_queue(p.write_s, reads + half)
    there = batch_there(reads, writes.trickling / writes.active, writes.batch)
    alone = before(reads) * service_s
    single = before(depth(reads, writes.trickling, writes.most, writes.batch, writes.pushed)) * service_s
    # rates, not waits, are averaged over the times with and without writes
    own = p.log_first_s
    among = there * batched + (1.0 - there) * alone
    apart = 1.0 / (writes.active / (among + own) + (1.0 - writes.active) / (alone + own)) - own
    return np.where(writes.batch > 0, apart, single)


def commits(w: Workload, p: Parameters, log: LogFlushes, seen: FloatArray, between_s: FloatArray) -> FloatArray:
    """Waiting for the log, by class: for the rest of the flush that goes on, and for the next.

    All who shared a flush go on together, so that the next one has lasted for as long as they need between commits.
    """
    between = between_s / max(float(w.commits @ w.mix), TINY)
    rest = log.flush_s / -np.expm1(-np.maximum(log.flush_s / np.maximum(between, TINY), TINY)) - between
    wait = log.flush_s + log.flushing * seen * np.clip(rest, 0.0, log.flush_s)
    return np.where(p.durable > 0, wait, 0.0)[:, None] * w.commits
