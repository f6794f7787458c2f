"""Layout: how rows fill pages, freshly loaded or aged."""

from typing import Self

from pydantic import Field

from oltpsim.models.input import Fraction, Kib, Spec, Text, WholeNumber

CHANGED_ROWS = ("stock_rows_per_page", "customer_rows_per_page", "order_rows_per_page", "order_line_rows_per_page")
"""of tables whose rows transactions change; history and new orders are only added and taken away, items only read"""


class HeapSpec(Spec):
    """Tables as heaps with indexes apart, as PostgreSQL keeps them: the entries that a leaf page of each index holds.

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
    stock_moved_fraction: Fraction | None = Field(
        default=None,
        ge=0,
        le=1,
        description="changes of stock after which the leaf of its key changes. If absent, leaves of primary keys never "
        "change; else those of customers and orders do by the shares above, and those of new orders and order lines "
        "with each insert, delete or delivery",
    )
    hinted_fraction: Fraction = Field(
        default=0.0,
        ge=0,
        le=1,
        description="reads of customers, and by stock level of stock, that change the page: the first since a change "
        "says in the row that this was committed, or clears old versions away",
    )


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
    order_customer_entries_per_page: WholeNumber | None = Field(
        default=None,
        ge=2,
        le=10_000,
        description="of a leaf of the index of orders by customer; if absent `index_entries_per_page`",
    )
    line_item_entries_per_page: WholeNumber | None = Field(
        default=None,
        ge=2,
        le=10_000,
        description="of a leaf of the index of order lines by supplier and item; if absent there is none",
    )
    history_customer_entries_per_page: WholeNumber | None = Field(
        default=None, ge=2, le=10_000, description="of a leaf of the index of history by customer; if absent none"
    )
    stock_item_entries_per_page: WholeNumber | None = Field(
        default=None,
        ge=2,
        le=10_000,
        description="of a leaf of the index of stock by item; if absent there is none. Nothing changes it, and only an "
        "optimiser that estimates reads it: `range_estimate_pages`",
    )
    index_changes_put_aside_fraction: Fraction = Field(
        default=0.0,
        ge=0,
        le=1,
        description="of the changes that new orders and payments make in indexes that aren't unique, those to which "
        "InnoDB's change buffer applies: where the pool lacks the leaf the change is put aside, without a read, and "
        "merged when somebody reads the leaf. 1: innodb_change_buffering=all; 0: none, each refers to its leaf",
    )
    range_estimate_pages: WholeNumber = Field(
        default=0,
        ge=0,
        le=100,
        description="leaves from a range's begin, besides the one of its end, that the optimiser reads to estimate its "
        "rows, for each index that a statement could go by besides the best; 0: it asks its statistics",
    )
    heap: HeapSpec | None = Field(default=None, description="if absent, rows lie in the leaves of their primary key")
    bloat_fraction: Fraction = Field(
        default=0.0,
        ge=0,
        le=0.9,
        description="of the pages of stock, customers, orders and order lines, what holds no live row in an aged "
        "database: dead versions, room that vacuum left, pages half full after splits. 0: as loaded. PostgreSQL's "
        "autovacuum comes when dead rows are 20 % of the live ones (autovacuum_vacuum_scale_factor), which is 0.17",
    )
    source: Text

    @property
    def customer_orders_per_page(self) -> int:
        """Entries in a leaf of the index of orders by customer."""
        return self.order_customer_entries_per_page or self.index_entries_per_page

    @property
    def aged(self) -> Self:
        """Layout with the live rows of its pages, to whole ones, and no bloat besides."""
        if not self.bloat_fraction:
            return self
        live = 1.0 - self.bloat_fraction
        rows = {key: max(1, round(getattr(self, key) * live)) for key in CHANGED_ROWS}
        return self.model_copy(update={**rows, "bloat_fraction": 0.0})
