"""Results of runs: the result and its parts, counters and levels of a run, laws, the bottleneck.

recording/ makes a result of a run.
"""

from oltpsim.simulator.results.figures import (
    ROW_LOCKS,
    bottleneck_of,
    connections_result,
    warnings_of_credits,
    warnings_of_overload,
    warnings_of_swapping,
    with_interrupts,
)
from oltpsim.simulator.results.laws import law_at_most_one, law_equal, law_of_class_times
from oltpsim.simulator.results.recorder import (
    ACTIVITIES,
    HISTOGRAM_BUCKETS,
    Activity,
    ClassRecorder,
    Gauge,
    Population,
    ResponseCounts,
    histogram_share_below,
)
from oltpsim.simulator.results.result import (
    NOT_STEADY,
    RATE_KEY,
    Beginning,
    Bottleneck,
    CacheResult,
    ClassResult,
    CpuResult,
    DeviceResult,
    Estimate,
    Law,
    LimitResult,
    LockResult,
    LogResult,
    PercentileInterval,
    PercentileIntervals,
    Result,
    Series,
    StationResult,
    TableResult,
    main_class_of,
    read_result,
    result_json,
    times_faster,
    utilisation_key,
)
from oltpsim.simulator.results.snapshot import (
    CPU_ACTIVITIES,
    CacheCounters,
    CacheLevels,
    Counters,
    CpuTimeCounters,
    DeviceCounters,
    Levels,
    LimiterCounters,
    LimiterLevels,
    LockCounters,
    LogCounters,
    QueueLevels,
    SectionCounters,
    Snapshot,
    StationCounters,
    TableCounters,
    TerminalLevels,
)
