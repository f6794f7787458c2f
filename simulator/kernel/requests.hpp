// Device requests, from their submission to their completion, and what every device counts of them.
#pragma once
#include <algorithm>
#include <limits>

#include "context.hpp"
#include "gauge.hpp"

namespace oltpsim {

// What a disk does. A rewrite reads a place and then writes it (parity that is computed from what lies there). A flush
// alone, of a file or of a RAID set's disk, has no bytes, and isn't counted as a request.
enum class Transfer : u8 { read, write, rewrite, flush };

// What a request is for.
using Use = form::RequestPurpose;
constexpr int USES = form::REQUEST_PURPOSE_COUNT;

// Who learns that a request is done, if not a task
constexpr i32 NOBODY = -1, WRITE_BACK = -2, WHOLE = -3, MERGES = -4;

struct Request {
    i64 byte;  // on its device
    i64 size_bytes;
    i64 submitted_ns;
    i64 took_ns;  // an SSD's time for it
    i32 device;
    i32 who;
    i32 next;        // in a line
    i32 whole;       // the request to a RAID set that this one is a part of
    i32 parts_left;  // of such a request
    i32 first_page;  // of a write-back, or that a merge reads
    i32 pages;
    Transfer transfer;
    Use use;
    u8 stages_passed;  // stages of limiters; above them: being served
    bool synced;       // a flush follows the write
};

struct RequestLine {
    i32 first = NONE, last = NONE;
    bool empty() const { return first == NONE; }
};

// What a device has done since time 0, and the line for the descriptors of the database's file on it.
struct Device {
    i64 free_calls;
    Line calls;
    Population queue;                                     // requests
    Gauge busy;                                           // servers
    Gauge occupied;                                       // 1 while there is a request
    i64 busy_until_ns = std::numeric_limits<i64>::max();  // an SSD is busy until then, though no event is due
    i64 arrived = 0;
    i64 reads = 0;
    i64 writes = 0;
    i64 service_ns = 0;
    i64 response_ns = 0;
    i64 by_use[USES] = {};

    // Time in which its servers were busy, added up.
    i64 busy_ns(i64 now_ns) const {
        return busy.area_until(now_ns) - busy.value * std::max<i64>(now_ns - busy_until_ns, 0);
    }
};

class Requests {
public:
    Array<Device> devices;

    explicit Requests(const Context& context) : calendar(context.calendar) {
        const form::Storage& storage = context.system.storage;
        for (i64 i = 0; i < storage.with_disks.size(); i++)
            devices.add(Device{storage.requests_per_device, {}, {}, {}, {}});
    }

    Request& operator[](i32 number) { return requests[number]; }
    i64 count() const { return requests.size(); }
    i64 free_count() const { return free; }

    // A request that has come to its device. References to requests aren't valid any more after this.
    i32 add(i32 device_number, i64 byte, i64 size_bytes, Transfer transfer, Use use, i32 who, bool synced) {
        Device& device = devices[device_number];
        const i32 number = take_free();
        requests[number] = {byte, size_bytes, calendar.now_ns, 0, device_number, who, NONE, NONE, 0, 0, 0, transfer,
                            use,  0,          synced};
        if (transfer != Transfer::flush) device.arrived++;
        if (device.queue.value == 0) device.occupied.change(calendar.now_ns, 1);
        device.queue.enter(calendar.now_ns);
        return number;
    }

    // Counts a request that has been served and tells whoever waits for it.
    void complete(i32 number, i64 service_ns) {
        const Request& request = requests[number];
        Device& device = devices[request.device];
        if (request.transfer != Transfer::flush) {
            (request.transfer == Transfer::read ? device.reads : device.writes)++;
            device.by_use[static_cast<int>(request.use)]++;
        }
        device.service_ns += service_ns;
        device.response_ns += calendar.now_ns - request.submitted_ns;
        device.queue.leave(calendar.now_ns, request.submitted_ns);
        if (device.queue.value == 0) device.occupied.change(calendar.now_ns, -1);
        calendar.at_once(EventKind::request_done, number);
    }

    void release(i32 number) {
        requests[number].next = first_free;
        first_free = number;
        free++;
    }

    void line_up(RequestLine& line, i32 number) {
        requests[number].next = NONE;
        if (line.first == NONE)
            line.first = number;
        else
            requests[line.last].next = number;
        line.last = number;
    }

    i32 take(RequestLine& line) {
        const i32 number = line.first;
        line.first = requests[number].next;
        return number;
    }

private:
    Calendar& calendar;
    Array<Request> requests;
    i32 first_free = NONE;
    i64 free = 0;

    i32 take_free() {
        if (first_free == NONE) {
            if (requests.size() == Calendar::MOST_NUMBERS)
                throw TooLarge("more than " + std::to_string(Calendar::MOST_NUMBERS) +
                               " device requests are pending; the disks cannot follow at all");
            requests.add({});
            return static_cast<i32>(requests.size() - 1);
        }
        const i32 number = first_free;
        first_free = requests[number].next;
        free--;
        return number;
    }
};

}  // namespace oltpsim
