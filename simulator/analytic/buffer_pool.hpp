// Buffer pool: misses, and page faults of its frames: what doesn't depend on the rate. Time is counted in transactions.
//
// A page lives in the pool for its characteristic time after each reference (Che, Tung, Wang 2002; of a CLOCK a
// revolution, caches.py). If the operating system has too little memory for all buffers, second chance takes a frame
// once its hand has found it unused twice: between one and two of its revolutions after the last use, evenly. A page
// that is replaced gives its frame too, and must be read back for that.
#pragma once
#include "machine.hpp"
#include "workload.hpp"

namespace oltpsim {

struct BufferPool {
    double time = 0;  // characteristic
    double misses_total = 0;
    Numbers missing;                           // share of references, by group
    Numbers misses;                            // pages brought in per transaction, new ones left out, by group
    Numbers faults;                            // references to buffers in swap, by group
    Numbers misses_of, brought_of, faults_of;  // per transaction of each view
    double brought_mean = 0;                   // pages that come in per transaction of the mix, new ones too
    double put_aside = 0;                      // changes put aside whose pages aren't in the pool, per transaction

    void solve(const Workload& w, const Machine& m) {
        const std::size_t n = at(w.groups), views = at(w.views);
        missing.assign(n, 0.0), misses.assign(n, 0.0), faults.assign(n, 0.0);
        misses_of.assign(views, 0.0), brought_of.assign(views, 0.0), faults_of.assign(views, 0.0);
        time = w.characteristic_time(std::max(m.buffers, 1.0));
        w.missing_at(time, missing);
        if (m.resident < m.buffers) page_faults(w, m);
        misses_total = 0.0;
        for (std::size_t g = 0; g < n; g++) {
            missing[g] *= 1.0 - m.left_of(g, m.pool_left) * w.read[g];
            misses[g] = w.references[g] * missing[g] * w.read[g];
            misses_total += misses[g];
        }
        for (std::size_t v = 0; v < views; v++) {
            const double* share = w.share.data() + v * n;
            for (std::size_t g = 0; g < n; g++) {
                misses_of[v] += share[g] * missing[g] * w.read[g], brought_of[v] += share[g] * missing[g];
                faults_of[v] += share[g] * faults[g] / std::max(w.references[g], TINY);
            }
        }
        brought_mean = w.mean(brought_of.data());
        put_aside = w.put_aside.back();
        for (std::size_t g = 0; g < n; g++) put_aside += w.put_aside[g] * missing[g];
    }

    // Pages per transaction that are merged in the background: so many a second, or all that have changes put aside.
    double merged(const Machine& m, double rate) const {
        return std::min(m.merged_per_s / std::max(rate, TINY), put_aside);
    }

private:
    // A reference finds its frame gone if its gap is longer than an age between one and two revolutions, at which its
    // page is in the pool still: so long as one without references stays there.
    void page_faults(const Workload& w, const Machine& m) {
        const double stay = w.is_clock ? CLOCK_STAY * time : time;
        const auto frames = [&](double turn) {
            double used = 0.0;
            for (int i = 0; i < AGES; i++) used += w.frames_at(std::min(turn * (1.0 + (i + 0.5) / AGES), stay)) / AGES;
            return used;
        };
        const double all = w.frames_at(stay), wanted = m.resident / m.buffers;
        const auto too_many = [&](double t) { return log_of(frames(exp_of(t)) / all / wanted); };
        const double turn = exp_of(root_between(too_many, log_of(w.times.front()), log_of(stay), 1e-7));
        const double end = std::min(2.0 * turn, stay);
        Numbers gone(faults.size());
        for (int i = 0; i < AGES; i++) {
            w.unused_at(turn + (end - turn) * (i + 0.5) / AGES, gone);
            for (std::size_t g = 0; g < gone.size(); g++)
                faults[g] += w.references[g] * gone[g] * (end - turn) / turn / AGES;
        }
    }

    static constexpr int AGES = 16;
    static constexpr double CLOCK_STAY = 5.5;  // revolutions that a page of full usage count stays
};

}  // namespace oltpsim
