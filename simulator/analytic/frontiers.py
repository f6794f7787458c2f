"""References that move along with inserts or deliveries, from page to page."""

import numpy as np

from oltpsim.simulator.expectation import Frontier, Numbers, Touches, Value
from oltpsim.simulator.form import FloatArray


class Burst:
    """References of one operation of one class to the page that a frontier is passing over."""

    def __init__(self, counter: int, factor: int, group: Value, views: int) -> None:
        self.counter, self.factor, self.group = counter, max(abs(factor), 1), group
        self.references, self.views, self.lag = 0.0, np.zeros(views), 0.0
        self.write, self.append, self.spread = 0.0, False, False
        self.groups: set[int] = set()
        self.visits = 0.0
        self.ages = Numbers(0, np.ones(1))
        self.start = 0.0

    def take(
        self,
        references: float,
        views: FloatArray,
        lag: float,
        touches: Touches,
        spread: bool,
        append: bool,
        part: Frontier,
        start: float,
    ) -> None:
        """Count the references of one operation.

        `lag`: steps behind the inserts; `spread`: whether their rows' ages differ by more than a page.
        """
        self.lag = (self.lag * self.references + lag * references) / (self.references + references)
        self.references += references
        self.views = self.views + views
        self.spread, self.append = self.spread or spread, self.append or append
        self.groups.add(id(touches.group))
        self.visits += touches.visits
        self.ages, self.start, self.factor_of_part = part.offset, start, part.factor

    def lag_of(self, offset: int) -> float:
        """Steps between the frontier and a row at an offset from it."""
        return self.start - offset / self.factor_of_part

    @property
    def at_once(self) -> float:
        """References of one transaction to one group: all but the first find the page just used."""
        return max(1.0, self.visits / len(self.groups))
