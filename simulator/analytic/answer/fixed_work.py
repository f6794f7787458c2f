"""How long a fixed amount of work takes: the clients' mean, and what the last of them needs beyond it.

Sources and cost of the approximation: docs/model/mean-values.md.
"""

from statistics import NormalDist

import numpy as np

from oltpsim.simulator.analytic.equations import Course, Solution
from oltpsim.simulator.analytic.reading import Workload
from oltpsim.simulator.form import Work, weighted_sum


def run_s(work: Work, w: Workload, clients: int, solution: Solution, warming: Course | None) -> float:
    """From the first start to the last end."""
    cycle_s = clients / float(solution.rate[0])
    mean = work.main_per_client / float(w.mix[w.main_class])
    alone_s = min(_without_waiting_s(w, solution), cycle_s)
    left = np.arange(clients, 0, -1.0)
    cycles_s = alone_s + (cycle_s - alone_s) * (left - 1.0) / max(clients - 1.0, 1.0)
    each = np.maximum(mean + np.sqrt(work.main_per_client * _variance(w, solution)) * _normal_scores(clients), 0.0)
    beyond_s = float(weighted_sum(np.diff(each, prepend=0.0), cycles_s)) - mean * cycle_s
    if warming is None:
        return mean * cycle_s + beyond_s
    return warming.time_of(float(warming.done[0]) + mean * clients) + beyond_s


def _without_waiting_s(w: Workload, solution: Solution) -> float:
    by_class = solution.classes
    waiting = weighted_sum(by_class.cpu_queue_s + by_class.section_queue_s + by_class.lock_s, w.mix)
    return float((solution.response_s - waiting)[0]) + w.think_s


def _variance(w: Workload, solution: Solution) -> float:
    """Of what one transaction of the main class takes with those before it, in mean transactions, squared.

    A geometric number of others goes before, each as long as its class is on average.
    """
    share = float(w.mix[w.main_class])
    lasts = (solution.classes.total_s[0] + w.think_s) / (float(solution.response_s[0]) + w.think_s)
    others = np.where(np.arange(len(w.mix)) == w.main_class, 0.0, w.mix)
    if share >= 1.0:
        return 0.0
    mean, square = (float(weighted_sum(each, others)) / (1.0 - share) for each in (lasts, lasts**2))
    before = (1.0 - share) / share
    return before * (square - mean**2) + before * (1.0 + before) * mean**2


def _normal_scores(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Means of so many normal numbers in order (Blom, Statistical Estimates and Transformed Beta-Variables, 1958)."""
    return np.array([NormalDist().inv_cdf((rank - 0.375) / (count + 0.25)) for rank in range(1, count + 1)])
