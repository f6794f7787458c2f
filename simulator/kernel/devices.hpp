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

using form::Extent;

class Devices : Context {
public:
    Requests requests;
    Limits limits;

    explicit Devices(const Context& context)
        : Context(context),
          requests(context),
          limits(system),
          page_bytes(system.storage.page_bytes),
          data_start_bytes(system.storage.data_start_bytes),
          syncs_victims(system.writing.doubled || (system.writing.synced && !system.direct_io)) {
        for (const form::DeviceRecord* record : system.storage.with_disks) {
            stations.add(station(*record, static_cast<i32>(stations.size())));
            fair.add(nullptr);
        }
        for (const i64 number : system.scheduled_devices)
            fair[number] = std::make_unique<FairQueueing>(*system.fair_queueing, requests, calendar);
    }

    i64 count() const { return stations.size(); }

    void start() {
        for (const auto& station : stations) station->start();
    }

    // Where a page lies

    const Extent& extent_of(i64 page) const {
        i64 number = 0;
        while (page >= system.placement[number].end_page) number++;
        return system.placement[number];
    }

    i32 device_of(i64 page) const {
        const Extent& extent = extent_of(page);
        return static_cast<i32>(extent.first_device + (page - extent.first_page) % extent.devices);
    }

    i64 byte_of(i64 page) const {
        const Extent& extent = extent_of(page);
        return data_start_bytes + extent.start_bytes + (page - extent.first_page) / extent.devices * page_bytes;
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
    const i64 page_bytes;
    const i64 data_start_bytes;
    const bool syncs_victims;  // pages that clients write are flushed
    Array<std::unique_ptr<DeviceStation>> stations;
    Array<std::unique_ptr<FairQueueing>> fair;  // before each station; none before most

    // The switchboard from a kind of device to the part that it is
    std::unique_ptr<DeviceStation> station(const form::DeviceRecord& device, i32 number) {
        using Kind = form::DeviceRecordKind;
        switch (device.kind) {
            case Kind::rotating_device:
                return made<Disk, form::RotatingDevice>(device, number, requests);
            case Kind::caching_device:
                return made<CachingDisk, form::CachingDevice>(device, number, requests);
            case Kind::flash_device:
                if (ThrottledFlash::has_caps(system.limiters.stages[number], limits))
                    return made<ThrottledFlash, form::FlashDevice>(device, number, requests, limits);
                return made<Flash, form::FlashDevice>(device, number, requests, limits);
            case Kind::raid_set:
                return made<Raid, form::RaidSet>(device, number, requests, stations);
            case Kind::ssd_device:
                return made<Ssd, form::SsdDevice>(device, number, requests);
        }
        throw std::invalid_argument("there is no kind of device " + std::to_string(static_cast<i64>(device.kind)));
    }

    template <class Station, class Record, class... Others>
    std::unique_ptr<DeviceStation> made(const form::DeviceRecord& device, i32 number, Others&... others) {
        const Context& context = *this;
        return std::make_unique<Station>(context, number, static_cast<const Record&>(device), others...);
    }

    // The operating system hands a request to its device.
    void begin(i32 number) { stations[requests[number].device]->arrive(number); }
};

}  // namespace oltpsim
