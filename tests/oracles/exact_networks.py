"""Exact figures of product-form networks, by convolution of scaled distributions.

Every term is positive, so nothing cancels. The recursion of exact mean-value analysis over marginal probabilities
gives the same figures on paper, but finds the probability of an empty station as one minus a sum of others, whose
rounding errors grow with every customer (Chandy & Sauer, "Computational algorithms for product form queueing
networks", Communications of the ACM 23, 1980).
"""

import math
from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.errors import InternalError
from tests.oracles.network import Floats, Network, Solution, Wide
from tests.oracles.networks import solve

MOST_POPULATIONS = 4_000_000


@dataclass(frozen=True)
class _Station:
    """Unscaled chances of 0, 1, ... closed customers: `weights`, then each `ratio` times the one before.

    Each customer is of a class with chances `mix`.
    """

    weights: Floats
    ratio: float
    mix: Floats


def exact(network: Network) -> Solution:
    """Exact means of one network, for any classes in small numbers or for one closed class of up to millions.

    Buzen, "Computational algorithms for closed queueing networks with exponential servers", Communications of the
    ACM 16 (1973); Reiser & Kobayashi, "Queueing networks with multiple closed chains", IBM J. R&D 19 (1975); open
    classes by the weights of Lavenberg, Computer Performance Modeling Handbook (1983): at a station of one server
    they inflate the demands of closed classes by 1 / (1 - their load). Holds if stations share servers among
    those present, or serve in order of arrival with exponential times that are equal for all classes.

    Time and memory grow with the product of (population + 1) over the classes, at several classes also with the
    total population and the square of the number of stations. Figures are right to about 1e-10.

    Args:
        network: Without leading shape, with whole populations and servers.

    Returns:
        Figures without leading shape; `iterations` and `residual` are 0.

    Raises:
        InternalError: A batch, broken numbers, or more than `MOST_POPULATIONS` populations.
    """
    wide = network.widened()
    if wide.demands_s.ndim != 2:
        raise InternalError("exact figures are of one network at a time")
    if bool(np.any(wide.populations % 1)) or bool(np.any(wide.servers % 1)):
        raise InternalError("exact figures need whole customers and servers")
    shape = tuple(int(customers) + 1 for customers in wide.populations)
    if math.prod(shape) > MOST_POPULATIONS:
        raise InternalError(f"{math.prod(shape)} populations are too many, at most {MOST_POPULATIONS}")
    rates = [_rates_beside_open(wide, m) for m in range(wide.demands_s.shape[1])]
    guess_per_s = np.where(wide.populations > 0, solve(network, "schweitzer").throughput_per_s, 0.0)
    most_load = max(guess_per_s @ work_s / rate[-1] for work_s, rate in zip(wide.demands_s.T, rates, strict=True))
    guess_per_s /= max(most_load, 1.0)
    stations = [
        _station(guess_per_s * work_s, rate[: sum(shape)]) for work_s, rate in zip(wide.demands_s.T, rates, strict=True)
    ]

    thinking = _thinking(guess_per_s * wide.think_s, shape)
    queue, passing_s, before = np.zeros(wide.demands_s.shape), np.zeros(wide.demands_s.shape), thinking
    axes = np.ogrid[tuple(slice(0, size) for size in shape)]
    for m, station in enumerate(stations):
        others = before
        for other in stations[m + 1 :]:
            others = _convolved(others, other)
        chance = _convolved(_nobody(shape), station) * np.flip(others)
        chance /= chance.sum()
        queue[:, m] = [np.sum(chance * axis) for axis in axes]
        present = sum(axes) + 1
        share = present / rates[m][np.minimum(present, len(rates[m])) - 1]
        passing_s[:, m] = wide.demands_s[:, m] * np.sum(chance * share)
        before = _convolved(before, station)
    return _solution(wide, guess_per_s * _ratios(before), queue, passing_s)


def _solution(wide: Wide, closed_per_s: Floats, queue: Floats, passing_s: Floats) -> Solution:
    """Closed classes by Little's law; open and absent ones are passing through the equilibrium of the others."""
    is_closed = wide.populations > 0
    throughput_per_s = np.where(is_closed, closed_per_s, wide.open_per_s)
    residence_s = np.where(is_closed[:, None], queue / np.where(is_closed, closed_per_s, 1.0)[:, None], passing_s)
    return Solution(
        throughput_per_s=throughput_per_s,
        residence_s=residence_s,
        queue=throughput_per_s[:, None] * residence_s,
        utilisation=throughput_per_s @ wide.demands_s / wide.most_work(),
        iterations=0,
        residual=np.zeros(()),
    )


