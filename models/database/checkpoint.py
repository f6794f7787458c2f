"""Checkpoint: all dirty pages reach the disks."""

from pydantic import Field

from models.input import Fraction, Seconds, Spec
from simulator.form import Checkpoint, from_s


class CheckpointSpec(Spec):
    """Checkpoint: every dirty page is written, in disk order, and the file synced."""

    interval_s: Seconds = Field(ge=1)
    spread_fraction: Fraction = Field(default=0.0, ge=0, le=1)
    """share of the interval over which the writes are spread; 0: at once"""


def checkpoint_of(spec: CheckpointSpec) -> Checkpoint:
    """The checkpoint's interval, and the time over which its writes are spread."""
    return Checkpoint(from_s(spec.interval_s), from_s(spec.interval_s * spec.spread_fraction))
