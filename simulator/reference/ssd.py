"""An SSD by its parts: an interface, dies that read and program, a buffer for writes, a flush.

When a request arrives, its times are computed at once from a clock for each part: when that part is free. The parts:

- The interface passes one command at a time, with its data.
- A read is then served by the die that has its page, one read at a time. If no other read is there but programs are
  pending, it waits for the rest of the program that the die is at. While programs are pending, reads delay them, by
  more than their own time where a die has to stop and go on.
- A write is complete when it is in the buffer, which drains at the dies' program rate, write amplification included; if
  the buffer is full, the write waits for room. A write that begins at the end of the one before of its purpose is
  programmed as appended, and so are copies of a doublewrite, which fill one area in order again and again.
- A flush takes its own time alone with power-loss protection. Without, it waits until the buffer is programmed, and for
  the flush before it. With `flushes_alone` it begins when all requests are complete, and later ones wait for it.
- Such a drive (SATA) has 4 writes of write-back at once; the operating system keeps more until one is done, and lets
  all others go ahead. Of those that read before, for parity, it has 32.

Source: Kim, Shim, Lee, Jeong, Kang, Kim, "NVMeVirt: a versatile software-defined virtual NVMe device", FAST 2023, which
computes completion times in the same way; there programs queue at their dies, here reads have priority.
"""

from collections import deque
from collections.abc import Sequence

from oltpsim.simulator.form import FLASH_PAGE_BYTES, MIB, SECTOR_BYTES, SsdDevice
from oltpsim.simulator.reference.device import DOUBLEWRITE, FLUSH, REWRITE, WRITE, DeviceStation, Request
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.stations import Environment

MOST_WRITES, MOST_REWRITES = 4, 32
"""Requests of write-back in a SATA drive. Linux's write-back throttling lets it have a quarter of a queue of 16
(block/blk-wbt.c, wb_background); it doesn't look at the reads of rewrites: then as many as the drive queues (NCQ)."""


class SsdStation(DeviceStation):
    """An SSD: clocks in ns that say when interface and dies are free, the buffer is drained, the last flush is done."""

    def __init__(
        self, env: Environment, device: SsdDevice, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        super().__init__(env, device, calls, limits)
        self.ssd = device
        self.interface_free_ns = self.dies_free_ns = self.buffer_drained_ns = self.flush_done_ns = 0
        self.all_done_ns = self.busy_until_ns = 0
        self.die_free_ns = [0] * device.dies
        """of each; `dies_free_ns` is that of all together"""
        self.end_of_last_write: dict[str, int] = {}
        """by purpose: the byte behind it"""
        self.background = 0
        """requests of write-back in the drive; the operating system keeps the others"""
        self.background_line: deque[Request] = deque()

    def _is_queued_behind(self, request: Request) -> bool:
        return bool(self.ssd.flushes_alone) and request.purpose == "write-back"

    def _enqueue(self, request: Request) -> None:
        if self._is_queued_behind(request):
            if self.background >= (MOST_REWRITES if request.write == REWRITE else MOST_WRITES):
                self.background_line.append(request)
                return
            self.background += 1
        self._start_service(request)

    def _start_service(self, request: Request) -> None:
        now = self.env.now
        if request.write == FLUSH:
            end = self._flush(now)
        else:
            end = self._write(request) if request.write == WRITE else self._read(request)
        self.all_done_ns = max(self.all_done_ns, end)
        if self.busy.value and self.busy_until_ns < now:
            self.busy.change(self.busy_until_ns, -1)
        if not self.busy.value:
            self.busy.change(now, 1)
        self.busy_until_ns = max(self.interface_free_ns, self.dies_free_ns, self.buffer_drained_ns)
        self.env.timeout(end - now).callbacks.append(lambda _: self._end_service(request, end - now))

    def _end_service(self, request: Request, took_ns: int) -> None:
        if request.write == REWRITE:  # what was read is written
            self.service_ns += took_ns
            request.write = WRITE
            self._start_service(request)
        else:
            self._complete(request, took_ns)
            if not self._is_queued_behind(request):
                return
            if self.background_line:
                self._start_service(self.background_line.popleft())
            else:
                self.background -= 1

    def _pass_interface(self, command_ns: int, mib_ns: int, size_bytes: int) -> int:
        self.interface_free_ns = max(self.env.now, self.interface_free_ns) + command_ns + size_bytes * mib_ns // MIB
        return self.interface_free_ns

    def _read(self, request: Request) -> int:
        """Time at which a read is complete, ns."""
        ssd, size = self.ssd, request.size_bytes
        at_die = self._pass_interface(ssd.command_read_ns, ssd.read_mib_ns, size) + ssd.read_ns
        more = max(min(size, FLASH_PAGE_BYTES) - SECTOR_BYTES, 0)
        service_ns = ssd.die_ns + more * ssd.channel_mib_ns // MIB
        die = request.byte // FLASH_PAGE_BYTES % ssd.dies
        begin = max(at_die, self.die_free_ns[die])
        if begin > self.die_free_ns[die] and self.buffer_drained_ns > begin:
            # programs of the dies begin one after the other, evenly over the time that each takes
            begin += ssd.program_ns - (begin + die * ssd.program_ns // ssd.dies) % ssd.program_ns
        if self.buffer_drained_ns > self.env.now:
            self.buffer_drained_ns += (service_ns + ssd.interrupted_ns) // ssd.dies
        self.dies_free_ns = max(self.dies_free_ns, self.env.now) + service_ns // ssd.dies
        self.die_free_ns[die] = begin + service_ns
        return begin + service_ns

    def _write(self, request: Request) -> int:
        """Time at which a write is complete, with its flush, ns."""
        ssd, size = self.ssd, request.size_bytes
        arrives = self._pass_interface(ssd.command_write_ns, ssd.write_mib_ns, size)
        appends = request.purpose == DOUBLEWRITE or self.end_of_last_write.get(request.purpose) == request.byte
        self.end_of_last_write[request.purpose] = request.byte + size
        mib_ns = ssd.append_mib_ns if appends else ssd.drain_mib_ns
        self.buffer_drained_ns = max(self.buffer_drained_ns, arrives) + max(size, SECTOR_BYTES) * mib_ns // MIB
        end = max(arrives, self.buffer_drained_ns - ssd.buffer_bytes * ssd.drain_mib_ns // MIB) + ssd.write_ns
        return self._flush(end) if request.synced else end

    def _flush(self, begin: int) -> int:
        """Time at which a flush is complete that may begin at a time, ns."""
        ssd, end = self.ssd, begin
        if ssd.flushes_alone:
            end = max(end, self.all_done_ns)
        if ssd.is_volatile:
            end = self.flush_done_ns = max(end, self.buffer_drained_ns, self.flush_done_ns) + ssd.flush_ns
        else:
            end += ssd.flush_ns
        if ssd.flushes_alone:
            self.interface_free_ns = max(self.interface_free_ns, end)
        return end

    def busy_ns(self, now: int) -> int:
        """Time until now in which interface, dies or programs were busy."""
        return super().busy_ns(now) - self.busy.value * max(now - self.busy_until_ns, 0)
