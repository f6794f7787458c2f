// The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here.
#pragma once
#include "terminals.hpp"
#include "write_back.hpp"

namespace oltpsim {

class Start {
public:
    Start(const Tables& system, Interpreter& interpreter)
        : kind(static_cast<Kind>(system.fact("start"))), system(system), interpreter(interpreter) {}

    void prepare() {
        if (kind == Kind::after_load) load();
        if (kind == Kind::warm) load_drawn();
        forget_counts();
    }

private:
    enum class Kind : i64 { cold, after_load, warm };

    static constexpr i64 AHEAD = 16;  // pages that are prefetched

    const Kind kind;
    const Tables& system;
    Interpreter& interpreter;

    // Writes every loaded page once, in load order, through the pool and the page cache.
    void load() {
        BufferPool& pool = interpreter.pool;
        const Table& load_order = system["load_order"];
        for (i64 i = 0; i < load_order.rows(); i++) {
            const Region& region = interpreter.program.regions[load_order.at(i, "region")];
            const i64 first =
                region.base + load_order.at(i, "group") * region.group_pages + load_order.at(i, "first_page");
            for (i64 page = first; page < first + load_order.at(i, "pages"); page++) {
                if (pool.has(page)) continue;
                const Victim victim = pool.next_victim();
                pool.empty(victim, interpreter.page_cache, 0);
                pool.insert(page, victim.slot);
                if (!interpreter.direct_io) pool.set_dirty(page);  // by direct I/O it is on disk, and nowhere else
                interpreter.page_cache.outbox.clear();
            }
        }
        write_pool();
        write_page_cache();
    }

    // The state of caches and windows that has been drawn (simulator/form/warm_start.py).
    void load_drawn() {
        const Table& warm = system["warm_pool"];
        enum : i64 { PAGE, USAGE, DIRTY, RESIDENT };
        for (i64 i = 0; i < warm.rows(); i++) {
            if (i + AHEAD < warm.rows()) interpreter.pool.prefetch(warm.at(i + AHEAD, PAGE));
            interpreter.pool.insert_at_start(warm.at(i, PAGE), warm.at(i, USAGE), warm.at(i, RESIDENT) != 0);
            if (warm.at(i, DIRTY)) interpreter.pool.set_dirty(warm.at(i, PAGE));
        }
        const Table& cached = system["warm_page_cache"];
        for (i64 i = 0; i < cached.rows(); i++) interpreter.page_cache.fill(cached.at(i, 0));
        interpreter.program.remember(system["warm_windows"], system["warm_seen"]);
    }

    void write_pool() {
        BufferPool& pool = interpreter.pool;
        Array<i32> pages;
        pool.find_replaced_first(pool.dirty, pages);
        for (const i32 page : pages) {
            pool.clear_dirty(page);
            if (!interpreter.direct_io) interpreter.page_cache.write(page, 0);
            interpreter.page_cache.outbox.clear();
        }
    }

    void write_page_cache() {
        PageCache& page_cache = interpreter.page_cache;
        while (page_cache.oldest_dirty() != NONE) {
            const i32 page = page_cache.oldest_dirty();
            page_cache.start_write_back(page);
            page_cache.end_write_back(page);
        }
    }

    // What happened before the run is not the run's.
    void forget_counts() {
        interpreter.pool.counters = interpreter.page_cache.counters = {};
        interpreter.page_cache.writes_in_flight = 0;
    }
};

}  // namespace oltpsim
