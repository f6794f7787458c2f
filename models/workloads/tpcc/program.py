"""The TPC-C-like workload as a program: five transactions over the tables, each written as its story.

Row numbers are counted from 0. A district's orders 0 .. orders-1 exist; orders below `delivered` have been delivered.
Lines of order o lie at rows 10 o .. 10 o + lines-1: the mean of ten lines keeps tables and counters in step.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from oltpsim.models.workloads.arrivals import ClosedClientsSpec
from oltpsim.models.workloads.folding import UnitSample, merged_pages
from oltpsim.models.workloads.pages import pages_of
from oltpsim.models.workloads.paths import SINGLE_SERVER, ClusterPaths, PathTimes, Rows
from oltpsim.models.workloads.tpcc import rows
from oltpsim.models.workloads.tpcc.cluster import ClusterStory
from oltpsim.models.workloads.tpcc.layout import HeapSpec, LayoutSpec
from oltpsim.models.workloads.tpcc.rows import (
    DISTRICTS,
    ITEMS,
    LINES_PER_ORDER,
    ORDERS_DELIVERED,
    ORDERS_LOADED,
    nurand_pmf,
    uniform_pmf,
)
from oltpsim.models.workloads.tpcc.tables import Tables, add_tables
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec
from oltpsim.models.workloads.tpcc.workload import TpccFields
from oltpsim.models.workloads.transactions import (
    MIX,
    MOVE,
    READ,
    WRITE,
    ProgramOutline,
    ProgramSteps,
    TransactionWriter,
)
from oltpsim.simulator.form import FloatArray, Program, cut_of

CLASSES = ("new order", "payment", "order status", "delivery", "stock level")
SCATTER = 1237
"""a prime: spreads the namesakes over the customers"""
RECENT_ORDERS = 20
LOCKED_HOME = "locked home"
"""register of the warehouse whose rows are locked, where `home` says whose pages are used (sampling.py)"""
RECENT_LINES = RECENT_ORDERS * LINES_PER_ORDER
WAREHOUSES_LAID_OUT = 1000
"""an item's rows of so many fill so many pages that those with rows of two items are few: more change nothing"""
NAMESAKES = 3
"""customers of one last name and district: 3000 rows over 1000 names"""
NAMESAKES_READ = {"chosen": 1, "to_the_middle": 2, "all": NAMESAKES}
"""rows fetched by last name: a cursor in order of first names stops at the middle one (clause 2.5.2.2), or doesn't; or
the index by name holds the numbers, and only the middle one's row is fetched"""
LOG_BYTES = {"new order": 3000, "payment": 700, "delivery": 6000}
"""assumption: after-images of the rows written, about 250 bytes each with their headers"""


@lru_cache(maxsize=256)
def tpcc_program(
    workload: TpccFields, paths: PathTimes, sample: UnitSample, cluster: ClusterPaths = SINGLE_SERVER
) -> Program:
    """The program of one workload on one database engine; `paths` gives CPU times in ns.

    Programs of one outline share their arrays, all but the operations. A fit or a sweep needs few, many times.
    """
    counts = row_counts(workload)
    steps = ProgramSteps.needed(counts, len(counts) * [workload.tpcc.round_trips], paths)
    arrivals = workload.arrivals
    if isinstance(
        arrivals, ClosedClientsSpec
    ):  # however many there are, they run one program but for whose stock it is
        of_all = workload.tpcc.stock_key == "item_first" or _estimates_by_item(workload.layout)
        homes = homes_of(workload) if of_all else 1
        workload = workload.model_copy(update={"arrivals": arrivals.model_copy(update={"clients": homes})})
    # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
    return tpcc_outline(workload, steps, sample, cluster).at(paths)  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=64)
def tpcc_outline(
    workload: TpccFields, steps: ProgramSteps, sample: UnitSample, cluster: ClusterPaths
) -> ProgramOutline:
    """The outline of all programs with these steps."""
    return TpccWriter(workload, steps, sample, cluster).write()


def _estimates_by_item(layout: LayoutSpec) -> bool:
    """Whether somebody reads the index of stock by item."""
    return layout.stock_item_entries_per_page is not None and layout.range_estimate_pages > 0


