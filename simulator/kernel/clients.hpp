// Clients: what happens when a wait is over, and which wait comes next.
#pragma once
#include <bit>
#include <unordered_map>

#include "daemons.hpp"
#include "terminals.hpp"

namespace oltpsim {

class Clients : Parts {
public:
    i64 ended = 0;
    i64 ended_main = 0;
    i64 at_work;          // clients that have work left
    Gauge reads_pending;  // that clients wait for
    Array<form::ClassCompletions> classes;
    Array<form::End> ends;  // of the first transactions, as many as are traced

    Clients(const Parts& parts, i64 clients)
        : Parts(parts),
          at_work(clients),
          classes(interpreter.program.entries.size()),
          main_per_client(system.work ? system.work->main_per_client : 0),
          is_doubled(system.writing.doubled),
          interrupt_station(system.interrupts ? static_cast<i32>(system.interrupts->station) : NONE) {}

    // A client's event: its wait is over, and it goes on to the next one.
    void wake(i32 who) {
        Task& task = tasks[who];
        if (task.stage == Stage::served) {
            end_service(who, task);
        } else if (task.stage == Stage::thinking) {
            task.began_ns = calendar.now_ns;
            arrivals.in_system.enter(task.began_ns);
        } else if (task.stage != Stage::starting && !end_wait(who, task)) {
            return;
        }
        go_on(who, task);
    }

    // A page that a merge has read is here.
    void end_merge_read(i32 page) {
        interpreter.pool.end_read(page);
        announce(page);
    }

private:
    static constexpr i64 THROTTLED_BATCH_PAGES = 64;
    const i64 main_per_client;  // transactions after which a client stops; 0: never
    const bool is_doubled;      // a victim is written twice
    const i32 interrupt_station;

    std::unordered_map<i32, i32> waiting_for_page;  // the first of those who wait for it
    i32 waiting_for_buffer = NONE;                  // the first of those who wait for any

    void spend(Task& task, Activity activity) { task.spent(activity) += calendar.now_ns - task.wait_began_ns; }

    void end_service(i32 who, Task& task) {
        stations.leave(who);
        switch (task.purpose) {
            case Purpose::cpu:
                task.spent(Activity::cpu) += task.service_ns;
                task.spent(Activity::cpu_queue) += task.queued_ns;
                return;
            case Purpose::section:
                stations.leave_section(who);
                spend(task, Activity::critical_section);
                task.spent(Activity::critical_section) -= task.service_ns;
                task.spent(Activity::cpu) += task.service_ns;
                interpreter.cpu_time.transaction += task.hold_ns;
                return;
            case Purpose::station:
                spend(task, Activity::stations);
                return;
            case Purpose::interrupt:
                end_read(task);
                return;
            case Purpose::daemon:
                check(false);
        }
    }

    // The other waits; false if the client goes on waiting for something else.
    bool end_wait(i32 who, Task& task) {
        switch (task.stage) {
            case Stage::reading:
                devices.end_call(task.target);
                if (interrupt_station != NONE) {
                    stations.enter(1 + interrupt_station, who, system.interrupts->served_ns, Purpose::interrupt);
                    return false;
                }
                end_read(task);
                return true;
            case Stage::page_wait:
                spend(task, Activity::page_wait);
                return true;
            case Stage::locking:
                task.spent(Activity::row_locks) += interpreter.locks.end_wait(who);
                return true;
            case Stage::committing:
            case Stage::awaiting_log_space:
                if (daemons.awaits_log_space(who)) return false;
                spend(task, Activity::log);
                if (!task.keeps_locks) release_locks(who);
                return true;
            case Stage::on_network:
                spend(task, Activity::network);
                return true;
            case Stage::swapping_in:
                end_swap_in(task.target);
                spend(task, Activity::swap);
                return true;
            case Stage::throttled:
                spend(task, Activity::write_throttle);
                return true;
            case Stage::doubling_victim:
                devices.end_call(task.target);
                devices.call(who, task.target, Stage::writing_victim);
                return false;
            case Stage::writing_victim:
                end_victim(task.target);
                spend(task, Activity::write_throttle);
                return true;
            case Stage::sliced:
                stations.end_slice(who);
                return false;
            case Stage::section_queueing:
                stations.hand_over_section(who);
                return false;
            case Stage::section_handover:
                stations.begin_section(who);
                return false;
            case Stage::call_queueing:
                task.stage = task.call;
                devices.submit_call(who, task.target);
                return false;
            case Stage::arriving:
                begin(who, task);
                return true;
            default:
                check(false);
                return true;
        }
    }

