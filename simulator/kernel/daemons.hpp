// Daemons: tasks beside the clients, each of which takes its steps one after the other for ever.
#pragma once
#include "log.hpp"
#include "merges.hpp"
#include "page_writes.hpp"

namespace oltpsim {

using form::DaemonOperation;

constexpr i64 MILLI = 1000, MILLION = 1'000'000;
constexpr i64 NOT_YET = -1;
constexpr i64 LOOK_NS = 100 * MILLION;         // between two looks at how much has been logged
constexpr i64 LOOK_AT_POOL_NS = 10 * MILLION;  // at how many pages have left the pool

// Of one daemon: means of pages written and bytes logged in a round, sums since these were renewed, pages left.
struct FlushingMeans {
    i64 rounds, pages, from_bytes, mean_milli_pages, mean_bytes, left_milli_pages;

    void note(i64 written, i64 log_end_bytes, i64 renewed_every) {
        pages += written;
        if (++rounds < renewed_every) return;
        mean_milli_pages = (mean_milli_pages + pages * MILLI / rounds) / 2;
        mean_bytes = (mean_bytes + (log_end_bytes - from_bytes) / rounds) / 2;
        rounds = pages = 0;
        from_bytes = log_end_bytes;
    }
};

// Flushing by age, if there are rules of it.
class Flushing {
public:
    explicit Flushing(const form::Flushing* rules) : rules(rules) {}

    // Whether the log since the oldest change that isn't on the disks has no room for more commits.
    bool is_log_full(BufferPool& pool) const { return rules && pool.age_bytes() > rules->full_bytes; }

    // How many of the oldest dirty pages a cleaner writes in this round.
    i64 pages_due(BufferPool& pool, i64 age_bytes, FlushingMeans& means) const {
        const i64 end = pool.log_end_bytes(), oldest = end - pool.age_bytes();
        const i64 percent = std::max(at(rules->percent_by_age, 100 * (end - oldest) / rules->whole_age_bytes),
                                     at(rules->percent_by_dirty, 100 * pool.dirty / pool.capacity));
        const i64 most = 2 * rules->most_milli_pages, shares = ROUNDS_AHEAD * rules->cleaners;
        const i64 coming = pool.count_older(oldest + ROUNDS_AHEAD * means.mean_bytes, most * shares / MILLI + 1);
        const i64 coming_milli = std::min(coming * MILLI / shares, most),
                  asked_milli = rules->milli_pages * percent / 100;
        means.left_milli_pages +=
            std::min((asked_milli + means.mean_milli_pages + coming_milli) / 3, rules->most_milli_pages);
        i64 due = means.left_milli_pages / MILLI;
        means.left_milli_pages %= MILLI;
        due = std::max(due, pool.count_older(end - age_bytes, pool.dirty) / rules->cleaners);
        means.note(std::min(due, pool.dirty), end, rules->rounds);
        return due;
    }

private:
    static constexpr i64 ROUNDS_AHEAD = 3;  // of log, over which the pages that will be due are averaged

    const form::Flushing* rules;

    static i64 at(const Rows<i64>& percent, i64 place) { return percent[std::min(place, percent.size() - 1)]; }
};

class Daemons : Parts {
public:
    Array<form::Checkpoint> checkpoints;  // that are done

    // Their tasks are those from `first` on, in order.
    Daemons(const Parts& parts, i32 first) : Parts(parts), first(first), flushing(system.flushing), merges(parts) {
        for (i32 number = 0; number < system.daemons.size(); number++) processes.add({first + number, calendar});
        for (Process& process : processes)
            daemons.add({process, PageWrites(parts, process), system.daemons[daemons.size()].steps});
        for (Daemon& daemon : daemons) daemon.process.live(life(daemon));
    }

    // A daemon's event: it goes on to its next wait.
    void wake(i32 who) { processes[who - first].wake(); }

    // A transaction has released its locks: those wake up who wait for fewer dirty pages than there are.
    void look() {
        i64 kept = 0;
        for (const Sleeper& sleeper : asleep)
            if (dirty(sleeper.of_page_cache) > sleeper.pages)
                calendar.at_once(EventKind::task, sleeper.who);
            else
                asleep[kept++] = sleeper;
        asleep.resize(kept);
    }

    // Whether a commit, which has waited for its flush, has to wait until the log isn't full.
    bool awaits_log_space(i32 who) {
        if (!flushing.is_log_full(interpreter.pool)) return false;
        tasks[who].stage = Stage::awaiting_log_space;
        waiting_commits = joined(tasks, waiting_commits, who);
        return true;
    }

