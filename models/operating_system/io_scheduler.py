"""I/O scheduler and storage stack: what lies between the database's files and the devices."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Microseconds, Milliseconds, Spec, WholeNumber
from oltpsim.simulator.form import NS_PER_MS, FairQueueing


class NoopSpec(Spec):
    """Requests go to flash devices and RAID sets as they come."""

    kind: Literal["noop"] = "noop"


class CfqSpec(Spec):
    """Fair queueing before each flash device and RAID set: one process at a time has it, in turns (Linux's CFQ).

    Defaults: Linux's early block/cfq-iosched.c (quantum 4, slice_sync HZ/10, slice_async HZ/25), from excerpts.
    """

    kind: Literal["cfq"]
    quantum: WholeNumber = Field(default=4, ge=1, le=1024, description="requests of its owner in the device at once")
    slice_ms: Milliseconds = Field(default=100.0, ge=0.001)
    """how long a client or the log may own the device while it asks for more"""
    background_slice_ms: Milliseconds = Field(default=40.0, ge=0.001)
    """the same for writes that nobody waits for: writer, write-back, swapping"""
    request_us: Microseconds = Field(default=0.0, ge=0)
    """system CPU for each request on the reference core, beside disk_request_us"""


class RawSpec(Spec):
    """The database's files are devices: nothing lies between its requests and the block layer."""

    kind: Literal["raw"] = "raw"


class FileSystemSpec(Spec):
    """Files of a file system on a volume manager: each request is looked up and mapped before it reaches a device."""

    kind: Literal["file_system"]
    request_us: Microseconds = Field(
        default=6.0,
        ge=0,
        description="system CPU for each request on the reference core: locks of the inode, block map, the volume "
        "manager's map and its copy of the request (assumption: 6 us)",
    )


def fair_queueing_of(scheduler: NoopSpec | CfqSpec) -> FairQueueing | None:
    """Fair queueing before flash devices and RAID sets; None without."""
    if isinstance(scheduler, NoopSpec):
        return None
    slices = (round(length_ms * NS_PER_MS) for length_ms in (scheduler.slice_ms, scheduler.background_slice_ms))
    return FairQueueing(scheduler.quantum, *slices)
