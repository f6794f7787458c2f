// Machine: what the equations need of hardware and configuration, one row of numbers for each machine.
#pragma once
#include "numbers.hpp"

namespace oltpsim {

constexpr i64 QUEUE_POINTS = 35;    // of tables by the number of waiting requests, two for each doubling from 1 on
constexpr i64 SHARING_POINTS = 65;  // of the table of slowdowns, at equal steps of the chance that a thread is busy
constexpr i64 SHARE_POINTS = 51;    // of tables by a share, at equal steps from 0 to 1
constexpr double LONGEST_QUEUE = 131072.0;

// clang-format off: it would move the ends of these lines for ever
#define OLTPSIM_MACHINE(X) \
    X(clients)        /* closed clients, or connections of terminals */ \
    X(arrivals_per_s) /* 0: closed */ \
    X(terminals)      /* before the clients, which are their connections; 0: none */ \
    X(away_s)         /* keying, thinking and middle tier of a terminal, for a transaction */ \
    X(cpu_speed)      /* relative to the machine that the workload was read for */ \
    X(processors)     /* hardware threads */ \
    X(beside)         /* most other threads that may be busy when a burst starts */ \
    X(handover_s)     /* of a contended critical section */ \
    X(slice_s)        /* after which a burst lets others go first; without end if never */ \
    X(read_cpu_s) \
    X(write_cpu_s) \
    X(miss_cpu_s) \
    X(request_cpu_s) \
    X(buffers)    /* pages of the buffer pool */ \
    X(growing)    /* 1 while the pool fills: nothing dirty leaves it, nothing of it is cached below */ \
    X(done)       /* transactions since the start; without end in the long run */ \
    X(pool_left)  /* buffers with pages that the start has left */ \
    X(resident)   /* buffers that have memory */ \
    X(dirty_high) /* dirty buffers at which the writer begins, and at which it stops */ \
    X(dirty_low) \
    X(cleaners)        /* page cleaners; 0: a background writer and checkpoints */ \
    X(tail_pages)      /* at the end of the list that they keep clean */ \
    X(round_s)         /* from one look of theirs at the ages to the next */ \
    X(tail_round_s)    /* and at the list's end, */ \
    X(tail_evictions)  /* or sooner, when so many pages have left the pool; without end if never */ \
    X(redo_bytes)      /* of log since a page's first change, that `aged_per_s` begins and ends with */ \
    X(redo_sync_bytes) /* at which pages are written whatever that says */ \
    X(redo_full_bytes) /* at which commits wait */ \
    X(merged_per_s)    /* pages that a daemon reads and changes, at most: those of changes put aside */ \
    X(doubled)         /* 1: a batch of direct writes is written twice, first its copies in one request */ \
    X(closed_s)        /* of a flush that a data disk does alone, others waiting; 0: beside them */ \
    X(synced_s)        /* what a data disk needs for a flush behind pages that are written twice; 0: they aren't */ \
    X(writer_batch) /* pages that writer and checkpoint hand to the disks at once */ \
    X(pushed)       /* 1: through the page cache to the disks at once */ \
    X(cache_pages)  /* of the page cache */ \
    X(cache_background)  /* dirty pages above which write-back doesn't wait for their age */ \
    X(cache_chunk)       /* of them that it then takes along at once; 0: a page at a time */ \
    X(cache_dirty_limit) /* with which writers are as fast as the disks */ \
    X(expire_s)    /* age at which the page cache writes a dirty page back */ \
    X(flush_s)     /* interval of write-back */ \
    X(read_factor) /* device reads by those expected; 1, but where a run has told another number */ \
    X(write_factor) \
    X(free_behind)    /* 1: a written page is reclaimed first */ \
    X(cache_log_pages) /* of the log's files, in the page cache at most; 0: they go past it */ \
    X(cache_log_bytes) /* of the log that take up a page of it */ \
    X(direct)         /* 1: whoever writes pages of the pool waits until the disks have them */ \
    X(synced)         /* 1: those go through the page cache, and stay there; 0: past it, if `direct` */ \
    X(data_devices)   /* disks with data, a RAID set's counted one by one */ \
    X(disks_per_file) /* 1, or all disks of the RAID set that the one file lies on */ \
    X(copies) \
    X(parities) \
    X(unit_pages)        /* pages that a RAID set puts on one disk before it goes on to the next */ \
    X(again_s)           /* what a write takes longer if the disk reads the place before */ \
    X(flash)             /* 1: flash, whose latency doesn't depend on the queue; 0: an arm */ \
    X(dies)              /* of an SSD, whose write_s are its dies' time for a page; 0: none */ \
    X(die_s)             /* of one, for a page */ \
    X(interface_read_s)  /* of an SSD, for a page */ \
    X(interface_write_s) \
    X(acknowledged_s)    /* a lone write into its buffer */ \
    X(program_s)         /* of a die */ \
    X(interrupted_s)     /* that programs lose by a read */ \
    X(buffer_s)          /* in which a full buffer is programmed */ \
    X(data_volatile)     /* 1: data devices have no power-loss protection */ \
    X(log_volatile)      /* 1: the log's device has no power-loss protection */ \
    X(write_cache_s)     /* an arm's write into the drive's cache; 0 without one */ \
    X(write_cache_pages) /* that it holds */ \
    X(parallel)          /* requests that a data disk serves at once */ \
    X(reads_per_write)   /* reads that go ahead of each write while both wait; 0: in order of arrival */ \
    X(calls)             /* requests of the database that one file may have at once */ \
    X(page_transfer_s)   /* of each further page of a merged write */ \
    X(append_page_s)     /* of an SSD's dies for a page that is appended, as copies of a doublewrite are */ \
    X(merged_pages) \
    X(in_flight) /* pages that write-back may have at the disks at once */ \
    X(swap_cluster) \
    X(durable) /* 1: commits wait for the log */ \
    X(flush_overhead_s) \
    X(log_own)     /* 1: the log has a device of its own */ \
    X(log_first_s) /* a flush out of the blue, with its overhead */ \
    X(log_again_s) /* one that follows another at once */ \
    X(log_byte_s) \
    X(log_writes)         /* of a group, one after the other, each as large */ \
    X(log_journal_writes) /* behind them, of a block each */ \
    X(log_at_once)        /* 1: flushed whenever something is logged, the other writes a stage of their own */ \
    X(log_sync_s)         /* of an SSD's flush what its sync takes beyond the write */ \
    X(log_drain_byte_s)  /* of an SSD's dies */ \
    X(since_s)   /* from the start to the middle of the counted interval */ \
    X(turnovers) /* of the pool before the start */ \
    X(checkpoint_s) \
    X(spread_s) /* time over which a checkpoint is spread */ \
    X(checkpoint_bytes) /* of log after which one begins, if that is sooner; without end if nobody looks */ \
    X(image_bytes) /* that a page's first change since then logs on top of its own */ \
    X(limited)  /* 1: a volume behind limits, whose service times are turns at them */ \
    X(apart_page_s) /* what bytes of a page take of a second limit, which counts apart, over slices; 0: there is none */ \
    X(delay_s)  /* of a read, beyond its turn */ \
    X(free_wait_s) /* for a buffer of a full pool, of each read */ \
    X(log_delay_s) \
    X(write_alone_s) /* > 0: a write's response, behind caps of its own where it meets no reads */ \
    X(log_beside_s) /* what a flush on a device of its own takes of each data disk's time, behind one limit */ \
    X(log_behind)   /* 1 if that limit is the tightest: flushes wait among reads */

#define OLTPSIM_MACHINE_TABLES(X) \
    X(read_s, QUEUE_POINTS) \
    X(write_s, QUEUE_POINTS) \
    X(swap_read_s, QUEUE_POINTS) \
    X(swap_write_s, QUEUE_POINTS) \
    X(log_turns, QUEUE_POINTS) /* requests that an arm serves until the log's is served */ \
    X(slowdowns, SHARING_POINTS) \
    X(aged_per_s, SHARE_POINTS) /* pages that the age of the log asks for, by its share of `redo_bytes` */ \
    X(dirty_per_s, SHARE_POINTS) /* pages that dirty ones ask for, by their share of the pool */
// clang-format on

struct Machine {
#define X(name) double name;
    OLTPSIM_MACHINE(X)
#undef X
#define X(name, points) double name[points];
    OLTPSIM_MACHINE_TABLES(X)
#undef X
    // Behind them, of lengths that the workload says: by class CPU time outside and inside critical sections and the
    // network's delays; CPU time until each lock is asked for; by group the first and the last place that pages of its
    // table have among those that the start has left, counted from the one that it left last.
    const double* path_s;
    const double* section_s;
    const double* network_s;
    const double* path_before_s;
    const double* left_from;  // null: nothing
    const double* left_to;

