"""Idle CPU time that counts as waiting for I/O (simulator/form/io_wait.py), as an integral over time."""

from oltpsim.simulator.form import IO_WAIT_SHARE_BITS, System, io_wait_shares
from oltpsim.simulator.reference.cpu import Processors
from oltpsim.simulator.reference.stations import Environment


class IoWait:
    """The integral, in ns of one processor. `asleep`: tasks that sleep in block I/O."""

    def __init__(self, env: Environment, system: System, cpu: Processors) -> None:
        self.env, self.cpu, self.processors = env, cpu, system.processors
        self.shares = io_wait_shares(system.processors).tolist()
        self.asleep = self.area = self.since_ns = self.busy_then = 0

    def change(self, by: int) -> None:
        """So many more tasks sleep in block I/O from now on, or fewer."""
        now = self.env.now
        self.area = self.area_until(now)
        self.asleep += by
        self.since_ns, self.busy_then = now, self.cpu.busy.area_until(now)

    def area_until(self, now: int) -> int:
        """The integral from time 0 to now."""
        busy = self.cpu.busy.area_until(now) - self.busy_then
        idle = self.processors * (now - self.since_ns) - busy
        return self.area + (idle * self.shares[min(self.asleep, len(self.shares) - 1)] >> IO_WAIT_SHARE_BITS)
