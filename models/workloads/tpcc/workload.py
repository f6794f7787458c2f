"""Keys of a TPC-C-like workload: a driver's profile, its size and its clients."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Fraction, Microseconds, Name, Number, Spec, Text, WholeNumber
from oltpsim.models.workloads.arrivals import ClosedClientsSpec, OpenArrivalsSpec
from oltpsim.models.workloads.protocol import WorkloadSpec
from oltpsim.models.workloads.tpcc.layout import LayoutSpec
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec


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
    last_name_choice: Literal["nurand", "uniform"] = "nurand"
    """of the names by which customers are looked up; uniform too if customers are"""
    remote_stock_fraction: Fraction = Field(default=0.01, ge=0, le=1)
    remote_payment_fraction: Fraction = Field(default=0.15, ge=0, le=1)
    by_last_name_fraction: Fraction = Field(default=0.60, ge=0, le=1)
    rollback_fraction: Fraction = Field(default=0.01, ge=0, le=1)
    home_warehouse: Literal["bound", "drawn"] = "bound"
    """bound: each client has its own; drawn: each transaction takes any of the active ones"""
    namesakes_read: Literal["to_the_middle", "all", "chosen"] = "to_the_middle"
    """of the customers of a last name: the cursor stops (clause 2.5.2.2), or not; or the index alone says which one"""
    order_status_lines: Literal["of_the_last", "of_the_first_ten"] = "of_the_last"
    """whose lines an order status reads: the customer's last order's, or those of one of the district's first ten"""
    stock_level_lines: WholeNumber = Field(default=200, ge=1, le=200)
    """lines of the district's last 20 orders whose stock a stock level looks up"""
    stock_level_draws_per_line: WholeNumber = Field(default=1, ge=1, le=5)
    """draws with repetition among the lines of the last orders for each of them: 1 meets 63 % of their stock, 3 95 %"""
    round_trips: WholeNumber = Field(default=1, ge=1, le=1000)
    """messages of a client, each with its answer, for one transaction: 1 with stored procedures"""
    statement_us: Microseconds = Field(default=0.0, ge=0)
    """CPU time of the server on the reference core for each of `round_trips` to parse and plan a statement that comes
    as text; 0: they are prepared, or in stored procedures"""
    rows_per_statement: Number = Field(default=0.0, ge=0, le=1000)
    """row operations of a statement, at whose end a thread gives up its processor; 0: transactions are one statement"""
    client_us: Microseconds = Field(default=0.0, ge=0)
    """CPU time of the driver for a transaction on the reference core, where it runs on the server"""
    payment_order: Literal["customer_first", "warehouse_first"] = "customer_first"
    """what a payment does first: find the customer, or change, and so lock, warehouse and district"""
    stock_key: Literal["warehouse_first", "item_first"] = "warehouse_first"
    """order of the stock rows: each warehouse's lie together, or each item's of all warehouses"""


class TpccFields(WorkloadSpec):
    """Keys of one TPC-C-like workload; its answers are in kind.py."""

    kind: Literal["tpcc"] = "tpcc"
    name: Name
    mix: MixSpec
    tpcc: TpccSpec = TpccSpec()
    layout: LayoutSpec
    warehouses: WholeNumber = Field(ge=1, le=10_000_000, description="warehouses loaded")
    active_warehouses: WholeNumber | None = Field(default=None, ge=1)
    """warehouses with clients; all if absent"""
    arrivals: ClosedClientsSpec | OpenArrivalsSpec | TerminalsSpec = Field(discriminator="kind")
    source: Text

    @property
    def size(self) -> int:
        """Warehouses with clients."""
        return self.active_warehouses or self.warehouses

    @property
    def goes_anywhere(self) -> bool:
        """Whether a connection has transactions of any warehouse."""
        return self.tpcc.home_warehouse == "drawn" or self.arrivals.kind == "terminals"