def homes_of(workload: TpccFields) -> int:
    """Warehouses whose clients there are: of few closed clients each has its own."""
    active = workload.size
    bound = isinstance(workload.arrivals, ClosedClientsSpec) and workload.tpcc.home_warehouse == "bound"
    return min(active, workload.arrivals.clients) if bound else active  # type: ignore[union-attr]


def row_counts(workload: TpccFields) -> dict[str, Rows]:
    """Mean rows of each class, as its story has them: what critical sections and clients take a share of."""
    by_name, heap = workload.tpcc.by_last_name_fraction, workload.layout.heap
    read = NAMESAKES_READ[workload.tpcc.namesakes_read]
    customers, orders = (heap.customers_moved_fraction, heap.orders_moved_fraction) if heap else (0.0, 0.0)
    layout = workload.layout
    by_item, by_customer = (
        1 if entries else 0 for entries in (layout.line_item_entries_per_page, layout.history_customer_entries_per_page)
    )
    counted = {
        "new order": Rows(6 + (3 + by_item) * LINES_PER_ORDER, 0),
        "payment": Rows(4 + by_name * (1 + read) + customers + by_customer, 0),
        "order status": Rows(3 + by_name * read, LINES_PER_ORDER),
        "delivery": Rows((3 + customers + orders) * DISTRICTS, DISTRICTS * LINES_PER_ORDER),
        "stock level": Rows(1, RECENT_LINES + 2 * workload.tpcc.stock_level_lines),
    }
    texts_us = workload.tpcc.round_trips * workload.tpcc.statement_us
    return {name: replace(one, texts_us=texts_us) for name, one in counted.items()}


class LeafChanges(NamedTuple):
    """What changes leaves of primary keys: shares of the changes of rows, and what `new` and delivered rows do."""

    stock: float = 0.0
    customers: float = 0.0
    orders: float = 0.0
    new: int = WRITE


def leaf_changes_of(heap: HeapSpec | None) -> LeafChanges:
    """Those of a layout; none where rows lie in the leaves, or where it isn't said how often stock moves."""
    if heap is None or heap.stock_moved_fraction is None:
        return LeafChanges()
    return LeafChanges(heap.stock_moved_fraction, heap.customers_moved_fraction, heap.orders_moved_fraction, MOVE)


