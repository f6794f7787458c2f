"""Layout: how rows fill pages."""

from pydantic import Field

from models.input import Fraction, Kib, Spec, Text, WholeNumber


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
