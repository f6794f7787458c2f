"""Random small systems: a `System` is a program and its machine in plain values, so that a failing one can be read.

`systems()` draws one, `model_of_system` assembles it. Times lie on a coarse grid often enough that many events fall
on the same nanosecond. Every transaction takes CPU time, and locks are taken in one order: no system stands still.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from oltpsim.simulator.form import (
    UNPACED,
    Costs,
    Daemon,
    DaemonStep,
    DeviceRecord,
    FairQueueing,
    FlashDevice,
    Flushing,
    Interval,
    Log,
    PageCache,
    Pool,
    RaidSet,
    RateLimit,
    Reclaim,
    RotatingDevice,
    Sharing,
    SsdDevice,
    Work,
    Writing,
)
from tests.simulator.daemons import checkpointer, flusher, merging, page_cleaner, sleeping_writer, write_back, writer

MS = 1_000_000
NEVER_NS = 10**15
Step = tuple[Any, ...]


@dataclass(frozen=True)
class Users:
    """Terminals; times in ns by class, as simulator.form.Terminals has them."""

    count: int
    keying_ns: int
    thinking_ns: int
    longest_think: int
    middle_tier_ns: int
    deferred: bool


PAGE_BY_PAGE = Writing()


@dataclass(frozen=True)
class DrawnSystem:
    """`classes`: the steps of each transaction class, and its weight. The others are as in simulator.form."""

    think: tuple[str, int, int] | None
    """a distribution, or None for open arrivals"""
    arrivals_per_s: float
    groups: int
    rows_per_page: int
    hot_pages: int
    grown_pages: int
    fanout: int
    window: int
    classes: tuple[tuple[int, tuple[Step, ...]], ...]
    clients: int
    cores: int
    servers: int
    handover_ns: int
    pool: Pool
    cache: PageCache
    devices: tuple[DeviceRecord, ...]
    own_log: bool
    swap_cluster_pages: int
    merged_pages: int
    requests_per_device: int
    log: Log
    costs: Costs
    direct_io: bool
    interval: Interval
    daemons: tuple[Daemon, ...]
    sharing: Sharing | None = None
    work: Work | None = None
    volume_limits: tuple[RateLimit, ...] | None = None
    writing: Writing = PAGE_BY_PAGE
    fair_queueing: FairQueueing | None = None
    flushing: Flushing | None = None
    by_table: bool = False
    users: Users | None = None
    """in place of thinking and arrivals"""
    reclaim: Reclaim | None = None
    swap_request_bytes: int = 0
    interrupt_ns: int = 0
    """served by a station of their own"""


grid = st.sampled_from([0, MS, 2 * MS, 4 * MS, 10 * MS, 1_375_013, 1])
some_time = st.sampled_from([MS, 2 * MS, 4 * MS, 10 * MS, 1_375_013])
distributions = st.one_of(
    st.tuples(st.just("constant"), grid, st.just(0)),
    st.tuples(st.just("exponential"), some_time, st.just(0)),
    st.tuples(st.just("uniform"), grid, some_time).map(lambda d: (d[0], d[1], d[1] + d[2])),
    st.tuples(st.just("erlang"), some_time, st.integers(1, 4)),
)
cuts = st.sampled_from([1 << 28, 1 << 31, 3 << 30])
writes = st.sampled_from([1, 1, 0, 2])
touches = st.sampled_from(
    ["popular", "remembered", "row", "recent", "next row", "claimed row", "claimed row", "last row", "last row", "scan"]
)
put_aside_at = st.sampled_from(["popular", "remembered", "row", "recent", "next row", "last row"])
steps = st.one_of(
    st.tuples(st.just("touch"), touches, writes, grid),
    st.tuples(st.just("touch"), touches, writes, some_time),
    st.tuples(st.just("touch"), st.just("popular"), st.just(1), st.just(0)),
    st.tuples(st.just("cpu"), grid, grid, grid),
    st.tuples(st.just("work"), distributions),
    st.tuples(st.just("visit"), st.sampled_from(["station 1", "station 2"]), distributions),
    st.tuples(st.just("section"), st.sampled_from(["mutex 1", "mutex 2"]), grid),
    st.tuples(st.just("log"), st.sampled_from([500, 20_000, 0])),
    st.tuples(st.just("network"), grid),
    st.tuples(st.just("other group")),
    st.tuples(st.just("roll back"), cuts),
    st.tuples(st.just("skip"), cuts),
)
rare_steps = st.one_of(
    st.tuples(st.just("visit one"), distributions),
    st.tuples(st.just("gate"), distributions),
    st.tuples(st.just("nap"), some_time),
    st.tuples(st.just("look at the clock")),
    st.tuples(st.just("compare")),
    st.tuples(st.just("flush")),
    st.tuples(st.just("put aside"), put_aside_at, st.sampled_from([1, 2]), grid),
    st.tuples(st.just("touch"), st.just("combined row"), writes, some_time),
    st.tuples(st.just("touch"), st.just("remembered and recent"), writes, some_time),
)
locks_taken = st.sampled_from([(), ("lock 1",), ("lock 2",), ("lock 1", "lock 2"), ("lock 1", "lock 1", "lock 2")])


@st.composite
def transactions(draw: st.DrawFn, kinds: st.SearchStrategy[Step] = steps) -> tuple[int, tuple[Step, ...]]:
    """A weight and steps; locks are taken between any two of them."""
    story: list[Step] = [("cpu", draw(some_time), 0, 0), *draw(st.lists(kinds, min_size=3, max_size=9))]
    taken = draw(locks_taken)
    places = sorted(draw(st.integers(1, len(story))) for _ in taken)
    for place, lock in reversed(list(zip(places, taken, strict=True))):
        story.insert(place, ("lock", lock))
    return draw(st.integers(1, 3)), tuple(story)


arms = st.builds(
    RotatingDevice,
    name=st.just("arm"),
    capacity_bytes=st.sampled_from([1 << 25, 1 << 31]),
    revolution_ns=st.sampled_from([2 * MS, 6 * MS]),
    track_bytes=st.sampled_from([1 << 16, 1 << 19]),
    seek_track_ns=st.just(MS),
    seek_average_ns=st.sampled_from([2 * MS, 8 * MS]),
    seek_full_ns=st.just(15 * MS),
    overhead_ns=st.sampled_from([0, MS // 10]),
    queue_depth=st.sampled_from([1, 1, 2, 5, 8]),
    scheduler=st.sampled_from(["fcfs", "look", "c-look", "deadline"]),
    settle_ns=st.sampled_from([0, MS // 2]),
    head_switch_ns=st.sampled_from([0, MS // 2, 3 * MS]),
    heads=st.sampled_from([1, 3, 8]),
)
caching_arms = st.builds(
    RotatingDevice.with_cache,
    arms,
    st.sampled_from([4096, 20_000, 1 << 20]),
    st.integers(1, 6),
)
controlled_arms = st.builds(
    RotatingDevice.behind_controller,
    arms,
    st.sampled_from([8192, 20_000, 1 << 20]),
    st.integers(1, 6),
    st.sampled_from([0, 40_000]),
)
flashes = st.builds(
    FlashDevice,
    name=st.just("flash"),
    read_ns=st.sampled_from([0, MS, 4 * MS, 1_375_013, 20 * MS]),
    write_ns=st.sampled_from([0, MS, 8 * MS, 999_999, 30 * MS]),
    parallel=st.integers(1, 4),
    reads_per_write=st.sampled_from([0, 1, 3, 100]),
)
slow_flashes = st.builds(FlashDevice, st.just("slow"), st.just(20 * MS), st.just(8 * MS), st.just(1), st.just(100))
ssds = st.builds(
    SsdDevice,
    name=st.just("ssd"),
    read_ns=st.sampled_from([0, MS]),
    write_ns=st.sampled_from([0, MS // 4]),
    command_read_ns=st.sampled_from([0, MS // 8, 1_375_013]),
    command_write_ns=st.sampled_from([0, MS]),
    read_mib_ns=st.sampled_from([MS, 64 * MS]),
    write_mib_ns=st.sampled_from([MS, 64 * MS]),
    dies=st.sampled_from([1, 1, 2, 16]),
    die_ns=st.sampled_from([MS, 8 * MS, 999_999]),
    channel_mib_ns=st.sampled_from([0, 64 * MS]),
    program_ns=st.sampled_from([1, MS, 20 * MS]),
    drain_mib_ns=st.sampled_from([MS, 256 * MS, 4_096 * MS]),
    append_mib_ns=st.sampled_from([MS, 128 * MS]),
    buffer_bytes=st.sampled_from([1, 1 << 14, 1 << 20]),
    flush_ns=st.sampled_from([0, 5 * MS]),
    is_volatile=st.integers(0, 1),
    flushes_alone=st.integers(0, 1),
    interrupted_ns=st.sampled_from([0, 0, 3 * MS]),
)
RAID_SETS = [(2, 1, 0), (3, 1, 0), (2, 2, 0), (6, 2, 0), (3, 1, 1), (5, 1, 1), (4, 1, 2)]
"""disks, copies, parities: RAID 0 twice, 1, 10, 5 twice, 6"""


def sets_of(disks: st.SearchStrategy[DeviceRecord]) -> st.SearchStrategy[RaidSet]:
    """RAID sets of all levels."""
    return st.builds(
        lambda disk, layout, unit: RaidSet("set", (disk,) * layout[0], unit, *layout[1:]),
        disks,
        st.sampled_from([*RAID_SETS, *2 * [RAID_SETS[-1]]]),
        st.sampled_from([4096, 8192, 1 << 14, 1 << 16]),
    )


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """From hardly any buffer to room for every page; memory for all of them or for few."""
    pages = draw(st.one_of(st.integers(2, 12), st.integers(10, 200)))
    return Pool(
        pages=pages,
        replacement=draw(st.sampled_from(["lru", "clock", "midpoint"])),
        resident_pages=draw(st.sampled_from([pages, pages, -(-3 * pages // 4), max(pages // 4, 1), 1])),
    )


@st.composite
def page_caches(draw: st.DrawFn) -> PageCache:
    """From one page to room for every page, of which few or all may be dirty."""
    pages = draw(st.one_of(st.integers(1, 12), st.integers(10, 200)))
    limit = draw(st.sampled_from([1, max(pages // 4, 1), pages, 2 * pages]))
    return PageCache(
        pages=pages,
        dirty_limit_pages=limit,
        paced_pages=draw(st.sampled_from([UNPACED, limit // 2, limit // 4])),
        in_flight_pages=draw(st.integers(1, 70)),
        free_behind=draw(st.booleans()),
        in_file_order=draw(st.booleans()),
        pages_a_pause=draw(st.sampled_from([0, 0, 1, 2, 5])),
    )


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Any start, with a lead-in or none."""
    start = draw(st.sampled_from(["cold", "after_load", "warm", "after_prewarm"]))
    prewarmed = start == "after_prewarm"
    transactions = draw(st.sampled_from([0, 0, 1, 7, 60]))
    return Interval(
        start=start,
        warm_up_ns=draw(st.sampled_from([0, 300 * MS])),
        duration_ns=draw(st.sampled_from([1000 * MS, 2300 * MS])),
        lead_in_transactions=transactions,
        lead_in_ns=draw(st.sampled_from([0, 250 * MS, 1333 * MS])) if transactions else 0,
        prewarm_regions=(0,) if prewarmed else (),
        prewarm_pages=draw(st.sampled_from([3, 50, 10_000])) if prewarmed else 0,
        prewarms_pool=not prewarmed or draw(st.booleans()),
    )


