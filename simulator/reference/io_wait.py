"""Idle CPU time that counts as waiting for I/O (simulator/form/io_wait.py), added up by the reference engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.form import IO_WAIT_SHARE_BITS, io_wait_shares

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine


class IoWait:
    """Idle CPU time that counts as waiting, as an integral. The reference engine's; kernel/io_wait.py is its twin."""

    def __init__(self, engine: ReferenceEngine) -> None:
        self.engine = engine
        self.shares = io_wait_shares(engine.model.processors).tolist()
        self.asleep = self.area = self.since_ns = self.busy_then = 0

    def change(self, by: int) -> None:
        """So many more tasks sleep in block I/O from now on, or fewer."""
        now = self.engine.env.now
        self.area = self.area_until(now)
        self.asleep += by
        self.since_ns, self.busy_then = now, self.engine.cpu.busy.area_until(now)

    def area_until(self, now: int) -> int:
        """The integral from time 0 to now, in core-nanoseconds."""
        busy = self.engine.cpu.busy.area_until(now) - self.busy_then
        idle = self.engine.model.processors * (now - self.since_ns) - busy
        return self.area + (idle * self.shares[min(self.asleep, len(self.shares) - 1)] >> IO_WAIT_SHARE_BITS)
