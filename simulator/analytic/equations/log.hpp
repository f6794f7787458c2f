// Log: group commit on a device of its own or on one that also has data. Sources: docs/model/log.md.
#pragma once
#include "background_writes.hpp"

namespace oltpsim {

struct Log {
    // One flush after the other, each for all who came before it began.
    struct Flusher {
        double flush_s = 0, flushing = 0;  // `flushing`: share of time
        double per_s = 0;

        // `rate`: of those who come; `first_s`, `again_s`: a flush out of the blue, and one that follows at once.
        void solve(double rate, double first_s, double again_s, double overhead_s) {
            flushing = clip(rate * again_s, 0.0, 1.0);
            flush_s = first_s;
            for (int number = 0; number < 3; number++) {
                flush_s = flushing * again_s + (1.0 - flushing) * first_s;
                flushing = flush_s / (flush_s + nobody(rate * (flush_s - overhead_s)) / std::max(rate, TINY));
            }
            per_s = flushing / std::max(flush_s, TINY);
        }

        // Waiting for the rest of the flush that goes on, and for the next if it comes late for that one's write. All
        // who shared a flush go on together, so that the next one has lasted for as long as they need in between.
        double wait_s(double overhead_s, double seen, double between_s) const {
            const double y = std::max(flush_s / std::max(between_s, TINY), TINY);
            const double within = one_minus_exp(std::min(y, 700.0));
            const double rest = clip(flush_s / within - between_s, 0.0, flush_s);
            const double overhead = overhead_s / std::max(between_s, TINY);
            const double in_time = clip(one_minus_exp(std::min(overhead, 700.0)) / within, 0.0, 1.0);
            return flush_s + flushing * seen * (rest - in_time * flush_s);
        }
    };
    Flusher first, second;  // `second`: of a log that is flushed at once, the other writes of a group
    // Whose end commits wait for.
    const Flusher& last() const { return second.flush_s > 0 ? second : first; }

    double flushes = 0;       // writes per second
    double syncs = 0;         // of them those that the device makes durable
    double groups = 0;        // per second, of commits that go on together
    double busy = 0;          // share of the log device's time
    double in_the_way_s = 0;  // what a read of the same device waits for flushes

    // What else the log's device does.
    struct OtherTraffic {
        double reads_per_s, read_wait_s, read_service_s;
        double left;         // share of its time that writes leave
        double log_waits_s;  // what a flush waits for others, where it has its turn as they come
    };

    // Group commit: who commits during a flush's overhead shares its write, who commits during that the next one. On a
    // shared device reads get their turns.
    // `log_bytes`: per transaction; `x`: transactions per second; `volume`: share of the device's time that an unforced
    // log's bytes take.
    void solve(const Workload& workload, const Machine& machine, const BackgroundWrites& writes,
               const OtherTraffic& others, double log_bytes, double x, double volume) {
        const double rate = x * workload.commits_mean;
        const double size_s = log_bytes / std::max(workload.commits_mean, TINY) * machine.log.byte_s;
        const double again_s = machine.log.again_s + size_s, first_s = machine.log.first_s + size_s;
        const bool shared = machine.is_log_shared();
        const double busy_reads =
            clip(others.reads_per_s * others.read_service_s / std::min(machine.storage.parallel, machine.storage.calls),
                 0.0, 1.0) /
            others.left;
        const double reading = shared ? std::min(busy_reads, 1.0) : 0.0;
        const double write_again = (1.0 - reading) * again_s + reading * first_s;
        const bool in_turn = shared && machine.volume.write_alone_s <= 0 &&
                             (!machine.is_flash() || machine.is_limited()) && machine.write_cache.write_s <= 0;
        const double between =
            !in_turn ? others.log_waits_s
                     : before_turn(machine, writes,
                                   std::min(others.reads_per_s * others.read_wait_s, machine.clients.number),
                                   others.read_service_s);
        // what trickles in among reads and log is counted by the turns that it takes
        const double open = in_turn ? std::min(others.left + writes.trickling, 1.0) : 1.0;
        const double overhead_s = machine.log.flush_overhead_s, waits_s = between + machine.volume.log_delay_s;
        const double one_first = (first_s - overhead_s) / open + waits_s;
        const double one_again = (write_again - overhead_s) / open + waits_s;
        // The writes of a group behind its first one. What the journal's blocks make durable isn't synced itself.
        const double journal = machine.log.journal_writes, unsynced = journal > 0 ? 1.0 : 0.0;
        const double others_of_group = machine.log.writes - 1.0 + journal;
        const double small_s = journal * size_s + unsynced * machine.log.sync_s;  // that journal's writes don't take
        const double later_s = others_of_group * one_again - small_s / open;
        const double later_work_s = others_of_group * (write_again - overhead_s) - small_s;
        if (machine.log.is_at_once > 0 && others_of_group > 0) {
            first.solve(x * workload.logged_mean, overhead_s + one_first, overhead_s + one_again, overhead_s);
            second.solve(rate, overhead_s + later_s, overhead_s + later_s, overhead_s);
            groups = second.per_s;
            flushes = first.per_s;
        } else {
            const double events = machine.log.is_at_once > 0 ? x * workload.logged_mean : rate;
            first.solve(events, overhead_s + one_first + later_s, overhead_s + one_again + later_s, overhead_s);
            second = Flusher();
            groups = flushes = first.per_s;
        }
        const double written = first.flushing * write_again + (1.0 - first.flushing) * first_s - overhead_s;
        busy = flushes * written + groups * later_work_s + volume;
        flushes += groups * others_of_group;
        syncs = flushes - unsynced * groups;
        if (!machine.is_durable()) {
            flushes = groups = syncs = 1.0 / std::max(machine.write_back.interval_s, TINY);
            busy = flushes * written + volume;
        }
        in_the_way_s =
            shared ? flushes * (first_s - overhead_s) * (first_s - overhead_s) / open / machine.storage.parallel : 0.0;
    }

