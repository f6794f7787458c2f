"""A row workload: tables, and transactions of statements that read, change, add and remove their rows."""

from typing import Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import Fraction, Kib, Microseconds, Name, Number, Spec, Text, WholeNumber, repeated_name
from oltpsim.models.workloads.arrivals import ClosedClientsSpec, OpenArrivalsSpec
from oltpsim.models.workloads.protocol import WorkloadSpec
from oltpsim.models.workloads.rows.keys import KeySpec

CHANGE_BYTES = 250
"""assumption: log of a row's change, its after-image of about that size with headers, as in the TPC-C programs"""
NEW_ORDER = "new order"
"""what TPC-C counts"""
MOST_LOCKED_ROWS = 1_000_000
MOST_NURAND_ROWS = 2_000_000
ENTRY_BYTES = 100
"""assumption: log of an index entry put in or taken out"""


class IndexSpec(Spec):
    """An index beside the primary key's, whose entries lie in another order than the rows."""

    name: Name
    entries_per_page: WholeNumber = Field(ge=2, le=10_000)


class TableSpec(Spec):
    """A table, in the rows of one unit of the workload's scale: a bank's branch, a table of many alike.

    `key_entries_per_page`: of the pages above the rows; where rows lie in the leaves of their key (InnoDB) they have
    an entry for each of those, in a heap (PostgreSQL) for each row. Absent: no key, as of a history. Units that fill
    100 pages or more have pages of their own, one of which is drawn first; smaller ones lie together.
    """

    name: Name
    rows: WholeNumber = Field(ge=0, le=1_000_000_000, description="as loaded, of one unit of scale")
    rows_per_page: WholeNumber = Field(ge=1, le=10_000)
    key_entries_per_page: WholeNumber | None = Field(default=None, ge=2, le=10_000)
    indexes: tuple[IndexSpec, ...] = Field(default=(), max_length=20)
    room_rows: WholeNumber = Field(
        default=0,
        ge=0,
        le=10_000_000_000,
        description="that can be added at its end, for the whole workload, before the oldest pages are used again",
    )
    locked: bool = Field(
        default=False,
        description="changed rows are locked until the commit, one by one; for tables of up to 1,000,000 rows: of "
        "larger ones two transactions hardly ever meet",
    )
    moved_fraction: Fraction = Field(
        default=0.0,
        ge=0,
        le=1,
        description="changes after which a row finds no room on its page, so that every index gets a new entry",
    )


class StatementSpec(Spec):
    """A statement for one row, done `times` times; a `range` reads `rows` in the order of the key.

    `insert` puts a row at the end of the table, or where its `key` says. `key: same` is the row of the statement before
    it on this table.
    """

    do: Literal["read", "range", "update", "insert", "delete"]
    table: Name
    key: KeySpec | Literal["same"] | None = None
    times: WholeNumber = Field(default=1, ge=1, le=1000)
    rows: WholeNumber = Field(default=1, ge=1, le=100_000)
    log_bytes: WholeNumber | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description=f"of log for the change; {CHANGE_BYTES} and {ENTRY_BYTES} for each index entry if absent. Of a "
        "whole page where PostgreSQL logs it at the first change after a checkpoint: of large tables mostly",
    )
    changes: tuple[Name, ...] = Field(default=(), max_length=20, description="indexes whose column an update changes")

    @model_validator(mode="after")
    def _has_its_row(self) -> Self:
        if self.key is None and self.do != "insert":
            raise ValueError(f"a statement that does {self.do} needs a key, such as {{distribution: uniform}}")
        if (self.rows > 1) != (self.do == "range"):
            raise ValueError(f"a range needs two rows or more, others have one: this does {self.do}, rows: {self.rows}")
        if self.log_bytes is not None and self.do in ("read", "range"):
            raise ValueError(f"log_bytes is of a change, this statement does {self.do}")
        if self.changes and self.do != "update":
            raise ValueError(f"changes is of an update, this statement does {self.do}")
        return self

    def fault_on(self, table: TableSpec, scale: int, is_met: bool) -> str:
        """Why it can't be done to this table; empty if it can. `is_met`: a statement before it has a row of it."""
        rows, known = table.rows * scale, {each.name for each in table.indexes}
        if self.key == "same" and not is_met:
            return "key: same, but no statement before it has a row of the table"
        if self.do == "insert" and self.key is None:
            if table.indexes and not rows:
                return "indexes of a table that begins empty, whose growth isn't modelled: give it rows, or no indexes"
            return "" if table.room_rows else "the table has no room for rows at its end; give it room_rows"
        if not rows:
            return "the table has no rows as loaded; give it rows"
        if self.rows > rows:
            return f"rows: got {self.rows:,} of a table of {rows:,}"
        if isinstance(self.key, KeySpec) and self.key.distribution == "nurand" and rows > MOST_NURAND_ROWS:
            return f"nurand of {rows:,} rows; at most {MOST_NURAND_ROWS:,}, whose shares are counted one by one"
        unknown = [name for name in self.changes if name not in known]
        return f"changes: no index {unknown[0]!r}; the table has {', '.join(known) or 'none'}" if unknown else ""


