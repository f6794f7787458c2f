"""What a solved machine's disks and volumes show, as the simulating engines do."""

import numpy as np

from oltpsim.simulator.analytic.answer import figures
from oltpsim.simulator.analytic.answer.figures import Case
from oltpsim.simulator.analytic.reading import DATA, LOG, NO_LIMITS, TOGETHER, Rates, places_of
from oltpsim.simulator.form import (
    ALL_VOLUMES,
    MIB,
    SECTOR_BYTES,
    DeviceRecord,
    FlashDevice,
    RaidSet,
    RateLimit,
    SsdDevice,
    limits_on,
    to_s,
)
from oltpsim.simulator.results import DeviceResult, LimitResult

TINY = 1e-12
READ_PURPOSES = ("data read", "swap in", "merge read")
"""purposes of reads; the others are writes"""


def devices(case: Case) -> list[DeviceResult]:
    """Disks. A read's response is the engine's; writes come in heaps and wait for half of the others (approximate)."""
    storage, r = case.system.storage, case.solution
    found, of_sets = [], []
    for number, device in enumerate(storage.devices):
        disks = storage.disks_of(number)
        busy = r.disks.busy[0] if number else r.disks.first_busy[0]
        if number >= storage.data_devices:
            busy = _log_busy(case, [storage.with_disks[disk] for disk in disks])
        found.append(_device(case, number, float(busy), _requests(case, number)))
        if isinstance(device, RaidSet):
            of_sets += [_device(case, disk, float(busy), _requests_of_disk(case, number)) for disk in disks]
    return found + of_sets


def _log_busy(case: Case, disks: list[DeviceRecord]) -> float:
    """Share of time that the disks of a log of its own work.

    One flush at a time, whatever the disks could serve at once; an SSD acknowledges it long after it has worked on it.
    """
    log, disk = figures.log(case), disks[0]
    if not isinstance(disk, SsdDevice) or not log.flushes_per_s:
        return float(case.solution.log.busy[0]) / sum(each.servers for each in disks)
    size_bytes = log.bytes_per_s / log.flushes_per_s
    programmed_bytes = max(size_bytes, SECTOR_BYTES)
    flush_ns = disk.command_write_ns + (size_bytes * disk.write_mib_ns + programmed_bytes * disk.append_mib_ns) / MIB
    return min(log.flushes_per_s * to_s(flush_ns) / len(disks), 1.0)


def _device(case: Case, number: int, utilisation: float, per_s: dict[str, float]) -> DeviceResult:
    """One device at which so many requests of each purpose come per second."""
    storage, r, p = case.system.storage, case.solution, case.parameters
    device, disks = storage.with_disks[number], storage.disks_of(number)
    reads = sum(per_s.get(purpose, 0.0) for purpose in READ_PURPOSES)
    total = sum(per_s.values())
    parallel = sum(_parallel_requests(storage.with_disks[disk]) for disk in disks)
    service = utilisation * parallel / total if total > 0 else 0.0
    turn, limits = 0.0, _limits(case, number, per_s)
    if isinstance(flash := storage.with_disks[disks[0]], FlashDevice) and _is_limited(case, number):
        turn = utilisation / max(total, TINY)
        service = to_s((reads * flash.read_ns + (total - reads) * flash.write_ns) / max(total, TINY))
        closed = _limits(case, disks[0], _requests_of_disk(case, number) if disks[0] != number else per_s)
        utilisation = min(max([total * service / parallel, *(limit.utilisation for limit in closed)]), 1.0)
    elif isinstance(flash, SsdDevice):
        lone = float(p.storage.read_s[0, 0]), float(p.ssd.acknowledged_s[0])
        service = (reads * lone[0] + (total - reads) * lone[1]) / max(total, TINY)
    calls = per_s.get("data read", 0.0) + per_s.get("eviction write", 0.0)
    queue = min(calls * float(r.disks.read_s[0]), float(p.storage.calls[0]))
    queue += case.rate * case.mean(r.classes.fault_s) if "swap in" in per_s else 0.0
    heap = _heap(case) / (storage.data_devices if number < len(storage.devices) else float(p.storage.disks[0]))
    heaped = 0.0
    for purpose, count in per_s.items():
        if purpose in ("write-back", "writer", "swap out", "merge read"):
            heaped += count if heap > 1.0 else 0.0
            before = max(heap - 1.0, 0.0) / 2.0
            queue += count * (service + turn * before if turn else service * (1.0 + before / parallel))
        elif purpose == "log":
            shared = number < storage.data_devices
            queue += count * (max(float((p.log.first_s - p.log.flush_overhead_s)[0]), service) if shared else service)
    one_by_one = parallel == len(disks)
    together = heaped * service / min(heap, parallel) if heaped and not one_by_one else 0.0
    others = (total if one_by_one else total - heaped) * service / len(disks)
    empty = _empty(others, parallel / len(disks), float(p.clients.number[0])) ** len(disks)
    occupied = 1.0 - empty * max(1.0 - together, 0.0) * (1.0 - min(turn * total, 1.0))
    return DeviceResult(
        name=device.name,
        kind=device.kind,
        reads_per_s=reads,
        writes_per_s=total - reads,
        utilisation=utilisation,
        mean_queue=queue,
        mean_service_s=service,
        mean_response_s=queue / total if total > 0 else 0.0,
        by_purpose_per_s=per_s,
        limits=limits,
        occupied_fraction=occupied,
        occupied_per_request_s=occupied / total if total > 0 else 0.0,
    )


