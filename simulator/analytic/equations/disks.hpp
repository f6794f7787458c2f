// Data disks of any kind: what they are asked for at a rate, and what waits for them and for the log follow.
#pragma once
#include "log.hpp"

namespace oltpsim {

// Demands on the data disks at a rate.
struct DiskLoad {
    const Workload& workload;
    const Machine& machine;
    const PageWrites& writes;
    const Traffic& traffic;
    const Demands& demands;
    const BackgroundWrites& behind;
    double rate;  // transactions per second
    double seen;  // share of the others that an arrival sees

    double per_disk() const { return rate / machine.storage.disks; }
    // Clients' reads of one disk per second, with those of a read-modify-write.
    double reads_per_s() const {
        const double rewritten = demands.victim_writes_mean * machine.disk_writes(1.0);
        return per_disk() * (demands.reads_mean + (machine.storage.rewrite_s > 0 ? rewritten : 0.0));
    }
    double victims_per_s() const { return per_disk() * demands.victim_writes_mean * machine.disk_writes(1.0); }
    // Clients that a heap of writes may hold up, at each disk.
    double blocked() const { return machine.clients.number / machine.storage.disks; }
    // Share of the log device's time for the bytes of a log that nobody waits for.
    double unforced_log(double per_s) const {
        const double volume = machine.is_durable() ? 0.0 : per_s * writes.log_bytes * machine.log.byte_s;
        return machine.is_log_shared() ? volume / machine.data_units() : volume;
    }
};

// Waits for data disks, and for the log.
struct Disks {
    double rate;         // transactions/s while there is no heap of writes
    double read_s;       // response time of a read
    double victim_s;     // response time of a write that a client waits for
    double fault_s;      // response time of a page fault
    double busy;         // share of a data disk's time
    double first_busy;   // share of the first data disk's time, with log and swap
    double first_load;   // load of an SSD's busiest part
    double reads_there;  // reads at an arm
    double batch_s;      // time of a batch of direct writes on flash
    double stalled_s;    // wait of each visit to a disk for heaps
    double heaps;        // share of time with a heap
    double behind_s;     // wait of each behind heaps or batches of writes, in its own time
    double pause_s;      // wait of those that meet a heap or a batch, mean
    Log log;

    // The disks if for this share of the time they are as others.
    Disks beside(const Disks& other, double share) const {
        Disks both = *this;
        for (double Disks::* figure :
             {&Disks::rate, &Disks::read_s, &Disks::victim_s, &Disks::fault_s, &Disks::busy, &Disks::first_busy,
              &Disks::reads_there, &Disks::stalled_s, &Disks::heaps, &Disks::behind_s, &Disks::pause_s})
            both.*figure = (1.0 - share) * this->*figure + share * other.*figure;
        return both;
    }
};

}  // namespace oltpsim
