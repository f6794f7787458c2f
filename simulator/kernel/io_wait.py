"""The kernel's account of idle processors that wait for I/O. As `reference.io_wait.IoWait`, its definition."""

# pyright: reportReturnType=false

from simulator.form import IO_WAIT_SHARE_BITS
from simulator.kernel import columns as ks
from simulator.kernel.calendar import NOW
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.stations import area_until


@compiled_inside
def sleep_in_io(kernel: Kernel, by: int) -> None:
    """So many more tasks sleep in block I/O from now on, or fewer."""
    facts, now = kernel.facts, kernel.calendar.clock[NOW]
    facts[ks.IO_AREA] = io_wait_until(kernel, now)
    facts[ks.IO_ASLEEP] += by
    facts[ks.IO_SINCE], facts[ks.IO_BUSY_THEN] = now, area_until(kernel.stations[ks.CPU_STATION], ks.BUSY, now)


@compiled
def io_wait_until(kernel: Kernel, now: int) -> int:
    """Idle CPU time that counts as waiting, from time 0 to now, in core-nanoseconds."""
    facts, shares = kernel.facts, kernel.io_shares
    busy = area_until(kernel.stations[ks.CPU_STATION], ks.BUSY, now) - facts[ks.IO_BUSY_THEN]
    idle = facts[ks.PROCESSORS] * (now - facts[ks.IO_SINCE]) - busy
    return facts[ks.IO_AREA] + (idle * shares[min(facts[ks.IO_ASLEEP], len(shares) - 1)] >> IO_WAIT_SHARE_BITS)
