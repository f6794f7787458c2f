// Drives with an arm and a write cache.
#pragma once
#include "arms.hpp"

namespace oltpsim {

// Drives with a write cache: writes are done when they are in it, and reads go before those that it holds; while it
// is full every other turn is a write's.
inline Disks disks_of_caching_arms(const DiskLoad& load) {
    const auto& [workload, machine, writes, traffic, demands, behind, rate, seen] = load;
    const double single = machine.disk_writes(1.0);
    const double spread = machine.storage.disks_per_file;
    const double reads = load.reads_per_s();
    const double write_s = std::max(behind.heap_s, machine.storage.write_s[QUEUE_POINTS - 1]);
    BackgroundWrites none;
    none.most = 1.0;
    Disks disks{};
    disks.rate = rate;
    disks.log.solve(workload, machine, behind, {0.0, 0.0, 0.0, 1.0, 0.0}, writes.log_bytes, rate,
                    load.unforced_log(rate));
    double waits[2], writes_wait[2];
    for (int first = 0; first < 2; first++) {
        Reads arm;
        const double asked = reads + (first ? rate * demands.faults_mean / spread : 0.0);
        arm.solve(machine, none, seen, asked, 1.0, 0.0);
        double writing = behind.busy + load.victims_per_s() * write_s;
        if (first && machine.is_log_shared()) writing += disks.log.busy * single / spread;
        if (first) writing += behind.swap;
        const double of_reads = std::min(asked * arm.service_s, 1.0), busy = of_reads + writing;
        const double full = power(std::min(busy, 1.0), 32.0);
        waits[first] = arm.wait_s + (std::min(writing, 1.0 - of_reads) / 2.0 + full + overfull(busy)) * write_s;
        (first ? disks.first_busy : disks.busy) = busy;
        const double page_s = machine.write_cache.write_s + full * write_s / std::max(1.0 - of_reads, 0.05);
        if (!first) disks.batch_s = writes.batch * single / machine.storage.disks * page_s;
        writes_wait[first] = machine.write_cache.write_s + full * write_s;
    }
    disks.read_s = waits[0] + (waits[1] - waits[0]) / machine.storage.disks * spread;
    disks.victim_s = writes_wait[0] + (writes_wait[1] - writes_wait[0]) / machine.storage.disks * spread;
    disks.fault_s = waits[1] + machine.swap.read_s[0] - machine.storage.read_s[0];
    return disks;
}

// Share of a heap of writes that a drive's cache has no room for: it waits among the reads, as without a cache.
inline double too_large(const Machine& machine, const BackgroundWrites& behind) {
    if (machine.is_direct()) return 0.0;
    return std::max(1.0 - machine.write_cache.pages / std::max(behind.heap, 1.0), 0.0);
}

}  // namespace oltpsim