    void go_on(i32 who, Task& task) {
        while (true) {
            const Wait wait = interpreter.advance(who);
            write_back.write_evicted();
            task.wait_began_ns = calendar.now_ns;
            switch (wait.kind) {
                case WaitKind::cpu:
                    stations.enter(PROCESSORS, who, wait.amount, Purpose::cpu);
                    return;
                case WaitKind::visit:
                    stations.enter(1 + wait.target, who, wait.amount, Purpose::station);
                    return;
                case WaitKind::end:
                    if (end(who, task, wait.target, wait.amount != 0)) return;
                    break;
                case WaitKind::release:
                    release_locks(who);
                    break;
                case WaitKind::commit:
                    task.keeps_locks = wait.target != 0;
                    interpreter.pool.advance_log(wait.amount);
                    if (log.commit(who, wait.amount)) return;
                    if (wait.amount > 0 && daemons.awaits_log_space(who)) return;
                    if (!task.keeps_locks) release_locks(who);
                    break;
                case WaitKind::hand_over:
                    log.hand_over(wait.amount);
                    break;
                case WaitKind::think:
                    if (wait.amount > 0) {
                        task.stage = Stage::thinking;
                        calendar.after(wait.amount, EventKind::task, who);
                        return;
                    }
                    task.began_ns = calendar.now_ns;
                    arrivals.in_system.enter(calendar.now_ns);
                    break;
                case WaitKind::arrival:
                    if (!arrivals.take(who)) return;
                    begin(who, task);
                    break;
                default:
                    begin_wait(who, task, wait);
                    return;
            }
        }
    }

    // Starts what takes time.
    void begin_wait(i32 who, Task& task, Wait wait) {
        task.target = wait.target;
        switch (wait.kind) {
            case WaitKind::read:
                reads_pending.change(calendar.now_ns, 1);
                io_wait.change(1);
                devices.call(who, wait.target, Stage::reading);
                return;
            case WaitKind::section:
                stations.enter_section(wait.target, who, wait.amount);
                return;
            case WaitKind::lock:
                interpreter.locks.wait(who, task.target);
                return;
            case WaitKind::page: {
                task.stage = Stage::page_wait;
                i32& first = waiting_for_page.try_emplace(task.target, NONE).first->second;
                first = joined(tasks, first, who);
                return;
            }
            case WaitKind::buffer:
                task.stage = Stage::page_wait;
                waiting_for_buffer = joined(tasks, waiting_for_buffer, who);
                return;
            case WaitKind::free:
                task.stage = Stage::page_wait;
                calendar.after(wait.amount, EventKind::task, who);
                return;
            case WaitKind::fault:
                task.stage = Stage::swapping_in;
                io_wait.change(1);
                devices.submit(0, system.storage.swap_start_bytes + wait.target * system.storage.page_bytes,
                               system.storage.page_bytes, Transfer::read, Use::swap_in, who);
                return;
            case WaitKind::throttle:
                write_back.flush(calendar.now_ns, THROTTLED_BATCH_PAGES);
                write_back.wait(who, Stage::throttled);
                return;
            case WaitKind::pause:
                task.stage = Stage::throttled;
                if (wait.amount == 0) write_back.flush(calendar.now_ns, THROTTLED_BATCH_PAGES);
                calendar.after(write_back.pause_locking_ns(wait.amount, wait.target), EventKind::task, who);
                return;
            case WaitKind::file:
                task.stage = Stage::throttled;
                calendar.after(wait.amount, EventKind::task, who);
                return;
            case WaitKind::victim:
                interpreter.pool.clear_dirty(task.target);
                io_wait.change(1);
                devices.call(who, task.target, is_doubled ? Stage::doubling_victim : Stage::writing_victim);
                return;
            case WaitKind::network:
                task.stage = Stage::on_network;
                calendar.after(wait.amount, EventKind::task, who);
                return;
            default:
                check(false);
        }
    }

