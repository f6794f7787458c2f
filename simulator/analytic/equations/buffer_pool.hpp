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
    Numbers changed_there;     // by group, changes of one page that may be put aside, counted while the pool has it
    double merged = 0;         // pages that are merged in the background: they come in changed, unasked
    double merged_stay = 0;    // for how long they stay
    double merged_change = 0;  // changes of one of them while it does

    // `rate`: at which so many pages a second are merged; none without it.
    void solve(const Workload& w, const Machine& m, double rate = ENDLESS) {
        const std::size_t n = at(w.groups), views = at(w.views);
        missing.assign(n, 0.0), misses.assign(n, 0.0), faults.assign(n, 0.0);
        misses_of.assign(views, 0.0), brought_of.assign(views, 0.0), faults_of.assign(views, 0.0);
        time = w.characteristic_time(std::max(m.buffers, 1.0));
        if (w.puts_aside) make_room(w, m, rate);
        w.missing_at(time, missing);
        if (w.puts_aside) find_changed(w, m, rate);
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
    }

    // How long a page of a group stays in the pool once it has come in, if so many of its references miss but for the
    // changes that find it there: until neither has come for a time that those are missed by.
    static double stay(const Workload& w, std::size_t g, double missed) {
        const double reads = w.rate[g], all = reads + change_of(w, g);
        return (exp_of(std::min(-log_of(std::max(missed, 1e-12)) * all / reads, 500.0)) - 1.0) / all;
    }

    // Changes of one page of a group that may be put aside.
    static double change_of(const Workload& w, std::size_t g) {
        return w.rate[g] > 0 ? w.put_aside[g] / std::max(w.pages[g], TINY) : 0.0;
    }

private:
    // Some buffers are taken by pages that nobody has asked for: merged ones, and those that changes keep there.
    void make_room(const Workload& w, const Machine& m, double rate) {
        double low = 0.0, high = m.buffers;
        for (int i = 0; i < ROOM_HALVINGS; i++) {
            const double taken = (low + high) / 2.0;
            time = w.characteristic_time(std::max(m.buffers - taken, 1.0));
            w.missing_at(time, missing);
            (find_changed(w, m, rate) > taken ? low : high) = taken;
        }
        time = w.characteristic_time(std::max(m.buffers - low, 1.0));
    }

    // Pages whose changes wait if the pool lacks them. A leaf comes in by reads, or merges, and is held by changes too;
    // returns the buffers that this takes.
    //
    // Changes wait for a read of a page with the chance that one came first, of c changes and r reads of it: c / (c +
    // r), and at most that of any since the start. Merges are taken to be of pages that nobody reads, all alike; they
    // are as many a second as the daemon reads, or as have changes.
    double find_changed(const Workload& w, const Machine& m, double rate) {
        const std::size_t n = missing.size();
        double taken = 0.0, waiting = 0.0;
        changed_there.assign(n, 0.0);
        for (std::size_t g = 0; g < n; g++) {
            const double change = change_of(w, g), reads = w.rate[g], missed = missing[g];
            if (change <= 0.0) continue;
            missing[g] = 1.0 / (1.0 + reads * stay(w, g, missed));
            const double waits = std::min(change / (change + reads), one_minus_exp(std::min(change * m.done, 700.0)));
            changed_there[g] = change * (1.0 - missing[g]) + reads * (1.0 - w.write[g]) * missing[g] * waits;
            waiting += w.put_aside[g] * missing[g];
            taken += w.pages[g] * (missed - missing[g]);
        }
        merged_change = w.put_aside_apart / std::max(w.pages_apart, TINY);
        const double old = w.read_stay(time), found = one_minus_exp(std::min(merged_change * old, 700.0));
        merged_stay = old;
        if (merged_change > 0.0) merged_stay = found * exp_of(std::min(merged_change * time, 500.0)) / merged_change;
        merged_stay = std::min(merged_stay, std::max(m.done, 1.0));
        waiting += w.put_aside_apart / (1.0 + merged_change * merged_stay);
        merged = std::min(m.merged_per_s / std::max(rate, TINY), waiting);
        return taken + merged * merged_stay;
    }

    static constexpr int ROOM_HALVINGS = 30;
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
