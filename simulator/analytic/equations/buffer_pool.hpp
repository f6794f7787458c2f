// Buffer pool: misses, and page faults of its frames: what doesn't depend on the rate. Time is counted in transactions.
//
// A page lives in the pool for its characteristic time after each reference (Che, Tung, Wang 2002; of a CLOCK a
// revolution, caches.py). If the operating system has too little memory for all buffers, second chance takes a frame
// once its hand has found it unused twice: between one and two of its revolutions after the last use, evenly. A page
// that is replaced gives its frame too, and must be read back for that.
//
// If pool and page cache share memory, a frame is looked at at the end of two lists of the same length (kernel,
// memory.hpp): it goes between one and three times of a list after the last use, evenly.
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
    double cache_pages = 0;    // that the page cache has memory for
    double merged = 0;         // pages that are merged in the background: they come in changed, unasked
    double merged_stay = 0;    // for how long they stay
    double merged_change = 0;  // changes of one of them while it does

    // `rate`: at which so many pages a second are merged; none without it.
    void solve(const Workload& workload, const Machine& machine, double rate = ENDLESS) {
        const std::size_t n = at(workload.groups), views = at(workload.views);
        missing.assign(n, 0.0);
        misses.assign(n, 0.0);
        faults.assign(n, 0.0);
        misses_of.assign(views, 0.0);
        brought_of.assign(views, 0.0);
        faults_of.assign(views, 0.0);
        time = workload.characteristic_time(std::max(machine.pool.buffers, 1.0));
        if (workload.puts_aside) make_room(workload, machine, rate);
        workload.missing_at(time, missing);
        if (workload.puts_aside) find_changed(workload, machine, rate);
        cache_pages = machine.page_cache.pages;
        if (machine.pool.shared <= 0.0 && machine.pool.resident < machine.pool.buffers)
            page_faults(workload, machine.pool.resident / machine.pool.buffers);
        misses_total = 0.0;
        for (std::size_t g = 0; g < n; g++) {
            missing[g] *= 1.0 - machine.left_of(g, machine.pool.left) * workload.read[g];
            misses[g] = workload.references[g] * missing[g] * workload.read[g];
            misses_total += misses[g];
        }
        for (std::size_t v = 0; v < views; v++) {
            const double* share = workload.share.data() + v * n;
            for (std::size_t g = 0; g < n; g++) {
                misses_of[v] += share[g] * missing[g] * workload.read[g];
                brought_of[v] += share[g] * missing[g];
            }
        }
        brought_mean = workload.mean(brought_of.data());
        view_faults(workload);
    }

    // Shares memory with a page cache into which so many pages come per transaction: both lists of the page cache are
    // as long, and turn over with that. A pool with room for all pages reads none twice, so that no page of a file
    // comes back: then files alone are looked at.
    void share(const Workload& workload, const Machine& machine, double coming) {
        const double stay = longest(workload), all = workload.frames_at(stay), most = machine.pool.buffers;
        const auto with_memory = [&](double turn) { return most * used_after(workload, turn, LISTED, stay) / all; };
        const auto left = [&](double turn) { return std::max(machine.pool.shared - with_memory(turn), 1.0); };
        const auto too_long = [&](double t) {
            const double turn = exp_of(t);
            return log_of(turn / (machine.pool.unused_times * left(turn) / 2.0 / std::max(coming, TINY)));
        };
        std::fill(faults.begin(), faults.end(), 0.0);
        const double low = log_of(workload.times.front()), high = log_of(stay);
        const bool has_all = most >= total(workload.pages);
        const bool is_used = has_all || !std::isfinite(machine.pool.unused_times) || too_long(high) <= 0.0;
        const double turn = is_used ? stay : exp_of(root_between(too_long, low, high, 1e-7));
        cache_pages = is_used ? std::max(machine.pool.shared - most, machine.page_cache.pages) : left(turn);
        if (!is_used) find_faults(workload, turn, LISTED, stay);
        view_faults(workload);
    }

    // How long a page of a group stays in the pool once it has come in, if so many of its references miss but for the
    // changes that find it there: until neither has come for a time that those are missed by.
    static double stay(const Workload& workload, std::size_t g, double missed) {
        const double reads = workload.rate[g], all = reads + change_of(workload, g);
        return (exp_of(std::min(-log_of(std::max(missed, 1e-12)) * all / reads, 500.0)) - 1.0) / all;
    }

    // Changes of one page of a group that may be put aside.
    static double change_of(const Workload& workload, std::size_t g) {
        return workload.rate[g] > 0 ? workload.put_aside[g] / std::max(workload.pages[g], TINY) : 0.0;
    }

