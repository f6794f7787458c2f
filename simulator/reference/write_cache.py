"""A disk with an arm whose write cache is on: writes are done when they are in it, and on the platter later."""

import math
from collections import deque
from collections.abc import Sequence

from oltpsim.simulator.form import CachingDevice
from oltpsim.simulator.reference.device import REWRITE, WRITE, Request
from oltpsim.simulator.reference.disk import RotatingStation, Transfer
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.stations import Environment, Story

LONGEST_JOINED_BYTES = 1 << 20
"""Longest that joined writes become in a controller's cache (assumption: a unit of large RAID sets)."""
CACHE_BLOCK_BYTES = 4096
"""A write takes at least this of a drive's cache (assumption: firmware manages it in blocks or segments)."""


class CachingStation(RotatingStation):
    """An arm whose drive has a write cache that is on.

    A write is done when it is in the cache; if there is no room it waits, and keeps one of the drive's `queue_depth`
    commands. The arm serves reads before it writes what is in the cache (destages it); while a write waits for room,
    in turns. What has to be read before it is written is read first, and then is a write like others.

    Or the disk's part of a RAID controller's cache: what must be read before it is written (parity) is in the cache
    like any other write, and read and written when the arm comes to it; and a write that begins where a cached one ends
    is joined to that, so that a log's flushes come to the disks as few long writes.
    """

    def __init__(
        self, env: Environment, device: CachingDevice, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        super().__init__(env, device, calls, limits)
        self.caching = device
        self.used_bytes = 0
        self.in_transfer = 0
        self.waiting_writes: deque[Request] = deque()
        self.destaging: list[Transfer] = []
        """the oldest cached writes, among which the drive chooses"""
        self.cached: deque[Transfer] = deque()
        """the other ones, in order of arrival"""
        self.cached_by_end: dict[int, Transfer] = {}
        """of a controller's cache: those of `cached` by the byte where they end, the youngest that does"""
        self.destages = False

    def _enqueue(self, request: Request) -> None:
        self.scheduler.add(request)
        self._feed()

    def _feed(self) -> None:
        """The drive takes in requests as long as it has commands free."""
        while len(self.scheduler) and len(self.held) + len(self.waiting_writes) + self.in_transfer < self.depth:
            request = self.scheduler.take()
            if request.write == WRITE or (request.write == REWRITE and self.caching.by_controller):
                self._take_write(request)
            else:
                self._hold(request)
        if self.held or self.destaging:
            self._wake()

    def _take_write(self, request: Request) -> None:
        self.waiting_writes.append(request)
        self._fill_cache()

    def _fill_cache(self) -> None:
        """Writes get room in order of arrival; one larger than the cache waits until that is empty."""
        while self.waiting_writes:
            taken_bytes = bytes_taken(self.waiting_writes[0].size_bytes)
            if self.used_bytes and self.used_bytes + taken_bytes > self.caching.cache_bytes:
                break
            self.used_bytes += taken_bytes
            self.in_transfer += 1
            self.env.timeout(self.caching.in_cache_ns, self.waiting_writes.popleft()).callbacks.append(
                lambda transfer: self._finish_transfer(transfer.value)
            )

    def _finish_transfer(self, request: Request) -> None:
        self.in_transfer -= 1
        if self.caching.by_controller and self._join_cached_write(request):
            self._fill_cache()
        else:
            # nobody waits for a cached write: it is never overdue
            self.cached.append(Transfer(request.byte, request.size_bytes, math.inf, request))
            self.cached_by_end[request.byte + request.size_bytes] = self.cached[-1]
            self._choose_among()
        self._complete(request, 0)
        self._feed()

    def _join_cached_write(self, request: Request) -> bool:
        """Lengthen the cached write that ends where the request begins; False if there is none that may be."""
        before = self.cached_by_end.get(request.byte)
        if before is None:
            return False
        together = before.size_bytes + request.size_bytes
        if before.request.write != request.write or together > LONGEST_JOINED_BYTES:
            return False
        self.used_bytes += bytes_taken(together) - bytes_taken(before.size_bytes) - bytes_taken(request.size_bytes)
        longer = before._replace(size_bytes=together)
        self.cached[self.cached.index(before)] = longer
        del self.cached_by_end[request.byte]
        self.cached_by_end[request.byte + request.size_bytes] = longer
        return True

    def _choose_among(self) -> None:
        while self.cached and len(self.destaging) < self.caching.destages_among:
            oldest = self.cached.popleft()
            if self.cached_by_end.get(oldest.byte + oldest.size_bytes) is oldest:
                del self.cached_by_end[oldest.byte + oldest.size_bytes]
            self.destaging.append(oldest)

    def _serve(self) -> Story:
        env = self.env
        while True:
            if not self.held and not self.destaging:
                self.busy.change(env.now, -self.busy.value)
                self.idle = env.event()
                yield self.idle
                continue
            self.busy.change(env.now, 1 - self.busy.value)
            turn = not self.held or (bool(self.waiting_writes) and not self.destages)
            self.destages = bool(self.destaging) and turn
            transfers = self.destaging if self.destages else self.held
            chosen, service_ns = self.mechanics.pick(transfers, self.arm_byte, env.now)
            if self.destages and transfers[chosen].request.write == REWRITE:
                service_ns += self.mechanics.rewrite_ns(transfers[chosen].size_bytes)
            yield env.timeout(service_ns)
            if self.destages:
                self._end_destaging(chosen, service_ns)
            else:
                self._end_read(chosen, service_ns)
            self._feed()

    def _end_read(self, chosen: int, service_ns: int) -> None:
        request = self._let_go(self.held, chosen).request
        if request.write == REWRITE:
            self.service_ns += service_ns
            request.write = WRITE
            self._take_write(request)
        else:
            self._complete(request, service_ns)

    def _end_destaging(self, chosen: int, service_ns: int) -> None:
        written = self._let_go(self.destaging, chosen)
        self._choose_among()
        self.used_bytes -= bytes_taken(written.size_bytes)
        self.service_ns += service_ns
        self._fill_cache()


def bytes_taken(size_bytes: int) -> int:
    """What a write takes of a drive's cache."""
    return max(size_bytes, CACHE_BLOCK_BYTES)
