"""Checkpoint: all dirty pages reach the disks."""

from pydantic import Field

from models.input import Fraction, Seconds, Spec
from simulator.form import Daemon, DaemonStep, from_s


class CheckpointSpec(Spec):
    """Checkpoint: every dirty page is written, in disk order, and the file synced."""

    interval_s: Seconds = Field(ge=1)
    spread_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """share of the interval over which the writes are spread; 0: at once"""


def checkpointer_of(spec: CheckpointSpec, direct_io: bool) -> Daemon:
    """The daemon. By direct I/O the disks have what is written, and there is nothing to sync."""
    spread_ns = from_s(spec.interval_s * spec.spread_fraction)
    return Daemon(
        "checkpointer",
        (
            DaemonStep("every", (from_s(spec.interval_s),)),
            DaemonStep("write_dirty", (0, spread_ns)),
            *(() if direct_io else (DaemonStep("sync"),)),
            DaemonStep("note_checkpoint"),
        ),
    )
