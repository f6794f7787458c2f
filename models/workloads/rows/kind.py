"""Rows as a kind of workload: what they answer to whoever builds, checks or plans for one."""

from typing import ClassVar, Literal, Self

import numpy as np

from oltpsim.models.workloads.arrivals import OpenArrivalsSpec
from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.paths import ClusterPaths, PathTimes
from oltpsim.models.workloads.protocol import ClientWork, WorkloadSpec
from oltpsim.models.workloads.rows.program import rows_program
from oltpsim.models.workloads.rows.tables import is_folded_by_units, loaded_row_pages, row_regions
from oltpsim.models.workloads.rows.workload import RowFields
from oltpsim.simulator.form import IntArray


class RowWorkloadSpec(RowFields):
    """Transactions over rows, as of pgbench, sysbench's OLTP and YCSB. The first transaction is the one counted."""

    unit_words: ClassVar[str] = "units of scale"
    rate_words: ClassVar[str] = "transactions/min"
    rate_key: ClassVar[str] = "main_per_min"
    measured_key: ClassVar[Literal["transactions_per_s"]] = "transactions_per_s"
    loaded_key: ClassVar[str] = "workload.scale"
    page_key: ClassVar[str] = "workload.page_kib"
    page_words: ClassVar[str] = "tables"
    is_by_statement: ClassVar[bool] = True

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the transactions."""
        return tuple(one.name for one in self.transactions)

    @property
    def main_share(self) -> float:
        """Share of the first transaction."""
        return self.transactions[0].share

    @property
    def loaded(self) -> int:
        """Units of scale."""
        return self.scale

    @property
    def size_words(self) -> str:
        """Size as in scale 1,000 or 8 tables."""
        return f"{self.scale:,} tables" if self.unit == "tables" else f"scale {self.scale:,}"

    def with_units(self, loaded: int, active: int | None = None) -> Self:  # noqa: ARG002
        """Another scale, all of it in use."""
        return self.model_copy(update={"scale": loaded})

    def keys_of_size(self, loaded: int, most_clients: int) -> dict[str, object]:  # noqa: ARG002
        """Clients go to all rows, and stay as many."""
        return {self.loaded_key: loaded}

    # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
    @property
    def regions(self) -> IntArray:
        """Regions of all tables and indexes."""
        return row_regions(self)  # pyright: ignore[reportArgumentType]

    @property
    def loaded_pages(self) -> int:
        """Pages of tables, keys and indexes; room to grow left out."""
        return loaded_row_pages(self)  # pyright: ignore[reportArgumentType]

    @property
    def folds(self) -> bool:
        """Whether units of scale have all but a few pages, none of whose rows is locked."""
        return is_folded_by_units(self)  # pyright: ignore[reportArgumentType]

    @property
    def files_per_table(self) -> int:
        """Files as many as units, if each is a table of its own."""
        return self.scale if self.unit == "tables" else 1

    @property
    def clients(self) -> int:
        """Clients or connections."""
        return self.arrivals.connections

    def open_to_all(self, arrivals: OpenArrivalsSpec) -> Self:
        """Rows are drawn from all anyhow."""
        return self.model_copy(update={"arrivals": arrivals})

    @property
    def round_trips(self) -> int:
        """Messages of a transaction on average, to whole ones."""
        return max(1, round(sum(one.share * one.messages for one in self.transactions)))

    def work(
        self,
        paths: PathTimes,
        sample: UnitSample,
        cluster: ClusterPaths,  # noqa: ARG002
        *,
        logs_at_once: bool,
    ) -> ClientWork:
        """The same for all clients."""
        program = rows_program(self, paths, logs_at_once, sample)  # pyright: ignore[reportArgumentType]
        return ClientWork(program, np.zeros((self.clients, len(program.registers)), dtype=np.int64))

    def compares_with(self, other: WorkloadSpec) -> bool:
        """The same benchmark's: a row of another one is no unit of this one."""
        return isinstance(other, RowFields) and other.name == self.name