class TpccWriter(TransactionWriter):
    """Writes the program; one method for each transaction."""

    def __init__(self, workload: TpccFields, steps: ProgramSteps, sample: UnitSample, cluster: ClusterPaths) -> None:
        layout = workload.layout.aged
        super().__init__(steps, row_counts(workload))
        self.workload, self.sample = workload.model_copy(update={"layout": layout}), sample
        self.warehouses, self.leaves = sample.units, leaf_changes_of(layout.heap)
        asm, choice = self.asm, workload.tpcc
        item_pages = sample.scaled(pages_of(ITEMS, layout.item_rows_per_page))
        held = self.workload.model_copy(update={"warehouses": self.warehouses})
        self.tables: Tables = add_tables(asm, held, item_pages)
        names = ["home", "supplier", "district", "home district", "customer", "customer district", "name", "order",
                 "line row", "lines", "count", "row", "age"]  # fmt: skip
        names += ["leaves"] if layout.range_estimate_pages else []
        self.r = {name: asm.register(name) for name in names}
        self.servers = ClusterStory(asm, cluster)
        items = nurand_pmf(rows.ITEM_A, 1, ITEMS) if choice.item_choice == "nurand" else uniform_pmf(ITEMS)
        nurand = choice.customer_choice == "nurand"
        per_district = rows.CUSTOMERS_PER_DISTRICT
        customers = nurand_pmf(rows.CUSTOMER_A, 1, per_district) if nurand else uniform_pmf(per_district)
        popularity = merged_pages(rows.pages_pmf(items, layout.item_rows_per_page), item_pages)
        self.item_pages = asm.table("item pages", popularity)
        self.stock_pages = asm.table("stock pages", self._stock_popularity(items))
        self.customer_rows = asm.table("customer rows", customers)
        by_nurand = nurand and choice.last_name_choice == "nurand"
        name_pmf = nurand_pmf(rows.NAME_A, 0, rows.LAST_NAMES - 1) if by_nurand else uniform_pmf(rows.LAST_NAMES)
        self.name_rows = asm.table("last names", name_pmf)
        self.order_ages = asm.table("orders since the customer's last", rows.order_age_pmf(customers, ORDERS_LOADED))
        self.line_items = -1
        if layout.line_item_entries_per_page:
            leaves = rows.pages_pmf(np.repeat(items, ORDERS_LOADED * LINES_PER_ORDER * DISTRICTS // ITEMS),
                                    layout.line_item_entries_per_page)  # fmt: skip
            self.line_items = asm.table("order line by item pages", leaves)
        self.stock_leaves = -1
        if _estimates_by_item(layout):
            leaves = self._leaves_by_item(items, layout.stock_item_entries_per_page or 0)
            self.stock_leaves = asm.table("stock by item pages", leaves)
        districts = self.warehouses * DISTRICTS
        self.orders = asm.counter("orders", districts, ORDERS_LOADED)
        self.delivered = asm.counter("delivered orders", districts, ORDERS_DELIVERED)
        self.loaded_delivered = asm.counter("loaded orders delivered", districts, ORDERS_DELIVERED)
        self.loaded = asm.counter("loaded orders", districts, ORDERS_LOADED)
        self.history = asm.counter("history rows", self.warehouses, DISTRICTS * rows.CUSTOMERS_PER_DISTRICT)
        self.recent_stock = asm.window(RECENT_LINES, districts)
        even_items = asm.table("stock pages of loaded orders", self._stock_popularity(uniform_pmf(ITEMS)))
        asm.loaded_window(self.recent_stock, self.tables.stock, even_items)
        self.warehouse_lock = asm.lock("warehouse row", sample.whole)
        self.district_lock = asm.lock("district row", sample.whole * DISTRICTS)
        self.locked_home, self.locked_district = self.r["home"], self.r["home district"]
        if sample.units < sample.whole:
            self.locked_home, self.locked_district = asm.register(LOCKED_HOME), asm.register("locked district")
        self._references()

    def _references(self) -> None:
        asm, t, r, layout = self.asm, self.tables, self.r, self.workload.layout
        none = self.asm.register("zero")
        home_district, customer_district = r["home district"], r["customer district"]

        def row(name: str, region: int, group: int, register: int) -> int:
            return asm.reference(name, "row", region, group, row=register)

        def append(name: str, region: int, group: int, register: str, pages: int) -> int:
            return asm.reference(name, "append", region, group, row=r[register], appended_pages=pages)

        self.warehouse = row("warehouse", t.warehouse, none, r["home"])
        self.district = row("district", t.district, none, home_district)
        self.item = asm.reference("item", "popular", t.item, none, table=self.item_pages, stream=self.rows)
        popular: dict[str, int] = {"table": self.stock_pages, "window": self.recent_stock, "stream": self.rows}
        item_first = self.workload.tpcc.stock_key == "item_first"
        supplier, home = (none, none) if item_first else (r["supplier"], r["home"])
        self.stock = asm.reference("stock", "popular", t.stock, supplier, row=home_district, **popular)
        recent: dict[str, int] = {"window": self.recent_stock, "stream": self.rows}
        self.stock_recent = asm.reference(
            "stock of recent orders", "recent", t.stock, home, row=home_district, **recent
        )
        self.customer = row("customer", t.customer, customer_district, r["customer"])
        self.customer_name = row("customer by name", t.customer_name, customer_district, r["row"])
        self.order_index = row("orders by customer", t.orders_by_customer, home_district, r["customer"])
        self.order = row("order", t.orders, home_district, r["order"])
        self.order_lines = row("order line", t.order_line, home_district, r["line row"])
        self.new_order = row("new order", t.new_order, home_district, r["row"])
        orders = pages_of(ORDERS_LOADED, layout.order_rows_per_page)
        lines = pages_of(ORDERS_LOADED * LINES_PER_ORDER, layout.order_line_rows_per_page)
        waiting = pages_of(ORDERS_LOADED - ORDERS_DELIVERED, layout.new_order_rows_per_page)
        history = pages_of(DISTRICTS * rows.CUSTOMERS_PER_DISTRICT, layout.history_rows_per_page)
        self.order_insert = append("order insert", t.orders, home_district, "order", orders)
        self.line_insert = append("order line insert", t.order_line, home_district, "line row", lines)
        self.new_order_insert = append("new order insert", t.new_order, home_district, "row", waiting)
        self.history_insert = append("history insert", t.history, r["home"], "row", history)
        self.by_item = self.by_customer = -1
        if t.line_items >= 0:
            self.by_item = asm.reference(
                "order line by item", "popular", t.line_items, r["supplier"], table=self.line_items, stream=self.rows
            )
        if t.history_by_customer >= 0:
            self.by_customer = row("history by customer", t.history_by_customer, customer_district, r["customer"])
        self.stock_by_item = -1
        if self.stock_leaves >= 0:
            self.stock_by_item = asm.reference(
                "stock by item", "popular", t.stock_by_item, none, table=self.stock_leaves, stream=self.rows
            )

    def _stock_popularity(self, items: FloatArray) -> FloatArray:
        """Popularity of the stock's pages: of one warehouse, or of all if an item's rows lie together."""
        per_page = self.workload.layout.stock_rows_per_page
        if self.workload.tpcc.stock_key == "warehouse_first":
            return rows.pages_pmf(items, per_page)
        return self._popularity_by_item(items, per_page)

    def _popularity_by_item(self, items: FloatArray, per_page: int) -> FloatArray:
        """Popularity of pages on which an item's rows of all warehouses lie together.

        The page is drawn, not the row: over all clients a page is asked for as often as all its rows. A sample's pages
        stand for those of the whole, whose rows of one item fill more pages.
        """
        suppliers = self._suppliers()
        return self._held(rows.stock_pages_pmf(items, suppliers, per_page), len(suppliers), per_page)

    def _leaves_by_item(self, items: FloatArray, per_page: int) -> FloatArray:
        """The same of an index's leaves; of the millions of entries that are all asked for alike it is written down."""
        suppliers = self._suppliers()
        if np.ptp(items) > 0.0 or np.ptp(suppliers) > 0.0:
            return self._popularity_by_item(items, per_page)
        return self._held(rows.even_pages_pmf(len(items) * len(suppliers), per_page), len(suppliers), per_page)

    def _suppliers(self) -> FloatArray:
        """How often each warehouse is one that supplies, of so many as are laid out."""
        laid_out = max(self.warehouses, min(self.sample.whole, WAREHOUSES_LAID_OUT))
        remote = self.workload.tpcc.remote_stock_fraction if laid_out > 1 else 0.0
        suppliers = np.full(laid_out, remote / laid_out)
        used = UnitSample(laid_out, self.sample.whole).scaled(homes_of(self.workload))
        suppliers[:used] += (1.0 - remote) / used
        return suppliers

    def _held(self, popularity: FloatArray, laid_out: int, per_page: int) -> FloatArray:
        """Popularity of the pages of the warehouses held, by that of the pages laid out."""
        pages_of_one = pages_of(ITEMS, per_page)
        padded = np.pad(popularity, (0, laid_out * pages_of_one - len(popularity)))
        return merged_pages(padded, self.warehouses * pages_of_one)

    def write(self) -> ProgramOutline:
        """All of it: the client's loop, then the five transactions."""
        arrivals, mix = self.workload.arrivals, self.workload.mix
        shares = [mix.new_order, mix.payment, mix.order_status, mix.delivery, mix.stock_level]
        table = self.asm.table(MIX, shares)
        self.await_next(arrivals)
        if isinstance(arrivals, TerminalsSpec):
            self.asm.emit("enter")
        else:
            self.asm.emit("choose", table, self.asm.stream("mix"))
        stories = {
            "new order": self.new_order_story,
            "payment": self.payment_story,
            "order status": self.order_status_story,
            "delivery": self.delivery_story,
            "stock level": self.stock_level_story,
        }
        for name, story in stories.items():
            if not self.servers.runs_on_replica(name):
                self._begin(name)
                story()
        return self.outline("new order")

    def _begin(self, name: str) -> None:
        """What every transaction does first: the request arrives, a district is chosen."""
        asm, r = self.asm, self.r
        asm.begin_class(name)
        self.servers.begin()
        self.request(name, self.workload.tpcc.round_trips, self.workload.tpcc.client_us)
        if self.workload.tpcc.home_warehouse == "drawn":
            self._draw_home()
        asm.emit("uniform", r["district"], DISTRICTS, 0, self.rows)
        asm.emit("combine", r["home district"], r["home"], DISTRICTS, r["district"])
        asm.emit("combine", r["customer district"], r["home"], DISTRICTS, r["district"])

    def _draw_home(self) -> None:
        """Any active warehouse; sampled: one for the pages, and one of its own for the locks."""
        sample, active = self.sample, self.workload.active_warehouses or self.workload.warehouses
        held = -(-active * sample.units // sample.whole)
        self.asm.emit("uniform", self.r["home"], held, 0, self.rows)
        if self.locked_home != self.r["home"]:
            self.asm.emit("uniform", self.locked_home, active, 0, self.rows)

    def _end(self, name: str) -> None:
        """What every transaction does last: its share of the critical section, the commit."""
        self.section(name)
        if name in LOG_BYTES:
            self.servers.log(LOG_BYTES[name])
        self.commit()

    def _other_warehouse(self, register: int) -> None:
        """A warehouse that is not the client's own; sampled: any, since the own one's pages stand for others too."""
        if self.sample.units < self.sample.whole:
            self.asm.emit("uniform", register, self.sample.units, 0, self.rows)
        else:
            self.asm.emit("other", register, self.sample.whole, self.r["home"], self.rows)
        self.servers.reach()

    def _lock_district(self) -> None:
        """Lock the row of the client's own district, which shares its page with others in a sample but not its lock."""
        if self.locked_district != self.r["home district"]:
            self.asm.emit("combine", self.locked_district, self.locked_home, DISTRICTS, self.r["district"])
        self.asm.emit("lock", self.district_lock, self.locked_district)

    def _choose_customer(self, touch_row: bool) -> None:
        """By customer number, or in 60 % of cases by last name: the name index and about three rows."""
        asm, r, layout = self.asm, self.r, self.workload.layout
        by_number, done = asm.label(), asm.label()
        asm.emit("maybe", cut_of(1.0 - self.workload.tpcc.by_last_name_fraction), self.branches, by_number)
        self._estimate_range(self.customer, "customer", layout.customer_rows_per_page)
        asm.emit("sample", r["name"], self.name_rows, 0, self.rows)
        asm.emit("affine", r["row"], r["name"], NAMESAKES, 0, 0)
        self.touch(self.customer_name, READ)
        # one of the first thousand customers has the name, two of the others: fixed scattered rows stand for those
        if self.workload.tpcc.namesakes_read == "chosen":
            asm.emit("affine", r["customer"], r["name"], SCATTER, 0, rows.CUSTOMERS_PER_DISTRICT)
        else:
            asm.emit("affine", r["customer"], r["name"], 1, 0, 0)
        self._read(self.customer)
        scattered = rows.CUSTOMERS_PER_DISTRICT - rows.LAST_NAMES
        for namesake in range(1, NAMESAKES_READ[self.workload.tpcc.namesakes_read]):
            asm.emit("affine", r["customer"], r["name"], SCATTER, namesake * SCATTER, scattered)
            asm.emit("affine", r["customer"], r["customer"], 1, rows.LAST_NAMES, 0)
            self._read(self.customer)
        asm.emit("jump", done)
        asm.place(by_number)
        asm.emit("sample", r["customer"], self.customer_rows, 0, self.rows)
        if touch_row:
            self._read(self.customer)
        elif self.workload.layout.heap:
            self._place_in_names()
        asm.place(done)

    def _place_in_names(self) -> None:
        """The customer's place in the index by last name."""
        self.asm.emit("affine", self.r["row"], self.r["customer"], SCATTER, 0, rows.CUSTOMERS_PER_DISTRICT)

    def _estimate_range(self, reference: int, register: str, rows_per_page: int) -> None:
        """Read leaves of a district's range in an index, to estimate how many rows the statement would meet by it.

        A district has as many orders as customers. The leaves' CPU time is the statement's.
        """
        most, pages = self.workload.layout.range_estimate_pages, pages_of(ORDERS_LOADED, rows_per_page)
        if not most:
            return
        asm, row, leaves = self.asm, self.r[register], self.r["leaves"]
        next_leaf = asm.label()
        asm.emit("set", row, 0)
        asm.emit("set", leaves, min(most, pages))
        asm.place(next_leaf)
        self.touch(reference, READ, rows=0)
        asm.emit("affine", row, row, 1, rows_per_page, 0)
        asm.emit("loop", leaves, next_leaf)
        if pages > most:
            asm.emit("set", row, ORDERS_LOADED - 1)
            self.touch(reference, READ, rows=0)

    def _change(self, reference: int, moved_fraction: float) -> None:
        """Change a row, which moves in a share of the changes; then the leaf of its key changes too."""
        self.touch_or(reference, moved_fraction, MOVE, WRITE)

    def _read(self, reference: int, rows: int = 1) -> None:
        """Read a row whose page may change by it."""
        heap = self.workload.layout.heap
        self.touch_or(reference, heap.hinted_fraction if heap else 0.0, WRITE, READ, rows)

    def _moved(self, fraction: float, index: int) -> None:
        """In a share of the changes the row has found no room on its page: an index other than its key is changed."""
        stays = self.jump_unless(fraction)
        self.touch(index, WRITE)
        self.asm.place(stays)

    def _change_index(self, index: int) -> None:
        """An entry in an index that isn't unique, if there is one; the change buffer has its share of them."""
        aside = self.workload.layout.index_changes_put_aside_fraction
        if index < 0:
            return
        put_aside, done = self.jump_unless(1.0 - aside) if 0 < aside < 1 else None, self.asm.label()
        if aside < 1:
            self.touch(index, WRITE)
        if put_aside is not None:
            self.asm.emit("jump", done)
            self.asm.place(put_aside)
        if aside:
            self.put_aside(index, WRITE)
        self.asm.place(done)

    def new_order_story(self) -> None:
        """One order of 5 to 15 lines; 1 % of lines from another warehouse, 1 % of orders rolled back."""
        asm, r, choice = self.asm, self.r, self.workload.tpcc
        self.touch(self.warehouse, READ)
        asm.emit("sample", r["customer"], self.customer_rows, 0, self.rows)
        self._read(self.customer)
        self._lock_district()
        self.touch(self.district, WRITE)
        asm.emit("take", r["order"], self.orders, r["home district"], 1)
        self.touch(self.order_insert, self.leaves.new)
        self._change_index(self.order_index)
        asm.emit("affine", r["row"], r["order"], 1, -ORDERS_DELIVERED, 0)
        self.touch(self.new_order_insert, self.leaves.new)
        asm.emit("affine", r["line row"], r["order"], LINES_PER_ORDER, 0, 0)
        asm.emit("uniform", r["lines"], rows.MOST_LINES - rows.FEWEST_LINES + 1, rows.FEWEST_LINES, self.rows)
        next_line = asm.label()
        asm.place(next_line)
        self.touch(self.item, READ)
        asm.emit("affine", r["supplier"], r["home"], 1, 0, 0)
        local = self.jump_unless(choice.remote_stock_fraction)
        self._other_warehouse(r["supplier"])
        asm.place(local)
        if self.stock_by_item >= 0:
            self.touch(self.stock_by_item, READ, rows=0)
        self._change(self.stock, self.leaves.stock)
        self.touch(self.line_insert, self.leaves.new)
        self._change_index(self.by_item)
        asm.emit("affine", r["line row"], r["line row"], 1, 1, 0)
        asm.emit("loop", r["lines"], next_line)
        commits = self.jump_unless(choice.rollback_fraction)
        asm.emit("rollback")
        asm.emit("end")
        asm.place(commits)
        self._end("new order")

    def payment_story(self) -> None:
        """A payment to warehouse, district and customer, who is of another warehouse in 15 % of cases."""
        asm, r = self.asm, self.r
        local = self.jump_unless(self.workload.tpcc.remote_payment_fraction)
        self._other_warehouse(r["row"])
        asm.emit("uniform", r["age"], DISTRICTS, 0, self.rows)
        asm.emit("combine", r["customer district"], r["row"], DISTRICTS, r["age"])
        asm.place(local)
        customer_first = self.workload.tpcc.payment_order == "customer_first"
        if customer_first:
            self._choose_customer(touch_row=False)
        asm.emit("lock", self.warehouse_lock, self.locked_home)
        self.touch(self.warehouse, WRITE)
        self._lock_district()
        self.touch(self.district, WRITE)
        if not customer_first:
            self._choose_customer(touch_row=False)
        self._update_customer()
        if heap := self.workload.layout.heap:
            self._moved(heap.customers_moved_fraction, self.customer_name)
        asm.emit("take", r["row"], self.history, r["home"], 1)
        self.touch(self.history_insert, WRITE)
        self._change_index(self.by_customer)
        self._end("payment")

    def order_status_story(self) -> None:
        """A customer's last order and its lines."""
        asm, r = self.asm, self.r
        self._choose_customer(touch_row=True)
        self._estimate_range(self.order, "order", self.workload.layout.order_rows_per_page)
        self.touch(self.order_index, READ)
        asm.emit("sample", r["age"], self.order_ages, 0, self.rows)
        asm.emit("peek", r["order"], self.orders, r["home district"], 1)
        asm.emit("combine", r["order"], r["age"], -1, r["order"])
        self.touch(self.order, READ)
        of_the_last = self.workload.tpcc.order_status_lines == "of_the_last"
        asm.emit("affine", r["line row"], r["order"] if of_the_last else r["district"], LINES_PER_ORDER, 0, 0)
        self.touch(self.order_lines, READ, rows=LINES_PER_ORDER)
        self._end("order status")

    def delivery_story(self) -> None:
        """The oldest undelivered order of each of the ten districts."""
        asm, r = self.asm, self.r
        asm.emit("set", r["district"], 0)
        asm.emit("set", r["count"], DISTRICTS)
        next_district, nothing = asm.label(), asm.label()
        asm.place(next_district)
        asm.emit("combine", r["home district"], r["home"], DISTRICTS, r["district"])
        asm.emit("combine", r["customer district"], r["home"], DISTRICTS, r["district"])
        asm.emit("claim", r["order"], self.delivered, r["home district"], self.orders, nothing)
        asm.emit("affine", r["row"], r["order"], 1, -ORDERS_DELIVERED, 0)
        self.touch(self.new_order, self.leaves.new)
        self._estimate_range(self.order_index, "customer", self.workload.layout.customer_orders_per_page)
        self._change(self.order, self.leaves.orders)
        asm.emit("affine", r["line row"], r["order"], LINES_PER_ORDER, 0, 0)
        self.touch(self.order_lines, self.leaves.new, rows=LINES_PER_ORDER)
        asm.emit("affine", r["line row"], r["line row"], 1, LINES_PER_ORDER - 1, 0)
        self.touch(self.order_lines, self.leaves.new, rows=0)
        self._choose_buyer()
        self._update_customer()
        if heap := self.workload.layout.heap:
            self._moved(heap.orders_moved_fraction, self.order_index)
            self._place_in_names()
            self._moved(heap.customers_moved_fraction, self.customer_name)
        asm.place(nothing)
        asm.emit("affine", r["district"], r["district"], 1, 1, 0)
        asm.emit("loop", r["count"], next_district)
        self._end("delivery")

    def _update_customer(self) -> None:
        """By number, where the index by name also begins with warehouse and district."""
        self._estimate_range(self.customer_name, "row", self.workload.layout.index_entries_per_page)
        self._change(self.customer, self.leaves.customers)

    def _choose_buyer(self) -> None:
        """Whose order is delivered: loaded orders are a permutation of the customers (clause 4.3.3.1)."""
        asm, r = self.asm, self.r
        ordered, chosen = asm.label(), asm.label()
        asm.emit("claim", r["row"], self.loaded_delivered, r["home district"], self.loaded, ordered)
        asm.emit("uniform", r["customer"], rows.CUSTOMERS_PER_DISTRICT, 0, self.rows)
        asm.emit("jump", chosen)
        asm.place(ordered)
        asm.emit("sample", r["customer"], self.customer_rows, 0, self.rows)
        asm.place(chosen)

    def stock_level_story(self) -> None:
        """The stock of the items in the district's last 20 orders."""
        asm, r, per_page = self.asm, self.r, self.workload.layout.order_line_rows_per_page
        self.touch(self.district, READ)
        for back in range(RECENT_LINES, 0, -per_page):
            asm.emit("peek", r["order"], self.orders, r["home district"], -(-back // LINES_PER_ORDER))
            asm.emit("affine", r["line row"], r["order"], LINES_PER_ORDER, 0, 0)
            self.touch(self.order_lines, READ, rows=min(per_page, back))
        asm.emit("set", r["count"], self.workload.tpcc.stock_level_lines)
        next_item = asm.label()
        asm.place(next_item)
        self._read(self.stock_recent, rows=2)
        for _ in range(1, self.workload.tpcc.stock_level_draws_per_line):
            self.touch(self.stock_recent, READ, rows=0)
        asm.emit("loop", r["count"], next_item)
        self._end("stock level")
