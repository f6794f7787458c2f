// The kernel's devices with a clock's time in place of simulated time.
//
// They are the very devices that the kernel simulates: what a request waits for is computed by the same code, from
// arrivals at instants of the clock. Whoever calls late loses nothing: a disk's next service begins where the last one
// ended, with what had come by then, and not when somebody looked.
#pragma once
#include "devices.hpp"

namespace oltpsim {

class PacedDevices {
public:
    explicit PacedDevices(const form::SeededRun& run) : devices(Context{run, run.system, calendar, tasks}) {
        devices.start();
    }

    // A request comes to the first device, now: at the instant of the last `advance`. `who` is at least 0.
    void submit(i32 who, i64 byte, i64 size_bytes, bool writes) {
        devices.submit(0, byte, size_bytes, writes ? Transfer::write : Transfer::read,
                       writes ? Use::eviction_write : Use::data_read, who);
    }

    // Lets time pass until an instant; calls `done(who, instant)` for each request that ends before.
    template <class Done>
    void advance(i64 now_ns, Done done) {
        Event event;
        while (calendar.take(now_ns, event)) {
            switch (event.kind) {
                case EventKind::arm:
                    devices.arm_moves(event.number);
                    break;
                case EventKind::request:
                    devices.request_wakes(event.number);
                    break;
                case EventKind::request_begins:
                    devices.request_begins(event.number);
                    break;
                case EventKind::request_done: {
                    const i32 who = devices.requests[event.number].who;
                    if (who == WHOLE) devices.part_ends(event.number);
                    devices.requests.release(event.number);
                    if (who >= 0) done(who, calendar.now_ns);
                    break;
                }
                default:
                    throw std::logic_error("an event that no device knows");
            }
        }
    }

    // The instant of the next event. A calendar tells it only by going there: a copy does.
    i64 next_ns() const {
        Calendar ahead = calendar;
        Event event;
        return ahead.take(INT64_MAX, event) ? ahead.now_ns : INT64_MAX;
    }

    i64 count() const { return devices.count(); }
    const Device& counted(i64 number) const { return devices.requests.devices[number]; }

private:
    Calendar calendar;
    Tasks tasks;  // none: nobody waits here but the requests of the file
    Devices devices;
};

}  // namespace oltpsim
