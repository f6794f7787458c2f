// Devices: the switchboard from a request to the part that serves it, and where pages lie.
#pragma once
#include <memory>

#include "disk.hpp"
#include "fair_queueing.hpp"
#include "flash.hpp"
#include "raid.hpp"
#include "write_cache.hpp"

namespace oltpsim {

// Pages from `first_page` to before `end_page`, one by one over `devices` from `first_device` on.
struct Extent {
    i64 first_page, end_page, first_device, devices;
    i64 start_byte;  // where they begin on those devices
};

class Devices {
public:
    Requests requests;
    Limits limits;

    Devices(const Tables& system, Calendar& calendar, Tasks& tasks)
        : requests(system, calendar),
          limits(system),
          calendar(calendar),
          tasks(tasks),
          page_bytes(system.fact("page_bytes")) {
        const Table& table = system["devices"];
        for (i32 i = 0; i < table.rows(); i++) {
            const Kind kind = static_cast<Kind>(table.at(i, "kind"));
            Part part{kind, nullptr, nullptr, nullptr, nullptr, nullptr};
            if (kind == Kind::disk) {
                part.disk = std::make_unique<Disk>(table, i, requests, calendar);
            } else if (kind == Kind::caching_disk) {
                part.caching_disk = std::make_unique<CachingDisk>(table, i, requests, calendar);
            } else if (kind == Kind::flash) {
                part.flash = std::make_unique<Flash>(table, i, requests, limits, calendar);
            } else if (kind == Kind::raid) {
                part.raid = std::make_unique<Raid>(table, i);
            } else {
                throw std::invalid_argument("there is no kind of device " + std::to_string(table.at(i, "kind")));
            }
            if (table.at(i, "is_scheduled"))
                part.fair = std::make_unique<FairQueueing>(system["fair_queueing"], requests, calendar);
            parts.add(std::move(part));
        }
        const Table& places = system["extents"];
        const i64 start = system.fact("data_start_bytes");
        for (i64 i = 0; i < places.rows(); i++)
            extents.add({places.at(i, "first_page"), places.at(i, "end_page"), places.at(i, "first_device"),
                         places.at(i, "devices"), start + places.at(i, "start_bytes")});
    }

    i64 count() const { return parts.size(); }

    // Arms look for work at time 0.
    void start() {
        for (i32 i = 0; i < parts.size(); i++)
            if (parts[i].disk || parts[i].caching_disk) calendar.urgently(EventKind::arm, i);
    }

    // Where a page lies

    const Extent& extent_of(i64 page) const {
        i64 number = 0;
        while (page >= extents[number].end_page) number++;
        return extents[number];
    }

    i32 device_of(i64 page) const {
        const Extent& extent = extent_of(page);
        return static_cast<i32>(extent.first_device + (page - extent.first_page) % extent.devices);
    }

    i64 byte_of(i64 page) const {
        const Extent& extent = extent_of(page);
        return extent.start_byte + (page - extent.first_page) / extent.devices * page_bytes;
    }

    // Requests. `who`: the task that is woken at its completion, or one of the codes of requests.hpp.

    i32 submit(i32 device, i64 byte, i64 size_bytes, Transfer transfer, Use use, i32 who) {
        const i32 number = requests.add(device, byte, size_bytes, transfer, use, who);
        if (parts[device].fair)
            calendar.urgently(EventKind::request_arrives, number);
        else
            begin(number);
        return number;
    }

    // A page is read or written through one of the descriptors of the database's file: a task waits for a free one,
    // then for the device.
    void call(i32 who, i64 page, Stage stage) {
        Device& device = requests.devices[device_of(page)];
        tasks[who].stage = stage;
        if (device.free_calls > 0) {
            device.free_calls--;
            submit_call(who, page);
            return;
        }
        tasks[who].call = stage;
        tasks[who].stage = Stage::call_queueing;
        device.calls.add(tasks, who);
    }

