// Background writes at one data disk, and what writer and checkpoint take for a page. Sources:
// docs/model/memory.md.
#pragma once
#include "queues.hpp"
#include "traffic.hpp"

namespace oltpsim {

// Writes in the background at one data disk. Some come in heaps: what a wake-up of the flusher finds, what the writer
// hands over from its high mark to its low one, or all dirty pages that the page cache may hold. The others trickle:
// dirty pages that the page cache has to give up, and all that direct I/O writes. So do the pages that merges read.
struct BackgroundWrites {
    double busy = 0;                                // share of the disk's time, heaps and trickle
    double trickling = 0;                           // of it for those that trickle
    double most = 0;                                // requests that may have trickled in
    double batch = 0;                               // how many of those come together; 0 if each for itself
    double at_once = 0;                             // of a batch those that are at the disk at a time
    double pushed = 1;                              // mean number that come at a time otherwise
    double active = 1;                              // share of time in which they come
    double heap = 1;                                // requests of a heap
    double chunk = 0;                               // the same of what write-back takes along at once
    double heap_s = 0;                              // service of one of them
    double swap = 0;                                // share of the first disk's time for swap-outs
    double heaped = 0;                              // share of the disk's time for writes that come in heaps
    double per_s = 0;                               // requests, heaps and trickle
    double writer_per_s = 0, checkpoint_per_s = 0;  // batches of direct writes

    void solve(const Machine& machine, const Demands& demands, const PageWrites& writes, const Traffic& traffic,
               double cache_time, double x) {
        const bool direct = machine.is_direct();
        const double requests = std::max(traffic.requests - demands.victims_mean, 0.0);
        const double stays =
            power(std::min(1.0, cache_time /
                                    std::max(x * (machine.write_back.expire_s + machine.write_back.interval_s), TINY)),
                  4.0);
        // what the writer brings pushes out as many dirty pages, in the order in which it has brought those
        const double trickle =
            direct || machine.storage.reads_per_write > 0 ? 1.0 : (1.0 - stays) * (1.0 - traffic.bursts);
        const double pages_each = std::max(traffic.written / std::max(traffic.requests, TINY), 1.0);
        // what each request of a file makes for one of the disks
        const double each = machine.disk_writes(pages_each) / machine.storage.disks;
        const double together =
            machine.is_flash() ? std::min(traffic.heap, machine.write_back.in_flight_pages) : traffic.heap;
        heap = std::max(direct ? writes.batch * each : together / std::max(pages_each, TINY) * each, 1.0);
        chunk = direct ? 0.0 : machine.page_cache.chunk_pages / std::max(pages_each, TINY) * each;
        const double longer = machine.longer_s(pages_each / machine.units(pages_each));
        const double order = direct ? writes.batch * each : traffic.sorted / std::max(pages_each, TINY) * each;
        heap_s = at_queue(machine.storage.write_s, std::max(order, heap) / 2.0) + longer;
        const double reads = std::min(machine.clients.number / machine.storage.disks, machine.calls_per_disk());
        most = (direct ? 2.0 * writes.batch : machine.page_cache.dirty_limit_pages) * each;
        const double rate = x * each / machine.storage.parallel * requests;
        double trickle_s = at_queue(machine.storage.write_s, most) + longer;
        batch = !direct ? 0.0 : (machine.is_flash() ? writes.together : writes.batch) * each;
        at_once = machine.writing.synced > 0 ? std::min(batch, std::max(machine.write_back.in_flight_pages * each, 1.0))
                                             : batch;
        pushed = 1.0 + std::max(writes.batch * each - 1.0, 0.0) / 2.0 * traffic.batches;
        for (int number = 0; number < 3; number++) {
            const double load = rate * trickle * trickle_s;
            trickle_s = (trickle_s + at_queue(machine.storage.write_s, depth(reads, load)) + longer) / 2.0;
        }
        const double cluster = machine.swap.cluster_pages / machine.units(machine.swap.cluster_pages);
        const double out =
            at_queue(machine.swap.write_s, heap / 2.0) + machine.longer_s(1.0 - machine.volume.is_limited + cluster);
        trickle_s += copies_s(machine, writes.batch) * machine.disk_writes(writes.batch) / writes.batch /
                     machine.disk_writes(pages_each);
        per_s = rate * machine.storage.parallel;
        const double read_s = machine.is_ssd() ? machine.ssd.die_s / machine.ssd.dies
                                               : machine.storage.read_s[0] / machine.storage.parallel;
        const double merging = x * traffic.merged / machine.storage.disks * read_s;
        busy = rate * (trickle * trickle_s + (1.0 - trickle) * heap_s) + merging;
        trickling = rate * trickle * trickle_s + merging;
        heaped = direct ? 0.0 : rate * (1.0 - trickle) * heap_s;
        writer_per_s = x * (writes.aged - writes.victims) / writes.together;
        checkpoint_per_s = x * writes.checkpoint / writes.together;
        active = direct ? std::max(writes.active, std::min(rate * trickle_s, 1.0)) : 1.0;
        swap = x * demands.faults_mean / machine.swap.cluster_pages * out *
               machine.disk_writes(machine.swap.cluster_pages) / machine.storage.disks_per_file;
    }