def _ratios(constants: Floats) -> Floats:
    """Normalisation constant with one customer less of each class, relative to that of the whole population."""
    whole = constants[(-1,) * constants.ndim]
    if not whole > 0 or not np.isfinite(whole):
        raise InternalError("the scaled normalisation constant left the range of numbers")
    less = [
        constants[(-1,) * r + (-2,) + (-1,) * (constants.ndim - r - 1)] if size > 1 else 0.0
        for r, size in enumerate(constants.shape)
    ]
    return np.array(less) / whole


def _rates_beside_open(wide: Wide, m: int) -> Floats:
    """Work that is done for closed customers per second with 1, 2, ... of them; beyond as at last.

    With work `open_work` per second from open classes, the weight of k closed customers is
    sum over j of (k + j over j) open_work**j / (rate(1) ... rate(k + j)).
    """
    levels = np.arange(1, max(int(wide.servers[m]), wide.rates.shape[1]) + 1)
    rates = np.minimum(levels, wide.servers[m]) * wide.rates[m, np.minimum(levels, wide.rates.shape[1]) - 1]
    open_work = float(wide.open_per_s @ wide.demands_s[:, m])
    if open_work == 0:
        return rates
    # Where the rate is constant, the sum over n >= most of (n over k) load**(n - k) follows from that for k - 1 by
    # Pascal's rule, in positive terms only.
    most, load = len(rates), open_work / float(rates[-1])
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(levels))])
    log_weights = -np.concatenate([[0.0], np.cumsum(np.log(rates))])
    log_far = most * math.log(load) - math.log1p(-load)
    logs = np.empty(most + 1)
    for k in range(most + 1):
        if k:
            log_choose = log_factorials[most] - log_factorials[k] - log_factorials[most - k]
            log_far = np.logaddexp(log_far, log_choose + (most - k) * math.log(load)) - math.log1p(-load)
        more = np.arange(most - k)
        log_choose = log_factorials[k + more] - log_factorials[k] - log_factorials[more]
        near = log_choose + more * math.log(open_work) + log_weights[k:most]
        far = (most - k) * math.log(rates[-1]) + log_weights[most] + log_far
        logs[k] = np.logaddexp.reduce([*near, far])
    return np.exp(logs[:-1] - logs[1:])


def _station(loads: Floats, rates: Floats) -> _Station:
    """The chances of a station that is offered `loads` by the classes, scaled so that the largest is 1."""
    load = float(loads.sum())
    if load == 0:
        return _Station(np.ones(1), 0.0, loads)
    logs = np.concatenate([[0.0], np.cumsum(np.log(load / rates))])
    return _Station(np.exp(logs - logs.max()), load / float(rates[-1]), loads / load)


def _thinking(means: Floats, shape: tuple[int, ...]) -> Floats:
    """Chances of so many thinking customers of each class, scaled so that the largest is 1."""
    chances = np.ones((1,) * len(shape))
    for r, (mean, size) in enumerate(zip(means, shape, strict=True)):
        if mean == 0:
            of_class = _nobody((size,))
        else:
            steps = np.log(mean) - np.log(np.arange(1, size))
            peak = min(int(mean), size - 1)
            below = -np.cumsum(steps[:peak][::-1])[::-1]
            of_class = np.exp(np.concatenate([below, [0.0], np.cumsum(steps[peak:])]))
        chances = chances * of_class.reshape([-1 if axis == r else 1 for axis in range(len(shape))])
    return chances


def _nobody(shape: tuple[int, ...]) -> Floats:
    """All chance on the empty population."""
    chances = np.zeros(shape)
    chances.flat[0] = 1.0
    return chances


def _one_more(chances: Floats, mix: Floats) -> Floats:
    """The distribution with one customer more, whose class is drawn by `mix`."""
    result = np.zeros_like(chances)
    for r, share in enumerate(mix):
        if share > 0:
            np.moveaxis(result, r, 0)[1:] += share * np.moveaxis(chances, r, 0)[:-1]
    return result


def _convolved(chances: Floats, station: _Station) -> Floats:
    """The distribution of populations, those at one station more included; by Horner's rule over its levels."""
    result = station.weights[-1] * _geometric(chances, station)
    for weight in station.weights[-2::-1]:
        result = weight * chances + _one_more(result, station.mix)
    return result


def _geometric(chances: Floats, station: _Station) -> Floats:
    """The sum over k >= 0 of ratio**k times `chances` with k customers more."""
    result = chances.copy()
    if result.ndim == 1:  # 1 / (1 - x) = (1 + x) (1 + x**2) (1 + x**4) ...
        distance, factor = 1, station.ratio
        while distance < result.size and factor > 0:
            result[distance:] += factor * result[:-distance]
            distance, factor = 2 * distance, factor * factor
        return result
    term = chances
    for _ in range(sum(result.shape) - result.ndim):
        term = station.ratio * _one_more(term, station.mix)
        result += term
    return result
