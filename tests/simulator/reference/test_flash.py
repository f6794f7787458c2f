"""A device that lets reads go first: which request is served when, exactly, and what write-back may take of it."""

import pytest

from oltpsim.simulator.form import FlashDevice
from oltpsim.simulator.reference.flash import FlashStation
from oltpsim.simulator.reference.stations import Environment

READ_NS, WRITE_NS = 2, 3


def order_served(reads_per_write: int, submitted: str) -> str:
    """Requests (r, w) all submitted at time 0, in the order in which one server completes them."""
    env = Environment()
    station = FlashStation(env, FlashDevice("disk", READ_NS, WRITE_NS, 1, reads_per_write), 100)
    served: list[tuple[int, str]] = []
    for number, kind in enumerate(submitted):
        done = station.submit(number, 1, kind == "w", kind)
        done.callbacks.append(lambda _, kind=kind: served.append((env.now, kind)))
    env.run()
    assert [time for time, _ in served] == sorted({time for time, _ in served}), "one at a time"
    return "".join(kind for _, kind in served)


@pytest.mark.parametrize(
    ("reads_per_write", "submitted", "served"),
    [
        (0, "wwrwrrrr", "wwrwrrrr"),  # in order of arrival
        (2, "wwwrrrrr", "wrrwrrwr"),  # the first was alone; then two reads for each write
        (2, "rrrrww", "rrrwrw"),
        (1, "rwwrr", "rrwrw"),
        (3, "wwww", "wwww"),  # nobody else waits
        (3, "rrr", "rrr"),
    ],
)
def test_so_many_reads_go_ahead_of_each_write(reads_per_write: int, submitted: str, served: str) -> None:
    assert order_served(reads_per_write, submitted) == served


def test_nothing_is_lost_or_served_twice() -> None:
    for reads_per_write in range(5):
        assert sorted(order_served(reads_per_write, "wrrwwrwrrwwwr")) == sorted("wrrwwrwrrwwwr")
