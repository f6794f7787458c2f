"""The order of events against a sorted list: by time, at one nanosecond urgent ones first, then as they were scheduled.

Clients do nothing but wait, and each wait is a transaction, so that the ends of transactions are a log of the events.
"""

import dataclasses
from bisect import insort
from collections.abc import Iterator
from itertools import islice, takewhile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import Assembler, FlashDevice, System
from oltpsim.simulator.kernel import KernelEngine
from tests.simulator.conftest import make_model
from tests.simulator.twins import ends_of, run_reference

READ_NS, MOST_PAGES = 3, 1 << 16
READ = -1
"""A wait: a page is read. An urgent event, the device's time, and an event without delay."""
Script = tuple[int, ...]
"""What a client waits for, round and round: delays in ns, or READ."""
End = tuple[int, int]
"""instant in ns, client"""
# Few different delays, so that many events fall on one nanosecond; those of 0 are due at this very instant
delays = st.one_of(st.integers(0, 4), st.sampled_from([READ, READ, 0, 10**6, 10**6 + 1, 10**15]))
scripts_that_pass_time = st.lists(delays, min_size=1, max_size=4).filter(any).map(tuple)


def waiting(scripts: list[Script], end_ns: int) -> System:
    """A client for each script. The program tries its steps in turn until it comes to the client's."""
    asm = Assembler()
    step, left, page, zero = (asm.register(name) for name in ("step", "left", "page", "zero"))
    row = asm.counter("pages read", 1, 0)
    new_page = asm.reference("page", "row", asm.region("table", 1, MOST_PAGES, 1), zero, row=page)
    asm.emit("think", asm.distribution("constant", 0), asm.stream("times"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("wait")
    asm.emit("combine", left, step, 1, zero)
    first: dict[Script, int] = {}
    steps = 0
    for script in dict.fromkeys(scripts):
        first[script] = steps + 1
        for number, wait in enumerate(script):
            another = asm.label()
            asm.emit("loop", left, another)
            asm.emit("set", step, first[script] + (number + 1) % len(script))
            if wait == READ:
                asm.emit("take", page, row, zero, 1)
                asm.emit("touch", new_page, 0, 0)
            else:
                asm.emit("network", wait)
            asm.emit("end")
            asm.place(another)
        steps += len(script)
    asm.emit("end")
    model = make_model(
        asm, clients=len(scripts), devices=(FlashDevice("flash", READ_NS, READ_NS, len(scripts)),),
        requests_per_device=len(scripts), pool_pages=MOST_PAGES, cache_pages=MOST_PAGES,
    )  # fmt: skip
    registers = np.zeros_like(model.client_registers)
    registers[:, step] = [first[script] for script in scripts]
    interval = dataclasses.replace(model.interval, duration_ns=end_ns)
    return dataclasses.replace(model, client_registers=registers, interval=interval)


def sorted_ends(scripts: list[Script], by_order: bool, urgent_first: bool) -> Iterator[End]:
    """The definition. Each client goes from event to event; `by_order`: or else the higher number goes first."""
    events: list[tuple[int, int, int, int]] = []
    to_come: list[list[tuple[bool, int]]] = [[] for _ in scripts]
    steps, order, now = [0] * len(scripts), 0, 0
    for client in range(len(scripts)):
        insort(events, (now, 0, client, client))  # a client begins urgently
    while events:
        now, _, _, client = events.pop(0)
        if not to_come[client]:
            if steps[client]:
                yield now, client
            wait = scripts[client][steps[client] % len(scripts[client])]
            to_come[client] = [(True, 0), (False, READ_NS), (False, 0)] if wait == READ else [(False, wait)]
            steps[client] += 1
        urgent, delay = to_come[client].pop(0)
        order += 1
        place = len(scripts) + order if by_order else -client
        insort(events, (now + delay, 0 if urgent and urgent_first else 1, place, client))


def first_ends(
    scripts: list[Script], most: int, by_order: bool = True, urgent_first: bool = True
) -> tuple[list[End], int]:
    """So many ends by the definition, and all others of the last one's instant; and the next nanosecond."""
    ends = sorted_ends(scripts, by_order, urgent_first)
    found = list(islice(ends, most))
    last_ns = found[-1][0]
    return found + list(takewhile(lambda end: end[0] == last_ns, ends)), last_ns + 1


def kernel_ends(scripts: list[Script], end_ns: int, most: int) -> list[End]:
    engine = KernelEngine(waiting(scripts, end_ns), 1, traced=most)
    engine.run(None)
    return [(time, client) for time, client, *_ in ends_of(engine)]


def reference_ends(scripts: list[Script], end_ns: int) -> list[End]:
    return [(time, client) for time, client, *_ in run_reference(waiting(scripts, end_ns), 1).ends]


@pytest.mark.uncounted
@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(scripts=st.lists(scripts_that_pass_time, min_size=1, max_size=40))
def test_events_come_by_time_then_urgent_first_then_in_the_order_of_scheduling(scripts: list[Script]) -> None:
    """Queues and heap together are one sorted list, in both engines."""
    expected, end_ns = first_ends(scripts, 300)
    assert kernel_ends(scripts, end_ns, len(expected) + 1) == expected
    assert reference_ends(scripts, end_ns) == expected


@pytest.mark.parametrize("wrong", [{"by_order": False}, {"urgent_first": False}], ids=str)
def test_another_order_is_noticed(wrong: dict[str, bool]) -> None:
    """Events of one time by client, or urgent ones among the others: the same ends, but not in the same order."""
    scripts: list[Script] = [(1, READ), (1, 3, 0), (READ, 1), (4, 0)] * 9
    expected, end_ns = first_ends(scripts, 300)
    ours = kernel_ends(scripts, end_ns, len(expected) + 1)
    theirs, _ = first_ends(scripts, 300, **wrong)
    assert ours == expected
    assert sorted(ours) == sorted(theirs)
    assert ours != theirs


@pytest.mark.uncounted
@pytest.mark.parametrize("clients", [1, 3, 1000])
def test_queues_of_an_instant_go_round(clients: int) -> None:
    """More events than any queue is long, a few at a time and a thousand."""
    scripts: list[Script] = [(0, READ, 0, 0, 1)] * clients
    expected, end_ns = first_ends(scripts, 3 * 5 * clients + 5000)
    assert len(expected) > 5000
    assert kernel_ends(scripts, end_ns, len(expected) + 1) == expected
    assert reference_ends(scripts, end_ns) == expected


def test_a_delay_of_nothing_comes_after_what_the_heap_has_for_this_instant() -> None:
    """The events at 5 ns that were scheduled at 0 are older than one scheduled at 5 ns without delay."""
    scripts: list[Script] = [(5, 0, 9), (5, 9), (5, 9)]
    expected = [(5, 0), (5, 1), (5, 2), (5, 0)]
    assert first_ends(scripts, 4)[0] == expected
    assert kernel_ends(scripts, 6, 9) == expected
    assert reference_ends(scripts, 6) == expected
