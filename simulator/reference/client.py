"""A client: what it knows between two waits."""

from oltpsim.simulator.reference.cache import Frame
from oltpsim.simulator.reference.streams import Stream
from oltpsim.simulator.reference.waits import CpuBurst, Waits


class Client:
    """A client of the program. Its CPU demand is collected, in ns of each kind, and paid before it waits for anything.

    `next_operation`: the number of the operation that it runs next. `frame_chosen`: the frame that CLOCK's hand has
    chosen for it, while it waits until that can be used. `is_to_pause`: it has written `unpaid_pages` into a page cache
    with many dirty ones, the last one into `file`. `has_waited`: for a free frame of a full pool, which it hasn't
    taken.
    """

    def __init__(self, number: int, registers: list[int], streams: list[Stream]) -> None:
        self.number, self.registers, self.streams = number, registers, streams
        self.next_operation = self.transaction_class = self.log_bytes = 0
        self.user_ns = self.system_ns = self.client_ns = 0
        self.unpaid_pages = self.file = 0
        self.rolled_back = self.is_to_pause = self.has_waited = False
        self.locks_held: list[int] = []
        self.frame_chosen: Frame | None = None

    @property
    def owes_cpu(self) -> bool:
        """Whether there is CPU demand that has been collected and not been paid."""
        return self.user_ns + self.system_ns + self.client_ns > 0

    def pay(self) -> Waits:
        """The CPU demand collected so far as one burst; nothing if there is none."""
        if self.owes_cpu:
            burst = CpuBurst(self.user_ns, self.system_ns, self.client_ns)
            self.user_ns = self.system_ns = self.client_ns = 0
            yield burst
