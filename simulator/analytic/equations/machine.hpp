// Machine: a row of numbers (records.hpp), and what follows from several of them.
#pragma once
#include "records.hpp"

namespace oltpsim {

constexpr double LONGEST_QUEUE = 131072.0;

struct Machine : Parameters {
    // Share of a group's pages that are among the last so many that the start has left.
    double left_of(std::size_t group, double pages) const {
        if (pool.left_from.values == nullptr) return 0.0;
        const double first = pool.left_from[group];
        const double last = pool.left_to[group];
        return last <= first ? 0.0 : clip((pages - first) / (last - first), 0.0, 1.0);
    }

    // Disks' worth of data in a file's stripe.
    double data_units() const { return storage.disks_per_file / storage.copies - storage.parities; }
    // Disks on which neighbouring pages of a request lie, copies and parity left out.
    double units(double pages) const { return std::min(1.0 + (pages - 1.0) / storage.unit_pages, data_units()); }
    // Writes of disks for each write of so many neighbouring pages.
    double disk_writes(double pages) const { return storage.copies * units(pages) + storage.parities; }
    // Time of a write of so many neighbouring pages on one disk beyond that of a page.
    double longer_s(double pages) const {
        if (is_limited()) return std::max(pages * storage.page_transfer_s - storage.write_s[0], 0.0);
        return (pages - 1.0) * storage.page_transfer_s;
    }
    // Writes of a page that whoever needs its buffer writes: its copy first, if pages are written twice.
    double victim_writes() const { return 1.0 + writing.doubled; }
    // Requests of the database that a disk may have at once, on average over those of a RAID set.
    double calls_per_disk() const { return storage.calls / storage.disks_per_file; }
    bool is_open() const { return clients.arrivals_per_s > 0; }
    // Whether misses of the pool look into a page cache.
    bool is_cached() const { return writing.direct <= 0 || writing.synced > 0; }
    // Whether a flush follows the pages that daemons and clients write.
    bool is_flushed() const { return writing.doubled > 0 || writing.synced > 0; }
    bool is_log_shared() const { return log.has_own_device <= 0; }
    bool is_durable() const { return log.is_durable > 0; }
    bool is_direct() const { return writing.direct > 0; }
    bool is_flash() const { return storage.is_flash > 0; }
    bool is_ssd() const { return ssd.dies > 0; }
    bool is_limited() const { return volume.is_limited > 0; }
    bool has_cleaners() const { return cleaners.number > 0; }
};

// A table of service times at any number of waiting requests.
inline double at_queue(const double* table, double queue) {
    const double place = 2.0 * 1.4426950408889634 * log_of(clip(queue, 1.0, LONGEST_QUEUE));
    if (!(place >= 0.0)) return NAN;
    const i64 below = std::min(static_cast<i64>(place), QUEUE_POINTS - 2);
    return table[below] + (table[below + 1] - table[below]) * (place - static_cast<double>(below));
}

}  // namespace oltpsim
