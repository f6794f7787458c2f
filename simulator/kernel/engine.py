"""The kernel: the engine that executes a program as compiled code. Its trajectory is the reference engine's.

An event is the number of an entity (columns.py). `run` takes the next one, finds out what it means from the
entity's stage, and lets the entity go on to its next wait. Python takes part at the steps of the time series only.
"""

from simulator.form import Model, OnProgress, RotatingDevice
from simulator.kernel import columns as ks
from simulator.kernel.arms import finish_transfer, move_arm
from simulator.kernel.caches import POOL, SWAP_OUTS
from simulator.kernel.calendar import (
    EVENTS,
    HEAP_COUNT,
    INSTANT_COUNT,
    NOW,
    URGENT_COUNT,
    pop_future,
    pop_instant,
    pop_urgent,
    urgently,
)
from simulator.kernel.clients import wake_client
from simulator.kernel.columns import STAGE, Kernel, new_kernel, requests_margin
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.daemons import wake_daemon
from simulator.kernel.flash import begin_flash, finish_flash, finish_part, wake_limited
from simulator.kernel.growth import grown
from simulator.kernel.record import KernelRecorder
from simulator.kernel.requests import release_request
from simulator.kernel.scheduler import schedule, served
from simulator.kernel.setup import set_up_devices
from simulator.kernel.start import prepare
from simulator.kernel.state import State, new_state
from simulator.kernel.terminal_events import start_terminals, wake_terminal
from simulator.kernel.write_back import written_back
from simulator.results import Result

FINISHED, NEEDS_ROOM = 0, 1
NOTHING = -1


def simulate(model: Model, seed: int, on_progress: OnProgress | None = None) -> Result:
    """Run a model to the end of its interval. The same model and seed give the same result, byte for byte."""
    engine = KernelEngine(model, seed)
    engine.run(on_progress)
    return engine.record.result()


class KernelEngine:
    """One run. `traced`: keep the first so many ends of transactions (`kernel.trace`)."""

    def __init__(self, model: Model, seed: int, traced: int = 0) -> None:
        self.model = model
        self.state = new_state(model, seed)
        prepare(self.state, model, seed)
        self.kernel = new_kernel(model, seed, traced)
        set_up_devices(self.kernel, model)
        self.margin = requests_margin(model)
        self._start()
        self.record = KernelRecorder(self, seed)

    def _start(self) -> None:
        """What the reference engine's processes do when they are created, in the same order."""
        kernel, facts = self.kernel, self.kernel.facts
        first_device, clients = int(facts[ks.FIRST_DEVICE]), int(facts[ks.CLIENTS])
        for number, device in enumerate(self.model.storage.with_disks):
            if isinstance(device, RotatingDevice):
                urgently(kernel.calendar, first_device + number)
        if self.model.arrivals_per_s:
            urgently(kernel.calendar, clients + ks.ARRIVALS)
        start_terminals(kernel, int(facts[ks.FIRST_TERMINAL]))
        for client in range(clients):
            urgently(kernel.calendar, client)
        for daemon in (ks.FLUSHER, ks.WRITER, ks.CHECKPOINTS):
            urgently(kernel.calendar, clients + daemon)

    def run(self, on_progress: OnProgress | None) -> None:
        """Let time pass until the end of the interval, noting the series and reporting progress on the way."""
        self.record.note(0)
        for stop_ns in self.record.stops_ns():
            while run(self.state, self.kernel, stop_ns, self.margin) == NEEDS_ROOM:
                self.kernel = grown(self.kernel)
            now = int(self.kernel.calendar.clock[NOW])
            self.record.note(now)
            if on_progress is not None:
                on_progress(self.record.progress(now))


