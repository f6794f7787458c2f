"""Protocol of workloads: the questions that every kind answers to whoever builds, checks, measures or plans for one.

A kind is a folder: its keys, its tables, its programs, and a spec that answers this. `AnyWorkloadSpec` lists the kinds.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from oltpsim.models.input import Spec
from oltpsim.models.workloads.arrivals import OpenArrivalsSpec
from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.pages import LoadedTable, pages_in
from oltpsim.models.workloads.paths import ClusterPaths, PathTimes
from oltpsim.simulator.form import Assembler, IntArray, Program, Terminals


@dataclass(frozen=True)
class ClientWork:
    """Program of all clients, their registers at the start, and the terminals that hand them their transactions."""

    program: Program
    registers: IntArray
    terminals: Terminals | None = None


@dataclass(frozen=True)
class UnitUsers:
    """Users of a unit, who wait and think as a specification says, and the most counted transactions of all of them."""

    number: int
    per_min: float


@dataclass(frozen=True)
class JobTables:
    """Tables as jobs load and scan them. `lay_out` places those of a sample in a program, in load order."""

    rows: int
    index_entries_per_page: int
    bloat_fraction: float
    lay_out: Callable[[Assembler, UnitSample], list[LoadedTable]]


class WorkloadSpec(Spec):
    """A workload of any kind.

    Its data comes in units, such as warehouses or tables; some of the loaded ones may have no clients. Beside these
    answers each kind has `kind`, `name`, `arrivals`, `source`, `page_kib` (the page size that its rows were counted
    for) and `rows_per_statement` (row operations at whose end a thread gives up its processor; 0: transactions are one
    statement), as keys or as properties.
    """

    unit_words: ClassVar[str]
    rate_words: ClassVar[str]
    rate_key: ClassVar[str]
    """key of the rate of the transaction counted, in what is written of a run"""
    measured_key: ClassVar[Literal["new_orders_per_minute", "transactions_per_s"]]
    """key of `measured` with the rate of a run"""
    loaded_key: ClassVar[str]
    """key of the units loaded"""
    page_key: ClassVar[str]
    """key of the page size"""
    page_words: ClassVar[str]
    """part of the workload that has the page size, with its article"""
    is_by_statement: ClassVar[bool]
    """whether CPU time is known of statements, which may log one by one; else of whole transactions"""
    crosses_servers: ClassVar[bool] = False
    """whether its transactions have paths to other servers of a cluster"""
    unit_users: ClassVar[UnitUsers | None] = None
    """users of a unit, if each has users and pages of its own; if None a unit is only a factor of size"""
    text_statement_key: ClassVar[str] = ""
    """key of the server's time to parse a statement that comes as text"""

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """Kinds of transactions; the first is the one counted."""

    @property
    def main_class(self) -> str:
        """The transaction counted."""
        return self.classes[0]

    @property
    @abstractmethod
    def main_share(self) -> float:
        """Share of all transactions that the one counted is."""

    @property
    @abstractmethod
    def loaded(self) -> int:
        """Units loaded."""

    @property
    def size(self) -> int:
        """Units to which transactions go."""
        return self.loaded

    @property
    def size_key(self) -> str:
        """The scenario's key of `size`."""
        return self.loaded_key

    @property
    @abstractmethod
    def size_words(self) -> str:
        """The size of the data: 40 warehouses, scale 1,000, 8 tables."""

    @abstractmethod
    def with_units(self, loaded: int, active: int | None = None) -> Self:
        """The workload with so many units, `active` of them in use; all if None."""

    @abstractmethod
    def keys_of_size(self, loaded: int, most_clients: int) -> dict[str, object]:
        """Scenario keys of the workload with so many units, in use by the same share; clients bound to one go along."""

    @property
    @abstractmethod
    def regions(self) -> IntArray:
        """A row for each `RegionRow` of the whole database, as in a program; room to grow counted in. Read only."""

    @property
    def file_pages(self) -> int:
        """Pages that the database's files take."""
        return pages_in(self.regions)

    @property
    @abstractmethod
    def loaded_pages(self) -> int:
        """Pages that a bulk load fills."""

    @property
    def files_per_table(self) -> int:
        """Files of a table: one, unless its units have files of their own."""
        return 1

    @property
    def job_tables(self) -> JobTables | None:
        """Tables for a job; None if no job is about this kind."""
        return None

    @property
    @abstractmethod
    def clients(self) -> int:
        """Client programs, or connections of an open workload or of terminals."""

    @property
    def goes_anywhere(self) -> bool:
        """Whether a connection has transactions of any unit."""
        return True

    @property
    def units_in_use(self) -> int:
        """Units to which transactions go; of few clients with a unit each, as many."""
        return self.size if self.goes_anywhere else min(self.size, self.clients)

    @abstractmethod
    def open_to_all(self, arrivals: OpenArrivalsSpec) -> Self:
        """The workload with these arrivals, from users of any unit."""

    @property
    def keys_of_all(self) -> dict[str, object]:
        """Scenario keys by which each client goes to any unit."""
        return {}

    @property
    @abstractmethod
    def round_trips(self) -> int:
        """Messages of a transaction."""

    @property
    def text_statement_us(self) -> float:
        """Server's time on the reference core to parse a statement that comes as text; 0 if none does."""
        return 0.0

    @property
    def put_aside_fraction(self) -> float:
        """Changes of indexes to which a change buffer applies, as a share."""
        return 0.0

    @property
    def folds(self) -> bool:
        """Whether units have pages of their own, so that those of a few stand for all."""
        return self.unit_users is not None

    def sample(self, fraction: float) -> UnitSample:
        """Whole units that are held and stand for all, at least one; (1, 1) if units have no pages of their own."""
        return UnitSample(max(1, round(fraction * self.loaded)), self.loaded) if self.folds else UnitSample(1, 1)

    @abstractmethod
    def work(self, paths: PathTimes, sample: UnitSample, cluster: ClusterPaths, *, logs_at_once: bool) -> ClientWork:
        """What the clients run. `logs_at_once`: each statement logs for itself, where `is_by_statement`."""

    def compares_with(self, other: "WorkloadSpec") -> bool:
        """Whether size and rate mean the same as those of another one."""
        return type(self) is type(other)

    def faults(self) -> Iterator[str]:
        """What in its keys doesn't fit together: `key: what is wrong`."""
        yield from ()