    bool has(i32 who) const { return who >= first && who < first + static_cast<i32>(processes.size()); }

    // A direct write of a daemon is done; true if the daemon goes on.
    bool end_write(i32 who) { return daemons[who - first].writes.end_write(); }

private:
    struct Daemon {
        Process& process;
        PageWrites writes;
        const Rows<form::DaemonStep> steps;
        Array<i32> pages{};  // of the step that it is at

        i64 due_ns = 0;             // when `every` was last due
        i64 began_ns = 0;           // when `every` last ended
        i64 began_bytes = NOT_YET;  // of log when `every_or_logged` last ended, or before its first wait
        i64 began_evictions = 0;    // when `every_or_evicted` last ended
        i64 cycle_ns = NOT_YET;     // from one end of `every_or_logged` to the next, and what that is at most
        i64 longest_cycle_ns = 0;
        i64 slot = 0;              // where `write_unused` goes on
        i64 left_milli_pages = 0;  // due of a merge, and no whole page
        FlushingMeans flushing{};

        // Time that writes take which are spread over so much of the longest cycle; whole ms, where it is shorter.
        i64 over_ns(i64 of_longest) const {
            if (cycle_ns == NOT_YET || cycle_ns == longest_cycle_ns) return of_longest;
            return of_longest / MILLION * (cycle_ns / MILLION) / std::max(longest_cycle_ns / MILLION, i64{1}) * MILLION;
        }
    };

    // Sleeps until more than `pages` of the pool or of the page cache are dirty.
    struct Sleeper {
        i32 who;
        i64 pages;
        bool of_page_cache;
    };

    const i32 first;

    Array<Process> processes;
    Array<Daemon> daemons;
    Array<Sleeper> asleep;  // in the order in which they came
    Flushing flushing;
    Merges merges;
    i32 waiting_commits = NONE;  // the first of them

    Story life(Daemon& daemon) {
        Process& process = daemon.process;
        BufferPool& pool = interpreter.pool;
        for (i64 at = 0;; at = at + 1 < daemon.steps.size() ? at + 1 : 0) {
            const form::DaemonStep& step = daemon.steps[at];
            switch (step.operation) {
                case DaemonOperation::sleep:
                    co_await process.timeout(step.operands[0]);
                    break;
                case DaemonOperation::every:
                    daemon.due_ns = std::max(daemon.due_ns + step.operands[0], calendar.now_ns);
                    co_await process.timeout(daemon.due_ns - calendar.now_ns);
                    daemon.began_ns = calendar.now_ns;
                    break;
                case DaemonOperation::every_or_logged:
                    co_await await_log(daemon, step.operands[0], step.operands[1]);
                    break;
                case DaemonOperation::every_or_evicted:
                    co_await await_evictions(daemon, step.operands[0], step.operands[1]);
                    break;
                case DaemonOperation::await_dirty:
                case DaemonOperation::await_cache_dirty:
                    while (dirty(step.operation == DaemonOperation::await_cache_dirty) <= step.operands[0])
                        co_await sleep(process, step.operands[0], step.operation == DaemonOperation::await_cache_dirty);
                    break;
                case DaemonOperation::begin_checkpoint:
                    interpreter.images.begin_checkpoint();
                    break;
                case DaemonOperation::write_dirty:
                    pool.find_replaced_first(std::max<i64>(pool.dirty - step.operands[0], 0), daemon.pages);
                    co_await daemon.writes.write(daemon.pages, daemon.over_ns(step.operands[1]));
                    break;
                case DaemonOperation::note_checkpoint:
                    checkpoints.add({daemon.began_ns, calendar.now_ns});
                    break;
                case DaemonOperation::write_tail:
                case DaemonOperation::write_unused:
                case DaemonOperation::write_aged:
                    find_in_order(step, daemon);
                    co_await daemon.writes.write(daemon.pages, 0);
                    release_commits();
                    break;
                case DaemonOperation::write_log:
                    if (!system.log.durable) log.write_pending();
                    write_back.write_evicted();
                    break;
                case DaemonOperation::write_cache_dirty:
                    co_await write_cache_dirty(process, step.operands[0]);
                    break;
                case DaemonOperation::write_expired:
                    co_await write_expired(process, step.operands[0]);
                    break;
                case DaemonOperation::sync:
                    co_await write_back.sync(process);
                    break;
                case DaemonOperation::merge:
                    co_await merge(daemon, step.operands[0]);
                    break;
            }
        }
    }

