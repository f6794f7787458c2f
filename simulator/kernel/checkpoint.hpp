// Checkpoints: every interval all pages dirty at that moment are written, in disk order, and then synced.
#pragma once
#include "page_writes.hpp"

namespace oltpsim {

class Checkpoint {
public:
    PageWrites writes;

    struct Done {
        i64 began_ns, ended_ns;
    };
    Array<Done> done;

    Checkpoint(const Tables& system, i32 who, PageWrites writes, Calendar& calendar, Tasks& tasks,
               Interpreter& interpreter, WriteBack& write_back)
        : writes(std::move(writes)),
          who(who),
          interval_ns(system.fact("checkpoint_interval_ns")),
          spread_ns(system.fact("checkpoint_spread_ns")),
          calendar(calendar),
          tasks(tasks),
          interpreter(interpreter),
          write_back(write_back) {}

    // The daemon.
    void wake() {
        const Stage stage = tasks[who].stage;
        if (stage == Stage::starting) {
            sleep();
            return;
        }
        if (stage == Stage::timed) {
            interpreter.pool.find_replaced_first(interpreter.pool.capacity, writes.pages);
            writes.start(spread_ns);
            phase = Phase::writing;
        }
        if (phase == Phase::writing) {
            if (!writes.run()) return;
            phase = Phase::syncing_dirty;
            sync_began_ns = calendar.now_ns;
        }
        if (!interpreter.direct_io && !is_synced()) return;
        done.add({writes.began_ns, calendar.now_ns});
        sleep();
    }

private:
    // Its pages are written; those that were dirty in the page cache by then go to the disks; these finish them.
    enum class Phase : u8 { writing, syncing_dirty, syncing_in_flight };

    const i32 who;
    const i64 interval_ns;
    const i64 spread_ns;
    Calendar& calendar;
    Tasks& tasks;
    Interpreter& interpreter;
    WriteBack& write_back;

    Phase phase = Phase::writing;
    i64 due_ns = 0;
    i64 sync_began_ns = 0;
    i64 pages_synced = 0;  // pages written back by when the sync is done

    void sleep() {
        due_ns = std::max(due_ns + interval_ns, calendar.now_ns);
        tasks[who].stage = Stage::timed;
        calendar.after(due_ns - calendar.now_ns, EventKind::task, who);
    }

    bool is_synced() {
        PageCache& page_cache = interpreter.page_cache;
        if (phase == Phase::syncing_dirty) {
            if (page_cache.has_dirty_since(sync_began_ns)) {
                const i64 free_pages = write_back.most_in_flight - page_cache.writes_in_flight;
                if (free_pages > 0) write_back.flush(sync_began_ns, free_pages);
                write_back.wait(who, Stage::syncing);
                return false;
            }
            phase = Phase::syncing_in_flight;
            pages_synced = write_back.pages_written + page_cache.writes_in_flight;
        }
        if (write_back.pages_written >= pages_synced) return true;
        write_back.wait(who, Stage::syncing);
        return false;
    }
};

}  // namespace oltpsim