class TransactionSpec(Spec):
    """A kind of transaction, and what share of all it is. `round_trips`: one for each statement if absent."""

    name: Name
    share: Fraction = Field(default=1.0, gt=0, le=1)
    statements: tuple[StatementSpec, ...] = Field(min_length=1, max_length=100)
    round_trips: WholeNumber | None = Field(default=None, ge=1, le=10_000)

    @property
    def messages(self) -> int:
        """Round trips of a client for one of them."""
        return self.round_trips or sum(each.times for each in self.statements)


class RowFields(WorkloadSpec):
    """Keys of transactions over rows; the first is the one counted. Their answers are in kind.py."""

    kind: Literal["rows"] = "rows"
    name: Name
    page_kib: Kib = Field(gt=0, le=64, description="page size that the rows were counted for")
    storage: Literal["heap", "clustered"] = Field(
        description="heap: rows beside their key's index (PostgreSQL); clustered: in its leaves (InnoDB)"
    )
    scale: WholeNumber = Field(
        ge=1, le=1_000_000, description="units that the tables' rows are given for: pgbench's scale, sysbench's tables"
    )
    unit: Literal["rows", "tables"] = Field(
        default="rows",
        description="what a unit of scale is: more rows of each table (pgbench), or tables of their own, each with a "
        "file (sysbench)",
    )
    tables: tuple[TableSpec, ...] = Field(min_length=1, max_length=50)
    transactions: tuple[TransactionSpec, ...] = Field(min_length=1, max_length=50)
    arrivals: ClosedClientsSpec | OpenArrivalsSpec = Field(discriminator="kind")
    client_us: Microseconds = Field(default=0.0, ge=0)
    """CPU time of the driver for a transaction on the reference core, where it runs on the server"""
    rows_per_statement: Number = Field(default=0.0, ge=0, le=1000)
    """row operations at whose end a thread gives up its processor; 0: transactions are one statement"""
    source: Text

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        tables = {table.name: table for table in self.tables}
        for what, names in (("tables", [*tables]), ("transactions", [one.name for one in self.transactions])):
            if twice := repeated_name([one.name for one in self.tables] if what == "tables" else names):
                raise ValueError(f"{what}: two have the name {twice!r}; give each its own")
        total = sum(one.share for one in self.transactions)
        if abs(total - 1.0) > 1e-6:
            raise ValueError(f"transactions: the shares sum to {total:.6g}; they must sum to 1")
        if NEW_ORDER in (one.name for one in self.transactions):
            raise ValueError(f"transactions: {NEW_ORDER!r} is TPC-C's, whose rate is NOPM; give it another name")
        for table in self.tables:
            if table.locked and table.rows * self.scale > MOST_LOCKED_ROWS:
                rows = table.rows * self.scale
                raise ValueError(
                    f"tables: {table.name}: locked: {rows:,} rows; at most {MOST_LOCKED_ROWS:,}: take it out"
                )
        for transaction in self.transactions:
            met: set[str] = set()
            for statement in transaction.statements:
                where = f"transactions: {transaction.name}: {statement.do} {statement.table}"
                if statement.table not in tables:
                    raise ValueError(f"{where}: no such table; the tables are {', '.join(tables)}")
                if fault := statement.fault_on(tables[statement.table], self.scale, statement.table in met):
                    raise ValueError(f"{where}: {fault}")
                met.add(statement.table)
        return self
