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
    void prepare(const Workload& w, const BufferPool& pool) {
        const std::size_t n = at(w.groups);
        hits.assign(n, 0.0);
        time = clip(pool.time, SHORTEST, LONGEST);
        away.assign(n, 0.0), again_after.assign(n, 0.0), more.assign(n, 0.0);
        clean = dirty = again = Stays{};
        for (Stays* stays : {&clean, &dirty, &again}) stays->amount.assign(n, 0.0), stays->mean.assign(n, 1.0);
        const double since = since_last(w, pool.time);
        for (std::size_t g = 0; g < n; g++) {
            const bool drawn = w.rate[g] > 0;
            away[g] = clip(drawn ? 1.0 / std::max(w.rate[g], LEAST) : w.gap[g] - pool.time, LEAST, SELDOM);
            const double missing = std::max(pool.missing[g], LEAST);
            more[g] = drawn ? clip((1.0 / missing - 1.0) * away[g] - pool.time, LEAST, SELDOM) : LEAST;
            again_after[g] = w.recent[g] > 0 ? since : std::min(more[g] + away[g], SELDOM);
            clean.mean[g] = again_after[g], dirty.mean[g] = more[g], again.mean[g] = away[g];
            new_total += w.gaps[g] * w.write[g];
        }
    }

    void solve(const Workload& w, const Machine& m, const BufferPool& pool, const PageWrites& writes, double rate) {
        const std::size_t n = at(w.groups);
        if (m.direct > 0 || n == 0) return;
        const bool behind = m.free_behind > 0;
        const double stays = rate * (m.expire_s + m.flush_s);
        for (std::size_t g = 0; g < n; g++) {
            const double returns = w.recent[g] > 0 ? 0.0 : pool.misses[g] * writes.left_dirty[g];
            clean.amount[g] = pool.misses[g] - returns, dirty.amount[g] = again.amount[g] = returns;
        }
        clean.first = pool.time, dirty.first = writes.age, again.first = std::max(pool.time - writes.age, 0.0);
        const auto occupied = [&](double limit, double& slope) {
            const double after = behind ? std::min(stays, limit) : limit, longer = after == limit ? 1.0 : 0.0;
            double pages = 0.0, of_again = 0.0;
            slope = 0.0;
            pages += clean.kept(limit, slope) + dirty.kept(limit, slope) + again.kept(after, of_again);
            slope += of_again * longer;
            if (behind) {
                pages += new_total * after, slope += new_total * longer;
            } else {
                for (std::size_t g = 0; g < n; g++) {
                    const double made = w.gaps[g] * w.write[g];
                    pages += made * std::min(limit, away[g]), slope += limit < away[g] ? made : 0.0;
                }
            }
            const double most = behind ? stays : writes.cycle;
            slope += limit < most ? writes.checkpoint : 0.0;
            return pages + writes.checkpoint * std::min(limit, most);
        };
        // What is kept rises with the time, the slower the longer it is: Newton's steps come from below and pass
        // nothing.
        double slope = 0.0;
        for (int step = 0; step < MOST_STEPS; step++) {
            const double held = occupied(time, slope), last = time;
            const double by = clip((m.cache_pages - held) / std::max(slope * time, LEAST), 1.0 / 30.0 - 1.0, 30.0);
            time = clip(time * (1.0 + by), SHORTEST, LONGEST);
            if (std::abs(time - last) <= 1e-7 * last) break;
        }
        const double after = behind ? std::min(stays, time) : time;
        double spare = 0.0;
        if (behind) {
            // what has been written lies at the end that is used up first, where newcomers take the last one's place:
            // what is left of the cache beside pages on their way through holds whatever it held before
            double database = 0.0, through = 0.0, unused = 0.0;
            for (double pages : w.pages) database += pages;
            const double so_far = rate * m.since_s + m.turnovers * m.buffers / std::max(pool.misses_total, LEAST);
            through = dirty.kept(std::min(time, so_far), unused) + again.kept(after, unused) + new_total * after +
                      writes.checkpoint * stays;
            spare = clip((m.cache_pages - through) / std::max(database, 1.0), 0.0, 1.0);
        }
        for (std::size_t g = 0; g < n; g++) {
            const double written = writes.left_dirty[g], changed = writes.changed[g];
            const double checked = behind ? 0.0 : one_minus_exp(std::max(time - pool.time / 2.0, 0.0) / away[g]);
            double of_written = one_minus_exp(std::max(after - again.first, 0.0) / away[g]);
            if (w.recent[g] > 0) {
                const double waited = std::max(w.window - pool.time, LEAST);
                of_written = std::min((behind ? after : std::max(time - again.first, 0.0)) / waited, 1.0);
            }
            double share = written * of_written + (changed - written) * checked;
            if (!(w.recent[g] > 0))
                share += (1.0 - changed) * one_minus_exp(std::max(time - clean.first, 0.0) / again_after[g]);
            share += (1.0 - share) * spare;
            hits[g] = m.growing > 0 ? 0.0 : clip(share, 0.0, 1.0);
        }
    }

private:
    static constexpr int MOST_STEPS = 60;
    static constexpr double SHORTEST = 0.1, LONGEST = 1e12, SELDOM = 1e12;

    // Pages that are asked for again after a time `first` and an exponential one more.
    struct Stays {
        Numbers amount, mean;
        double first = 0;

        // Pages in a cache that keeps them until they are asked for again, but no longer than `limit`; adds the slope.
        double kept(double limit, double& slope) const {
            const double after = std::max(limit - first, 0.0);
            double pages = 0.0, chance = 0.0;
            for (std::size_t g = 0; g < amount.size(); g++) {
                const double come_back = one_minus_exp(std::min(after / mean[g], 700.0));
                pages += amount[g] * (mean[g] * come_back + std::min(limit, first));
                chance += amount[g] * (1.0 - come_back);
            }
            slope += chance;
            return pages;
        }
    };

    Numbers away, again_after, more;
    Stays clean, dirty, again;
    double new_total = 0;

    // How long beyond the pool's time the page of a missed draw from a window has been in the page cache already: it
    // came in by its last reference, and the draw keeps it only so much longer. The last one was within the window,
    // draws from which come at random: the mean of exp(-y s)(1 - s) over what is left of it.
    static double since_last(const Workload& w, double time) {
        if (!std::isfinite(w.window)) return LEAST;
        const double left = std::max(w.window - time, LEAST);
        const double y = std::max(w.offspring * left / w.window, 1e-4);
        return left * (y - one_minus_exp(y)) / (y * y);
    }
};

}  // namespace oltpsim
