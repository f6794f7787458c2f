"""A row workload as a program: its statements one by one over the tables."""

from functools import lru_cache

from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.paths import PathTimes, Rows
from oltpsim.models.workloads.rows.keys import KeySpec, ages_pmf, popularity
from oltpsim.models.workloads.rows.tables import PlacedTable, place_tables
from oltpsim.models.workloads.rows.workload import (
    CHANGE_BYTES,
    ENTRY_BYTES,
    RowFields,
    StatementSpec,
    TableSpec,
    TransactionSpec,
)
from oltpsim.models.workloads.transactions import MIX, READ, WRITE, ProgramOutline, ProgramSteps, TransactionWriter
from oltpsim.simulator.form import Program

MOST_SINGLE_ROWS = 1_000_000
"""of a table whose rows are drawn one by one where they aren't drawn evenly; of larger ones a page is drawn"""
MOST_AGES = 1_000_000
"""rows inserted last among which `latest` chooses"""


@lru_cache(maxsize=256)
def rows_program(
    workload: RowFields, paths: PathTimes, logs_at_once: bool = False, sample: UnitSample | None = None
) -> Program:
    """The program of a row workload; `paths` gives CPU times in ns. Programs of one outline share their arrays.

    `logs_at_once`: each statement logs for itself, as a log that is flushed at once takes it, not all at the end.
    """
    counts = row_counts(workload)
    steps = ProgramSteps.needed(counts, [each.messages for each in workload.transactions], paths)
    alone = workload.arrivals.model_copy(update={"clients": 1} if workload.arrivals.kind == "closed" else {})
    # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
    return _outline(workload.model_copy(update={"arrivals": alone}), steps, logs_at_once, sample).at(paths)  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=64)
def _outline(workload: RowFields, steps: ProgramSteps, logs_at_once: bool, sample: UnitSample | None) -> ProgramOutline:
    return RowsWriter(workload, steps, logs_at_once, sample).write()


def row_counts(workload: RowFields) -> dict[str, Rows]:
    """Mean row operations and scanned rows of each transaction."""
    tables = {table.name: table for table in workload.tables}
    return {
        one.name: Rows(
            sum(each.times * _operations(each, tables[each.table]) for each in one.statements),
            sum(each.times * (each.rows - 1) for each in one.statements if each.do == "range"),
            one.messages,
        )
        for one in workload.transactions
    }


def _operations(statement: StatementSpec, table: TableSpec) -> float:
    match statement.do:
        case "read" | "range":
            return 1.0
        case "update":
            return 1.0 + len(statement.changes) + table.moved_fraction * (len(table.indexes) - len(statement.changes))
        case _:
            return 1.0 + len(table.indexes)