    // The task has a descriptor: its request goes to the device.
    void submit_call(i32 who, i64 page) {
        const bool reads = tasks[who].stage == Stage::reading;
        submit(device_of(page), byte_of(page), page_bytes, reads ? Transfer::read : Transfer::write,
               reads ? Use::data_read : Use::eviction_write, who);
    }

    // A descriptor is free, or goes to the next in line.
    void end_call(i64 page) {
        Device& device = requests.devices[device_of(page)];
        if (device.calls.empty())
            device.free_calls++;
        else
            calendar.at_once(EventKind::task, device.calls.take(tasks));
    }

    // Events

    void arm_moves(i32 device) {
        if (parts[device].disk)
            parts[device].disk->move();
        else
            parts[device].caching_disk->move();
    }

    void request_wakes(i32 number) {
        const Part& part = parts[requests[number].device];
        if (part.flash)
            part.flash->wake(number);
        else
            part.caching_disk->end_transfer(number);
    }

    void request_begins(i32 number) { parts[requests[number].device].flash->begin(number); }

    void request_arrives(i32 number) {
        parts[requests[number].device].fair->add(number, [this](i32 next) { begin(next); });
    }

    // A request is done, before whoever waits for it goes on.
    void request_ends(i32 number) {
        const Part& part = parts[requests[number].device];
        if (part.fair) part.fair->end([this](i32 next) { begin(next); });
    }

    // A disk of a set has done its part of a request: the whole is done with the last of them.
    void part_ends(i32 number) {
        const i32 whole = requests[number].whole;
        if (--requests[whole].parts_left == 0) requests.complete(whole, 0);
    }

private:
    enum class Kind : i64 { disk, caching_disk, flash, raid };

    struct Part {
        Kind kind;
        std::unique_ptr<Disk> disk;
        std::unique_ptr<CachingDisk> caching_disk;
        std::unique_ptr<Flash> flash;
        std::unique_ptr<Raid> raid;
        std::unique_ptr<FairQueueing> fair;  // before it
    };

    Calendar& calendar;
    Tasks& tasks;
    const i64 page_bytes;
    Array<Part> parts;
    Array<Extent> extents;

    // The operating system hands a request to its device.
    void begin(i32 number) {
        const Part& part = parts[requests[number].device];
        switch (part.kind) {
            case Kind::disk:
                return part.disk->arrive(number);
            case Kind::caching_disk:
                return part.caching_disk->arrive(number);
            case Kind::flash:
                return part.flash->arrive(number);
            case Kind::raid:
                return spread(*part.raid, number);
        }
    }

    // A set's controller hands a request to the disks where its bytes lie. One without bytes still goes somewhere.
    void spread(const Raid& raid, i32 number) {
        const i64 byte = requests[number].byte, size = std::max<i64>(requests[number].size_bytes, 1);
        const Transfer transfer = requests[number].transfer;
        const Transfer of_disks = raid.transfer_of_disks(byte, size, transfer);
        for (i64 place = 0; place < raid.places; place++) {
            const Raid::Part part = raid.part_at(place, byte, size, transfer != Transfer::read);
            if (part.end == 0) continue;
            const i32 disk = raid.first_disk + static_cast<i32>(place * raid.copies);
            if (transfer == Transfer::read) {
                add_part(number, shorter_queue(disk, raid.copies, raid.first_copy(part.byte)), part, of_disks);
            } else {
                for (i32 copy = 0; copy < raid.copies; copy++) add_part(number, disk + copy, part, of_disks);
            }
        }
    }

    // The disk of a pair with the shorter queue, or `first` of equal ones.
    i32 shorter_queue(i32 disk, i64 copies, i64 first) {
        i32 best = disk + static_cast<i32>(first);
        for (i32 other = disk; other < disk + copies; other++)
            if (requests.devices[other].queue.value < requests.devices[best].queue.value) best = other;
        return best;
    }

    void add_part(i32 whole, i32 disk, Raid::Part part, Transfer transfer) {
        const i32 number = requests.add(disk, part.byte, part.end - part.byte, transfer, requests[whole].use, WHOLE);
        requests[number].whole = whole;
        requests[whole].parts_left++;
        begin(number);
    }
};

}  // namespace oltpsim
