"""Users at terminals, with the times of TPC-C 5.11, clause 5.2.5."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Milliseconds, Seconds, Spec, WholeNumber


class ClassTimesSpec(Spec):
    """A time for each of the five transactions, s."""

    new_order: Seconds = Field(ge=0, le=3600)
    payment: Seconds = Field(ge=0, le=3600)
    order_status: Seconds = Field(ge=0, le=3600)
    delivery: Seconds = Field(ge=0, le=3600)
    stock_level: Seconds = Field(ge=0, le=3600)


SPECIFIED_KEYING = ClassTimesSpec(new_order=18, payment=3, order_status=2, delivery=2, stock_level=2)
"""s; clause 5.2.5.2"""
SPECIFIED_THINKING = ClassTimesSpec(new_order=12, payment=12, order_status=10, delivery=5, stock_level=5)
"""mean, s; clause 5.2.5.4"""


class TerminalsSpec(Spec):
    """Users at terminals, and a middle tier that hands their transactions to few connections, first come first served.

    Times as of TPC-C 5.11, clause 5.2.5: constant keying before, exponential thinking after, up to ten times the mean.
    """

    kind: Literal["terminals"] = "terminals"
    terminals_per_warehouse: WholeNumber = Field(default=10, ge=1, le=1000)
    connections: WholeNumber = Field(ge=1, le=1_000_000, description="database sessions of the middle tier")
    keying_time_s: ClassTimesSpec = SPECIFIED_KEYING
    think_time_s: ClassTimesSpec = SPECIFIED_THINKING
    deferred_delivery: bool = True
    """a delivery is answered when it is queued, and executed later (clause 2.7.2)"""
    middle_tier_ms: Milliseconds = Field(default=0.0, ge=0, le=60_000)
    """network and middle tier in each response, the queue left out"""
