"""Checkpoint: all dirty pages reach the disks."""

from pydantic import Field

from oltpsim.models.input import Fraction, Gib, Seconds, Spec
from oltpsim.simulator.form import GIB, NEVER_BYTES, Daemon, DaemonStep, from_s


class CheckpointSpec(Spec):
    """Checkpoint: every dirty page is written, in disk order, and the file synced.

    A checkpoint begins every `interval_s`, or when the log would come to `most_log_gib` before it ends. With
    `full_page_writes` the first change of a page after its beginning logs the whole page.
    """

    interval_s: Seconds = Field(ge=1)
    spread_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """share of the time to the next checkpoint over which the writes are spread; 0: at once"""
    most_log_gib: Gib | None = Field(default=None, gt=0, description="PostgreSQL's max_wal_size; if absent no limit")
    full_page_writes: bool = Field(default=False, description="PostgreSQL's, which is on unless somebody turns it off")

    @property
    def is_by_log(self) -> bool:
        """Whether the volume of the log begins a checkpoint or grows by one."""
        return self.most_log_gib is not None or self.full_page_writes

    @property
    def log_bytes(self) -> int:
        """Log from one checkpoint to the next at most: what comes until its end counts too (xlog.c, since 11)."""
        return NEVER_BYTES if self.most_log_gib is None else round(self.most_log_gib * GIB / (1 + self.spread_fraction))


def _beginning(spec: CheckpointSpec) -> tuple[DaemonStep, ...]:
    interval_ns = from_s(spec.interval_s)
    if not spec.is_by_log:
        return (DaemonStep("every", (interval_ns,)),)
    return DaemonStep("every_or_logged", (interval_ns, spec.log_bytes)), DaemonStep("begin_checkpoint")


def checkpointer_of(spec: CheckpointSpec, direct_io: bool) -> Daemon:
    """The daemon. By direct I/O the disks have what is written, and there is nothing to sync."""
    spread_ns = from_s(spec.interval_s * spec.spread_fraction)
    return Daemon(
        "checkpointer",
        (
            *_beginning(spec),
            DaemonStep("write_dirty", (0, spread_ns)),
            *(() if direct_io else (DaemonStep("sync"),)),
            DaemonStep("note_checkpoint"),
        ),
    )
