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
    double brought = 0, brought_mean = 0;      // pages that come in per transaction of the mix, new ones too

    void solve(const Workload& w, const Machine& m) {
        const std::size_t n = at(w.groups), views = at(w.views);
        missing.assign(n, 0.0), misses.assign(n, 0.0), faults.assign(n, 0.0);
        misses_of.assign(views, 0.0), brought_of.assign(views, 0.0), faults_of.assign(views, 0.0);
        time = w.characteristic_time(std::max(m.buffers, 1.0));
        w.missing_at(time, missing);
        if (m.resident < m.buffers) page_faults(w, m);
        misses_total = brought = 0.0;
        for (std::size_t g = 0; g < n; g++) {
            if (m.held) missing[g] *= 1.0 - m.held[g] * w.read[g];
            misses[g] = w.references[g] * missing[g] * w.read[g];
            misses_total += misses[g], brought += w.references[g] * missing[g];
        }
        for (std::size_t v = 0; v < views; v++) {
            const double* share = &w.share[v * n];
            for (std::size_t g = 0; g < n; g++) {
                misses_of[v] += share[g] * missing[g] * w.read[g], brought_of[v] += share[g] * missing[g];
                faults_of[v] += share[g] * faults[g] / std::max(w.references[g], TINY);
            }
        }
        brought_mean = w.mean(brought_of.data());
    }

private:
    // A reference finds its frame gone if its gap is longer than an age between one and two revolutions, and its page
    // still in the pool at that age: for as long as a page without references stays there, which its misses say.
    void page_faults(const Workload& w, const Machine& m) {
        const auto stay = [&](std::size_t g) {
            if (w.rate[g] <= 0) return time;
            return -log_of(std::max(missing[g], 1e-300)) / w.rate[g];
        };
        // Mean over ages from one to two revolutions: of exp(-rate age) up to the stay, and of what is used beyond it.
        const auto lasting = [&](std::size_t g, double turn) {
            const double end = clip(stay(g), turn, 2.0 * turn);
            if (w.rate[g] <= 0) return (clip(w.gap[g], turn, end) - turn) / turn;
            return exp_negative(-w.rate[g] * turn) * one_minus_exp(w.rate[g] * (end - turn)) / (w.rate[g] * turn);
        };
        const auto frames = [&](double turn) {
            double used = 0.0;
            for (std::size_t g = 0; g < at(w.groups); g++) {
                const double least = std::min(turn, stay(g));
                if (w.rate[g] > 0) {
                    const double end = clip(stay(g), turn, 2.0 * turn);
                    const double beyond = (2.0 * turn - end) / turn * exp_negative(-w.rate[g] * stay(g));
                    used += w.pages[g] * (1.0 - (stay(g) <= turn ? missing[g] : lasting(g, turn) + beyond));
                } else {
                    used += w.gaps[g] * std::min(std::min(least * 1.5, time), w.gap[g]);
                }
            }
            return used;
        };
        const double low = log_of(w.times.front()), high = log_of(time) + 2.0;
        const double turn =
            exp_of(root_between([&](double t) { return log_of(frames(exp_of(t)) / m.resident); }, low, high, 1e-7));
        for (std::size_t g = 0; g < at(w.groups); g++) faults[g] = w.references[g] * lasting(g, turn);
    }
};

}  // namespace oltpsim
