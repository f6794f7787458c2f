// Log: group commit on a device of its own or on one that also has data. Sources: docs/model.md, section 7.
#pragma once
#include "storage.hpp"

namespace oltpsim {

struct Log {
    // One flush after the other, each for all who came before it began.
    struct Flusher {
        double flush_s = 0, flushing = 0;  // `flushing`: share of time
        double per_s = 0;

        // `rate`: of those who come; `first_s`, `again_s`: a flush out of the blue, and one that follows at once.
        void solve(double rate, double first_s, double again_s, double overhead_s) {
            flushing = clip(rate * again_s, 0.0, 1.0), flush_s = first_s;
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
    void solve(const Workload& w, const Machine& m, const BackgroundWrites& writes, const OtherTraffic& others,
               double log_bytes, double x, double volume) {
        const double rate = x * w.commits_mean;
        const double size_s = log_bytes / std::max(w.commits_mean, TINY) * m.log_byte_s;
        const double again_s = m.log_again_s + size_s, first_s = m.log_first_s + size_s;
        const bool shared = m.log_shared();
        const double busy_reads =
            clip(others.reads_per_s * others.read_service_s / std::min(m.parallel, m.calls), 0.0, 1.0) / others.left;
        const double reading = shared ? std::min(busy_reads, 1.0) : 0.0;
        const double write_again = (1.0 - reading) * again_s + reading * first_s;
        const bool in_turn = shared && m.write_alone_s <= 0 && (m.flash <= 0 || m.limited > 0) && m.write_cache_s <= 0;
        const double between =
            !in_turn ? others.log_waits_s
                     : before_turn(m, writes, std::min(others.reads_per_s * others.read_wait_s, m.clients),
                                   others.read_service_s);
        // what trickles in among reads and log is counted by the turns that it takes
        const double open = in_turn ? std::min(others.left + writes.trickling, 1.0) : 1.0;
        const double overhead_s = m.flush_overhead_s, waits_s = between + m.log_delay_s;
        const double one_first = (first_s - overhead_s) / open + waits_s;
        const double one_again = (write_again - overhead_s) / open + waits_s;
        // The writes of a group behind its first one. What the journal's blocks make durable isn't synced itself.
        const double journal = m.log_journal_writes, unsynced = journal > 0 ? 1.0 : 0.0;
        const double others_of_group = m.log_writes - 1.0 + journal;
        const double small_s = journal * size_s + unsynced * m.log_sync_s;  // that journal's writes don't take
        const double later_s = others_of_group * one_again - small_s / open;
        const double later_work_s = others_of_group * (write_again - overhead_s) - small_s;
        if (m.log_at_once > 0 && others_of_group > 0) {
            first.solve(x * w.logged_mean, overhead_s + one_first, overhead_s + one_again, overhead_s);
            second.solve(rate, overhead_s + later_s, overhead_s + later_s, overhead_s);
            groups = second.per_s, flushes = first.per_s;
        } else {
            const double events = m.log_at_once > 0 ? x * w.logged_mean : rate;
            first.solve(events, overhead_s + one_first + later_s, overhead_s + one_again + later_s, overhead_s);
            second = Flusher(), groups = flushes = first.per_s;
        }
        const double written = first.flushing * write_again + (1.0 - first.flushing) * first_s - overhead_s;
        busy = flushes * written + groups * later_work_s + volume;
        flushes += groups * others_of_group, syncs = flushes - unsynced * groups;
        if (m.durable <= 0)
            flushes = groups = syncs = 1.0 / std::max(m.flush_s, TINY), busy = flushes * written + volume;
        in_the_way_s = shared ? flushes * (first_s - overhead_s) * (first_s - overhead_s) / open / m.parallel : 0.0;
    }

    // Flushes per second on a device of its own if each waits so long.
    static double flushes_beside(const Workload& w, const Machine& m, double x, double waits_s) {
        if (m.durable <= 0) return 1.0 / std::max(m.flush_s, TINY);
        const double writes = m.log_writes + m.log_journal_writes;
        const double rate = x * w.commits_mean, flush = (m.log_first_s + waits_s) * writes;
        return writes / (flush + nobody(rate * (flush - m.flush_overhead_s)) / std::max(rate, TINY));
    }

    // Waiting of a commit. Between two of a client's lies `between_commits_s`.
    double commit_s(const Machine& m, double seen, double between_commits_s) const {
        if (m.durable <= 0) return 0.0;
        const double one = first.wait_s(m.flush_overhead_s, seen, between_commits_s + second.flush_s);
        if (second.flush_s <= 0) return one;
        return one + second.wait_s(m.flush_overhead_s, seen, between_commits_s + first.flush_s);
    }

private:
    // Chance that nobody comes in a time in which `expected` do on average.
    static double nobody(double expected) { return exp_negative(-std::min(expected, 50.0)); }

    // What a disk with so many reads serves before the log's turn comes, in seconds. Among a batch of writes it comes
    // when they are all but through, at the latest.
    static double before_turn(const Machine& m, const BackgroundWrites& writes, double reads, double service_s) {
        constexpr double LAST_OF_BATCH = 2.0;
        const auto before = [&](double others) {
            return (at_queue(m.log_turns, others) - 1.0) * std::min(others, 1.0);
        };
        if (writes.batch <= 0) return before(writes.depth(reads, writes.trickling)) * service_s;
        const double half = std::max(writes.batch / 2.0, 0.5);
        const double batched =
            std::min(before(reads + half), half + before(reads + LAST_OF_BATCH)) * at_queue(m.write_s, reads + half);
        const double there = writes.batch_there(reads, writes.trickling / writes.active);
        const double alone = before(reads) * service_s, among = there * batched + (1.0 - there) * alone;
        // rates, not waits, are averaged over the times with and without writes
        const double own = m.log_first_s;
        return 1.0 / (writes.active / (among + own) + (1.0 - writes.active) / (alone + own)) - own;
    }
};

}  // namespace oltpsim