class RowsWriter(TransactionWriter):
    """Writes the program; one method for each kind of statement."""

    def __init__(
        self, workload: RowFields, steps: ProgramSteps, logs_at_once: bool, sample: UnitSample | None = None
    ) -> None:
        super().__init__(steps, row_counts(workload))
        self.logs_at_once = logs_at_once
        self.workload = workload
        asm = self.asm
        self.zero, self.count, self.age = asm.register("zero"), asm.register("count"), asm.register("age")
        self.tables = place_tables(asm, workload, sample)
        self.group = {name: asm.register(f"{name}: unit") for name in self.tables}
        self.row = {name: asm.register(f"{name}: row") for name in self.tables}
        self.entry = asm.register("index entry")
        self.references = {
            name: asm.reference(name, "row", table.region, self.group[name], row=self.row[name])
            for name, table in self.tables.items()
        }
        self.entries = {
            (name, index): asm.reference(f"{name} by {index}", "row", region, self.group[name], row=self.entry)
            for name, table in self.tables.items()
            for index, region in table.indexes.items()
        }
        self.locks = {
            name: asm.lock(f"{name} row", table.groups * table.group_rows)
            for name, table in self.tables.items()
            if table.spec.locked
        }
        self.locked = asm.register("locked row") if self.locks else self.zero
        self.samplers: dict[tuple[str, KeySpec], int] = {}
        self.ends: dict[str, int] = {}
        self.appends: dict[str, int] = {}
        for name, table in self.tables.items():
            if self._grows(name):
                self.ends[name] = asm.counter(f"rows of {name}", 1, table.group_rows)
                loaded = -(-table.group_rows // table.spec.rows_per_page)
                self.appends[name] = asm.reference(
                    f"{name} insert", "append", table.region, self.zero, row=self.row[name], appended_pages=loaded
                )

    def _grows(self, name: str) -> bool:
        statements = [each for one in self.workload.transactions for each in one.statements if each.table == name]
        latest = any(isinstance(each.key, KeySpec) and each.key.distribution == "latest" for each in statements)
        return latest or any(each.do == "insert" and each.key is None for each in statements)

    def write(self) -> ProgramOutline:
        """The client's loop, then the transactions."""
        table = self.asm.table(MIX, [one.share for one in self.workload.transactions])
        self.await_next(self.workload.arrivals)
        self.asm.emit("choose", table, self.asm.stream("mix"))
        for transaction in self.workload.transactions:
            self._transaction(transaction)
        return self.outline(self.workload.transactions[0].name)

    def _transaction(self, transaction: TransactionSpec) -> None:
        self.asm.begin_class(transaction.name)
        self.request(transaction.name, transaction.messages, self.workload.client_us)
        log_bytes = 0.0
        for statement in transaction.statements:
            again = self.asm.label()
            if statement.times > 1:
                self.asm.emit("set", self.count, statement.times)
                self.asm.place(again)
            self._statement(statement)
            logged = self._log_bytes(statement)
            if self.logs_at_once and logged:
                self.asm.emit("log", round(logged))
                logged = 0.0
            if statement.times > 1:
                self.asm.emit("loop", self.count, again)
            log_bytes += statement.times * logged
        self.section(transaction.name)
        if log_bytes:
            self.asm.emit("log", round(log_bytes))
        self.commit()

    def _log_bytes(self, statement: StatementSpec) -> float:
        if statement.do in ("read", "range"):
            return 0.0
        if statement.log_bytes is not None:
            return statement.log_bytes
        return CHANGE_BYTES + ENTRY_BYTES * (_operations(statement, self.tables[statement.table].spec) - 1.0)

    def _statement(self, statement: StatementSpec) -> None:
        name = statement.table
        table, reference = self.tables[name], self.references[name]
        if statement.do == "insert" and statement.key is None:
            self._append(table)
            return
        if isinstance(statement.key, KeySpec):
            self._choose(table, statement.key)
        match statement.do:
            case "read":
                self.touch(reference, READ)
            case "range":
                self._range(table, statement.rows)
            case "update":
                self._lock(table)
                self.touch(reference, WRITE)
                for index in statement.changes:
                    self._change_entry(table, index)
                if others := [index for index in table.indexes if index not in statement.changes]:
                    self._moved(table, others)
            case _:
                self._lock(table)
                self.touch(reference, WRITE)
                for index in table.indexes:
                    self._change_entry(table, index)

    def _choose(self, table: PlacedTable, key: KeySpec) -> None:
        """Which row: registers of its unit and of its number there."""
        asm, name = self.asm, table.spec.name
        if table.groups > 1:
            asm.emit("uniform", self.group[name], table.groups, 0, self.rows)
        if key.distribution == "uniform":
            asm.emit("uniform", self.row[name], table.group_rows, 0, self.rows)
            return
        if key.distribution == "latest":
            ages = self._sampler(table, key)
            asm.emit("peek", self.row[name], self.ends[name], self.zero, 1)
            asm.emit("sample", self.age, ages, 0, self.rows)
            asm.emit("combine", self.row[name], self.age, -1, self.row[name])
            return
        asm.emit("sample", self.row[name], self._sampler(table, key), 0, self.rows)
        if table.group_rows > MOST_SINGLE_ROWS:
            asm.emit("affine", self.row[name], self.row[name], table.spec.rows_per_page, 0, 0)

    def _sampler(self, table: PlacedTable, key: KeySpec) -> int:
        place = table.spec.name, key
        if place not in self.samplers:
            if key.distribution == "latest":
                weights = ages_pmf(key, min(MOST_AGES, table.group_rows))
            else:
                single = table.group_rows <= MOST_SINGLE_ROWS
                per_part = 1 if single else table.spec.rows_per_page
                weights = popularity(key, table.group_rows, per_part)  # pyright: ignore[reportArgumentType]
            self.samplers[place] = self.asm.table(f"{table.spec.name} rows, {key.distribution}", weights)
        return self.samplers[place]

    def _lock(self, table: PlacedTable) -> None:
        """Row locks of the tables that say so, held until the commit."""
        name = table.spec.name
        if name in self.locks:
            self.asm.emit("combine", self.locked, self.group[name], table.group_rows, self.row[name])
            self.asm.emit("lock", self.locks[name], self.locked)

    def _change_entry(self, table: PlacedTable, index: str) -> None:
        """An entry of an index in an order of its own: any of its pages."""
        self.asm.emit("uniform", self.entry, table.group_rows, 0, self.rows)
        self.touch(self.entries[table.spec.name, index], WRITE)

    def _moved(self, table: PlacedTable, indexes: list[str]) -> None:
        """In a share of the changes the row has found no room on its page: every index gets a new entry."""
        stays = self.jump_unless(table.spec.moved_fraction)
        for index in indexes:
            self._change_entry(table, index)
        self.asm.place(stays)

    def _range(self, table: PlacedTable, rows: int) -> None:
        """A row, and those behind it page by page."""
        row, reference = self.row[table.spec.name], self.references[table.spec.name]
        self.touch(reference, READ)
        for met in range(1, rows, table.spec.rows_per_page):
            more = min(table.spec.rows_per_page, rows - met)
            self.asm.emit("affine", row, row, 1, more, table.group_rows)
            self.emit("touch", reference, READ, lambda paths, more=more: more * paths.scanned_row_ns)  # type: ignore[misc]

    def _append(self, table: PlacedTable) -> None:
        """A row at the end of its table, and an entry in each index."""
        name = table.spec.name
        self.asm.emit("take", self.row[name], self.ends[name], self.zero, 1)
        self.touch(self.appends[name], WRITE)
        for index in table.indexes:
            self._change_entry(table, index)
