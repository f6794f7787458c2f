"""What the kernel's devices are at time 0: from the model's parts to rows of `Kernel.devices`."""

from simulator.form import CachingDevice, Model, RaidSet, RotatingDevice, limiters_of
from simulator.kernel import columns as ks
from simulator.kernel.columns import Kernel


def set_up_devices(kernel: Kernel, model: Model) -> None:
    """Give a new kernel's devices their constants, and empty queues."""
    stages = limiters_of(model.storage, model.volume_limits, model.controllers).stages
    rotating = 0
    for number, (row, device) in enumerate(zip(kernel.devices, model.storage.with_disks, strict=True)):
        row[ks.CALLS_FREE] = model.storage.requests_per_device
        row[ks.CALL_FIRST] = row[ks.CALL_LAST] = row[ks.QUEUE_FIRST] = row[ks.QUEUE_LAST] = row[ks.CHOSEN] = ks.NONE
        row[ks.WRITE_FIRST] = row[ks.WRITE_LAST] = ks.NONE
        if isinstance(device, RotatingDevice):
            row[ks.KIND], row[ks.ROTATING], row[ks.DEPTH] = ks.ROTATING_KIND, rotating, device.queue_depth
            row[ks.SCHEDULER], row[ks.UPWARDS] = ks.SCHEDULERS.index(device.scheduler), 1
            rotating += 1
            if isinstance(device, CachingDevice):
                row[ks.CACHE_ROOM], row[ks.MOST_CHOOSING] = device.cache_bytes, device.destages_among
        elif isinstance(device, RaidSet):
            row[ks.KIND], row[ks.FIRST_DISK] = ks.RAID_KIND, model.storage.disks_of(number).start
            row[ks.COPIES], row[ks.PLACES_OF_STRIPE] = device.copies, len(device.disks) // device.copies
            row[ks.PARITIES], row[ks.UNIT] = device.parities, device.unit_bytes
        else:
            row[ks.KIND], row[ks.PARALLEL_FREE] = ks.LIMITED_KIND if stages[number] else ks.FLASH_KIND, device.parallel
            ends = [end for stage in stages[number] for end in (stage.start, stage.stop)]
            row[ks.STAGES : ks.STAGES + len(ends)] = ends
            row[ks.READ_TIME], row[ks.WRITE_TIME] = device.read_ns, device.write_ns
            row[ks.READS_PER_WRITE] = device.reads_per_write
        if model.fair_queueing and number in model.scheduled_devices:
            rules = model.fair_queueing
            row[ks.QUANTUM], row[ks.SLICE] = rules.quantum, rules.slice_ns
            row[ks.BACKGROUND_SLICE] = rules.background_slice_ns
            row[ks.ON_TURN] = row[ks.TURN_FIRST] = row[ks.TURN_LAST] = ks.NONE
            for owner in range(ks.OWNERS, ks.DEVICE_WIDTH, 3):
                row[owner] = row[owner + 1] = ks.NONE
