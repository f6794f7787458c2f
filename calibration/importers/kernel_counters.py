"""Counters of the Linux kernel before and after: /proc/diskstats, /proc/stat, /proc/vmstat; and sizes of memory.

Traps: they are totals since boot and mean something only as differences; the clock ticks of all CPUs add up to the
time between two snapshots; a cgroup's limit is the memory that the database has, not what the machine has.
"""

import re

from oltpsim.calibration.importers.vocabulary import phase_of
from oltpsim.calibration.records import CounterRate, CounterSnapshot, FileReading
from oltpsim.models.input import SourceFile
from oltpsim.simulator.form import GIB, KIB

KIND = "kernel counters"
TICKS_PER_S = 100.0
DISK = re.compile(r"^\s*\d+\s+\d+\s+([A-Za-z]\S*)((?:\s+\d+){11,})\s*$")
DISK_FIELDS = (
    "reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms",
    "in_flight", "busy_ms", "queue_ms",
)  # fmt: skip
CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
SHARES = (
    ("user", ("user", "nice")),
    ("system", ("system", "irq", "softirq")),
    ("iowait", ("iowait",)),
    ("idle", ("idle",)),
    ("steal", ("steal",)),
)
NO_LIMIT_BYTES = 2**62


def detect(file: SourceFile) -> bool:
    """By the shape of the first line."""
    return _kind(file) is not None


def _kind(file: SourceFile) -> str | None:
    lines = file.head.splitlines()
    first = lines[0] if lines else ""
    if DISK.match(first):
        return "diskstats"
    if re.match(r"^cpu  \d+( \d+){6,}$", first):
        return "stat"
    if first.startswith("MemTotal:"):
        return "meminfo"
    if re.match(r"^nr_free_pages \d+$", first):
        return "vmstat"
    return "memory.stat" if re.search(r"^hierarchical_memory_limit \d+$", file.head, re.MULTILINE) else None


def read(file: SourceFile) -> FileReading:
    """Counters, or the size of memory."""
    kind = _kind(file)
    reading = FileReading(f"{KIND} ({kind})", file.name)
    phase = phase_of(file.name)
    if kind == "diskstats":
        reading.snapshot = _disks(file, phase)
    elif kind == "stat":
        reading.snapshot = _cpus(file, phase, reading)
    elif kind == "vmstat":
        reading.snapshot = _swap(file, phase)
    else:
        _memory(file, reading, kind == "meminfo")
    return reading


def _disks(file: SourceFile, phase: str | None) -> CounterSnapshot:
    counters: dict[str, float] = {}
    rates: list[CounterRate] = []
    for at, line in enumerate(file.whole_lines, 1):
        match = DISK.match(line)
        if match is None:
            remedy = "copy /proc/diskstats again"
            file.refuse(f"line {at}", f"{len(line.split())} words", "a device with at least 11 counters", remedy)
        name, words = match[1], match[2].split()
        counters.update({f"{name} {key}": float(word) for key, word in zip(DISK_FIELDS, words, strict=False)})
        if float(words[0]) + float(words[4]) == 0:
            continue
        base = ("resources", "devices", name)
        for kind in ("read", "write"):
            done, time = f"{name} {kind}s", f"time of all {kind}s over their number"
            sectors = ("sectors of 512 bytes", f"sectors of {kind}s", 0.5)
            rates += [
                CounterRate((*base, f"{kind}s_per_s"), done, f"{kind}s", f"{kind}s completed, after merging"),
                CounterRate((*base, f"{kind}_kib_per_s"), f"{name} {kind}_sectors", *sectors),
                CounterRate((*base, f"{kind}_await_ms"), f"{name} {kind}_ms", "ms", time, per=done),
            ]
        waiting, busy = "requests waiting or in service: weighted time", "time with a request in flight"
        rates += [
            CounterRate((*base, "queue_length"), f"{name} queue_ms", "ms", waiting, 1e-3),
            CounterRate((*base, "utilisation_fraction"), f"{name} busy_ms", "ms", busy, 1e-3),
        ]
    return CounterSnapshot(phase, counters, tuple(rates))


def _cpus(file: SourceFile, phase: str | None, reading: FileReading) -> CounterSnapshot:
    words = file.lines[0].split()[1:]
    ticks = {key: file.number(word, f"line 1, {key}") for key, word in zip(CPU_FIELDS, words, strict=False)}
    cpus = sum(1 for line in file.whole_lines if re.match(r"^cpu\d+ ", line))
    if not cpus:
        file.truncated("a line of each CPU")
    reading.set_cores(cpus, "lines cpu0, cpu1, ...")
    counters = {share: sum(ticks.get(key, 0.0) for key in keys) for share, keys in SHARES}
    counters["all"] = sum(counters.values())
    rates = []
    for share, keys in SHARES:
        means = f"ticks of {' and '.join(keys)} over all ticks"
        rates.append(CounterRate(("resources", f"cpu_{share}_fraction"), share, "ticks", means, per="all"))
    return CounterSnapshot(phase, counters, tuple(rates), clock_s=counters["all"] / TICKS_PER_S / cpus)


def _swap(file: SourceFile, phase: str | None) -> CounterSnapshot:
    counters = {
        words[0]: file.number(words[1], words[0]) for line in file.whole_lines if len(words := line.split()) == 2
    }
    if not {"pswpin", "pswpout"} <= set(counters):
        file.truncated("pswpin and pswpout")
    rates = []
    for way in ("in", "out"):
        path, means = ("resources", f"swap_{way}_kib_per_s"), f"pswp{way} of the whole machine"
        rates.append(CounterRate(path, f"pswp{way}", "pages of 4 KiB", means, 4.0))
    return CounterSnapshot(phase, counters, tuple(rates))


def _memory(file: SourceFile, reading: FileReading, whole_machine: bool) -> None:
    for at, line in enumerate(file.whole_lines, 1):
        words = line.split()
        if whole_machine and words[:1] == ["MemTotal:"] and len(words) == 3:
            value = file.number(words[1], f"line {at}") / (GIB / KIB)
            reading.add(
                "environment.memory_gib", value, words[2], f"line {at}, MemTotal", "memory of the whole machine"
            )
        if not whole_machine and words[:1] == ["hierarchical_memory_limit"]:
            value = file.number(words[1], f"line {at}")
            if value < NO_LIMIT_BYTES:
                means = "memory and page cache that the database's cgroup may use"
                reading.add("environment.memory_gib", value / GIB, "B", f"line {at}, hierarchical_memory_limit", means)