    // Share of an SSD's interface that pages take which daemons write together, with their copies.
    double bursts(const Machine& machine) const {
        return machine.is_direct() && batch > 1.0 ? per_s * burst_s(machine) / batch : 0.0;
    }

    double burst_s(const Machine& machine) const {
        return batch * machine.ssd.interface_write_s * (1.0 + machine.writing.doubled);
    }

    // The request that writes the copies of a batch first, if it is written twice.
    static double copies_s(const Machine& machine, double batch) {
        if (machine.writing.doubled > 0 && machine.is_ssd())
            return machine.ssd.append_page_s * batch / machine.units(batch);
        return machine.writing.doubled > 0 ? machine.storage.write_s[0] + machine.longer_s(batch / machine.units(batch))
                                           : 0.0;
    }

    // Requests at a disk with so many reads among which writes of this load come: at any time (mixed network), or in
    // batches that are half done on average.
    double depth(double reads, double load) const {
        if (batch > 0) return reads + std::max(at_once / 2.0, 0.5) * batch_there(reads, load);
        return std::min((reads + load * pushed) / std::max(1.0 - load, 0.001), reads + std::max(most, 1.0));
    }

    // Share of time in which there is a batch: as long as its share of the queue needs for its share of the time.
    double batch_there(double reads, double load) const {
        const double half = std::max(at_once / 2.0, 0.5);
        return std::min(load * (reads + half) / half, 1.0);
    }
};

// What writer and checkpoint take for a page, if so many reads are at a disk and a burst of CPU waits so long. A batch
// is over when its last page is; reads get their turns in between, but at limits in the order of arrival. Out of the
// page cache a checkpoint's pages have what all else leaves of the disks' time; it ends when they are there.
inline double writer_page_s(const Machine& machine, const PageWrites& writes, double reads_there, double batch_s,
                            double cpu_wait_s, double written_back_s, double others) {
    constexpr double MOST = 0.98, LEAST_LEFT = 0.02;
    double disks = machine.is_direct() ? 0.0 : written_back_s * writes.batch / std::max(MOST - others, LEAST_LEFT);
    const double copies_s = BackgroundWrites::copies_s(machine, writes.batch);
    if (machine.is_direct() && ((machine.is_flash() && !machine.is_limited()) || machine.write_cache.write_s > 0)) {
        disks = batch_s + (machine.is_ssd() ? 0.0 : copies_s);
    } else if (machine.is_direct()) {
        const double even = writes.together * machine.disk_writes(1.0) / machine.storage.disks;
        const double whole = even + std::sqrt(even * 2.0 * log_of(machine.storage.disks));
        // out of the page cache one part follows the other
        const double parts = machine.writing.synced > 0
                                 ? std::max(writes.together / std::max(machine.write_back.in_flight_pages, 1.0), 1.0)
                                 : 1.0;
        const double batch = whole / parts;
        const double there = std::min(reads_there, machine.calls_per_disk());
        const double passed = machine.is_limited() && machine.has_cleaners() ? there : there * log_of(1.0 + batch);
        disks = parts * (passed + batch) / machine.storage.parallel *
                at_queue(machine.storage.write_s, there + batch / 2.0);
        if (machine.writing.doubled > 0)
            disks += there / machine.storage.parallel * at_queue(machine.storage.write_s, there) + copies_s;
    }
    return (cpu_wait_s + disks) / writes.batch + machine.cpu.page_write_s / machine.cpu.speed;
}

}  // namespace oltpsim
