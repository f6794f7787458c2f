// Flash disks.
#pragma once
#include "disks.hpp"

namespace oltpsim {

// A flash disk: `parallel` requests at a time in the order in which they come, or reads before writes.
//
// Background writes come in batches, behind which others wait. By direct I/O writer and checkpoint each have one batch
// at the disk at most, as two more customers of a closed network: they take what others leave, and others wait for what
// is left of a batch, or of one and a half if both are there. Write-back hands over heaps, each of which holds up a
// client once at most.
struct Flash {
    double read_wait_s = 0, write_wait_s = 0;  // before service
    double foreground = 0;                     // share of its time for reads and for writes that somebody waits for
    double batch_s = 0;                        // how long a batch of direct writes takes
    double behind_s = 0, pause_s = 0;          // of the wait, for batches or heaps; how long those wait that meet one

    // `reads`, `writes`: requests/s of clients; `commits`: those of the log on it; `other`: share of its time for
    // writes that come one by one; `blocked`: clients that a heap may hold up.
    void solve(const Machine& machine, const BackgroundWrites& behind, double seen, double reads, double writes,
               double commits, double other, double blocked) {
        const bool direct = machine.is_direct();
        const double read = machine.storage.read_s[0], write = machine.storage.write_s[0], c = machine.storage.parallel;
        const double of_reads = reads * read / c;
        foreground = of_reads + writes * write / c;
        const double background = behind.busy + other;
        const double work = (reads * read * read + writes * write * write) / c + background * write;
        const double residual = work / std::max(2.0 * (foreground + background), TINY);
        const double busy = std::min(seen * foreground + background, 1.0);
        const double stable = seen * foreground + (direct ? other : background), open = std::max(1.0 - stable, TINY);
        const double kept = std::max(1.0 - seen * foreground, 0.02), all = residual * all_busy(busy, c) / c;
        // reads that go first wait for no batch
        const double waiting_reads = machine.storage.reads_per_write > 0 ? 0.0 : reads;
        const double visits = std::max(waiting_reads + writes + commits, TINY);
        double after = 0.0;
        if (direct) {
            const double batch = behind.batch + std::sqrt(behind.batch * 2.0 * log_of(machine.storage.disks));
            // of a batch out of the page cache so many are at the disk, one more whenever one is done
            const double window = batch * (behind.at_once / std::max(behind.batch, TINY));
            // share of time with a batch of each: whose batch is there while the other's is waits behind it
            const double alone_s = std::max(write, batch * write / (window < batch ? std::min(c, window) : c)) / kept;
            const double seldom = std::min(behind.writer_per_s, behind.checkpoint_per_s) * alone_s;
            const double often = std::max(behind.writer_per_s, behind.checkpoint_per_s) * alone_s;
            const double less = seldom < 0.5 ? seldom / (1.0 - seldom) : 1.0,
                         more = std::min(often * (1.0 + less), 1.0);
            const double both = less * more, one = less + more - 2.0 * both, unstarted = std::max(batch - c, 0.0);
            if (window < batch) {
                const double ahead = std::min(unstarted, std::max(window - c, 0.0));
                after = (one * ahead * (1.0 - ahead / 2.0 / batch) + both * ahead) * write / c / kept;
            } else {
                after = (one * unstarted * unstarted / (2.0 * std::max(batch, 1.0)) +
                         both * std::max(1.5 * batch - c, 0.0)) *
                        write / c / kept;
            }
            batch_s = alone_s * (1.0 + less);
            // who waits meets no other batch: each holds up a client once at most
            const double batches = behind.writer_per_s + behind.checkpoint_per_s;
            const double once = blocked * batches * unstarted * write / c / kept * (1.0 + less) / visits;
            if (after > 0.0) after = power(power(after, -4.0) + power(once, -4.0), -0.25);
            pause_s = unstarted * write / c / kept / 2.0;
        } else if (behind.heaped > 0.0) {
            const double heap = behind.heap, absorbed = std::max(heap - c, 0.0) * write / c / kept;
            const double heaps = behind.heaped * c / (heap * write);
            const double anybody = heaps * absorbed * absorbed / 2.0;
            const double once = blocked * heaps * absorbed / visits;
            if (anybody > 0.0) after = 1.0 / std::sqrt(1.0 / (anybody * anybody) + 1.0 / (once * once));
            pause_s = absorbed / 2.0;
        }
        if (machine.storage.reads_per_write > 0) {
            const double fewer = std::max(1.0 - seen * of_reads, TINY);
            read_wait_s = all / fewer;
            write_wait_s = all / open / fewer + after;
        } else {
            read_wait_s = write_wait_s = all / open + after;
            behind_s = after;
        }
        const double calls = std::min(c, machine.storage.calls);
        if (calls < c)
            read_wait_s = std::max(read_wait_s, waiting(seen, read, calls, reads, reads * read / calls, read / 2.0));
        read_wait_s += overfull(stable) * read / c;
        write_wait_s += overfull(stable) * write / c;
    }
};

inline Disks disks_of_flash(const DiskLoad& load) {
    const auto& [workload, machine, writes, traffic, demands, behind, rate, seen] = load;
    const bool shared = machine.is_log_shared();
    const double single = machine.disk_writes(1.0);
    const double spread = machine.storage.disks_per_file;
    const double reads = load.reads_per_s();
    const double victims = load.victims_per_s();
    const double volume = load.unforced_log(rate);
    Flash disk;
    Flash first;
    const double swap = behind.swap / machine.storage.parallel + (shared ? volume : 0.0);
    const double commits = shared && machine.is_durable() ? rate * workload.commits_mean / spread : 0.0;
    disk.solve(machine, behind, seen, reads, victims, 0.0, 0.0, load.blocked());
    first.solve(machine, behind, seen, reads + rate * demands.faults_mean / spread, victims, commits, swap,
                load.blocked());
    Disks disks{};
    disks.rate = rate;
    disks.log.solve(workload, machine, behind, {0.0, 0.0, 0.0, 1.0, shared ? first.write_wait_s : 0.0},
                    writes.log_bytes, rate, shared ? volume * spread / single : volume);
    const double log_way = disks.log.in_the_way_s * single / spread;
    const double part = spread / machine.storage.disks;
    disks.read_s =
        machine.storage.read_s[0] + disk.read_wait_s + (first.read_wait_s + log_way - disk.read_wait_s) * part;
    disks.victim_s =
        machine.storage.write_s[0] + disk.write_wait_s + (first.write_wait_s + log_way - disk.write_wait_s) * part;
    disks.fault_s = machine.swap.read_s[0] + first.read_wait_s + log_way;
    disks.busy = disk.foreground + behind.busy;
    disks.first_busy = first.foreground + behind.busy + swap;
    if (shared) disks.first_busy += disks.log.busy / machine.storage.parallel * single / spread;
    disks.batch_s = std::max(disk.batch_s, first.batch_s);
    disks.behind_s = disk.behind_s;
    disks.pause_s = disk.pause_s;
    return disks;
}

}  // namespace oltpsim
