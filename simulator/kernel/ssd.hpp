// An SSD by its parts: an interface, dies that read and program, a buffer for writes, a flush.
//
// When a request arrives, its times are computed at once from a clock for each part, which says when that part is free:
// one event for each request. What the parts do is explained in simulator/reference/ssd.py.
// Source: Kim and others, "NVMeVirt: a versatile software-defined virtual NVMe device", FAST 2023.
#pragma once
#include "device.hpp"

namespace oltpsim {

class Ssd : public DeviceStation {
public:
    Ssd(const Context& context, i32 device, const form::SsdDevice& record, Requests& requests)
        : requests(requests),
          calendar(context.calendar),
          device(device),
          ssd(record),
          dies(ssd.dies),
          buffer_ns(time_ns(ssd.buffer_bytes, ssd.drain_mib_ns)),
          die_free_ns(dies, 0) {
        for (i64& end : end_of_last_write) end = NONE;
    }

    void arrive(i32 number) override {
        if (is_queued_behind(requests[number])) {
            const bool reads = requests[number].transfer == Transfer::rewrite;
            if (background >= (reads ? MOST_REWRITES : MOST_WRITES)) return requests.line_up(background_line, number);
            background++;
        }
        start_service(number);
    }

    void wake(i32 number) override {
        Request& request = requests[number];
        if (request.transfer == Transfer::rewrite) {  // what was read is written
            requests.devices[device].service_ns += request.took_ns;
            request.transfer = Transfer::write;
            start_service(number);
            return;
        }
        const bool is_background = is_queued_behind(request);
        requests.complete(number, request.took_ns);
        if (!is_background) return;
        if (background_line.empty())
            background--;
        else
            start_service(requests.take(background_line));
    }

private:
    static constexpr i64 SECTOR_BYTES = form::SECTOR_BYTES, FLASH_PAGE_BYTES = form::FLASH_PAGE_BYTES;
    // Requests of write-back in a SATA drive. Linux's write-back throttling lets it have a quarter of a queue of 16
    // (block/blk-wbt.c, wb_background); it doesn't look at the reads of rewrites: then as many as the drive queues
    // (NCQ).
    static constexpr i64 MOST_WRITES = 4, MOST_REWRITES = 32;

    Requests& requests;
    Calendar& calendar;
    const i32 device;
    const form::SsdDevice& ssd;
    const i64 dies;
    const i64 buffer_ns;  // time in which a full buffer drains

    // When each part is free, the buffer drained, the last flush done
    i64 interface_free_ns = 0, buffer_drained_ns = 0, flush_done_ns = 0, dies_free_ns = 0;
    i64 all_done_ns = 0;          // the last request that came
    Array<i64> die_free_ns;       // of each; `dies_free_ns` is that of all together
    i64 end_of_last_write[USES];  // by purpose: the byte behind it

    // Requests of write-back in the drive, and those that the operating system keeps
    i64 background = 0;
    RequestLine background_line;

    bool is_queued_behind(const Request& request) const { return ssd.flushes_alone && request.use == Use::write_back; }

    static i64 time_ns(i64 bytes, i64 mib_ns) { return bytes * mib_ns / form::MIB; }

    void start_service(i32 number) {
        const i64 now_ns = calendar.now_ns;
        Request& request = requests[number];
        const i64 end_ns = request.transfer == Transfer::flush   ? flush(now_ns)
                           : request.transfer == Transfer::write ? write(request)
                                                                 : read(request);
        all_done_ns = std::max(all_done_ns, end_ns);
        request.took_ns = end_ns - now_ns;
        Device& counted = requests.devices[device];
        if (counted.busy.value > 0 && counted.busy_until_ns < now_ns) counted.busy.change(counted.busy_until_ns, -1);
        if (counted.busy.value == 0) counted.busy.change(now_ns, 1);
        counted.busy_until_ns = std::max({interface_free_ns, dies_free_ns, buffer_drained_ns});
        calendar.after(request.took_ns, EventKind::request, number);
    }

    i64 pass_interface(i64 command_ns, i64 mib_ns, i64 size_bytes) {
        interface_free_ns = std::max(calendar.now_ns, interface_free_ns) + command_ns + time_ns(size_bytes, mib_ns);
        return interface_free_ns;
    }

    // Time at which a read is complete. Reads have priority over programs, but wait for the rest of one under way.
    i64 read(const Request& request) {
        const i64 at_die = pass_interface(ssd.command_read_ns, ssd.read_mib_ns, request.size_bytes) + ssd.read_ns;
        const i64 more = std::max<i64>(std::min(request.size_bytes, FLASH_PAGE_BYTES) - SECTOR_BYTES, 0);
        const i64 service_ns = ssd.die_ns + time_ns(more, ssd.channel_mib_ns);
        const i64 die = request.byte / FLASH_PAGE_BYTES % dies;
        i64 begin = std::max(at_die, die_free_ns[die]);
        if (begin > die_free_ns[die] && buffer_drained_ns > begin)
            begin += ssd.program_ns - (begin + die * ssd.program_ns / dies) % ssd.program_ns;
        if (buffer_drained_ns > calendar.now_ns) buffer_drained_ns += (service_ns + ssd.interrupted_ns) / dies;
        dies_free_ns = std::max(dies_free_ns, calendar.now_ns) + service_ns / dies;
        die_free_ns[die] = begin + service_ns;
        return begin + service_ns;
    }

    // Time at which a write is complete, with its flush: in the buffer, or programmed.
    i64 write(const Request& request) {
        const i64 size = request.size_bytes;
        const i64 arrives = pass_interface(ssd.command_write_ns, ssd.write_mib_ns, size);
        i64& last_end = end_of_last_write[static_cast<int>(request.use)];
        const bool appends = last_end == request.byte || request.use == Use::doublewrite;
        last_end = request.byte + size;
        buffer_drained_ns = std::max(buffer_drained_ns, arrives) +
                            time_ns(std::max(size, SECTOR_BYTES), appends ? ssd.append_mib_ns : ssd.drain_mib_ns);
        const i64 end = std::max(arrives, buffer_drained_ns - buffer_ns) + ssd.write_ns;
        return request.synced ? flush(end) : end;
    }

    // Time at which a flush is complete that may begin at a time.
    i64 flush(i64 begin_ns) {
        i64 end = ssd.flushes_alone ? std::max(begin_ns, all_done_ns) : begin_ns;
        if (ssd.is_volatile)
            end = flush_done_ns = std::max({end, buffer_drained_ns, flush_done_ns}) + ssd.flush_ns;
        else
            end += ssd.flush_ns;
        if (ssd.flushes_alone) interface_free_ns = std::max(interface_free_ns, end);
        return end;
    }
};

}  // namespace oltpsim
