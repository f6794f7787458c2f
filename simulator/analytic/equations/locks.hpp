// Row locks, held from where they are taken to the commit: each row is a server of its own, at which only clients meet
// that ask for the same rows. The lock that is taken last is solved first, since others are held while waiting for it.
#pragma once
#include "queues.hpp"
#include "traffic.hpp"

namespace oltpsim {

struct Locks {
    Numbers wait_s;   // by class
    double load = 0;  // of the busiest kind of row
    Numbers waiting;  // share of acquisitions that wait, by lock

    // `cpu`, `paging` and `last` (sections and log): times of a transaction by class; the first two are over in part
    // when a lock is asked for. `turn_s`: what each burst of CPU waits, those between two locks too.
    void solve(const Workload& w, const Machine& m, const Demands& d, double x, const Numbers& cpu, double turn_s,
               const Numbers& paging, const Numbers& last) {
        wait_s.assign(at(w.classes), 0.0), waiting.assign(at(w.locks), 0.0), bursts_left.assign(at(w.classes), 1.0);
        holds.assign(at(w.locks), {});
        load = 0.0;
        i64 highest = -1;
        for (const LockUse& use : w.lock_uses) highest = std::max(highest, use.kind);
        for (i64 kind = highest; kind >= 0; kind--) {
            Hold all{};
            double apart = 0.0, asked = 0.0;
            for (std::size_t k = 0; k < at(w.locks); k++) {
                const LockUse& use = w.lock_uses[k];
                if (use.kind != kind) continue;
                const std::size_t c = at(use.transaction_class);
                const double before = d.cpu_before_s[k] / std::max(d.cpu_s[c], TINY);
                const double pages = std::max(d.reads[c] + d.victims[c] + d.faults[c], TINY);
                const double to_do = clip(1.0 - before, 0.0, 1.0),
                             to_read = clip(1.0 - d.paging_before[k] / pages, 0.0, 1.0);
                const double bursts = bursts_left[c] + to_read * (d.reads[c] + d.victims[c]) + to_do * d.slices[c];
                const double turns = bursts * turn_s;
                const double reads = to_read * paging[c], waits = wait_s[c];
                const double hold = to_do * cpu[c] + turns + reads + last[c] + waits;
                const double squares =
                    turns * turn_s + reads * reads / std::max(to_read * pages, 1.0) + waits * waits + hold * hold;
                const double weight = x * w.mix[c] * use.acquisitions / use.rows;
                holds[k] = {weight * hold, weight * squares / 2.0};
                all.busy += holds[k].busy, all.left += holds[k].left, asked += weight;
                if (apart == 0.0) apart = use.apart;
            }
            if (apart == 0.0) continue;
            const double there = std::max(m.clients / apart, 1.0);
            const double seen = m.open() ? 1.0 : (there - 1.0) / there;
            const double full_s = overfull(all.busy) * all.busy / std::max(asked, TINY);
            load = std::max(load, all.busy);
            for (std::size_t k = 0; k < at(w.locks); k++) {
                const LockUse& use = w.lock_uses[k];
                if (use.kind != kind) continue;
                Hold met = all;
                if (alone_of_its_class(w, use)) met.busy -= holds[k].busy, met.left -= holds[k].left;
                // whoever waits goes before
                const double queue = seen * all.busy, found = seen * met.busy;
                const double wait = queue < 1.0 ? seen * met.left / std::max(1.0 - found, TINY) + full_s : ENDLESS;
                wait_s[at(use.transaction_class)] += use.acquisitions * wait;
                bursts_left[at(use.transaction_class)] += use.acquisitions;
                waiting[k] = std::min(found, 1.0);
            }
        }
    }

private:
    // Share of time that a row is held, and what is left of it at any time, mean.
    struct Hold {
        double busy, left;
    };

    Numbers bursts_left;  // after the lock, those at reads left out
    std::vector<Hold> holds;

    // Whether another transaction of the class that wants one of these rows waits for the lock of a row above them.
    static bool alone_of_its_class(const Workload& w, const LockUse& use) {
        for (const LockUse& above : w.lock_uses)
            if (above.transaction_class == use.transaction_class && above.kind < use.kind && above.rows <= use.rows)
                return true;
        return false;
    }
};

}  // namespace oltpsim
