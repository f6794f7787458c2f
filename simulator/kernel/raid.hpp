// RAID sets: where the bytes of a set lie on its disks, and the controller that hands requests to these.
//
// A set's bytes go round its disks in units; a stripe is one unit on each. Disks in pairs hold the same (RAID 1, 10).
// With parity the units of a stripe that hold it wander: from the last place back by one with each stripe, the data
// behind them, round the disks (left-symmetric, the default of Linux's md). RAID 6 has two next to each other.
//
// A small write with parity reads what it changes, data and parity, and writes both (read-modify-write). A write of
// whole stripes need not read.
//
// What disks hold in volatile buffers is flushed by all of them: none knows which of them has a write's bytes, or
// whether it still has others. So a synced write is followed, once its parts are done, by a flush of each disk, and
// done with the last (Linux, drivers/md/md.c, submit_flushes). Disks that need no flush get none. Source: Patterson,
// Gibson, Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988; layout: Lee, Katz, "Performance
// consequences of parity placement in disk arrays", ASPLOS 1991.
#pragma once
#include <memory>
#include <utility>

#include "ssd.hpp"

namespace oltpsim {

class Raid : public DeviceStation {
public:
    // `stations`: of all devices, among which its disks are.
    Raid(const Context& context, i32 device, const form::RaidSet& set, Requests& requests,
         const Array<std::unique_ptr<DeviceStation>>& stations)
        : requests(requests),
          stations(stations),
          first_disk(static_cast<i32>(context.system.storage.first_disks[device])),
          copies(set.copies),
          places(set.disks.size() / copies),
          parities(set.parities),
          unit(set.unit_bytes),
          flushes(set.needs_flush) {}

    // The controller hands a request to the disks where its bytes lie. One without bytes still goes somewhere.
    void arrive(i32 number) override {
        const i64 byte = requests[number].byte, size = std::max<i64>(requests[number].size_bytes, 1);
        const Transfer transfer = requests[number].transfer;
        if (transfer == Transfer::flush) return flush_all(number);
        const Transfer of_disks =
            goes_on_in_page(requests[number]) ? transfer : transfer_of_disks(byte, size, transfer);
        for (i64 place = 0; place < places; place++) {
            const Part part = part_at(place, byte, size, transfer != Transfer::read);
            if (part.end == 0) continue;
            const i32 disk = first_disk + static_cast<i32>(place * copies);
            if (transfer == Transfer::read) {
                add_part(number, shorter_queue(disk, first_copy(part.byte)), part, of_disks);
            } else {
                for (i32 copy = 0; copy < copies; copy++) add_part(number, disk + copy, part, of_disks);
            }
        }
    }

    // All disks have done their parts: the request is done, or they are flushed first.
    void end_parts(i32 number) override {
        if (!flushes || !requests[number].synced) return requests.complete(number, 0);
        requests[number].synced = false;
        flush_all(number);
    }

private:
    // Databases write their log in whole pages, the last one again and again (PostgreSQL's XLOG_BLCKSZ, InnoDB's
    // innodb_log_write_ahead_size).
    static constexpr i64 LOG_PAGE_BYTES = 8192;

    struct Part {
        i64 byte, end;
    };

    Requests& requests;
    const Array<std::unique_ptr<DeviceStation>>& stations;
    const i32 first_disk;
    const i64 copies;    // disks that hold the same
    const i64 places;    // of a stripe: disks, or pairs
    const i64 parities;  // units of a stripe that are computed from the others
    const i64 unit;
    const bool flushes;  // a synced write is one of all its disks
    i64 log_end = -1;    // the byte behind the log's last write

    // What a request touches on the disk or pair at a place of the stripe; {0, 0} if nothing. Bytes between two pieces
    // belong to the part: a controller asks for them with one request. Writes touch parity: as much of it as the data
    // of one unit, or else all.
    Part part_at(i64 place, i64 byte, i64 size, bool writes) const {
        const i64 width = (places - parities) * unit;
        Part part{0, 0};
        for (i64 stripe = byte / width; stripe <= (byte + size - 1) / width; stripe++) {
            const i64 start = std::max<i64>(byte - stripe * width, 0);
            const i64 end = std::min(byte + size - stripe * width, width);
            i64 column = place;
            if (parities > 0) column = modulo(place - (places - 1 - stripe % places), places) - parities;
            i64 begin = 0, stop = 0;
            if (column >= 0) {
                begin = std::max<i64>(start - column * unit, 0);
                stop = std::min(end - column * unit, unit);
            } else if (writes) {
                const bool is_in_one_unit = start / unit == (end - 1) / unit;
                begin = is_in_one_unit ? start % unit : 0;
                stop = is_in_one_unit ? (end - 1) % unit + 1 : unit;
            }
            if (stop <= begin) continue;
            if (part.end == 0) part.byte = stripe * unit + begin;
            part.end = stripe * unit + stop;
        }
        return part;
    }

    // What its disks do for a request: a rewrite where parity must be computed from what lies there.
    Transfer transfer_of_disks(i64 byte, i64 size, Transfer transfer) const {
        const i64 width = (places - parities) * unit;
        const bool is_whole_stripes = byte % width == 0 && size % width == 0;
        return transfer != Transfer::read && parities > 0 && !is_whole_stripes ? Transfer::rewrite : transfer;
    }

    void flush_all(i32 number) {
        for (i64 disk = 0; disk < places * copies; disk++)
            add_part(number, first_disk + static_cast<i32>(disk), {0, 0}, Transfer::flush);
    }

    // Whether a write goes on in a page that the log's write before has brought, and stays in it.
    bool goes_on_in_page(const Request& request) {
        if (!flushes || request.use != Use::log) return false;
        const i64 last = request.byte + std::max<i64>(request.size_bytes, 1) - 1;
        const bool is_next = request.byte == std::exchange(log_end, request.byte + request.size_bytes);
        return is_next && request.byte % LOG_PAGE_BYTES > 0 && request.byte / LOG_PAGE_BYTES == last / LOG_PAGE_BYTES;
    }

    // Which of equally busy copies is read: every other unit the other one.
    i64 first_copy(i64 byte) const { return byte / unit % copies; }

    // The disk of a pair with the shorter queue, or `first` of equal ones.
    i32 shorter_queue(i32 disk, i64 first) const {
        i32 best = disk + static_cast<i32>(first);
        for (i32 other = disk; other < disk + copies; other++)
            if (requests.devices[other].queue.value < requests.devices[best].queue.value) best = other;
        return best;
    }

    void add_part(i32 whole, i32 disk, Part part, Transfer transfer) {
        const i32 number = requests.add(disk, part.byte, part.end - part.byte, transfer, requests[whole].use, WHOLE,
                                        requests[whole].synced && !flushes);
        requests[number].whole = whole;
        requests[whole].parts_left++;
        stations[disk]->arrive(number);
    }
};

}  // namespace oltpsim