    // Share of a group's pages that are among the last so many that the start has left.
    double left_of(std::size_t g, double pages) const {
        if (left_from == nullptr || left_to[g] <= left_from[g]) return 0.0;
        return clip((pages - left_from[g]) / (left_to[g] - left_from[g]), 0.0, 1.0);
    }

    // Disks' worth of data in a file's stripe.
    double data_units() const { return disks_per_file / copies - parities; }
    // Disks on which neighbouring pages of a request lie, copies and parity left out.
    double units(double pages) const { return std::min(1.0 + (pages - 1.0) / unit_pages, data_units()); }
    // Writes of disks for each write of so many neighbouring pages.
    double disk_writes(double pages) const { return copies * units(pages) + parities; }
    // What a write of so many neighbouring pages on one disk takes longer than one of a page.
    double longer_s(double pages) const {
        return limited > 0 ? std::max(pages * page_transfer_s - write_s[0], 0.0) : (pages - 1.0) * page_transfer_s;
    }
    // Writes of a page that whoever needs its buffer writes: its copy first, if pages are written twice.
    double victim_writes() const { return 1.0 + doubled; }
    // Requests of the database that a disk may have at once, on average over those of a RAID set.
    double calls_per_disk() const { return calls / disks_per_file; }
    bool open() const { return arrivals_per_s > 0; }
    // Whether misses of the pool look into a page cache.
    bool cached() const { return direct <= 0 || synced > 0; }
    // Whether a flush follows the pages that daemons and clients write.
    bool flushed() const { return doubled > 0 || synced > 0; }
    bool log_shared() const { return log_own <= 0; }
};

constexpr i64 MACHINE_NUMBERS = static_cast<i64>(offsetof(Machine, path_s) / sizeof(double));

// A table of service times at any number of waiting requests.
inline double at_queue(const double* table, double queue) {
    const double place = 2.0 * 1.4426950408889634 * log_of(clip(queue, 1.0, LONGEST_QUEUE));
    if (!(place >= 0.0)) return NAN;
    const i64 below = std::min(static_cast<i64>(place), QUEUE_POINTS - 2);
    return table[below] + (table[below + 1] - table[below]) * (place - static_cast<double>(below));
}

}  // namespace oltpsim
