"""Fair queueing before a device (CFQ): owners take turns, and own the device while it is theirs.

Source: Linux's block/cfq-iosched.c as of 2.6.18 (docs/model/io-scheduler.md, with what is left out).
"""

from collections import deque
from collections.abc import Callable

import simpy

from oltpsim.simulator.form import FairQueueing
from oltpsim.simulator.reference.device import Request
from oltpsim.simulator.reference.stations import Environment

BACKGROUND = ("swap out", "write-back", "writer")
OF_SEVERAL = (*BACKGROUND, "log", "merge read")
"""purposes whose requests have one owner; with all others each client is one, who has one request at a time"""


class Owner:
    """Somebody whose requests wait together."""

    def __init__(self, slice_ns: int) -> None:
        self.slice_ns = slice_ns
        self.waiting: deque[Request] = deque()


class FairQueue:
    """One device's scheduler; `start` hands a request to the device."""

    def __init__(self, env: Environment, rules: FairQueueing, start: Callable[[Request], None]) -> None:
        self.env, self.rules, self.start = env, rules, start
        self.owners = {
            purpose: Owner(rules.background_slice_ns if purpose in BACKGROUND else rules.slice_ns)
            for purpose in OF_SEVERAL
        }
        self.turns: deque[Owner] = deque()
        self.on_turn: Owner | None = None
        self.handed_over = self.slice_end_ns = 0

    def add(self, request: Request) -> None:
        """A request comes: it is lined up before anything else happens at this instant."""
        request.done.callbacks.append(self._served)
        self.env.urgently(lambda _: self._line_up(request))

    def _line_up(self, request: Request) -> None:
        owner = self.owners.get(request.purpose) or Owner(self.rules.slice_ns)
        owner.waiting.append(request)
        if owner is self.on_turn:
            self._hand_over(owner)
        elif len(owner.waiting) == 1:
            self.turns.append(owner)
            if self.on_turn is None:
                self._next_turn()

    def _served(self, _: simpy.Event) -> None:
        owner = self.on_turn
        assert owner is not None
        self.handed_over -= 1
        self._hand_over(owner)
        if not self.handed_over:
            if owner.waiting:
                self.turns.append(owner)
            self._next_turn()

    def _next_turn(self) -> None:
        self.on_turn = owner = self.turns.popleft() if self.turns else None
        if owner is not None:
            self.slice_end_ns = self.env.now + owner.slice_ns
            self._hand_over(owner)

    def _hand_over(self, owner: Owner) -> None:
        """To the device as many requests as the owner may have there, while its slice lasts."""
        while owner.waiting and self.handed_over < self.rules.quantum and self.env.now < self.slice_end_ns:
            self.handed_over += 1
            self.start(owner.waiting.popleft())
