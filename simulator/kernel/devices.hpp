// Devices: which parts they are, where pages lie on them, and the way of a request.
#pragma once
#include <memory>

#include "disk.hpp"
#include "fair_queueing.hpp"
#include "raid.hpp"
#include "ssd.hpp"
#include "throttle.hpp"
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
          page_bytes(system.fact("page_bytes")),
          data_start_bytes(system.fact("data_start_bytes")),
          syncs_victims(system.fact("doubled") != 0 || system.fact("synced") != 0) {
        const Table& table = system["devices"];
        for (i32 i = 0; i < table.rows(); i++) {
            stations.add(station(table, i));
            fair.add(table.at(i, "is_scheduled")
                         ? std::make_unique<FairQueueing>(system["fair_queueing"], requests, calendar)
                         : nullptr);
        }
        const Table& places = system["extents"];
        const i64 start = system.fact("data_start_bytes");
        for (i64 i = 0; i < places.rows(); i++)
            extents.add({places.at(i, "first_page"), places.at(i, "end_page"), places.at(i, "first_device"),
                         places.at(i, "devices"), start + places.at(i, "start_bytes")});
    }

    i64 count() const { return stations.size(); }

    void start() {
        for (const auto& station : stations) station->start();
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

    // Where doublewrite copies of so many pages begin: before the data.
    i64 copies_byte(i64 pages) const { return std::max<i64>(data_start_bytes - pages * page_bytes, 0); }

    // Requests. `who`: the task that is woken at its completion, or one of the codes of requests.hpp. `synced`: a write
    // with a flush behind it.

    i32 submit(i32 device, i64 byte, i64 size_bytes, Transfer transfer, Use use, i32 who, bool synced = false) {
        const i32 number = requests.add(device, byte, size_bytes, transfer, use, who, synced);
        if (fair[device])
            calendar.urgently(EventKind::request_arrives, number);
        else
            begin(number);
        return number;
    }

    // A flush alone, of a file that was written before.
    void flush(i32 device, Use use, i32 who) { submit(device, 0, 0, Transfer::flush, use, who); }

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
        if (tasks[who].stage == Stage::doubling_victim)
            submit(device_of(page), copies_byte(1), page_bytes, Transfer::write, Use::doublewrite, who, true);
        else if (tasks[who].stage == Stage::reading)
            submit(device_of(page), byte_of(page), page_bytes, Transfer::read, Use::data_read, who);
        else
            submit(device_of(page), byte_of(page), page_bytes, Transfer::write, Use::eviction_write, who,
                   syncs_victims);
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

    void arm_moves(i32 device) { stations[device]->move(); }
    void request_wakes(i32 number) { stations[requests[number].device]->wake(number); }
    void request_begins(i32 number) { stations[requests[number].device]->begin(number); }

    void request_arrives(i32 number) {
        fair[requests[number].device]->add(number, [this](i32 next) { begin(next); });
    }

    // A request is done, before whoever waits for it goes on.
    void request_ends(i32 number) {
        FairQueueing* const queue = fair[requests[number].device].get();
        if (queue) queue->end([this](i32 next) { begin(next); });
    }

    // A disk of a set has done its part of a request.
    void part_ends(i32 number) {
        const i32 whole = requests[number].whole;
        if (--requests[whole].parts_left == 0) stations[requests[whole].device]->end_parts(whole);
    }

private:
    Calendar& calendar;
    Tasks& tasks;
    const i64 page_bytes;
    const i64 data_start_bytes;
    const bool syncs_victims;  // pages that clients write are flushed
    Array<std::unique_ptr<DeviceStation>> stations;
    Array<std::unique_ptr<FairQueueing>> fair;  // before each station; none before most
    Array<Extent> extents;

    // As DEVICES in simulator/form/devices.py
    enum class Kind : i64 { disk, caching_disk, flash, raid, ssd };

    // The switchboard from a kind of device to the part that it is
    std::unique_ptr<DeviceStation> station(const Table& table, i32 device) {
        switch (static_cast<Kind>(table.at(device, "kind"))) {
            case Kind::disk:
                return std::make_unique<Disk>(table, device, requests, calendar);
            case Kind::caching_disk:
                return std::make_unique<CachingDisk>(table, device, requests, calendar);
            case Kind::flash:
                if (ThrottledFlash::has_caps(table, device, limits))
                    return std::make_unique<ThrottledFlash>(table, device, requests, limits, calendar);
                return std::make_unique<Flash>(table, device, requests, limits, calendar);
            case Kind::raid:
                return std::make_unique<Raid>(table, device, requests, stations);
            case Kind::ssd:
                return std::make_unique<Ssd>(table, device, requests, calendar);
        }
        throw std::invalid_argument("there is no kind of device " + std::to_string(table.at(device, "kind")));
    }

    // The operating system hands a request to its device.
    void begin(i32 number) { stations[requests[number].device]->arrive(number); }
};

}  // namespace oltpsim
