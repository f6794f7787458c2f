// Flash: several requests at a time, each for the latency of its kind. A cloud volume's pass its rate limits before.
#pragma once
#include "device.hpp"
#include "limits.hpp"

namespace oltpsim {

class Flash : public DeviceStation {
public:
    Flash(const Table& devices, i32 device, Requests& requests, Limits& limits, Calendar& calendar)
        : requests(requests),
          limits(limits),
          calendar(calendar),
          device(device),
          read_ns(devices.at(device, "read_ns")),
          write_ns(devices.at(device, "write_ns")),
          reads_per_write(devices.at(device, "reads_per_write")),
          stages{{devices.at(device, "first_limit"), devices.at(device, "end_limit")},
                 {devices.at(device, "first_shared_limit"), devices.at(device, "end_shared_limit")}},
          is_limited(stages[0].end > stages[0].first || stages[1].end > stages[1].first),
          free(devices.at(device, "parallel")) {}

    void arrive(i32 number) override {
        if (free > 0) {
            free--;
            busy().change(calendar.now_ns, 1);
            calendar.urgently(EventKind::request_begins, number);
        } else {
            const bool waits_behind_reads = requests[number].transfer != Transfer::read && reads_per_write > 0;
            requests.line_up(waits_behind_reads ? writes : line, number);
        }
    }

    void begin(i32 number) override {
        if (is_limited) {
            requests[number].stages_passed = 0;
            pass_limits(number);
        } else {
            calendar.after(service_ns(number), EventKind::request, number);
        }
    }

    // A request's timer: it has been served, or has waited for its limits.
    void wake(i32 number) override {
        if (is_limited && requests[number].stages_passed != BEING_SERVED) {
            busy().change(calendar.now_ns, 1);
            pass_limits(number);
            return;
        }
        requests.complete(number, service_ns(number));
        const i32 next = take_next();
        if (next != NONE) {
            begin(next);
        } else {
            free++;
            busy().change(calendar.now_ns, -1);
        }
    }

private:
    static constexpr u8 STAGES = 2, BEING_SERVED = 3;

    Requests& requests;
    Limits& limits;
    Calendar& calendar;
    const i32 device;
    const i64 read_ns;
    const i64 write_ns;
    const i64 reads_per_write;  // that go ahead of a waiting write; 0: in order of arrival
    const LimitRange stages[STAGES];
    const bool is_limited;

    i64 free;
    RequestLine line, writes;
    i64 reads_ahead = 0;

    Gauge& busy() { return requests.devices[device].busy; }

    i64 service_ns(i32 number) {
        switch (requests[number].transfer) {
            case Transfer::read:
                return read_ns;
            case Transfer::write:
                return write_ns;
            case Transfer::rewrite:
                return read_ns + write_ns;
            case Transfer::flush:  // only SSDs are flushed
                break;
        }
        return 0;
    }

    // The limits that make a request wait, one stage after the other. No channel is busy with one that waits.
    void pass_limits(i32 number) {
        Request& request = requests[number];
        while (request.stages_passed < STAGES) {
            const LimitRange& stage = stages[request.stages_passed++];
            const i64 wait_ns = limits.admit(stage.first, stage.end, request.size_bytes, calendar.now_ns);
            if (wait_ns > 0) {
                busy().change(calendar.now_ns, -1);
                calendar.after(wait_ns, EventKind::request, number);
                return;
            }
        }
        request.stages_passed = BEING_SERVED;
        calendar.after(service_ns(number), EventKind::request, number);
    }

    // A read, unless enough of them went ahead of a waiting write; NONE if nothing waits.
    i32 take_next() {
        RequestLine* from = &line;
        if (!writes.empty()) {
            if (!line.empty() && reads_ahead < reads_per_write) {
                reads_ahead++;
            } else {
                reads_ahead = 0;
                from = &writes;
            }
        }
        return from->empty() ? NONE : requests.take(*from);
    }
};

}  // namespace oltpsim
