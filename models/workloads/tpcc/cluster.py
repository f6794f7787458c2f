"""What TPC-C's transactions do on a server that is one of several.

Rows of another warehouse are on another server with some chance: a round trip, and CPU time on both sides. What this
server does for others is what others do for it, so both sides' time is spent here, and the row that others ask for is
one of this server's. A transaction that changed rows elsewhere commits in two phases (Gray 1978): the participants
force their prepare record, and only then does the coordinator force the commit; rows stay locked until then.
"""

from oltpsim.models.workloads.paths import ClusterPaths
from oltpsim.simulator.form import Assembler, cut_of

READ_ONLY = ("order status", "stock level")
PREPARE_BYTES = 200
"""assumption: a prepare record with the identity of the transaction and of its coordinator"""
MET, SIDES = 2, 2


class ClusterStory:
    """Writes what a cluster adds to a program; nothing at all for a server that is alone."""

    def __init__(self, asm: Assembler, paths: ClusterPaths) -> None:
        self.asm, self.paths = asm, paths
        self.remote = asm.register("rows elsewhere") if paths.elsewhere else 0

    def begin(self) -> None:
        """No rows elsewhere have been met."""
        if self.paths.elsewhere:
            self.asm.emit("set", self.remote, 0)

    def reach(self) -> None:
        """Another warehouse's rows: perhaps on another server."""
        if not self.paths.elsewhere:
            return
        here = self.asm.label()
        self.asm.emit("maybe", cut_of(1.0 - self.paths.elsewhere), self.asm.stream("elsewhere"), here)
        self._ask()
        self.asm.emit("set", self.remote, MET)
        self.asm.place(here)

    def runs_on_replica(self, name: str) -> bool:
        """Whether a class is none of this server's business; then its story has been written."""
        if name not in READ_ONLY or not self.paths.replica_ns:
            return False
        self.asm.begin_class(name)
        self.asm.emit("network", self.paths.replica_ns)
        self.asm.emit("end")
        return True

    def log(self, size_bytes: int) -> None:
        """The changes go to the log, and with a standby to its log, before the locks may go."""
        asm, paths = self.asm, self.paths
        if paths.elsewhere:
            prepare, here = asm.label(), asm.label()
            asm.emit("loop", self.remote, prepare)
            asm.emit("jump", here)
            asm.place(prepare)
            self._ask()
            asm.emit("log", PREPARE_BYTES)
            self._force()
            asm.place(here)
        asm.emit("log", size_bytes)
        if paths.ships:
            asm.emit("cpu", 0, paths.message_ns, 0)
        if paths.standby_ns:
            self._force()

    def _ask(self) -> None:
        self.asm.emit("cpu", 0, SIDES * self.paths.message_ns, 0)
        self.asm.emit("network", self.paths.round_trip_ns)

    def _force(self) -> None:
        """Wait until the log is on disk, here and at the standby."""
        self.asm.emit("flush")
        if self.paths.standby_ns:
            self.asm.emit("network", self.paths.standby_ns)
