// CPU: hardware threads that slow each other down, processors, and critical sections in front of them.
#pragma once
#include "queues.hpp"
#include "traffic.hpp"

namespace oltpsim {

// How much longer bursts take at `x` transactions/s. Busy threads = rate x demand x slowdown, and the slowdown follows
// from them: read from a table of what the threads do at each number busy, which never falls.
inline double slowdown_at(const Machine& m, const Demands& d, double x, double seen) {
    const double* table = m.slowdowns;
    if (table[0] == 1.0 && table[SHARING_POINTS - 1] == 1.0) return 1.0;
    const double asked = x * (d.cpu_mean + d.section_mean + d.background_cpu_s);
    const auto done = [&](i64 i) {
        const double chance = static_cast<double>(i) / static_cast<double>(SHARING_POINTS - 1);
        return chance * std::max(m.beside, 1.0) / std::max(seen, TINY) / table[i];
    };
    i64 low = 0, high = SHARING_POINTS - 1;
    while (high - low > 1) {
        const i64 middle = (low + high) / 2;
        (done(middle) <= asked ? low : high) = middle;
    }
    const double part = clip((asked - done(low)) / std::max(done(high) - done(low), TINY), 0.0, 1.0);
    return table[low] + part * (table[high] - table[low]);
}

struct Cpu {
    double slowdown = 1;
    double wait_s = 0;   // of one burst
    double most_s = 0;   // what it would wait if all clients were before it
    double queue_s = 0;  // of one entry into a critical section, until a processor takes it up
    double busy = 0, section_busy = 0;
    double load = 0, section_load = 0;  // as they would be without an end
    double handing_over = 0;            // processors that hand sections over: wake-ups and context switches

    // Whoever has waited for a section costs a hand-over more.
    void solve(const Workload& w, const Machine& m, const Demands& d, double x, double seen) {
        slowdown = slowdown_at(m, d, x, seen);
        const double cpu_s = d.cpu_mean * slowdown, section_s = d.section_mean * slowdown;
        const double background_s = d.background_cpu_s * slowdown, entered = std::max(w.entries_mean, TINY);
        const double free = std::max(1.0 - x * background_s / m.processors, 0.01);
        const double burst = (cpu_s + section_s) / d.visits_mean / free;
        const double loaded = x * (cpu_s + section_s) / free / m.processors;
        double few = m.open() ? 1.0 : clip((m.clients - m.processors) / std::max(m.clients - 1.0, 1.0), 0.0, 1.0);
        // a convoy lets go of one client after the other, evenly: they rarely meet at the processors (Allen-Cunneen)
        const double inside = section_s / entered, turn = inside + m.handover_s;
        const double convoy = clip(x * entered * turn, 0.0, 1.0), part = inside / std::max(turn, TINY);
        const double uneven = d.section_variation * part * part;
        few *= (1.0 - convoy * convoy * (1.0 - uneven) + d.burst_variation) / (1.0 + d.burst_variation);
        most_s = m.clients * burst / m.processors;
        const double left = d.burst_left_s * slowdown / free;
        wait_s = waiting(seen, burst, m.processors, x * d.visits_mean, loaded, left * few);
        const double delay = all_busy(seen * loaded, m.processors) * left / m.processors * few;
        const double hold = inside + delay, entries = x * entered;
        const double taken =
            clip(entries * hold / std::max(1.0 - seen * entries * m.handover_s, TINY), 0.0, 1.0) * seen;
        const double ahead = d.section_left_s * slowdown + delay / 2.0 + m.handover_s;
        const double used = entries * (hold + m.handover_s);
        queue_s = delay + taken * ahead / std::max(1.0 - seen * used, TINY) + (hold + m.handover_s) * overfull(used);
        load = x * (cpu_s + section_s + background_s) / m.processors, section_load = used;
        busy = std::min(load, 1.0);
        section_busy = std::min(entries * (hold + taken * m.handover_s), 1.0);
        handing_over = std::min(entries * taken * m.handover_s, 1.0);
    }
};

}  // namespace oltpsim