def _parallel_requests(disk: DeviceRecord) -> int:
    """Requests that a disk serves at once."""
    return disk.dies if isinstance(disk, SsdDevice) else disk.servers


def _empty(load: float, servers: float, clients: float) -> float:
    """Share of time in which nobody is at equal servers that are asked for `load` seconds each second.

    By M/M/c, or by so few clients who never wait for each other, of which each is there with chance load / clients.
    """
    if load >= servers:
        return 0.0
    term, terms = 1.0, 0.0
    for busy in range(int(servers)):
        terms, term = terms + term, term * load / (busy + 1)
    return min(1.0 / (terms + term / (1.0 - load / servers)), max(1.0 - load / clients, 0.0) ** clients)


def _is_limited(case: Case, number: int) -> bool:
    places = places_of(case.system)
    if number in _log_numbers(case):
        return bool(places.log or (places.together and not case.system.controllers))
    return bool(places.together or places.data)


def _log_numbers(case: Case) -> list[int]:
    """Of a log device of its own and its disks; none otherwise."""
    storage = case.system.storage
    number = storage.log_device
    return [number, *storage.disks_of(number)] if number >= storage.data_devices else []


def _limits(case: Case, number: int, per_s: dict[str, float]) -> list[LimitResult]:
    """A disk's own limits, of which a RAID set as a whole has none."""
    device = case.system.storage.with_disks[number]
    where = LOG if number in _log_numbers(case) else DATA
    return [
        _limit(case, where, place, _demand_on_limit(case, limit, per_s), device.name)
        for place, limit in enumerate(limits_on(device))
    ]


def volume_limits(case: Case) -> list[LimitResult]:
    """The limits of all volumes together, or of all controllers."""
    owner = "all controllers" if case.system.controllers else ALL_VOLUMES
    return [_limit(case, TOGETHER, place, asked, owner) for place, asked in enumerate(demand_on_limits(case).together)]


def demand_on_limits(case: Case) -> Rates:
    """Demand on each limit, in requests or MiB per second; on those of data disks that of the first one."""
    storage, places = case.system.storage, places_of(case.system)
    if not any(places):
        return NO_LIMITS
    numbers = (number for number in range(storage.data_devices) for _ in storage.disks_of(number))
    of_disks = [_requests_of_disk(case, number) for number in numbers]
    log_disks = [_requests_of_disk(case, storage.log_device)] * len(storage.disks_of(storage.log_device))
    of_log = log_disks if _log_numbers(case) else []
    together = of_disks if case.system.controllers else [*of_disks, *of_log]
    return Rates(
        data=tuple(_demand_on_limit(case, limit, of_disks[0]) for limit in places.data),
        log=tuple(_demand_on_limit(case, limit, of_log[0]) for limit in places.log),
        together=tuple(sum(_demand_on_limit(case, limit, each) for each in together) for limit in places.together),
    )


