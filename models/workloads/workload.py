"""The workload: a driver's profile, its size and its clients."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from models.input import Fraction, Kib, Milliseconds, Name, PerSecond, Seconds, Spec, Text, WholeNumber


class MixSpec(Spec):
    """Shares of the five TPC-C transactions; they must sum to 1."""

    new_order: Fraction = Field(ge=0, le=1)
    payment: Fraction = Field(ge=0, le=1)
    order_status: Fraction = Field(ge=0, le=1)
    delivery: Fraction = Field(ge=0, le=1)
    stock_level: Fraction = Field(ge=0, le=1)


class TpccSpec(Spec):
    """How a driver chooses rows (TPC-C specification 5.11, section 2)."""

    item_choice: Literal["nurand", "uniform"] = "nurand"
    customer_choice: Literal["nurand", "uniform"] = "nurand"
    remote_stock_fraction: Fraction = Field(default=0.01, ge=0, le=1)
    remote_payment_fraction: Fraction = Field(default=0.15, ge=0, le=1)
    by_last_name_fraction: Fraction = Field(default=0.60, ge=0, le=1)
    rollback_fraction: Fraction = Field(default=0.01, ge=0, le=1)
    home_warehouse: Literal["bound", "drawn"] = Field(
        default="bound",
        description="bound: each client has its own; drawn: each transaction takes any of the active ones",
    )
    namesakes_read: Literal["to_the_middle", "all"] = Field(
        default="to_the_middle",
        description="of the customers of a last name: the cursor stops (clause 2.5.2.2), or not",
    )
    round_trips: WholeNumber = Field(
        default=1, ge=1, le=1000,
        description="messages of a client, each with its answer, for one transaction: 1 with stored procedures",
    )  # fmt: skip
    payment_order: Literal["customer_first", "warehouse_first"] = Field(
        default="customer_first",
        description="what a payment does first: find the customer, or change, and so lock, warehouse and district",
    )


class ClosedClientsSpec(Spec):
    """A fixed number of clients, each waiting for its answer and then thinking (exponential)."""

    kind: Literal["closed"] = "closed"
    clients: WholeNumber = Field(ge=1, le=1_000_000)
    think_time_s: Seconds = Field(default=0.0, ge=0)


class OpenArrivalsSpec(Spec):
    """Poisson arrivals at a given rate, served by at most `connections` at a time."""

    kind: Literal["open"] = "open"
    transactions_per_s: PerSecond = Field(ge=1e-6)
    connections: WholeNumber = Field(ge=1, le=1_000_000)


class ClassTimesSpec(Spec):
    """A time for each of the five transactions."""

    new_order: Seconds = Field(ge=0, le=3600)
    payment: Seconds = Field(ge=0, le=3600)
    order_status: Seconds = Field(ge=0, le=3600)
    delivery: Seconds = Field(ge=0, le=3600)
    stock_level: Seconds = Field(ge=0, le=3600)


SPECIFIED_KEYING = ClassTimesSpec(new_order=18, payment=3, order_status=2, delivery=2, stock_level=2)
SPECIFIED_THINKING = ClassTimesSpec(new_order=12, payment=12, order_status=10, delivery=5, stock_level=5)


class TerminalsSpec(Spec):
    """Users at terminals, and a middle tier that hands their transactions to few connections, first come first served.

    Times as of TPC-C 5.11, clause 5.2.5: constant keying before, exponential thinking after, up to ten times the mean.
    """

    kind: Literal["terminals"] = "terminals"
    terminals_per_warehouse: WholeNumber = Field(default=10, ge=1, le=1000)
    connections: WholeNumber = Field(ge=1, le=1_000_000, description="database sessions of the middle tier")
    keying_time_s: ClassTimesSpec = SPECIFIED_KEYING
    think_time_s: ClassTimesSpec = SPECIFIED_THINKING
    deferred_delivery: bool = Field(
        default=True, description="a delivery is answered when it is queued, and executed later (clause 2.7.2)"
    )
    middle_tier_ms: Milliseconds = Field(
        default=0.0, ge=0, le=60_000, description="network and middle tier in each response, the queue left out"
    )


class HeapSpec(Spec):
    """Tables as heaps with their primary keys apart, as PostgreSQL keeps them: entries in a leaf of each key.

    A changed row that finds no room on its page moves, and each index of its table gets a new entry.
    """

    stock_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    customer_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    item_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    order_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    order_line_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    new_order_key_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    customer_name_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    customers_moved_fraction: Fraction = Field(ge=0, le=1, description="changes of customers after which the row moves")
    orders_moved_fraction: Fraction = Field(ge=0, le=1, description="changes of orders after which the row moves")


class LayoutSpec(Spec):
    """How rows fill pages of one size, which must be the database's, as its storage packs them."""

    page_kib: Kib = Field(gt=0, le=64, description="page size that the rows were counted for")
    stock_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    customer_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    item_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    order_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    order_line_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    new_order_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    history_rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    index_entries_per_page: WholeNumber = Field(ge=2, le=10_000)
    heap: HeapSpec | None = Field(default=None, description="if absent, rows lie in the leaves of their primary key")
    source: Text


class WorkloadSpec(Spec):
    """One TPC-C-like workload."""

    name: Name
    mix: MixSpec
    tpcc: TpccSpec = TpccSpec()
    layout: LayoutSpec
    warehouses: WholeNumber = Field(ge=1, le=10_000_000, description="warehouses loaded")
    active_warehouses: WholeNumber | None = Field(
        default=None, ge=1, description="warehouses with clients; all if absent"
    )
    arrivals: ClosedClientsSpec | OpenArrivalsSpec | TerminalsSpec = Field(discriminator="kind")
    source: Text
