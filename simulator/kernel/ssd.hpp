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
    Ssd(const Table& devices, i32 device, Requests& requests, Calendar& calendar)
        : requests(requests),
          calendar(calendar),
          device(device),
          read_ns(devices.at(device, "read_ns")),
          write_ns(devices.at(device, "write_ns")),
          command_read_ns(devices.at(device, "command_read_ns")),
          command_write_ns(devices.at(device, "command_write_ns")),
          read_mib_ns(devices.at(device, "read_mib_ns")),
          write_mib_ns(devices.at(device, "write_mib_ns")),
          dies(devices.at(device, "dies")),
          die_ns(devices.at(device, "die_ns")),
          channel_mib_ns(devices.at(device, "channel_mib_ns")),
          program_ns(devices.at(device, "program_ns")),
          interrupted_ns(devices.at(device, "interrupted_ns")),
          drain_mib_ns(devices.at(device, "drain_mib_ns")),
          append_mib_ns(devices.at(device, "append_mib_ns")),
          flush_ns(devices.at(device, "flush_ns")),
          is_volatile(devices.at(device, "is_volatile") != 0),
          flushes_alone(devices.at(device, "flushes_alone") != 0),
          buffer_ns(time_ns(devices.at(device, "buffer_bytes"), drain_mib_ns)) {
        die_free_ns.resize(dies);
        for (i64 die = 0; die < dies; die++) die_free_ns[die] = 0;
        for (i64& end : end_of_last_write) end = NONE;
    }

    // Whether a device is an SSD whose synced writes take more than a write.
    static bool needs_flush(const Table& devices, i32 device) {
        const char* const columns[] = {"flush_ns", "is_volatile", "flushes_alone"};
        return std::any_of(std::begin(columns), std::end(columns),
                           [&](const char* column) { return devices.has(column) && devices.at(device, column) > 0; });
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
    static constexpr i64 MIB = i64{1} << 20;
    static constexpr i64 SECTOR_BYTES = 4096;  // unit of the flash translation: a write takes at least this
    static constexpr i64 FLASH_PAGE_BYTES = 16384;
    // Requests of write-back in a SATA drive. Linux's write-back throttling lets it have a quarter of a queue of 16
    // (block/blk-wbt.c, wb_background); it doesn't look at the reads of rewrites: then as many as the drive queues
    // (NCQ).
    static constexpr i64 MOST_WRITES = 4, MOST_REWRITES = 32;

    Requests& requests;
    Calendar& calendar;
    const i32 device;
    const i64 read_ns, write_ns;                  // firmware and host
    const i64 command_read_ns, command_write_ns;  // on the interface, without data
    const i64 read_mib_ns, write_mib_ns;          // a MiB on the interface
    const i64 dies;
    const i64 die_ns;          // a die's read of 4 KiB or less
    const i64 channel_mib_ns;  // for a MiB of what a flash page has beyond 4 KiB
    const i64 program_ns;
    const i64 interrupted_ns;               // that programs lose by a read
    const i64 drain_mib_ns, append_mib_ns;  // all dies' time to program a MiB of scattered writes, of appended ones
    const i64 flush_ns;
    const bool is_volatile;    // no power-loss protection
    const bool flushes_alone;  // a flush waits for all requests, and all later ones for it, as of SATA
    const i64 buffer_ns;       // time in which a full buffer drains

    // When each part is free, the buffer drained, the last flush done
    i64 interface_free_ns = 0, buffer_drained_ns = 0, flush_done_ns = 0, dies_free_ns = 0;
    i64 all_done_ns = 0;          // the last request that came
    Array<i64> die_free_ns;       // of each; `dies_free_ns` is that of all together
    i64 end_of_last_write[USES];  // by purpose: the byte behind it

    // Requests of write-back in the drive, and those that the operating system keeps
    i64 background = 0;
    RequestLine background_line;

    bool is_queued_behind(const Request& request) const { return flushes_alone && request.use == Use::write_back; }

    static i64 time_ns(i64 bytes, i64 mib_ns) { return bytes * mib_ns / MIB; }

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
        const i64 at_die = pass_interface(command_read_ns, read_mib_ns, request.size_bytes) + read_ns;
        const i64 more = std::max<i64>(std::min(request.size_bytes, FLASH_PAGE_BYTES) - SECTOR_BYTES, 0);
        const i64 service_ns = die_ns + time_ns(more, channel_mib_ns);
        const i64 die = request.byte / FLASH_PAGE_BYTES % dies;
        i64 begin = std::max(at_die, die_free_ns[die]);
        if (begin > die_free_ns[die] && buffer_drained_ns > begin)
            begin += program_ns - (begin + die * program_ns / dies) % program_ns;
        if (buffer_drained_ns > calendar.now_ns) buffer_drained_ns += (service_ns + interrupted_ns) / dies;
        dies_free_ns = std::max(dies_free_ns, calendar.now_ns) + service_ns / dies;
        die_free_ns[die] = begin + service_ns;
        return begin + service_ns;
    }

    // Time at which a write is complete, with its flush: in the buffer, or programmed.
    i64 write(const Request& request) {
        const i64 size = request.size_bytes;
        const i64 arrives = pass_interface(command_write_ns, write_mib_ns, size);
        i64& last_end = end_of_last_write[static_cast<int>(request.use)];
        const bool appends = last_end == request.byte || request.use == Use::doublewrite;
        last_end = request.byte + size;
        buffer_drained_ns = std::max(buffer_drained_ns, arrives) +
                            time_ns(std::max(size, SECTOR_BYTES), appends ? append_mib_ns : drain_mib_ns);
        const i64 end = std::max(arrives, buffer_drained_ns - buffer_ns) + write_ns;
        return request.synced ? flush(end) : end;
    }

    // Time at which a flush is complete that may begin at a time.
    i64 flush(i64 begin_ns) {
        i64 end = flushes_alone ? std::max(begin_ns, all_done_ns) : begin_ns;
        if (is_volatile)
            end = flush_done_ns = std::max({end, buffer_drained_ns, flush_done_ns}) + flush_ns;
        else
            end += flush_ns;
        if (flushes_alone) interface_free_ns = std::max(interface_free_ns, end);
        return end;
    }
};

}  // namespace oltpsim
