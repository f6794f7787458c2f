"""TPC-C as a kind of workload: what it answers to whoever builds, checks or plans for one."""

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from oltpsim.models.workloads.arrivals import OpenArrivalsSpec
from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.paths import ClusterPaths, PathTimes
from oltpsim.models.workloads.protocol import ClientWork, JobTables, UnitUsers
from oltpsim.models.workloads.tpcc.clients import client_registers, terminals_of
from oltpsim.models.workloads.tpcc.program import CLASSES, tpcc_program
from oltpsim.models.workloads.tpcc.tables import add_loaded_tables, loaded_pages, loaded_rows, regions_of
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec
from oltpsim.models.workloads.tpcc.workload import TpccFields
from oltpsim.simulator.form import IntArray


class TpccWorkloadSpec(TpccFields):
    """One TPC-C-like workload."""

    unit_words: ClassVar[str] = "warehouses"
    rate_words: ClassVar[str] = "new orders/min"
    rate_key: ClassVar[str] = "new_orders_per_min"
    measured_key: ClassVar[Literal["new_orders_per_minute"]] = "new_orders_per_minute"
    loaded_key: ClassVar[str] = "workload.warehouses"
    page_key: ClassVar[str] = "workload.layout.page_kib"
    page_words: ClassVar[str] = "a layout"
    is_by_statement: ClassVar[bool] = False
    crosses_servers: ClassVar[bool] = True
    unit_users: ClassVar[UnitUsers | None] = UnitUsers(number=10, per_min=12.86)
    """ten keying and thinking users: TPC-C specification 5.11, clause 4.2"""
    text_statement_key: ClassVar[str] = "workload.tpcc.statement_us"

    @property
    def classes(self) -> tuple[str, ...]:
        """The five transactions."""
        return CLASSES

    @property
    def main_share(self) -> float:
        """Share of new orders."""
        return self.mix.new_order

    @property
    def loaded(self) -> int:
        """Warehouses loaded."""
        return self.warehouses

    @property
    def size_key(self) -> str:
        """Key of the active warehouses if the scenario says how many."""
        return self.loaded_key if self.active_warehouses is None else "workload.active_warehouses"

    @property
    def size_words(self) -> str:
        """Size as in 40 warehouses."""
        return f"{self.warehouses:,} warehouse{'s' if self.warehouses != 1 else ''}"

    def with_units(self, loaded: int, active: int | None = None) -> Self:
        """Other numbers of warehouses."""
        return self.model_copy(update={"warehouses": loaded, "active_warehouses": active})

    def keys_of_size(self, loaded: int, most_clients: int) -> dict[str, object]:
        """Clients that stay at one warehouse each come with it, as many as now; others stay as many."""
        factor, keys = loaded / self.warehouses, dict[str, object]({self.loaded_key: loaded})
        if self.active_warehouses is not None:
            keys[self.size_key] = max(1, round(self.active_warehouses * factor))
        if self.arrivals.kind == "closed" and not self.goes_anywhere:
            keys["workload.arrivals.clients"] = min(max(1, round(self.arrivals.clients * factor)), most_clients)
        return keys

    @property
    def page_kib(self) -> float:
        """Page size of the layout."""
        return self.layout.page_kib

    @property
    def regions(self) -> IntArray:
        """Regions of all warehouses."""
        return regions_of(self.layout, self.warehouses)

    @property
    def loaded_pages(self) -> int:
        """Index pages above the leaves and the two small tables left out."""
        return loaded_pages(self.layout, self.warehouses)

    @property
    def job_tables(self) -> JobTables:
        """The nine tables."""
        rows, entries = loaded_rows(self.warehouses), self.layout.index_entries_per_page
        return JobTables(
            rows, entries, self.layout.bloat_fraction, lambda asm, sample: add_loaded_tables(asm, self, sample)
        )

    @property
    def clients(self) -> int:
        """Clients or connections."""
        return self.arrivals.connections

    def open_to_all(self, arrivals: OpenArrivalsSpec) -> Self:
        """Each transaction draws its warehouse."""
        drawn = self.tpcc.model_copy(update={"home_warehouse": "drawn"})
        return self.model_copy(update={"arrivals": arrivals, "tpcc": drawn})

    @property
    def keys_of_all(self) -> dict[str, object]:
        """Each transaction draws its warehouse."""
        return {"workload.tpcc.home_warehouse": "drawn"}

    @property
    def round_trips(self) -> int:
        """Messages of a transaction."""
        return self.tpcc.round_trips

    @property
    def rows_per_statement(self) -> float:
        """Row operations at whose end a thread gives up its processor; 0: transactions are one statement."""
        return self.tpcc.rows_per_statement

    @property
    def text_statement_us(self) -> float:
        """Parse time of each message."""
        return self.tpcc.statement_us

    @property
    def put_aside_fraction(self) -> float:
        """Share that the layout says."""
        return self.layout.index_changes_put_aside_fraction

    def work(
        self,
        paths: PathTimes,
        sample: UnitSample,
        cluster: ClusterPaths,
        *,
        logs_at_once: bool,  # noqa: ARG002
    ) -> ClientWork:
        """Transactions log once, before they commit."""
        # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
        program = tpcc_program(self, paths, sample, cluster)  # pyright: ignore[reportArgumentType]
        registers = client_registers(program, self, sample, self.clients)
        return ClientWork(program, registers, terminals_of(program, self, sample))

    def faults(self) -> Iterator[str]:
        """Contradictions in layout, mix, warehouses and terminals."""
        layout = self.layout
        if layout.heap and layout.range_estimate_pages:
            yield (
                f"workload.layout.range_estimate_pages: got {layout.range_estimate_pages} with heap, but who estimates "
                "by leaves keeps rows in those of their primary key here: take one of them out"
            )
        if layout.heap and layout.stock_item_entries_per_page:
            yield (
                f"workload.layout.stock_item_entries_per_page: got {layout.stock_item_entries_per_page} with heap, "
                "but only who estimates by leaves (range_estimate_pages) reads that index: take it out"
            )
        total = sum(self.mix.model_dump().values())
        if abs(total - 1.0) > 1e-6:
            yield f"workload.mix: the shares sum to {total:.6g}; they must sum to 1"
        if self.size > self.warehouses:
            yield f"workload.active_warehouses: got {self.size}; at most the {self.warehouses} loaded warehouses"
        arrivals = self.arrivals
        if isinstance(arrivals, TerminalsSpec) and not any(
            (*arrivals.keying_time_s.model_dump().values(), *arrivals.think_time_s.model_dump().values())
        ):
            yield "workload.arrivals: terminals that neither key nor think are clients; give kind: closed instead"
