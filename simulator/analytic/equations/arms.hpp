// Disks with arms, and limited volumes, which are a server with constant turns: reads among writes in the background.
#pragma once
#include "disks.hpp"
#include "volumes.hpp"

namespace oltpsim {

// Heaps of writes as an environment that changes slowly (Courtois 1977, nearly decomposable systems). While the arm
// sweeps over a heap a read is served if the arm has still to come by its place. From the sweep's begin a client gets
// through e - 1 reads: the first one's place is anywhere, the next one's must lie ahead, and so on. So all clients end
// no more than (e - 1) clients / `blocking` transactions, `blocking` being how often one waits for a disk; if they end
// fewer in that time anyhow, the heap takes nothing but the device's time.
struct Stalls {
    static constexpr double SWEEP_READS = 1.718281828459045;

    double share = 0;    // share of the time in which there is a heap
    double among = 1;    // share of that time in which clients go on as if there were none
    double rate = 0;     // transactions/s while there is none
    double lasts_s = 0;  // how long the arm takes for a heap

    // A limit serves in the order of arrival: a client's request has the writes before it that are at the volume at a
    // time, and others' requests, which take a turn each. `waiting`: requests of all clients that can be there.
    void solve(const Machine& machine, const BackgroundWrites& writes, double x, double blocking, double waiting) {
        constexpr double MOST = 0.98;
        const bool in_order = machine.is_limited() && machine.is_flash();
        const double heaps = clip(writes.busy - writes.trickling, 0.0, MOST),
                     inside = in_order ? machine.clients.number : SWEEP_READS * machine.clients.number;
        const double there = in_order ? waiting * machine.storage.read_s[0] / std::max(writes.heap_s, TINY) : inside;
        lasts_s = (writes.heap + there / machine.storage.disks) * writes.heap_s / machine.storage.parallel;
        const double fits = inside / std::max(blocking * lasts_s, TINY);
        among = power(1.0 + power(std::min(x / std::max(fits, TINY), 1e6), 4.0), -0.25);
        share =
            clip(heaps * (1.0 + (1.0 - among) * there / machine.storage.disks / std::max(writes.heap, 1.0)), 0.0, MOST);
        rate = x * (1.0 - share * among) / (1.0 - share);
    }
};

// Reads at a disk: response and service of one.
struct Reads {
    double wait_s = 0, service_s = 0;

    // At `rate` reads/s of one disk, of whose time writes leave the share `left`. One arm: with Q reads there, and the
    // writes that trickle in among them, a request takes S; the arm is busy for the share U of the time left that
    // solves Q = U + seen g U^2 / (1 - seen U), g the share of a service that an arrival finds left. The rate U / S
    // rises with Q and is looked up backwards. Several requests at once: as `waiting`. At a limit also for a batch of
    // writes, but for no longer than `once_s`: who has waited for a batch has it behind.
    void solve(const Machine& machine, const BackgroundWrites& writes, double seen, double rate, double left,
               double once_s) {
        const double g = machine.is_limited() ? 0.5 : 0.65, most = most_busy(machine, left, g), wanted = rate / left;
        double alone = 0.0, load = 0.0;
        if (machine.storage.parallel <= 1) {
            const double calls = machine.calls_per_disk();
            double rate0 = 0.0, rate1 = 0.0, time0 = 0.0, time1 = 0.0, queue = 1.0;
            for (i64 i = 0; i < QUEUE_POINTS; i++, queue *= 1.4142135623730951) {
                const double time =
                    at_queue(machine.storage.read_s, writes.depth(std::min(queue, calls), writes.trickling));
                rate0 = rate1;
                time0 = time1;
                time1 = time;
                rate1 = std::max(rate0, busy_with(seen, queue, g) * most / time);
                if (i == 0) {
                    rate0 = rate1;
                    time0 = time1;
                }
                if (i > 0 && rate1 >= wanted) break;
            }
            const double part = clip((wanted - rate0) / std::max(rate1 - rate0, TINY), 0.0, 1.0);
            service_s = time0 + (time1 - time0) * part;
            load = wanted * service_s / most;
            const double open = 1.0 - seen * load;
            alone = open > TINY ? service_s * (1.0 + seen * g * load / open) : ENDLESS;
            if (machine.is_limited()) alone += service_s * overfull(load);
        } else {
            service_s = machine.storage.read_s[0];
            const double servers = std::min(machine.storage.parallel, machine.storage.calls) * most;
            alone =
                service_s + waiting(seen, service_s, servers, wanted, wanted * service_s / servers, service_s / 2.0);
        }
        wait_s = alone /= left;
        if (machine.is_limited() && machine.has_cleaners())
            wait_s = among_batches(writes, seen, rate, left, once_s, service_s);
        else if (machine.is_limited())
            wait_s += std::min(behind_batch(writes, alone, seen * load, service_s), once_s);
    }

private:
    // Share of time that an arm is busy if so many requests are there: U of `solve`.
    static double busy_with(double seen, double queue, double g) {
        const double b = 1.0 + seen * queue;
        return 2.0 * queue / (b + std::sqrt(std::max(b * b - 4.0 * seen * (1.0 - g) * queue, 0.0)));
    }

