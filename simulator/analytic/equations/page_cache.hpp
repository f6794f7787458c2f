// Page cache of the operating system below the pool: which share of the pool's misses it answers, by group.
//
// It is touched by each miss of the pool and by each write. From a miss a page stays in the pool for its time and
// longer; a dirty one is written when it leaves (or at its age), so that its time in the page cache begins again.
#pragma once
#include "page_writes.hpp"

namespace oltpsim {

struct PageCache {
    double time = 0;  // characteristic: how long a page stays without use, in transactions
    Numbers hits;     // share of the pool's misses, by group

    // What doesn't depend on the rate.
    void prepare(const Workload& workload, const Machine& machine, const BufferPool& pool) {
        const std::size_t n = at(workload.groups);
        hits.assign(n, 0.0);
        time = 0.0;
        // the time in which misses alone would fill it, until a first one is known
        near = log_of(clip(machine.page_cache.pages / std::max(pool.misses_total, LEAST), SHORTEST, LONGEST));
        stay = workload.is_clock        ? CLOCK_STAY * pool.time
               : machine.has_cleaners() ? workload.read_stay(pool.time)
                                        : pool.time;
        first.assign(n, 0.0);
        new_total = 0.0;
        away.assign(n, 0.0);
        again_after.assign(n, 0.0);
        more.assign(n, 0.0);
        clean = dirty = again = Stays{};
        for (Stays* stays : {&clean, &dirty, &again}) {
            stays->amount.assign(n, 0.0);
            stays->mean.assign(n, 1.0);
            stays->first.assign(n, 0.0);
        }
        const double since = since_last(workload, pool.time);
        for (std::size_t g = 0; g < n; g++) {
            const bool drawn = workload.rate[g] > 0;
            away[g] =
                clip(drawn ? 1.0 / std::max(workload.rate[g], LEAST) : workload.gap[g] - pool.time, LEAST, SELDOM);
            const double missing = std::max(pool.missing[g], LEAST);
            // from its miss a page is in the pool for so long on average, and without a reference at most for `stay`
            const double in_pool = drawn ? (1.0 / missing - 1.0) * away[g] : stay;
            first[g] = std::min(stay, in_pool);
            more[g] = clip(in_pool - first[g], LEAST, SELDOM);
            again_after[g] = workload.recent[g] > 0 ? since : std::min(more[g] + away[g], SELDOM);
            clean.mean[g] = again_after[g];
            dirty.mean[g] = more[g];
            again.mean[g] = away[g];
            new_total += workload.gaps[g] * workload.write[g];
        }
    }

    void solve(const Workload& workload, const Machine& machine, const BufferPool& pool, const PageWrites& writes,
               double rate) {
        const std::size_t n = at(workload.groups);
        if (!machine.is_cached() || n == 0) return;
        const bool behind = machine.write_back.free_behind > 0;
        const double stays = rate * (machine.write_back.expire_s + machine.write_back.interval_s);
        log_most = machine.log.cached_pages;
        log_rate = log_most > 0 ? writes.log_bytes / machine.log.cached_page_bytes : 0.0;
        for (std::size_t g = 0; g < n; g++) {
            const double returns = workload.recent[g] > 0 ? 0.0 : pool.misses[g] * writes.left_dirty[g];
            clean.amount[g] = pool.misses[g] - returns;
            dirty.amount[g] = again.amount[g] = returns;
            const double age = std::min(machine.has_cleaners() ? writes.age : writes.age / pool.time * stay, first[g]);
            clean.first[g] = first[g];
            dirty.first[g] = age;
            again.first[g] = first[g] - age;
        }
        passed_over.resize(n);
        present.resize(n);
        holds.resize(n);
        pass_over(workload, pool, writes);
        const auto too_many = [&](double t) {
            return log_of(std::max(occupied(workload, writes, exp_of(t), behind, stays), LEAST) /
                          machine.page_cache.pages);
        };
        near = root_near(too_many, near, log_of(SHORTEST), log_of(LONGEST), 1e-7);
        time = exp_of(near);
        // what nobody has asked for since the start is there as far as the start has left it and room is left for it
        double left = 0.0;
        if (machine.pool.done < time) {
            time = machine.pool.done;
            left = std::max(machine.page_cache.pages - occupied(workload, writes, time, behind, stays), 0.0);
        }
        const double after = behind ? std::min(stays, time) : time;
        double spare = 0.0;
        if (behind) {
            // what has been written lies at the end that is used up first, where newcomers take the last one's place:
            // what is left of the cache beside pages on their way through holds whatever it held before
            const double so_far = rate * machine.interval.since_s + machine.interval.turnovers * machine.pool.buffers /
                                                                        std::max(pool.misses_total, LEAST);
            const double through =
                             new_total * after + writes.checkpoint * stays + passing(std::min(time, so_far), after),
                         database = total(workload.pages);
            spare = clip((machine.page_cache.pages - through) / std::max(database, 1.0), 0.0, 1.0);
        }
        find_hits(workload, machine, writes, pool.time, after, spare);
        if (machine.pool.left_from.values == nullptr) return;
        for (std::size_t g = 0; g < n; g++) {
            const double above = machine.left_of(g, machine.pool.left), kept = machine.left_of(g, left);
            hits[g] += (1.0 - hits[g]) * clip((kept - above) / std::max(1.0 - above, LEAST), 0.0, 1.0);
        }
    }

private:
    static constexpr double CLOCK_STAY = 2.0;  // revolutions that a page of the lowest count stays
    static constexpr double SHORTEST = 0.1, LONGEST = 1e12, SELDOM = 1e12;

