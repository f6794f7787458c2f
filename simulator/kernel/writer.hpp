// The database's background writer: above the high mark of dirty buffers it writes those nearest to replacement.
#pragma once
#include "page_writes.hpp"

namespace oltpsim {

class Writer {
public:
    PageWrites writes;

    Writer(const Tables& system, i32 who, PageWrites writes, Calendar& calendar, Tasks& tasks, BufferPool& pool)
        : writes(std::move(writes)),
          who(who),
          high_pages(system.fact("writer_high_pages")),
          low_pages(system.fact("writer_low_pages")),
          calendar(calendar),
          tasks(tasks),
          pool(pool) {}

    // The daemon: down to the low mark, then asleep until there are too many dirty buffers.
    void wake() {
        Task& task = tasks[who];
        bool runs = task.stage != Stage::starting && task.stage != Stage::sleeping;
        while (true) {
            if (runs && !writes.run()) return;
            if (pool.dirty <= high_pages) {
                task.stage = Stage::sleeping;
                sleeps = true;
                return;
            }
            pool.find_replaced_first(pool.dirty - low_pages, writes.pages);
            writes.start(0);
            runs = true;
        }
    }

    // A transaction has released its locks, which is when the writer looks at its marks.
    void look() {
        if (!sleeps || pool.dirty <= high_pages) return;
        sleeps = false;
        calendar.at_once(EventKind::task, who);
    }

private:
    const i32 who;
    const i64 high_pages;
    const i64 low_pages;
    Calendar& calendar;
    Tasks& tasks;
    BufferPool& pool;

    bool sleeps = false;
};

}  // namespace oltpsim