    // Share of the time that writes leave in which a disk can serve calls: 1 for independent disks. A RAID set's
    // pending calls are spread over its disks by chance, as in a closed network, and writes fill the gaps.
    static double most_busy(const Machine& machine, double left, double g) {
        if (machine.storage.disks_per_file <= 1) return 1.0;
        const double each = machine.calls_per_disk();
        const double several =
            std::min(each / machine.storage.parallel,
                     machine.storage.calls / (machine.storage.calls + machine.storage.disks_per_file - 1.0));
        return std::min(
            (machine.storage.parallel > 1 ? several : busy_with(1.0 - 1.0 / machine.storage.calls, each, g)) / left,
            1.0);
    }
};

inline Disks disks_of_arms(const DiskLoad& load) {
    const auto& [workload, machine, writes, traffic, demands, behind, rate, seen] = load;
    const bool shared = machine.is_log_shared(), durable = machine.is_durable();
    double blocking = demands.reads_mean + demands.victims_mean + demands.faults_mean;
    const double reading = blocking;
    if (shared && durable) blocking += workload.commits_mean;
    // all who wait for the log have one request there
    const double waiting = machine.clients.number * reading / std::max(blocking, TINY) + 1.0;
    Stalls stalls;
    stalls.solve(machine, behind, rate, blocking, waiting);
    const double unstalled = stalls.rate;
    const double per_disk = unstalled / machine.storage.disks, single = machine.disk_writes(1.0),
                 spread = machine.storage.disks_per_file;
    // a write that somebody waits for, in reads of the disks
    const double victim_reads =
        machine.volume.write_alone_s > 0 ? 0.0 : single * (1.0 + machine.storage.rewrite_s / machine.storage.read_s[0]);
    const double asked = per_disk * (demands.reads_mean + demands.victim_writes_mean * victim_reads);
    double left = std::max(1.0 - behind.trickling - stalls.share * stalls.among, 0.02);
    const double once =
        machine.clients.number * behind.trickling * machine.storage.disks / std::max(unstalled * blocking, TINY);
    Reads reads, first;
    reads.solve(machine, behind, seen, asked, left, once);
    double log_waits = 0.0;
    if (machine.volume.log_beside_s > 0) {
        if (machine.volume.log_is_behind > 0) log_waits = std::max(reads.wait_s - reads.service_s, 0.0);
        left = std::max(
            left - machine.volume.log_beside_s * Log::flushes_beside(workload, machine, unstalled, log_waits), 0.02);
        reads.solve(machine, behind, seen, asked, left, once);
    }
    // the first disk also has the log, if that has no device of its own, and swap; a RAID set spreads them
    const double volume = load.unforced_log(unstalled);
    const double first_asked = asked + unstalled * demands.faults_mean / spread;
    const double first_left = std::max(left - behind.swap - (shared ? volume : 0.0), 0.02);
    first = reads;
    if (first_left != left || demands.faults_mean > 0)
        first.solve(machine, behind, seen, first_asked, first_left, once);
    Disks disks{};
    Log& log = disks.log;
    log.solve(workload, machine, behind, {first_asked, first.wait_s, first.service_s, first_left, log_waits},
              writes.log_bytes, unstalled, shared ? volume * spread / single : volume);
    const double first_wait = first.wait_s + log.in_the_way_s * single / spread;
    const double one_read =
        reads.wait_s + (first_wait - reads.wait_s) / machine.storage.disks * spread + machine.volume.delay_s;
    const double one_fault = first_wait + machine.swap.read_s[0] - machine.storage.read_s[0] + machine.volume.delay_s;
    const double at_once = machine.storage.parallel > 1 ? std::min(machine.storage.parallel, machine.storage.calls)
                                                        : machine.storage.parallel;
    const double part = rate / unstalled;
    const double disk_busy = part * asked * reads.service_s / at_once + behind.busy;
    double first_busy = disk_busy + behind.swap + rate * demands.faults_mean * first.service_s / spread;
    if (shared) first_busy += part * log.busy / machine.storage.parallel * single / spread;
    const double closed = machine.clients.number * std::max(1.0 / rate - 1.0 / unstalled, 0.0);
    const double held_up =
        machine.is_open() ? stalls.share * stalls.lasts_s / 2.0 * one_minus_exp(std::min(blocking, 700.0)) : closed;
    disks.rate = unstalled;
    disks.read_s = one_read;
    disks.victim_s = one_read + machine.storage.rewrite_s;
    disks.fault_s = one_fault;
    disks.busy = disk_busy;
    disks.first_busy = first_busy;
    disks.reads_there = asked * reads.wait_s;
    disks.stalled_s = held_up / std::max(blocking, TINY);
    disks.heaps = stalls.share;
    disks.pause_s = stalls.lasts_s / Stalls::SWEEP_READS;
    if (machine.is_flash()) disks.victim_s += machine.storage.write_s[0] - machine.storage.read_s[0];
    if (machine.volume.write_alone_s > 0) disks.victim_s = machine.volume.write_alone_s;
    return disks;
}

}  // namespace oltpsim