@compiled
def run(state: State, kernel: Kernel, until_ns: int, margin: int) -> int:
    """Process all events before `until_ns`, or until the last client has done its work.

    NEEDS_ROOM: to be called again once there is more room.
    """
    facts, clock, life = kernel.facts, kernel.calendar.clock, kernel.life
    clients, devices, requests = facts[ks.CLIENTS], facts[ks.FIRST_DEVICE], facts[ks.FIRST_REQUEST]
    terminals = facts[ks.FIRST_TERMINAL]
    while True:
        if lacks_room(state, kernel, margin):
            return NEEDS_ROOM
        entity = facts[ks.BATCH_NEXT]
        if entity != ks.NONE:
            facts[ks.BATCH_NEXT] = life[entity, ks.NEXT]
        else:
            if facts[ks.AT_WORK] == 0:
                return FINISHED
            entity = next_event(state, kernel, until_ns)
            if entity == NOTHING:
                clock[NOW] = until_ns
                return FINISHED
        clock[EVENTS] += 1
        if entity < clients:
            wake_client(state, kernel, entity)
        elif entity < devices:
            wake_daemon(state, kernel, entity)
        elif entity < terminals:
            move_arm(kernel, entity - devices)
        elif entity < requests:
            wake_terminal(kernel, entity, entity - terminals)
        elif entity < ks.NO_ENTITY:
            _wake_request(kernel, entity - requests)


@compiled_inside
def _wake_request(kernel: Kernel, number: int) -> None:
    """A request's own event: flash has served it, it has waited for its limiters, or it is in a drive's cache."""
    kind = kernel.devices[kernel.requests[number, ks.DEVICE], ks.KIND]
    if kind == ks.FLASH_KIND:
        finish_flash(kernel, number)
    elif kind == ks.LIMITED_KIND:
        wake_limited(kernel, number)
    else:
        finish_transfer(kernel, number)


@compiled_inside
def lacks_room(state: State, kernel: Kernel, margin: int) -> bool:
    """Whether an event might find no free request, or no place for an arrival.

    A swap-in submits a write for every cluster of buffers that lost their memory since the one before.
    """
    facts = kernel.facts
    spare = facts[ks.FREE_REQUESTS] - margin
    swapped = state.tiers.head[POOL, SWAP_OUTS] - facts[ks.SWAP_OUTS_ISSUED]
    most = swapped * facts[ks.MOST_PARTS]
    if spare < most and spare * facts[ks.SWAP_CLUSTER] < most:
        return True
    return facts[ks.ARRIVED_COUNT] == len(kernel.arrived)


@compiled_inside
def next_event(state: State, kernel: Kernel, until_ns: int) -> int:
    """Take the next event before `until_ns`; returns the entity to wake, NO_ENTITY if that was all, or NOTHING."""
    clock, times = kernel.calendar.clock, kernel.calendar.times
    if clock[URGENT_COUNT]:
        code = pop_urgent(kernel.calendar)
    elif clock[HEAP_COUNT] and times[0] == clock[NOW] and clock[NOW] < until_ns:
        return pop_future(kernel.calendar)
    elif clock[INSTANT_COUNT]:
        code = pop_instant(kernel.calendar)
    elif clock[HEAP_COUNT] and times[0] < until_ns:
        return pop_future(kernel.calendar)
    else:
        return NOTHING
    kind, number = code >> ks.KIND_BITS, code & ks.NUMBER_MASK
    if kind == ks.RESUME:
        return number
    if kind == ks.LIST:
        kernel.facts[ks.BATCH_NEXT] = kernel.life[number, ks.NEXT]
        return number
    if kind == ks.BEGIN:
        begin_flash(kernel, number)
        return ks.NO_ENTITY
    if kind == ks.SCHEDULE:
        schedule(kernel, number)
        return ks.NO_ENTITY
    return _completed(state, kernel, number)


@compiled_inside
def _completed(state: State, kernel: Kernel, number: int) -> int:
    """A request is complete: who is to be woken, if anybody."""
    request, facts = kernel.requests[number], kernel.facts
    who = request[ks.WHO]
    if kernel.devices[request[ks.DEVICE], ks.QUANTUM]:
        served(kernel, kernel.devices[request[ks.DEVICE]])
    if who == ks.WRITTEN_BACK:
        written_back(state, kernel, request)
        who = ks.NO_ENTITY
    elif who == ks.PART_OF_WHOLE:
        finish_part(kernel, number)
        who = ks.NO_ENTITY
    elif who == ks.NOBODY:
        who = ks.NO_ENTITY
    elif request[ks.PURPOSE] == ks.WRITER_WRITE:
        job = kernel.jobs[who - facts[ks.CLIENTS] - ks.WRITER]
        job[ks.JOB_OUTSTANDING] -= 1
        if job[ks.JOB_OUTSTANDING] > 0 or kernel.life[who, STAGE] != ks.WRITING:
            who = ks.NO_ENTITY
    release_request(kernel, number)
    return who
