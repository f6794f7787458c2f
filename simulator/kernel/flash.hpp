// Flash: several requests at a time, each for the latency of its kind. A cloud volume's pass its rate limits before.
#pragma once
#include "device.hpp"
#include "limits.hpp"

namespace oltpsim {

class Flash : public DeviceStation {
public:
    Flash(const Context& context, i32 device, const form::FlashDevice& record, Requests& requests, Limits& limits)
        : requests(requests),
          limits(limits),
          calendar(context.calendar),
          stages(context.system.limiters.stages[device]),
          device(device),
          record(record),
          free(record.parallel) {}

    void arrive(i32 number) override {
        if (free > 0) {
            free--;
            busy().change(calendar.now_ns, 1);
            calendar.urgently(EventKind::request_begins, number);
        } else {
            const bool waits_behind_reads = requests[number].transfer != Transfer::read && record.reads_per_write > 0;
            requests.line_up(waits_behind_reads ? writes : line, number);
        }
    }

    void begin(i32 number) override {
        if (!stages.empty()) {
            requests[number].stages_passed = 0;
            pass_limits(number);
        } else {
            calendar.after(service_ns(number), EventKind::request, number);
        }
    }

    // A request's timer: it has been served, or has waited for its limits.
    void wake(i32 number) override {
        if (!stages.empty() && requests[number].stages_passed != BEING_SERVED) {
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

protected:
    Requests& requests;
    Limits& limits;
    Calendar& calendar;
    const Rows<Range> stages;  // limiters that a request passes one after the other, each range at once

private:
    static constexpr u8 BEING_SERVED = 3;  // in place of stages passed

    const i32 device;
    const form::FlashDevice& record;

    i64 free;
    RequestLine line, writes;
    i64 reads_ahead = 0;

    Gauge& busy() { return requests.devices[device].busy; }

    i64 service_ns(i32 number) {
        switch (requests[number].transfer) {
            case Transfer::read:
                return record.read_ns;
            case Transfer::write:
                return record.write_ns;
            case Transfer::rewrite:
                return record.read_ns + record.write_ns;
            case Transfer::flush:  // only SSDs are flushed
                break;
        }
        return 0;
    }

    // The limits that make a request wait, one stage after the other. No channel is busy with one that waits.
    void pass_limits(i32 number) {
        Request& request = requests[number];
        while (request.stages_passed < stages.size()) {
            const i64 wait_ns = limits.admit(stages[request.stages_passed++], request.size_bytes, calendar.now_ns);
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
            if (!line.empty() && reads_ahead < record.reads_per_write) {
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
