"""Times of a transaction's steps on one machine, in nanoseconds: what a workload's program spends."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rows:
    """Row operations of one transaction on average, and rows that it meets in range scans.

    `statements`: of a row workload; 0 where the transaction's own time is for all that it says (TPC-C), but for
    `texts_us`, the server's time on the reference core to parse statements.
    """

    operations: float
    scanned: float
    statements: int = 0
    texts_us: float = 0.0


@dataclass(frozen=True)
class InterruptTimes:
    """Those of a message, and what one takes where it is served; `bound` processors serve them all, unless 0."""

    per_message: float
    local_ns: float
    """what request and message have of it in their times"""
    served_ns: float
    bound: int

    @property
    def added_ns(self) -> float:
        """What one adds to the time of a request or message where it is served."""
        return (0.0 if self.bound else self.served_ns) - self.local_ns


@dataclass(frozen=True)
class PathTimes:
    """Times on this machine: path lengths on the reference core divided by the core's speed."""

    transaction_ns: int
    row_ns: int
    scanned_row_ns: int
    message_ns: int
    network_ns: int
    client_fraction: float
    section_share: float
    section_factor: float = 1.0
    """time in critical sections, by what it is if all of it gets faster with the core"""
    driver_ns_per_us: float = 0.0
    """what a microsecond of the driver on the reference core takes of this machine's processors"""
    transaction_phases: int = 0
    statement_ns: int = 0
    """of a row workload's statement, in the place of transaction_ns; 0: nobody has said it"""
    server_ns_per_us: float = 0.0
    """what a microsecond of the server on the reference core takes of this machine's, critical sections left out"""
    interrupts: InterruptTimes | None = None

    def overhead_ns(self, rows: Rows) -> int:
        """User time of a transaction besides its rows: to begin, parse or bind, plan, answer and commit."""
        if self.statement_ns and rows.statements:
            return rows.statements * self.statement_ns
        return self.transaction_ns + round(rows.texts_us * self.server_ns_per_us)

    def user_ns(self, rows: Rows) -> float:
        """User time of a transaction of so many rows, critical sections left out."""
        return self.overhead_ns(rows) + rows.operations * self.row_ns + rows.scanned * self.scanned_row_ns

    def section_ns(self, rows: Rows) -> int:
        """Time in critical sections, on top of `user_ns`."""
        return round(self.user_ns(rows) * self.section_share / (1.0 - self.section_share) * self.section_factor)

    def client_ns(self, rows: Rows, driver_us: float = 0.0) -> int:
        """CPU time of the client program, if it runs on the server."""
        return round(
            self.client_fraction * (self.user_ns(rows) + self.section_ns(rows)) + driver_us * self.driver_ns_per_us
        )


@dataclass(frozen=True)
class ClusterPaths:
    """Times of one server in a cluster, in ns; 0 where there is nothing of that kind."""

    elsewhere: float
    """chance that another warehouse is on another server"""
    round_trip_ns: int
    message_ns: int
    """CPU time of a message and its answer, at one side"""
    standby_ns: int
    """from the end of the own flush until the standby has the log, too"""
    replica_ns: int
    """response time of read-only transactions, which other machines run"""
    ships: bool
    """whether the log goes to a standby or replica"""


SINGLE_SERVER = ClusterPaths(0.0, 0, 0, 0, 0, False)
"""One server without any other."""