    // Pages that are asked for again after a time `first` and an exponential one more, in a cache that keeps them until
    // then, but no longer than `limit`.
    struct Stays {
        Numbers amount, first, mean;

        struct Places {
            const double *amount, *first, *mean;

            double kept(std::size_t g, double limit) const {
                const double surely = first[g], more = mean[g], beyond = limit - surely;
                return amount[g] * (more * one_minus_exp(std::max(beyond, 0.0) / more) + std::min(limit, surely));
            }
        };
        Places places() const { return {amount.data(), first.data(), mean.data()}; }
    };

    Numbers away, again_after, more, present, passed_over, holds;
    Stays clean, dirty, again;
    Numbers first;  // from a miss on, for certain
    double new_total = 0, stay = 0;
    double near = 0;                    // logarithm of the time at the last rate
    double log_rate = 0, log_most = 0;  // pages of the log that a transaction makes, and that its files have

    // Pages that it holds if they stay for so long: those that were read or written since, or both. With free-behind a
    // written page stays for no longer than `written_stay`.
    OLTPSIM_WIDE double occupied(const Workload& workload, const PageWrites& writes, double limit, bool behind,
                                 double written_stay) {
        const double after = behind ? std::min(written_stay, limit) : limit;
        const double cycles = std::min(limit / writes.cycle, 1e6), counted = behind ? 0.0 : 1.0;
        const double *rare = away.data(), *in_pool = present.data(), *over = passed_over.data();
        const double *all = workload.pages.data(), *left = workload.gaps.data(), *write = workload.write.data();
        const Stays::Places cleaned = clean.places(), dirtied = dirty.places(), returned = again.places();
        const std::size_t n = holds.size();
        double* pages = holds.data();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const double kept = cleaned.kept(g, limit) + dirtied.kept(g, limit) + returned.kept(g, after);
            const double written = in_pool[g] * one_minus_exp(-over[g] * cycles), group = all[g], gap = rare[g];
            const double both = std::min(kept / std::max(group, LEAST), 1.0) * written;
            pages[g] = kept + counted * (written - both + left[g] * write[g] * std::min(limit, gap));
        }
        const double logged = std::min(log_rate * limit, log_most);
        return total(holds) + logged +
               (behind ? new_total * after + writes.checkpoint * std::min(limit, written_stay) : 0.0);
    }