writings = st.sampled_from(
    [
        *(Writing(), Writing(5, 3), Writing(64, 16), Writing(1, 2)),
        *(Writing(pushed=True), Writing(5, pushed=True)),
    ]
)
sharings = st.sampled_from(
    [None, Sharing((1_000_000, 1_250_000)), Sharing((1_000_000, 1_000_000, 1_333_333, 1_666_667))]
)


@st.composite
def writers(draw: st.DrawFn, pool_pages: int) -> Daemon:
    """Background writers that wait for many dirty pages, or look at the pool from time to time."""
    high = draw(st.sampled_from([pool_pages, pool_pages // 2, pool_pages // 8]))
    low = draw(st.sampled_from([high, high // 2, 0]))
    if draw(st.sampled_from([False, False, False, True])):
        return sleeping_writer(draw(st.sampled_from([2 * MS, 50 * MS, 200 * MS])), low, draw(grid))
    return writer(high, low)


@st.composite
def usual_daemons(draw: st.DrawFn, pool_pages: int, direct_io: bool) -> tuple[Daemon, ...]:
    """Write-back, a background writer and a checkpointer."""
    interval_ns = draw(st.sampled_from([MS, 40 * MS, 100 * MS, NEVER_NS]))
    age_ns = draw(st.sampled_from([0, 20 * MS, 200 * MS, NEVER_NS]))
    every_ns = draw(st.sampled_from([100 * MS, 300 * MS, 700 * MS, NEVER_NS]))
    spread_ns = draw(st.sampled_from([0, every_ns // 2, every_ns]))
    return (
        write_back(interval_ns, age_ns),
        *draw(st.sampled_from([(), (flusher(0),), (flusher(1),), (flusher(4),)])),
        draw(writers(pool_pages)),
        checkpointer(every_ns, spread_ns, direct_io),
    )


other_steps = st.sampled_from(
    [
        (DaemonStep("sync"),),
        (DaemonStep("write_expired", (20 * MS,)), DaemonStep("write_log")),
        (DaemonStep("await_dirty", (3,)), DaemonStep("write_dirty", (5, 0)), DaemonStep("note_checkpoint")),
    ]
)
others = st.builds(
    lambda timer, interval_ns, steps: Daemon("other", (DaemonStep(timer, (interval_ns,)), *steps)),
    st.sampled_from(["sleep", "every"]),
    st.sampled_from([5 * MS, 70 * MS]),
    other_steps,
)


@st.composite
def any_daemons(draw: st.DrawFn, pool_pages: int, direct_io: bool) -> tuple[Daemon, ...]:
    """The usual ones, in some systems beside a second writer or others, and in some none at all."""
    if draw(st.sampled_from([False] * 7 + [True])):
        return ()
    usual = draw(usual_daemons(pool_pages, direct_io))
    few = st.lists(st.one_of(writers(pool_pages), others), max_size=2)
    return (*draw(few), *usual) if draw(st.booleans()) else usual


thinking = st.one_of(distributions, st.tuples(st.just("exponential"), st.just(30 * MS), st.just(0)))


sets = sets_of(st.one_of(arms, flashes))


@st.composite
def systems(draw: st.DrawFn) -> DrawnSystem:
    """Any system; closed or open, fast or hopelessly overloaded."""
    is_open = draw(st.sampled_from([False, False, True]))
    costs = st.sampled_from([0, MS // 10, MS // 5])
    pool, direct_io = draw(pools()), draw(st.booleans())
    return DrawnSystem(
        think=None if is_open else draw(thinking),
        arrivals_per_s=draw(st.sampled_from([5.0, 100.0, 1500.0])) if is_open else 0.0,
        groups=draw(st.integers(1, 3)),
        rows_per_page=draw(st.integers(1, 4)),
        hot_pages=draw(st.integers(1, 120)),
        grown_pages=draw(st.integers(1, 40)),
        fanout=draw(st.sampled_from([0, 2, 50])),
        window=draw(st.integers(1, 9)),
        classes=tuple(draw(st.lists(transactions(), min_size=1, max_size=3))),
        clients=draw(st.integers(1, 16)),
        cores=draw(st.integers(1, 4)),
        servers=draw(st.integers(1, 3)),
        handover_ns=draw(grid),
        pool=pool,
        cache=draw(page_caches()),
        devices=tuple(
            draw(st.lists(st.one_of(arms, arms, flashes, slow_flashes, slow_flashes, sets), min_size=1, max_size=4))
        ),
        own_log=draw(st.booleans()),
        swap_cluster_pages=draw(st.sampled_from([1, 3, 8])),
        swap_request_bytes=draw(st.sampled_from([0, 6144, 12_288])),
        merged_pages=draw(st.integers(1, 4)),
        requests_per_device=draw(st.sampled_from([1, 2, 16])),
        log=draw(st.builds(Log, st.booleans(), st.sampled_from([0, MS // 2]))),
        costs=Costs(draw(costs), draw(costs), draw(costs), draw(costs)),
        direct_io=direct_io,
        interval=draw(intervals()),
        daemons=draw(any_daemons(pool.pages, direct_io)),
        writing=draw(writings),
    )


@st.composite
def worked_systems(draw: st.DrawFn) -> DrawnSystem:
    """Closed systems whose clients stop after some transactions, most of them on threads that slow each other down."""
    system = draw(systems().filter(lambda one: one.think is not None))
    whole = dataclasses.replace(system.interval, warm_up_ns=0, duration_ns=3600 * 1000 * MS)
    work = Work(draw(st.sampled_from([1, 2, 20])))
    return dataclasses.replace(system, interval=whole, work=work, sharing=draw(sharings))


@st.composite
def caching_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems whose disks have write caches, most of them soon full; some in RAID sets."""
    devices = st.lists(st.one_of(caching_arms, sets_of(caching_arms)), min_size=1, max_size=2)
    return dataclasses.replace(draw(systems()), devices=tuple(draw(devices)))


@st.composite
def ssd_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems on SSDs, some in RAID sets, whose log waits for its flushes."""
    devices = draw(st.lists(st.one_of(ssds, sets_of(ssds)), min_size=1, max_size=2))
    log = Log(durable=draw(st.sampled_from([True, True, False])), flush_overhead_ns=0)
    return dataclasses.replace(draw(systems()), devices=tuple(devices), log=log)


@st.composite
def controlled_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems on RAID sets behind a controller's cache, most of them soon full; many pages are written at once."""
    devices = st.lists(sets_of(controlled_arms), min_size=1, max_size=2)
    batches = st.sampled_from([Writing(5, 1), Writing(5, 3), Writing(64, 16)])
    return dataclasses.replace(draw(systems()), devices=tuple(draw(devices)), writing=draw(batches))


@st.composite
def rate_limits(draw: st.DrawFn) -> RateLimit:
    """Limits that slow most systems down, with or without credits."""
    of = draw(st.sampled_from(["requests", "requests", "mib"]))
    per_s = draw(st.sampled_from([20.0, 100.0, 333.0, 1000.0])) * (0.01 if of == "mib" else 1.0)
    bucket = draw(st.sampled_from([0.0, 0.5, 10.0, 100.0]))
    burst = per_s * (draw(st.sampled_from([1.0, 3.0, 10.0])) if bucket else 1.0)
    unit = draw(st.sampled_from([4096, 8192, 16384, 1 << 18])) if of == "requests" else 1
    at_start = bucket * draw(st.sampled_from([0.0, 0.5, 1.0]))
    direction = draw(st.sampled_from(["both", "both", "read", "write"]))
    slice_ns = draw(st.sampled_from([0, 0, 1_000_003, 100_000_000]))
    return RateLimit(of, per_s, burst, bucket, at_start, unit, direction, slice_ns)


limit_sets = st.lists(rate_limits(), min_size=1, max_size=3).map(tuple)
volumes = st.builds(lambda flash, limits: dataclasses.replace(flash, limits=limits), flashes, limit_sets)


@st.composite
def limited_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems on cloud volumes, some in RAID sets, some behind limits of the machine, some beside disks without any."""
    devices = draw(st.lists(st.one_of(volumes, flashes, sets_of(volumes), arms), min_size=1, max_size=3))
    shared = (
        draw(st.one_of(st.none(), limit_sets))
        if any(isinstance(one, FlashDevice) and one.limits for one in devices)
        else ()
    )
    shared = draw(limit_sets) if shared == () else shared
    return dataclasses.replace(draw(systems()), devices=tuple(devices), volume_limits=shared)


fair_rules = st.builds(
    FairQueueing,
    quantum=st.integers(1, 5),
    slice_ns=st.sampled_from([1, MS, 10 * MS, 100 * MS]),
    background_slice_ns=st.sampled_from([1, 2 * MS, 1_375_013, 40 * MS]),
)


@st.composite
def fair_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems with fair queueing before flash and sets, of which some are cloud volumes; some have disks with arms."""
    kinds = (flashes, slow_flashes, sets_of(arms), sets_of(flashes), volumes, arms)
    devices = draw(st.lists(st.one_of(*kinds), min_size=1, max_size=3))
    return dataclasses.replace(draw(systems()), devices=tuple(devices), fair_queueing=draw(fair_rules))


@st.composite
def flushings(draw: st.DrawFn) -> Flushing:
    """Rules under which hardly anything is written by age, or all; some commits wait."""
    whole = draw(st.sampled_from([100, 1_000, 20_000]))
    most = draw(st.sampled_from([10, 700, 5_000, 60_000]))
    percents = st.lists(st.integers(0, 300), min_size=1, max_size=101).map(tuple)
    return Flushing(
        whole_age_bytes=whole,
        full_bytes=whole + draw(st.sampled_from([0, 500, 20_000])),
        cleaners=draw(st.integers(1, 3)),
        milli_pages=draw(st.integers(1, most)),
        most_milli_pages=most,
        rounds=draw(st.sampled_from([1, 2, 30])),
        percent_by_age=draw(percents),
        percent_by_dirty=draw(percents),
    )


@st.composite
def flushing_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems whose dirty pages are written in the order of their age, most of them twice; half by buffered I/O."""
    system, rules = draw(st.one_of(ssd_systems(), systems())), draw(flushings())
    doubled, direct_io = draw(st.sampled_from([True, True, False])), draw(st.booleans())
    files = draw(st.sampled_from([((0, 0), (3, 1), (11, 0), (20, 2)), ()]))
    parts = [part for one in system.devices for part in (one.disks if isinstance(one, RaidSet) else (one,))]
    flushes = all(isinstance(part, SsdDevice) for part in parts)
    cleaner = page_cleaner(
        draw(st.sampled_from([5 * MS, 40 * MS, 100 * MS])),
        draw(st.integers(0, 60)),
        rules.whole_age_bytes + draw(st.sampled_from([0, 500])),
        draw(st.sampled_from([None, 1, 20, 20, 10**9])),
    )
    deeper = DaemonStep("write_tail", (draw(st.integers(0, 60)),))
    other = Daemon("cleaner of another depth", (DaemonStep("sleep", (30 * MS,)), deeper))
    merger = merging(draw(st.sampled_from([5 * MS, 40 * MS, 300 * MS])), draw(st.sampled_from([100, 3_700, 20_000])))
    some = st.tuples(st.just("put aside"), put_aside_at, st.sampled_from([1, 1, 2]), grid)
    put_aside = draw(st.lists(some, max_size=3))
    return dataclasses.replace(
        system,
        direct_io=direct_io,
        pool=dataclasses.replace(
            system.pool,
            replacement=draw(st.sampled_from(["lru", "midpoint"])),
            clean_search_pages=draw(st.sampled_from([1, 3, 100])),
            free_wait_ns=draw(st.sampled_from([0, 0, 3 * MS, 40 * MS])),
            old_ms=draw(st.sampled_from([0, 1, 20, 1000])),
        ),
        log=dataclasses.replace(
            system.log,
            writes_per_group=draw(st.integers(1, 2)),
            journal_writes=draw(st.integers(0, 2)),
            at_once=system.log.durable and draw(st.booleans()),
        ),
        writing=dataclasses.replace(
            system.writing,
            doubled=doubled,
            synced=not direct_io,
            files=files if flushes else (),
        ),
        flushing=rules,
        classes=tuple((weight, (*story, *put_aside)) for weight, story in system.classes),
        daemons=(
            *system.daemons[:1],
            *rules.cleaners * (cleaner,),
            *draw(st.sampled_from([(), (), (other,)])),
            *draw(st.sampled_from([(merger,), (merger, merger), ()])),
        ),
    )


@st.composite
def systems_by_table(draw: st.DrawFn) -> DrawnSystem:
    """Systems whose tables lie on devices of their own."""
    devices = draw(st.lists(st.one_of(arms, flashes, sets), min_size=2, max_size=5))
    return dataclasses.replace(draw(systems()), devices=tuple(devices), by_table=True)


users = st.builds(
    Users,
    count=st.integers(1, 30),
    keying_ns=st.sampled_from([0, MS, 20 * MS]),
    thinking_ns=st.sampled_from([0, 10 * MS, 40 * MS]),
    longest_think=st.sampled_from([1, 3, 10]),
    middle_tier_ns=st.sampled_from([0, 2 * MS]),
    deferred=st.booleans(),
).filter(lambda one: not one.deferred or one.keying_ns + one.thinking_ns > 0)
"""whoever neither waits for an answer nor types nor thinks would send for ever at one instant"""


@st.composite
def any_systems(draw: st.DrawFn) -> DrawnSystem:
    """Systems that may have every part and every operation."""
    system = draw(systems())
    kinds = st.one_of(steps, steps, rare_steps)
    every = st.one_of(
        arms,
        caching_arms,
        flashes,
        slow_flashes,
        volumes,
        ssds,
        sets,
        sets_of(caching_arms),
        sets_of(volumes),
        sets_of(ssds),
    )
    has_users = draw(st.sampled_from([False, False, False, True]))
    rarely = st.sampled_from([False, False, False, True])
    is_closed = system.think is not None and not has_users
    has_work = is_closed and draw(rarely)
    long = dataclasses.replace(system.interval, warm_up_ns=0, duration_ns=3600 * 1000 * MS)
    drawn = dataclasses.replace(
        system,
        classes=tuple(draw(st.lists(transactions(kinds), min_size=1, max_size=3))),
        devices=tuple(draw(st.lists(every, min_size=1, max_size=4))),
        users=draw(users) if has_users else None,
        think=None if has_users else system.think,
        arrivals_per_s=0.0 if has_users else system.arrivals_per_s,
        sharing=draw(sharings),
        volume_limits=draw(limit_sets) if draw(rarely) else None,
        fair_queueing=draw(fair_rules) if draw(rarely) else None,
        by_table=draw(rarely),
        interrupt_ns=draw(st.sampled_from([0, 0, MS // 5])),
        work=Work(draw(st.sampled_from([1, 2, 20]))) if has_work else None,
        interval=long if has_work else system.interval,
    )
    log_bytes = draw(st.sampled_from([None, None, 2_000, 10**18]))
    return drawn if log_bytes is None else with_whole_pages(drawn, log_bytes)


def with_whole_pages(system: DrawnSystem, log_bytes: int) -> DrawnSystem:
    """Its checkpoints come by the log's volume too, and the log has pages whole after each."""

    def by_log(daemon: Daemon) -> Daemon:
        if DaemonStep("note_checkpoint") not in daemon.steps or daemon.steps[0].operation != "every":
            return daemon
        begins = DaemonStep("every_or_logged", (*daemon.steps[0].operands, log_bytes)), DaemonStep("begin_checkpoint")
        return dataclasses.replace(daemon, steps=(*begins, *daemon.steps[1:]))

    log = dataclasses.replace(system.log, full_page_bytes=8192)
    return dataclasses.replace(system, daemons=tuple(map(by_log, system.daemons)), log=log)