    // Waits until it is so long since this last ended, or so much has been logged; looks again and again.
    Story await_log(Daemon& daemon, i64 interval_ns, i64 log_bytes) {
        const BufferPool& pool = interpreter.pool;
        const i64 due_ns = daemon.began_ns + interval_ns;
        if (daemon.began_bytes == NOT_YET) daemon.began_bytes = pool.log_end_bytes();
        while (calendar.now_ns < due_ns && pool.log_end_bytes() - daemon.began_bytes < log_bytes)
            co_await daemon.process.timeout(std::min(LOOK_NS, due_ns - calendar.now_ns));
        daemon.cycle_ns = std::min(calendar.now_ns - daemon.began_ns, interval_ns);
        daemon.longest_cycle_ns = interval_ns;
        daemon.began_ns = calendar.now_ns, daemon.began_bytes = pool.log_end_bytes();
    }

    // The same of pages that have left the pool.
    Story await_evictions(Daemon& daemon, i64 interval_ns, i64 pages) {
        const i64& evictions = interpreter.pool.counters.evictions;
        const i64 due_ns = daemon.began_ns + interval_ns;
        while (calendar.now_ns < due_ns && evictions - daemon.began_evictions < pages)
            co_await daemon.process.timeout(std::min(LOOK_AT_POOL_NS, due_ns - calendar.now_ns));
        daemon.began_ns = calendar.now_ns, daemon.began_evictions = evictions;
    }

    i64 dirty(bool of_page_cache) const {
        return of_page_cache ? interpreter.page_cache.dirty : interpreter.pool.dirty;
    }

    Woken sleep(Process& process, i64 pages, bool of_page_cache) {
        asleep.add({process.who, pages, of_page_cache});
        return process.woken();
    }

    // Dirty pages, in the order of replacement or of age.
    void find_in_order(const form::DaemonStep& step, Daemon& daemon) {
        BufferPool& pool = interpreter.pool;
        if (step.operation == DaemonOperation::write_unused)
            pool.find_unused(step.operands[0], step.operands[1], daemon.slot, daemon.pages);
        else if (step.operation == DaemonOperation::write_tail)
            pool.find_in_tail(step.operands[0], daemon.pages);
        else
            pool.find_oldest_dirty(flushing.pages_due(pool, step.operands[0], daemon.flushing), daemon.pages);
    }

    // Commits that wait for log space may have it.
    void release_commits() {
        if (waiting_commits != NONE && !flushing.is_log_full(interpreter.pool))
            calendar.at_once(EventKind::tasks, std::exchange(waiting_commits, NONE));
    }

    // Pages that have been dirty longest, until no more than so many are left.
    Story write_cache_dirty(Process& process, i64 keep) {
        const i64& dirty = interpreter.page_cache.dirty;
        while (dirty > keep) {
            const i64 most = std::min(write_back.free_pages(), dirty - keep);
            if (most > 0)
                co_await pay(process, write_back.flush(calendar.now_ns, most));
            else
                co_await write_back.written(process);
        }
    }

    // Pages that have been dirty for so long, until there are none, as many at once as may be in flight.
    Story write_expired(Process& process, i64 age_ns) {
        while (true) {
            const i64 latest_ns = calendar.now_ns - age_ns;
            if (!interpreter.page_cache.has_dirty_since(latest_ns)) co_return;
            if (write_back.free_pages() > 0)
                co_await pay(process, write_back.flush(latest_ns, write_back.free_pages()));
            else
                co_await write_back.written(process);
        }
    }

    // Has the pages that are due read; one that finds no clean buffer is tried again.
    Story merge(Daemon& daemon, i64 milli_pages) {
        const i64 due_milli = daemon.left_milli_pages + milli_pages;
        daemon.left_milli_pages = due_milli % MILLI;
        merges.draw(due_milli / MILLI, daemon.pages);
        if (daemon.pages.empty()) co_return;
        co_await pay(daemon.process, daemon.pages.size() * merges.page_cpu_ns, interpreter.cpu_time.background_writer);
        for (const i32 page : daemon.pages)
            while (!merges.read(page)) co_await daemon.process.timeout(LOOK_AT_POOL_NS);
    }

    // CPU time of handing pages to the disks; it is write-back's.
    Stations::Service pay(Process& process, i64 pages) {
        return pay(process, pages * system.costs.request_ns, interpreter.cpu_time.write_back);
    }

    Stations::Service pay(Process& process, i64 demand_ns, i64& account_ns) {
        account_ns += demand_ns;
        return stations.run(process, demand_ns);
    }
};

}  // namespace oltpsim