    // A page has been read into the slot that was kept for it.
    void end_read(Task& task) {
        reads_pending.change(calendar.now_ns, -1);
        io_wait.change(-1);
        interpreter.pool.end_read(task.target);
        if (!system.direct_io) interpreter.page_cache.fill(task.target);
        write_back.write_evicted();
        announce(task.target);
        spend(task, Activity::disk_read);
    }

    // Wakes whoever waits for a page, and whoever waits for any buffer.
    void announce(i32 page) {
        if (!waiting_for_page.empty())
            if (const auto place = waiting_for_page.find(page); place != waiting_for_page.end()) {
                calendar.at_once(EventKind::tasks, place->second);
                waiting_for_page.erase(place);
            }
        if (waiting_for_buffer != NONE) calendar.at_once(EventKind::tasks, std::exchange(waiting_for_buffer, NONE));
    }

    // A dirty victim is on disk, its slot can be used. By buffered I/O it stays in the page cache.
    void end_victim(i32 page) {
        devices.end_call(page);
        io_wait.change(-1);
        interpreter.keep_written(page);
        write_back.write_evicted();
        interpreter.pool.set_busy(page, false);
        announce(page);
    }

    // A buffer is back from swap.
    void end_swap_in(i32 slot) {
        BufferPool& pool = interpreter.pool;
        interpreter.memory.swap_ins++;
        io_wait.change(-1);
        pool.make_resident(slot);
        write_back.write_evicted();
        pool.set_busy(pool.page_in(slot), false);
        announce(pool.page_in(slot));
    }

    void release_locks(i32 who) {
        interpreter.locks.release(who);
        daemons.look();
    }

    // A client takes up the arrival that it was given.
    void begin(i32 who, Task& task) {
        task.spent(Activity::connection) += calendar.now_ns - task.began_ns - terminals.middle_tier_ns;
        task.spent(Activity::network) += terminals.middle_tier_ns;
        terminals.seat(who);
    }

    // A transaction has ended now; true if it was the client's last one.
    bool end(i32 who, Task& task, i64 transaction_class, bool rolled_back) {
        const i64 now_ns = calendar.now_ns, response_ns = now_ns - task.began_ns;
        ended++;
        if (transaction_class == system.program.main_class) {
            ended_main++;
            task.main_done++;
        }
        if (ends.size() < run.traced) ends.add({now_ns, who, transaction_class, response_ns});
        if (now_ns >= system.interval.warm_up_ns) {
            form::ClassCompletions& counters = classes[transaction_class];
            counters.completed++;
            counters.rolled_back += rolled_back;
            counters.total_ns += response_ns;
            counters.histogram[bucket(response_ns)]++;
            for (int i = 0; i < ACTIVITIES; i++) counters.spent_ns[i] += task.spent_ns[i];
        }
        std::fill(std::begin(task.spent_ns), std::end(task.spent_ns), 0);
        arrivals.in_system.leave(now_ns, task.began_ns);
        terminals.answer(who, transaction_class);
        if (transaction_class != system.program.main_class || task.main_done != main_per_client) return false;
        task.stage = Stage::stopped;
        at_work--;
        return true;
    }

    // As simulator.results.histogram_bucket: 64 a factor of two.
    static i64 bucket(i64 time_ns) {
        constexpr i64 SUB_BUCKETS = form::HISTOGRAM_SUB_BUCKETS;
        const int shift = std::max(static_cast<int>(std::bit_width(static_cast<u64>(time_ns))) - 7, 0);
        return shift * SUB_BUCKETS + (time_ns >> shift);
    }
};

}  // namespace oltpsim