    // Sets the chance that a checkpoint passes over a page of the pool without writing it, as a logarithm.
    OLTPSIM_WIDE void pass_over(const Workload& workload, const BufferPool& pool, const PageWrites& writes) {
        const double *pages = workload.pages.data(), *missing = pool.missing.data(), *heap = writes.heap.data();
        double *in_pool = present.data(), *over = passed_over.data();
        const std::size_t n = present.size();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const double there = pages[g] * (1.0 - missing[g]);
            in_pool[g] = there;
            over[g] = log_of(std::max(1.0 - heap[g] / std::max(there, LEAST), 1e-12));
        }
    }

    // Pages on their way through the cache, if those that come back dirty stay for so long and those that are written
    // again `after`.
    OLTPSIM_WIDE double passing(double limit, double after) {
        const Stays::Places dirtied = dirty.places(), returned = again.places();
        const std::size_t n = holds.size();
        double* pages = holds.data();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) pages[g] = dirtied.kept(g, limit) + returned.kept(g, after);
        return total(holds);
    }

    // Sets the hits, what the start has left in the cache aside. A written page stays `after`; `spare`: share of the
    // database that the cache holds beside those on their way through.
    OLTPSIM_WIDE void find_hits(const Workload& workload, const Machine& machine, const PageWrites& writes,
                                double pool_time, double after, double spare) {
        // a page that is clean when it leaves was written by a checkpoint since its last reference
        const double since_written = stay - std::min(writes.cycle, stay) / 2.0;
        const double waited = std::max(workload.window - pool_time, LEAST), there = time;
        // page cleaners write all that windows remember; what is drawn again from those then comes sooner than evenly
        const bool sooner = machine.has_cleaners() && std::isfinite(workload.window);
        const double y = sooner ? std::max(workload.offspring * waited / workload.window, 1e-4) : 1.0,
                     all_drawn = drawn_within(1.0, y);
        const bool behind = machine.write_back.free_behind > 0;
        const double *left_dirty = writes.left_dirty.data(), *was_changed = writes.changed.data();
        const double *recent = workload.recent.data(), *rare = away.data(), *after_miss = again_after.data();
        const double *again_first = again.first.data(), *clean_first = clean.first.data();
        const std::size_t n = hits.size();
        double* found = hits.data();
        if (machine.pool.growing > 0) {
            hits.assign(n, 0.0);
            return;
        }
        // first the share of what windows draw again, evenly or sooner
        const double begins = behind ? 0.0 : 1.0, until = behind ? after : there;
        for (std::size_t g = 0; g < n; g++)
            found[g] = std::min(std::max(until - begins * again_first[g], 0.0) / waited, 1.0);
        if (sooner)
            for (std::size_t g = 0; g < n; g++) found[g] = drawn_within(found[g], y) / all_drawn;
        const double checked_for = behind ? 0.0 : std::max(there - since_written, 0.0);
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const double written = left_dirty[g], changed = was_changed[g], first_s = again_first[g];
            const double checked = one_minus_exp(checked_for / rare[g]);
            const double of_drawn = one_minus_exp(std::max(after - first_s, 0.0) / rare[g]);
            const double of_clean = one_minus_exp(std::max(there - clean_first[g], 0.0) / after_miss[g]);
            const bool drawn_again = recent[g] > 0;
            double share = written * (drawn_again ? found[g] : of_drawn) + (changed - written) * checked;
            share += drawn_again ? 0.0 : (1.0 - changed) * of_clean;
            share += (1.0 - share) * spare;
            found[g] = clip(share, 0.0, 1.0);
        }
    }

    // The integral of exp(-y s)(1 - s) up to a share of a window, as `since_last` has it.
    OLTPSIM_INLINE static double drawn_within(double share, double y) {
        const double left = exp_negative(-y * share);
        return (1.0 - left) / y - (1.0 - left * (1.0 + y * share)) / (y * y);
    }

    // How long beyond the pool's time the page of a missed draw from a window has been in the page cache already: it
    // came in by its last reference, and the draw keeps it only so much longer. The last one was within the window,
    // draws from which come at random: the mean of exp(-y s)(1 - s) over what is left of it.
    static double since_last(const Workload& workload, double time) {
        if (!std::isfinite(workload.window)) return LEAST;
        const double left = std::max(workload.window - time, LEAST);
        const double y = std::max(workload.offspring * left / workload.window, 1e-4);
        return left * (y - one_minus_exp(y)) / (y * y);
    }
};

}  // namespace oltpsim
