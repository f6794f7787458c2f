"""The equations of approximate mean-value analysis, of networks along one axis."""

import numpy as np

from tests.oracles.network import TINY, Floats, Wide

MOST_OPEN_LOAD = 1.0 - 1e-9


class Equations:
    """The equations of networks along one axis, in shares of a customer's time: (networks, 2, classes, stations).

    The first of the two is the share spent waiting, the second that in service. Of an open class it is customers.
    """

    def __init__(self, flat: Wide, differences: Floats) -> None:
        self.flat, self.differences = flat, differences
        self.shape = (flat.demands_s.shape[0], 2, *flat.demands_s.shape[1:])
        self.is_open = flat.open_per_s > 0
        self.closed = np.where(self.is_open, 0.0, flat.populations)
        self.counts = np.where(self.is_open, 1.0, flat.populations)
        self.own = np.where(self.is_open, 0.0, np.minimum(flat.populations, 1.0))
        self.shift = np.einsum("br,bkrmj->bkjm", self.closed, differences)
        self.shift -= self.own[:, None, :, None] * np.einsum("bkrmr->bkrm", differences)
        self.servers = flat.servers[:, None, :]
        others = (self.closed.sum(axis=1, keepdims=True) - self.own)[:, :, None]
        self.enough = np.clip(others - self.servers + 1.0, 0.0, 1.0) ** np.minimum(self.servers - 1.0, 1.0)
        self.few = (self.servers / np.maximum(others, self.servers)) ** (0.4 + 0.6 * np.log(self.servers))

    def start(self) -> Floats:
        """Shares as if all waiting were at the busiest station."""
        demands_s, populations = self.flat.demands_s, self.closed
        per_s = 1.0 / np.maximum(self.flat.think_s + demands_s.sum(axis=2), TINY)
        load = np.einsum("br,brm->bm", populations * per_s, demands_s) / self.flat.servers
        per_s /= np.maximum(load.max(axis=1, keepdims=True), 1.0)
        waiting = 1.0 - per_s * (self.flat.think_s + demands_s.sum(axis=2))
        busiest = np.arange(load.shape[1]) == load.argmax(axis=1)[:, None]
        shares = np.stack([waiting[:, :, None] * busiest[:, None, :], per_s[:, :, None] * demands_s], axis=1)
        return np.where(self.is_open[:, None, :, None], 0.0, shares)

    def step(self, state: Floats) -> Floats:
        """The shares that follow from what customers see of these; (networks, all shares in a row)."""
        times_s = self.times_s(state.reshape(self.shape))
        return (times_s * self.per_customer_s(times_s)[:, None, :, None]).reshape(state.shape)

    def distance(self, old: Floats, new: Floats) -> Floats:
        """The largest change of a share, relative to what its class spends at stations; (networks)."""
        of_class = new.reshape(self.shape).sum(axis=(1, 3))
        change = np.abs(new - old).reshape(self.shape).max(axis=(1, 3))
        return (change / np.maximum(of_class, TINY)).max(axis=1)

    def per_customer_s(self, times_s: Floats) -> Floats:
        """Cycles per second and customer of a closed class, arrivals per second of an open one."""
        cycle_s = self.flat.think_s + times_s.sum(axis=(1, 3))
        return np.where(self.is_open, self.flat.open_per_s, 1.0 / np.maximum(cycle_s, TINY))

    def times_s(self, shares: Floats) -> Floats:
        """Times of waiting and of service per cycle, of customers who see these shares of the others' time.

        An arrival waits (s / c) (waiting seen + chance that all c servers are seen busy). That chance is
        load**(sqrt(2 (c + 1)) - 1) for many customers (Sakasegawa, "An approximation formula", Annals of the Institute
        of Statistical Mathematics 29, 1977), exactly load**c for c others (all of them are there, independently), and
        0 for fewer; in between the exponent goes from one to the other as (c / others)**(0.4 + 0.6 ln c), fitted to
        the machine repairman with 2 to 40 servers. With one server it is the load: the arrival theorem.

        Customers of open classes wait behind both and are solved for: 1 / (1 - their load) at one server. The speed
        of servers is read from the table at the mean number present, the arrival included, as if it did not vary.
        """
        seen = np.einsum("br,bkrm->bkm", self.counts, shares)[:, :, None, :]
        seen = seen - self.own[:, None, :, None] * shares + self.shift
        open_share = np.einsum("br,brm->bm", self.counts - self.closed, shares[:, 1])[:, None, :] / self.servers
        waiting_open = np.einsum("br,brm->bm", self.counts - self.closed, shares[:, 0])[:, None, :]
        open_load = np.minimum(open_share, MOST_OPEN_LOAD)
        load = np.clip(seen[:, 1] / self.servers, open_load, 1.0)
        share_open = open_load / np.maximum(load, TINY)
        enough = self.enough + (1.0 - self.enough) * share_open
        of_many = np.sqrt(2.0 * (self.servers + 1.0)) - 1.0
        all_busy = enough * load ** (of_many + (self.servers - of_many) * self.few * (1.0 - share_open))
        ahead = (np.maximum(seen[:, 0] - waiting_open, 0.0) + all_busy) / (1.0 - open_load)
        present = ahead - all_busy + load * self.servers
        service_s = self.flat.demands_s / _speed(self.flat.rates, present + 1.0)
        return np.stack([service_s / self.servers * ahead, service_s], axis=1)


def _speed(rates: Floats, present: Floats) -> Floats:
    """The tables of rates (networks, stations, levels) at `present` >= 1 customers (networks, classes, stations)."""
    last = rates.shape[2] - 1
    if last == 0:
        return np.ones_like(present)
    place = np.clip(present - 1.0, 0.0, last)
    low = np.minimum(place.astype(np.intp), last - 1)
    table = np.moveaxis(rates, 2, 1)
    below, above = (np.take_along_axis(table, level, axis=1) for level in (low, low + 1))
    return below + (place - low) * (above - below)
