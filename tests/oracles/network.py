"""What a queueing network is, and what its solution is.

A customer of a class thinks, visits stations and starts again; an open class arrives at a rate and leaves. A station
has servers, all of the same speed, and that speed may depend on how many customers are present.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oltpsim.simulator.errors import InternalError

Floats = NDArray[np.float64]

TINY = 1e-300
"""Added or compared where a zero would be divided by."""


@dataclass(frozen=True, init=False)
class Network:
    """One network, or a batch of them: every array may have the same leading shape, or one that broadcasts to it.

    A class is closed (`populations` > 0), open (`open_per_s` > 0) or absent (neither).

    Attributes:
        demands_s: (..., classes, stations) visits times mean service time at full speed of one server, >= 0.
        populations: (..., classes) customers; any number >= 0 for `solve`, whole ones for `exact`.
        think_s: (..., classes) mean time away from all stations, >= 0.
        servers: (..., stations) servers, >= 1.
        open_per_s: (..., classes) arrivals; None: no class is open.
        rates: (..., stations, levels) speed of each server with 1, 2, ... customers present, relative to one, > 0;
            beyond the last level as there. None: always 1. At a station of one server this is the table of rates.

    Raises:
        InternalError: Shapes that do not fit, numbers out of range, a class both open and closed.
    """

    demands_s: Floats
    populations: Floats
    think_s: Floats
    servers: Floats
    open_per_s: Floats | None = None
    rates: Floats | None = None

    def __init__(
        self,
        demands_s: ArrayLike,
        populations: ArrayLike,
        think_s: ArrayLike,
        servers: ArrayLike,
        open_per_s: ArrayLike | None = None,
        rates: ArrayLike | None = None,
    ) -> None:
        given = (demands_s, populations, think_s, servers, open_per_s, rates)
        for field, array in zip(fields(self), given, strict=True):
            object.__setattr__(self, field.name, None if array is None else np.asarray(array, dtype=np.float64))
        self._check()

    def _check(self) -> None:
        wide = self.widened()
        arrays = (wide.demands_s, wide.populations, wide.think_s, wide.open_per_s)
        if not all(bool(np.all(np.isfinite(array) & (array >= 0))) for array in arrays):
            raise InternalError("demands, populations, think times and arrival rates are finite and not negative")
        if not bool(np.all(np.isfinite(wide.servers) & (wide.servers >= 1))):
            raise InternalError("a station has at least one server")
        if not bool(np.all(np.isfinite(wide.rates) & (wide.rates > 0))) or not bool(np.all(wide.rates[..., 0] == 1)):
            raise InternalError("rates are positive, and 1 with one customer")
        if bool(np.any((wide.populations > 0) & (wide.open_per_s > 0))):
            raise InternalError("a class is either closed or open")
        cycle_s = wide.think_s + wide.demands_s.sum(axis=-1)
        if bool(np.any((wide.populations > 0) & (cycle_s == 0))):
            raise InternalError("a closed class thinks or asks something of a station")
        load_most = wide.servers * wide.rates[..., -1]
        if bool(np.any(np.einsum("...r,...rm->...m", wide.open_per_s, wide.demands_s) >= load_most)):
            raise InternalError("open classes ask for more than a station can do")

    def widened(self) -> Wide:
        """All arrays with the whole leading shape, and the optional ones filled in."""
        if self.demands_s.ndim < 2:
            raise InternalError("demands have classes and stations")
        classes, stations = self.demands_s.shape[-2:]
        open_per_s = np.zeros(classes) if self.open_per_s is None else self.open_per_s
        rates = np.ones((stations, 1)) if self.rates is None else self.rates
        tails = {
            "demands_s": (self.demands_s, (classes, stations)),
            "populations": (self.populations, (classes,)),
            "think_s": (self.think_s, (classes,)),
            "servers": (self.servers, (stations,)),
            "open_per_s": (open_per_s, (classes,)),
            "rates": (rates, (stations, rates.shape[-1] if rates.ndim else 0)),
        }
        for name, (array, tail) in tails.items():
            if array.shape[max(array.ndim - len(tail), 0) :] != tail:
                raise InternalError(f"{name} has shape {array.shape}, which does not end in {tail}")
        try:
            batch = np.broadcast_shapes(*(array.shape[: array.ndim - len(tail)] for array, tail in tails.values()))
        except ValueError as error:
            raise InternalError(f"the leading shapes of a network do not fit: {error}") from error
        return Wide(**{name: np.broadcast_to(array, batch + tail) for name, (array, tail) in tails.items()})


@dataclass(frozen=True)
class Wide:
    """A network whose arrays all have the same leading shape; meanings as in `Network`."""

    demands_s: Floats
    populations: Floats
    think_s: Floats
    servers: Floats
    open_per_s: Floats
    rates: Floats

    def changed(self, change: Callable[[Floats], Floats]) -> Wide:
        """Every array put through the same function."""
        return Wide(**{field.name: change(getattr(self, field.name)) for field in fields(self)})

    def most_work(self) -> Floats:
        """The highest rate of each station, in seconds of work per second; (..., stations)."""
        levels = np.arange(1, self.rates.shape[-1] + 1)
        in_table = np.minimum(levels, self.servers[..., None]) * self.rates
        return np.maximum(in_table.max(axis=-1), self.servers * self.rates[..., -1])


@dataclass(frozen=True)
class Solution:
    """Means in equilibrium; leading shapes as those of the network.

    Attributes:
        throughput_per_s: (..., classes) cycles of a closed class, arrivals of an open one.
        residence_s: (..., classes, stations) time at a station per cycle, waiting and service.
        queue: (..., classes, stations) customers at a station, waiting and in service.
        utilisation: (..., stations) work done, as a share of what all servers do at the speed of the longest queue
            of the table or of the fastest level, whichever is more; at stations without table the share of busy
            servers.
        iterations: How often the equations were evaluated.
        residual: (...) the last change of a class's times at a station, as a share of its time at all of them.
    """

    throughput_per_s: Floats
    residence_s: Floats
    queue: Floats
    utilisation: Floats
    iterations: int
    residual: Floats
