// The kernel: a whole system, and the loop that lets its time pass.
//
//   clients ──> processors ── critical sections ── row locks ── log
//      │ miss                                                    │
//      └──> descriptors ──> devices (data, log, swap) <──────────┴── daemons: page writes, write-back
//
// An event names a task, a device's arm, a terminal or a request. The loop takes the next one and lets the part that
// it belongs to go on. The trajectory is that of simulator/reference, which defines it.
#pragma once
#include "clients.hpp"
#include "start.hpp"

namespace oltpsim {

// Rows of what a kernel reports, until it reports the next.
struct Report {
    Array<form::TableCounters> tables;
    Array<form::DeviceCounters> devices;
    Array<form::SectionCounters> sections;
    Array<form::StationCounters> stations;
    Array<form::LimiterCounters> limiters;
    Array<form::QueueLevels> queues;
    Array<form::LimiterLevels> limits;
    form::TerminalLevels terminals;
    Array<i64> pages, pool_by_use, page_cache_by_use, put_aside, lock_owners;
    Array<form::SlotState> pool, page_cache;
    Array<form::DirtyPage> page_cache_by_age;
    Array<form::HeldLock> locks_held;
    Array<form::ClientState> clients;
};

class Kernel {
public:
    Kernel(const form::SeededRun& run, const form::StartState& state)
        : system(run.system),
          others(static_cast<i32>(system.daemons.size()) + 3),
          clients_count(numbered(system.client_registers.rows, "clients")),
          tasks(clients_count + others),
          parts{{run, system, calendar, tasks},
                devices,
                stations,
                io_wait,
                interpreter,
                log,
                write_back,
                daemons,
                arrivals,
                terminals},
          devices(parts),
          stations(parts),
          io_wait(parts),
          interpreter(parts),
          log(parts, logger()),
          write_back(parts),
          daemons(parts, first_daemon()),
          arrivals(parts, source(), interpreter.program.exponential()),
          terminals(parts),
          clients(parts, clients_count) {
        numbered(terminals.count, "terminals");
        Start(parts, state, clients_count).prepare();
        devices.start();
        if (arrivals.are_open()) calendar.urgently(EventKind::task, source());
        terminals.start();
        for (i32 client = 0; client < clients_count; client++) calendar.urgently(EventKind::task, client);
        for (i32 daemon = first_daemon(); daemon < logger(); daemon++) calendar.urgently(EventKind::task, daemon);
    }

    // Memory that a system takes, at least: of what grows during a run only the beginning.
    static i64 bytes_needed(const form::SeededRun& run) {
        const form::System& system = run.system;
        const i64 clients = system.client_registers.rows;
        const i64 numbers_per_client = system.client_registers.width + run.streams.width;
        i64 bytes = BufferPool::bytes(system) + PageCache::bytes(system) + Memory::bytes(system);
        bytes += clients * (static_cast<i64>(sizeof(Task)) + numbers_per_client * 8);
        bytes += (system.terminals ? system.terminals->count : 0) * TERMINAL_BYTES;
        bytes += system.storage.with_disks.size() * static_cast<i64>(sizeof(Device) + sizeof(CachingDisk));
        return bytes;
    }

    // Processes all events before `until_ns`, or until the last client has done its work.
    void run(i64 until_ns) {
        Event event;
        while (clients.at_work > 0 && calendar.take(until_ns, event)) {
            switch (event.kind) {
                case EventKind::task:
                    wake(event.number);
                    break;
                case EventKind::tasks:
                    for (i32 who = event.number; who != NONE;) {
                        const i32 next = tasks[who].next;
                        wake(who);
                        who = next;
                    }
                    break;
                case EventKind::arm:
                    devices.arm_moves(event.number);
                    break;
                case EventKind::terminal:
                    terminals.wake(event.number);
                    break;
                case EventKind::request:
                    devices.request_wakes(event.number);
                    break;
                case EventKind::request_begins:
                    devices.request_begins(event.number);
                    break;
                case EventKind::request_arrives:
                    devices.request_arrives(event.number);
                    break;
                case EventKind::request_done:
                    end_request(event.number);
                    break;
            }
        }
    }

    i64 now_ns() const { return calendar.now_ns; }

    // What has come of it: report.hpp. What rows are of is kept by `report`.
    form::KernelFigures figures(Report& report) const;
    form::Values values(Report& report) const { return interpreter.program.values(report.pages); }
    form::State state(Report& report) const;

private:
    static constexpr i64 TERMINAL_BYTES = 25;  // stream, class, event

    const form::System& system;
    const i32 others;  // tasks behind the clients: daemons, the log's two, source of arrivals
    const i32 clients_count;
    Calendar calendar;
    Tasks tasks;
    const Parts parts;
    Devices devices;
    Stations stations;
    IoWait io_wait;
    Interpreter interpreter;
    Log log;
    WriteBack write_back;
    Daemons daemons;
    Arrivals arrivals;
    Terminals terminals;
    Clients clients;

    i32 first_daemon() const { return clients_count; }
    i32 logger() const { return clients_count + others - 3; }
    i32 source() const { return clients_count + others - 1; }

    // A number of things that events name.
    i32 numbered(i64 count, const char* what) const {
        if (count + others > Calendar::MOST_NUMBERS)
            throw TooLarge(std::to_string(count) + " " + what + " are more than the kernel can tell apart (" +
                           std::to_string(Calendar::MOST_NUMBERS - others) + "); simulate a smaller system");
        return static_cast<i32>(count);
    }

    void wake(i32 who) {
        if (who < clients_count) {
            clients.wake(who);
            return;
        }
        if (who < logger())
            daemons.wake(who);
        else if (who != source()) {
            log.wake(who);
            write_back.write_evicted();  // by what was logged
        } else
            arrivals.wake();
    }

    // A request is done: whoever waits for it goes on.
    void end_request(i32 number) {
        devices.request_ends(number);
        const Request request = devices.requests[number];
        if (request.who == WHOLE) devices.part_ends(number);
        if (request.who == WRITE_BACK) write_back.end(request);
        if (request.who == MERGES) clients.end_merge_read(request.first_page);
        devices.requests.release(number);
        if (request.who < 0) return;
        if (daemons.has(request.who) && !daemons.end_write(request.who)) return;
        wake(request.who);
    }
};

}  // namespace oltpsim
