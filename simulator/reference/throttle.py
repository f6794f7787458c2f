"""A volume with separate caps for reads and writes, which a request passes before it enters the volume's queue."""

from functools import partial

from oltpsim.simulator.reference.device import READ, REWRITE, WRITE, Request
from oltpsim.simulator.reference.flash import FlashStation
from oltpsim.simulator.reference.limits import admit

DIRECTIONS_OF = {READ: ("read",), WRITE: ("write",), REWRITE: ("read", "write")}
"""by kind of request: directions of the caps that count it"""


class ThrottledFlashStation(FlashStation):
    """Flash behind caps for reads and for writes. Own limits come first, then those of all volumes together.

    A write that waits for its cap takes no place that a read could have (Linux's block/blk-throttle.c keeps reads and
    writes in separate queues before the device's queue).
    """

    def _enqueue(self, request: Request) -> None:
        self._pass_caps(request, 0)

    def _pass_caps(self, request: Request, first_stage: int, _waited: object = None) -> None:
        """Pass the caps of stages from `first_stage` on, then enter the volume's queue."""
        for number, stage in enumerate(self.limits[first_stage:], first_stage):
            wait_ns = admit(stage, request.size_bytes, self.env.now, DIRECTIONS_OF[request.write])
            if wait_ns:
                waited = self.env.timeout(wait_ns)
                waited.callbacks.append(partial(self._pass_caps, request, number + 1))
                return
        super()._enqueue(request)
