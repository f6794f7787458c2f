// The transaction log: a group flush for all who wait (durable), or bytes that are left to the operating system.
#pragma once
#include "devices.hpp"
#include "io_wait.hpp"
#include "page_cache.hpp"

namespace oltpsim {

class Log {
public:
    const bool durable;
    i64 pending_bytes = 0;
    i64 written_bytes = 0;
    i64 commits = 0;
    i64 flushes = 0;

    // `logger`: the task that flushes.
    Log(const Tables& system, i32 logger, Calendar& calendar, Tasks& tasks, Devices& devices, IoWait& io_wait,
        PageCache& page_cache)
        : durable(system.fact("durable") != 0),
          logger(logger),
          device(static_cast<i32>(system.fact("log_device"))),
          start_byte(system.fact("log_start_bytes")),
          size_bytes(system.fact("log_bytes")),
          writes_per_group(system.fact("log_writes_per_group")),
          flush_overhead_ns(system.fact("flush_overhead_ns")),
          calendar(calendar),
          tasks(tasks),
          devices(devices),
          io_wait(io_wait),
          page_cache(page_cache) {}

    // Logs a commit; true if the task has to wait until it is durable. Nothing to log: no wait.
    bool commit(i32 who, i64 bytes) {
        if (bytes == 0) return false;
        commits++;
        pending_bytes += bytes;
        if (!durable) return false;
        tasks[who].stage = Stage::committing;
        waiting.add(tasks, who);
        if (!is_flushing) {
            is_flushing = true;
            calendar.urgently(EventKind::task, logger);
        }
        return true;
    }

    // The logger: all who wait when a write begins share it, those too who came during the flush's overhead.
    void wake() {
        Task& task = tasks[logger];
        if (task.stage == Stage::timed) {
            task.stage = Stage::writing;
            group = std::exchange(waiting.first, NONE);
            io_wait.change(1);
            group_bytes = pending_bytes;
            writes_left = writes_per_group - 1;
            write(logger);
            return;
        }
        if (task.stage == Stage::writing && writes_left > 0) {
            writes_left--;
            append(group_bytes, logger);
            return;
        }
        if (task.stage == Stage::writing) {
            io_wait.change(-1);
            for (i32 who = group; who != NONE; who = tasks[who].next) calendar.at_once(EventKind::task, who);
            if (waiting.empty()) {
                is_flushing = false;
                task.stage = Stage::starting;
                return;
            }
        }
        task.stage = Stage::timed;
        calendar.after(flush_overhead_ns, EventKind::task, logger);
    }

    // Writes what is pending at the end of the log, which is a ring.
    void write(i32 who) { append(std::exchange(pending_bytes, 0), who); }

private:
    const i32 logger;
    const i32 device;
    const i64 start_byte;
    const i64 size_bytes;
    const i64 writes_per_group;
    const i64 flush_overhead_ns;
    Calendar& calendar;
    Tasks& tasks;
    Devices& devices;
    IoWait& io_wait;
    PageCache& page_cache;

    Line waiting;
    i32 group = NONE;  // the first of those whose flush is under way
    bool is_flushing = false;
    i64 group_bytes = 0;  // that they log
    i64 writes_left = 0;  // of theirs
    i64 position = 0;

    void append(i64 bytes, i32 who) {
        const i64 byte = start_byte + position % size_bytes;
        position += bytes;
        written_bytes += bytes;
        flushes++;
        devices.submit(device, byte, bytes, Transfer::write, Use::log, who, durable);
        page_cache.append_log(bytes);
    }
};

}  // namespace oltpsim
