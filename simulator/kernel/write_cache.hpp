// A drive whose write cache is on: writes are done when they are in it, and go to the platter later.
//
// The oldest cached writes are those that the drive chooses among; the others follow in order of arrival. Reads go
// first; while a write waits for room, every other turn is a cached write's.
//
// Or a disk's part of a RAID controller's cache: what must be read before it is written (parity) is in the cache like
// any other write, and read and written when the arm comes to it; and a write that begins where a cached one ends is
// joined to that, so that a log's flushes come to the disks as few long writes.
#pragma once
#include <limits>
#include <unordered_map>

#include "disk.hpp"

namespace oltpsim {

class CachingDisk : public Disk {
public:
    CachingDisk(const Context& context, i32 device, const form::CachingDevice& record, Requests& requests)
        : Disk(context, device, record, requests), cache(record), destaging(cache.destages_among) {}

    void arrive(i32 number) override {
        scheduler.add(requests, number, requests.devices[device].arrived);
        feed();
    }

    // A write is in the cache: that is all that whoever made it waits for.
    void wake(i32 number) override {
        writes_held--;
        const Request& request = requests[number];
        const CachedWrite write{request.byte, request.size_bytes, request.transfer == Transfer::rewrite};
        if (cache.by_controller && join_cached_write(write)) {
            fill();
        } else {
            cached.add(write);
            if (cache.by_controller) number_by_end[write.byte + write.size_bytes] = taken + cached.size() - 1;
            choose_oldest();
        }
        requests.complete(number, 0);
        feed();
    }

    // The drive has a read or a destaged write behind it, and starts on the next.
    void move() override {
        Gauge& busy = requests.devices[device].busy;
        if (is_serving) {
            is_serving = false;
            if (destages)
                end_destaging();
            else
                end_read();
            feed();
        }
        if (held.count == 0 && destaging.count == 0) {
            busy.change(calendar.now_ns, -busy.value);
            idle = true;
            return;
        }
        busy.change(calendar.now_ns, 1 - busy.value);
        const bool turn = held.count == 0 || (!waiting_writes.empty() && !destages);
        destages = destaging.count > 0 && turn;
        chosen = (destages ? destaging : held).choose(mechanics, arm_byte, calendar.now_ns);
        if (destages && destaging.request_at(chosen.place) == REREAD)
            chosen.service_ns += mechanics.rewrite_ns(destaging.size_at(chosen.place));
        is_serving = true;
        calendar.after(chosen.service_ns, EventKind::arm, device);
    }

private:
    // A write takes at least this of the cache (assumption: firmware manages it in blocks).
    static constexpr i64 BLOCK_BYTES = 4096;

    // Longest that joined writes become (assumption: a unit of large RAID sets).
    static constexpr i64 LONGEST_JOINED_BYTES = 1 << 20;
    // In place of a request's number: a destaged write that is read first.
    static constexpr i32 REREAD = -2;

    struct CachedWrite {
        i64 byte, size_bytes;
        bool is_reread;
    };

    const form::CachingDevice& cache;
    HeldRequests destaging;
    Ring<CachedWrite> cached;
    i64 taken = 0;                               // from the ring, of all that were ever in it
    std::unordered_map<i64, i64> number_by_end;  // of the writes in the ring: number by end byte
    RequestLine waiting_writes;                  // for room
    i64 writes_held = 0;                         // commands of the drive that writes have, waiting or in transfer
    i64 used_bytes = 0;
    bool destages = false;

    static i64 cache_bytes_of(i64 size_bytes) { return std::max(size_bytes, BLOCK_BYTES); }

    // The drive takes requests in as long as it has commands free: writes into its cache, the others for the arm.
    void feed() {
        while (held.count + writes_held < depth && !scheduler.empty()) {
            const i32 number = scheduler.take(requests);
            if (requests[number].transfer == Transfer::write ||
                (cache.by_controller && requests[number].transfer == Transfer::rewrite))
                take_write(number);
            else
                hold(number);
        }
        if (idle && (held.count > 0 || destaging.count > 0)) wake_arm();
    }

    void take_write(i32 number) {
        writes_held++;
        requests.line_up(waiting_writes, number);
        fill();
    }

    // Writes get room in order of arrival; one larger than the cache waits until that is empty.
    void fill() {
        while (!waiting_writes.empty()) {
            const i64 needed = cache_bytes_of(requests[waiting_writes.first].size_bytes);
            if (used_bytes > 0 && used_bytes + needed > cache.cache_bytes) break;
            used_bytes += needed;
            const i32 number = requests.take(waiting_writes);
            calendar.after(cache.in_cache_ns, EventKind::request, number);
        }
    }

    // Lengthens the cached write that ends where this one begins; false if there is none that may be.
    bool join_cached_write(const CachedWrite& write) {
        const auto end = number_by_end.find(write.byte);
        if (end == number_by_end.end()) return false;
        CachedWrite& before = cached.at(end->second - taken);
        const i64 together = before.size_bytes + write.size_bytes;
        if (before.is_reread != write.is_reread || together > LONGEST_JOINED_BYTES) return false;
        used_bytes += cache_bytes_of(together) - cache_bytes_of(before.size_bytes) - cache_bytes_of(write.size_bytes);
        before.size_bytes = together;
        const i64 number = end->second;
        number_by_end.erase(end);
        number_by_end[before.byte + together] = number;
        return true;
    }

    void choose_oldest() {
        while (destaging.count < cache.destages_among && !cached.empty()) {
            const CachedWrite write = cached.take();
            const auto end = number_by_end.find(write.byte + write.size_bytes);
            if (end != number_by_end.end() && end->second == taken) number_by_end.erase(end);
            taken++;
            const double never = std::numeric_limits<double>::infinity();
            destaging.add(mechanics, write.byte, write.size_bytes, !write.is_reread, never,
                          write.is_reread ? REREAD : NONE);
        }
    }

    // What had to be read before it is written goes on as a write.
    void end_read() {
        const i32 number = let_go();
        if (requests[number].transfer == Transfer::rewrite) {
            requests.devices[device].service_ns += chosen.service_ns;
            requests[number].transfer = Transfer::write;
            take_write(number);
        } else {
            requests.complete(number, chosen.service_ns);
        }
    }

    void end_destaging() {
        const i64 size_bytes = destaging.size_at(chosen.place);
        arm_byte = destaging.byte_at(chosen.place) + size_bytes;
        destaging.remove(chosen.place);
        choose_oldest();
        used_bytes -= cache_bytes_of(size_bytes);
        requests.devices[device].service_ns += chosen.service_ns;
        fill();
    }
};

}  // namespace oltpsim
