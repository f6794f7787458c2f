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
    // when a lock is asked for.
    void solve(const Workload& w, const Machine& m, const Demands& d, double x, const Numbers& cpu,
               const Numbers& paging, const Numbers& last) {
        constexpr double RESIDUAL = 0.75;  // of a lock's time when somebody asks for it: squared variation 0.5
        wait_s.assign(at(w.classes), 0.0), waiting.assign(at(w.locks), 0.0);
        load = 0.0;
        i64 highest = -1;
        for (const LockUse& use : w.lock_uses) highest = std::max(highest, use.kind);
        for (i64 kind = highest; kind >= 0; kind--) {
            double held = 0.0, squares = 0.0, apart = 0.0;
            for (std::size_t k = 0; k < at(w.locks); k++) {
                const LockUse& use = w.lock_uses[k];
                if (use.kind != kind) continue;
                const std::size_t c = at(use.transaction_class);
                const double before = d.cpu_before_s[k] / std::max(d.cpu_s[c], TINY);
                const double pages = std::max(d.reads[c] + d.victims[c] + d.faults[c], TINY);
                const double to_do = clip(1.0 - before, 0.0, 1.0),
                             to_read = clip(1.0 - d.paging_before[k] / pages, 0.0, 1.0);
                const double hold = to_do * cpu[c] + to_read * paging[c] + last[c] + wait_s[c];
                const double weight = x * w.mix[c] * use.acquisitions / use.rows;
                held += weight * hold, squares += weight * hold * hold;
                if (apart == 0.0) apart = use.apart;
            }
            if (apart == 0.0) continue;
            const double there = std::max(m.clients / apart, 1.0);
            const double busy = (m.open() ? 1.0 : (there - 1.0) / there) * held;
            load = std::max(load, busy);
            const double left = squares / std::max(held, TINY) * RESIDUAL;
            const double wait = busy < 1.0 ? busy * left / std::max(1.0 - busy, TINY) : ENDLESS;
            for (std::size_t k = 0; k < at(w.locks); k++) {
                const LockUse& use = w.lock_uses[k];
                if (use.kind != kind) continue;
                wait_s[at(use.transaction_class)] += use.acquisitions * wait;
                waiting[k] = std::min(busy, 1.0);
            }
        }
    }
};

}  // namespace oltpsim