    // Flushes per second on a device of its own if each waits so long.
    static double flushes_beside(const Workload& workload, const Machine& machine, double x, double waits_s) {
        if (!machine.is_durable()) return 1.0 / std::max(machine.write_back.interval_s, TINY);
        const double writes = machine.log.writes + machine.log.journal_writes;
        const double rate = x * workload.commits_mean, flush = (machine.log.first_s + waits_s) * writes;
        return writes / (flush + nobody(rate * (flush - machine.log.flush_overhead_s)) / std::max(rate, TINY));
    }

    // Waiting of a commit. A client's commits follow each other by `cycle_s`, waiting counted: what the wait leaves of
    // that lies between two of them.
    double commit_s(const Machine& machine, double seen, double cycle_s) const {
        if (!machine.is_durable()) return 0.0;
        const double overhead_s = machine.log.flush_overhead_s;
        const auto wait_s = [&](double between_s) {
            const double one = first.wait_s(overhead_s, seen, between_s + second.flush_s);
            return second.flush_s <= 0 ? one : one + second.wait_s(overhead_s, seen, between_s + first.flush_s);
        };
        const auto too_long = [&](double between_s) { return (between_s + wait_s(between_s) - cycle_s) / cycle_s; };
        return wait_s(root_between(too_long, 0.0, cycle_s, CYCLE_TOLERANCE * cycle_s));
    }

private:
    static constexpr double CYCLE_TOLERANCE = 1e-12;

    // Chance that nobody comes in a time in which `expected` do on average.
    static double nobody(double expected) { return exp_negative(-std::min(expected, 50.0)); }

    // What a disk with so many reads serves before the log's turn comes, in seconds. Among a batch of writes it comes
    // when they are all but through, at the latest.
    static double before_turn(const Machine& machine, const BackgroundWrites& writes, double reads, double service_s) {
        constexpr double LAST_OF_BATCH = 2.0;
        const auto before = [&](double others) {
            return (at_queue(machine.log.turns, others) - 1.0) * std::min(others, 1.0);
        };
        if (writes.batch <= 0) return before(writes.depth(reads, writes.trickling)) * service_s;
        const double half = std::max(writes.batch / 2.0, 0.5);
        const double batched = std::min(before(reads + half), half + before(reads + LAST_OF_BATCH)) *
                               at_queue(machine.storage.write_s, reads + half);
        const double there = writes.batch_there(reads, writes.trickling / writes.active);
        const double alone = before(reads) * service_s, among = there * batched + (1.0 - there) * alone;
        // rates, not waits, are averaged over the times with and without writes
        const double own = machine.log.first_s;
        return 1.0 / (writes.active / (among + own) + (1.0 - writes.active) / (alone + own)) - own;
    }
};

}  // namespace oltpsim
