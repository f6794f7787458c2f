// CPU: hardware threads that slow each other down, processors, and critical sections in front of them.
#pragma once
#include "queues.hpp"
#include "traffic.hpp"

namespace oltpsim {

// How much longer bursts take at `x` transactions/s. Busy threads = rate x demand x slowdown, and the slowdown follows
// from them: read from a table of what the threads do at each number busy, which never falls.
inline double slowdown_at(const Machine& machine, const Demands& demands, double x, double seen) {
    const double* table = machine.cpu.slowdowns;
    if (table[0] == 1.0 && table[SHARING_POINTS - 1] == 1.0) return 1.0;
    const double asked = x * (demands.cpu_mean + demands.section_mean + demands.background_cpu_s);
    const auto done = [&](i64 i) {
        const double chance = static_cast<double>(i) / static_cast<double>(SHARING_POINTS - 1);
        return chance * std::max(machine.cpu.most_busy_others, 1.0) / std::max(seen, TINY) / table[i];
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
    void solve(const Workload& workload, const Machine& machine, const Demands& demands, double x, double seen) {
        slowdown = slowdown_at(machine, demands, x, seen);
        const double cpu_s = demands.cpu_mean * slowdown, section_s = demands.section_mean * slowdown;
        const double background_s = demands.background_cpu_s * slowdown,
                     entered = std::max(workload.entries_mean, TINY);
        const double free = std::max(1.0 - x * background_s / machine.cpu.processors, 0.01);
        const double burst = (cpu_s + section_s) / demands.visits_mean / free;
        const double loaded = x * (cpu_s + section_s) / free / machine.cpu.processors;
        double few =
            machine.is_open()
                ? 1.0
                : clip((machine.clients.number - machine.cpu.processors) / std::max(machine.clients.number - 1.0, 1.0),
                       0.0, 1.0);
        // a convoy lets go of one client after the other, evenly: they rarely meet at the processors (Allen-Cunneen)
        const double inside = section_s / entered, turn = inside + machine.cpu.handover_s;
        const double convoy = clip(x * entered * turn, 0.0, 1.0), part = inside / std::max(turn, TINY);
        const double uneven = demands.section_variation * part * part;
        few *= (1.0 - convoy * convoy * (1.0 - uneven) + demands.burst_variation) / (1.0 + demands.burst_variation);
        most_s = machine.clients.number * burst / machine.cpu.processors;
        const double left = demands.burst_left_s * slowdown / free;
        wait_s = waiting(seen, burst, machine.cpu.processors, x * demands.visits_mean, loaded, left * few);
        const double delay = all_busy(seen * loaded, machine.cpu.processors) * left / machine.cpu.processors * few;
        const double hold = inside + delay, entries = x * entered;
        const double taken =
            clip(entries * hold / std::max(1.0 - seen * entries * machine.cpu.handover_s, TINY), 0.0, 1.0) * seen;
        const double ahead = demands.section_left_s * slowdown + delay / 2.0 + machine.cpu.handover_s;
        const double used = entries * (hold + machine.cpu.handover_s);
        queue_s = delay + taken * ahead / std::max(1.0 - seen * used, TINY) +
                  (hold + machine.cpu.handover_s) * overfull(used);
        load = x * (cpu_s + section_s + background_s) / machine.cpu.processors;
        section_load = used;
        busy = std::min(load, 1.0);
        section_busy = std::min(entries * (hold + taken * machine.cpu.handover_s), 1.0);
        handing_over = std::min(entries * taken * machine.cpu.handover_s, 1.0);
    }
};

}  // namespace oltpsim