private:
    // Some buffers are taken by pages that nobody has asked for: merged ones, and those that changes keep there.
    void make_room(const Workload& workload, const Machine& machine, double rate) {
        double low = 0.0, high = machine.pool.buffers;
        for (int i = 0; i < ROOM_HALVINGS; i++) {
            const double taken = (low + high) / 2.0;
            time = workload.characteristic_time(std::max(machine.pool.buffers - taken, 1.0));
            workload.missing_at(time, missing);
            (find_changed(workload, machine, rate) > taken ? low : high) = taken;
        }
        time = workload.characteristic_time(std::max(machine.pool.buffers - low, 1.0));
    }

    // Pages whose changes wait if the pool lacks them. A leaf comes in by reads, or merges, and is held by changes too;
    // returns the buffers that this takes.
    //
    // Changes wait for a read of a page with the chance that one came first, of c changes and r reads of it: c / (c +
    // r), and at most that of any since the start. Merges are taken to be of pages that nobody reads, all alike; they
    // are as many a second as the daemon reads, or as have changes.
    double find_changed(const Workload& workload, const Machine& machine, double rate) {
        const std::size_t n = missing.size();
        double taken = 0.0, waiting = 0.0;
        changed_there.assign(n, 0.0);
        for (std::size_t g = 0; g < n; g++) {
            const double change = change_of(workload, g), reads = workload.rate[g], missed = missing[g];
            if (change <= 0.0) continue;
            missing[g] = 1.0 / (1.0 + reads * stay(workload, g, missed));
            const double waits =
                std::min(change / (change + reads), one_minus_exp(std::min(change * machine.pool.done, 700.0)));
            changed_there[g] = change * (1.0 - missing[g]) + reads * (1.0 - workload.write[g]) * missing[g] * waits;
            waiting += workload.put_aside[g] * missing[g];
            taken += workload.pages[g] * (missed - missing[g]);
        }
        merged_change = workload.put_aside_apart / std::max(workload.pages_apart, TINY);
        const double old = workload.read_stay(time), found = one_minus_exp(std::min(merged_change * old, 700.0));
        merged_stay = old;
        if (merged_change > 0.0) merged_stay = found * exp_of(std::min(merged_change * time, 500.0)) / merged_change;
        merged_stay = std::min(merged_stay, std::max(machine.pool.done, 1.0));
        waiting += workload.put_aside_apart / (1.0 + merged_change * merged_stay);
        merged = std::min(machine.writing.merged_per_s / std::max(rate, TINY), waiting);
        return taken + merged * merged_stay;
    }

    static constexpr int ROOM_HALVINGS = 30;

    void view_faults(const Workload& workload) {
        const std::size_t n = faults.size();
        for (std::size_t v = 0; v < faults_of.size(); v++) {
            const double* share = workload.share.data() + v * n;
            faults_of[v] = 0.0;
            for (std::size_t g = 0; g < n; g++)
                faults_of[v] += share[g] * faults[g] / std::max(workload.references[g], TINY);
        }
    }

    // So long a page without references stays in the pool.
    double longest(const Workload& workload) const { return workload.is_clock ? CLOCK_STAY * time : time; }

    // Frames used within an age between one turn and 1 + `span` turns.
    static double used_after(const Workload& workload, double turn, double span, double stay) {
        double used = 0.0;
        for (int i = 0; i < AGES; i++)
            used += workload.frames_at(std::min(turn * (1.0 + span * (i + 0.5) / AGES), stay)) / AGES;
        return used;
    }

    void page_faults(const Workload& workload, double wanted) {
        const double stay = longest(workload), all = workload.frames_at(stay);
        const auto too_many = [&](double t) {
            return log_of(used_after(workload, exp_of(t), ONE_TURN, stay) / all / wanted);
        };
        const double turn = exp_of(root_between(too_many, log_of(workload.times.front()), log_of(stay), 1e-7));
        find_faults(workload, turn, ONE_TURN, stay);
    }

    // A reference finds its frame gone if its gap is longer than an age between one and 1 + `span` turns, at which its
    // page is in the pool still.
    void find_faults(const Workload& workload, double turn, double span, double stay) {
        const double end = std::min((1.0 + span) * turn, stay);
        Numbers gone(faults.size());
        for (int i = 0; i < AGES; i++) {
            workload.unused_at(turn + (end - turn) * (i + 0.5) / AGES, gone);
            for (std::size_t g = 0; g < gone.size(); g++)
                faults[g] += workload.references[g] * gone[g] * (end - turn) / (span * turn) / AGES;
        }
    }

    static constexpr int AGES = 16;
    static constexpr double ONE_TURN = 1.0, LISTED = 2.0;
    static constexpr double CLOCK_STAY = 5.5;  // revolutions that a page of full usage count stays
};

}  // namespace oltpsim