def _demand_on_limit(case: Case, limit: RateLimit, per_s: dict[str, float]) -> float:
    """Demand of so many requests per second of each purpose on a limit, in its requests or MiB per second."""
    page, t, p = case.system.storage.page_bytes, case.solution, case.parameters
    written = t.writes.pages / np.maximum(t.writes.requests, TINY)
    log = figures.log(case)
    sizes = {
        "write-back": float((written / p.units(written))[0]) * page,
        "swap out": float((p.swap.cluster_pages / p.units(p.swap.cluster_pages))[0]) * page,
        "log": log.bytes_per_s / max(log.flushes_per_s, TINY),
        "doublewrite": _copied_pages(case) * page,
    }
    per_s = {purpose: count for purpose, count in per_s.items() if limit.counts(purpose not in READ_PURPOSES)}
    if limit.of == "mib":
        return sum(count * sizes.get(purpose, page) for purpose, count in per_s.items()) / limit.units_of_rate
    return sum(count * max(sizes.get(purpose, page) / limit.unit_bytes, 1.0) for purpose, count in per_s.items())


def _limit(case: Case, where: int, place: int, asked: float, owner: str) -> LimitResult:
    limit = places_of(case.system)[where][place]
    bucket = next((one for one in case.buckets if (one.where, one.number) == (where, place)), None)
    lasted_s = bucket.lasted_s if bucket else None
    return LimitResult(
        name=limit.label(owner),
        of=limit.of,
        per_s=limit.per_s,
        burst_per_s=limit.burst_per_s,
        utilisation=min(asked / case.rates[where][place], 1.0),
        credits=limit.credits,
        credits_left=bucket.left if bucket else limit.credits_at_start,
        ran_out=lasted_s is not None,
        credits_lasted_s=case.end_s if lasted_s is None else lasted_s,
    )


def _requests(case: Case, number: int) -> dict[str, float]:
    """Requests per second of a device by the kernel's names of purposes, those that come at all."""
    system, t, p = case.system, case.solution, case.parameters
    storage, found = system.storage, {}
    if number < storage.data_devices:
        each, victims = case.rate / storage.data_devices, float(t.paging.victims[0])
        found["data read"] = each * float(t.paging.reads[0])
        found["eviction write"] = each * victims
        found["merge read"] = each * float(t.pool.merged[0])
        found["writer" if system.direct_io else "write-back"] = each * max(float(t.writes.requests[0]) - victims, 0.0)
        if p.writing.doubled[0]:
            found["doublewrite"] = each * (float(t.writes.background[0]) + victims) / _copied_pages(case)
    if number == 0:
        found["swap in"] = case.rate * float(t.paging.faults[0])
        found["swap out"] = found["swap in"] / float(p.swap.cluster_pages[0])
    if number == storage.log_device:
        found["log"] = figures.log(case).flushes_per_s
    return {name: per_s for name, per_s in sorted(found.items()) if per_s > 0}


def _copied_pages(case: Case) -> float:
    """Pages of a request for copies of pages that are written twice: of a batch, or of one that a client writes."""
    background, victims = float(case.solution.writes.background[0]), float(case.solution.paging.victims[0])
    return max(background + victims, TINY) / max(background / float(case.solution.writes.batch[0]) + victims, TINY)


def _requests_of_disk(case: Case, number: int) -> dict[str, float]:
    """As `_requests`, of one disk of a device: of a RAID set, or itself."""
    p, t = case.parameters, case.solution
    pages = {"swap out": p.swap.cluster_pages, "write-back": t.writes.pages / np.maximum(t.writes.requests, 1e-300)}
    disks, found = len(case.system.storage.disks_of(number)), {}
    if number in _log_numbers(case):
        return {name: per_s / disks for name, per_s in _requests(case, number).items()}
    for name, per_s in _requests(case, number).items():
        writes = float(p.disk_writes(pages.get(name, np.ones(1)))[0])
        found[name] = per_s / disks * (1.0 if name in READ_PURPOSES else writes)
    return found


def _heap(case: Case) -> float:
    """Writes that are handed to all data devices at once."""
    if case.system.direct_io:
        return float(case.parameters.writing.batch_pages[0])
    p = case.parameters
    return float(
        min(case.rate * case.solution.writes.requests[0] * p.write_back.interval_s[0], p.write_back.in_flight_pages[0])
    )
