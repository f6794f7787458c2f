"""A disk for the catalogue from fio's results at one to three depths; more tell its kind (fit/disk_kinds.py).

The catalogue's flash disk serves `parallel_requests` at once, each for the latency of its kind. Latency is that of
the least depth; the requests served at once follow from the highest rate by Little's law, rate * latency. How far
this is from each result is printed: a throttle and a disk with an arm are no such disks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.calibration.records import DiskPoint
from oltpsim.models.input import parse_quantity, validated
from oltpsim.models.machine import FlashDiskSpec
from oltpsim.simulator.errors import InputError

MOST_ERROR = 0.15
"""A disk whose rates are further off at any depth is told not to be of this kind."""
MOST_TAIL = 8.0
"""A p99 that is so many times the mean at the least depth: requests wait for leave, not for service."""


@dataclass(frozen=True)
class DiskEntry:
    """The entry and the results it was made of."""

    spec: FlashDiskSpec
    points: tuple[DiskPoint, ...]

    def rate_per_s(self, point: DiskPoint) -> float:
        """Rate of the entry at a point's depth: min(depth, parallel) / latency; reads and writes share the depth."""
        together = [each for each in self.points if each.file == point.file and each.depth == point.depth]
        share = point.per_s / sum(each.per_s for each in together)
        mean_us = sum(each.per_s * self._latency_us(each) for each in together) / sum(each.per_s for each in together)
        return share * min(point.depth, self.spec.parallel_requests) / mean_us * 1e6

    def _latency_us(self, point: DiskPoint) -> float:
        return self.spec.read_latency_us if point.operation == "read" else self.spec.write_latency_us


def disk_entry(points: Sequence[DiskPoint], name: str, capacity: str | None) -> DiskEntry:
    """The entry. Raises InputError without reads, with several block sizes, or without a capacity."""
    reads = sorted((point for point in points if point.operation == "read"), key=lambda point: point.depth)
    writes = sorted((point for point in points if point.operation == "write"), key=lambda point: point.depth)
    files = ", ".join(dict.fromkeys(point.file.partition(",")[0] for point in points))
    if not reads:
        raise InputError(f"{files}: got no random reads; expected a result with reads; run fio with --rw=randread")
    sizes = sorted({point.block_kib for point in points})
    if len(sizes) > 1:
        raise InputError(
            f"{files}: got blocks of {' and '.join(f'{size:g} KiB' for size in sizes)}; "
            "expected one size, or results at four depths or more, which show what a larger request costs"
        )
    if capacity is None:
        raise InputError(f"{files}: fio doesn't tell the disk's capacity; add --capacity, such as --capacity 931GiB")
    source = f"fio, blocks of {sizes[0]:g} KiB, depths {', '.join(f'{point.depth:g}' for point in reads)}: {files}"
    if reads[0].depth > 1:
        source += f"; assumption: the latency at depth {reads[0].depth:g} is that of the disk alone"
    if not writes:
        source += "; assumption: a write takes as long as a read (no result with writes)"
    try:
        data = {
            "name": name,
            "capacity_gib": parse_quantity(capacity, "memory", "GiB"),
            "read_latency_us": round(reads[0].mean_us, 3),
            "write_latency_us": round((writes or reads)[0].mean_us, 3),
            "parallel_requests": _parallel(reads, writes),
            "source": source,
        }
    except ValueError as error:
        raise InputError(f"--capacity: got {capacity!r}; {error}") from error
    return DiskEntry(validated(FlashDiskSpec, data, files), (*reads, *writes))


def _parallel(reads: Sequence[DiskPoint], writes: Sequence[DiskPoint]) -> int:
    """Requests in service at the highest rate: the sum over reads and writes of rate times latency."""
    inside: dict[tuple[str, float], float] = {}
    for points in (reads, writes):
        for point in points:
            key = (point.file, point.depth)
            inside[key] = inside.get(key, 0.0) + point.per_s * points[0].mean_us / 1e6
    return max(1, round(max(inside.values())))


def disk_entry_lines(entry: DiskEntry) -> list[str]:
    """Measured beside the entry's own rate, and a warning if the two part."""
    lines = ["# way    depth  measured/s  latency us  p99 us      entry/s  off"]
    worst = 0.0
    for point in entry.points:
        rate = entry.rate_per_s(point)
        off = rate / point.per_s - 1.0
        worst = max(worst, abs(off))
        lines.append(
            f"# {point.operation:<5} {point.depth:>6g} {point.per_s:>11,.1f} {point.mean_us:>11,.1f} "
            f"{point.p99_us:>9,.1f} {rate:>12,.1f} {off:+.0%}"
        )
    lines += tail_lines(entry.points)
    if worst > MOST_ERROR:
        lines.append(
            f"# warning: up to {worst:.0%} off: this disk isn't so many servers of one latency "
            "(an arm, a cache, a limit of bandwidth)"
        )
    return lines


def tail_lines(points: Sequence[DiskPoint]) -> list[str]:
    """A warning if requests of the fewest in flight wait for leave, not for service."""
    least = min(points, key=lambda point: point.depth)
    if not least.p99_us > MOST_TAIL * least.mean_us:
        return []
    times = least.p99_us / least.mean_us
    return [
        (
            f"# warning: at depth {least.depth:g} one request in a hundred takes {times:.0f} times the mean: "
            "a limit of I/Os per s, or a busy host; the disk itself is faster than this entry's latency"
        )
    ]
