// The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here.
#pragma once
#include "terminals.hpp"
#include "write_back.hpp"

namespace oltpsim {

class Start {
public:
    Start(const Tables& system, i64 clients, Interpreter& interpreter, Terminals& terminals)
        : kind(static_cast<Kind>(system.fact("start"))),
          clients(clients),
          pages(system.fact("pages")),
          kept_dirty_pages(system.fact("kept_dirty_pages")),
          load_order(system["load_order"]),
          interpreter(interpreter),
          terminals(terminals) {}

    void prepare() {
        if (kind == Kind::cold) return;
        load();
        if (kind == Kind::warm) run_without_time();
        write_pool(kind == Kind::warm ? kept_dirty_pages : 0);
        write_page_cache();
        forget_counts();
    }

private:
    enum class Kind : i64 { cold, after_load, warm };

    // `warm` runs until the pool has taken in so many times its own size, or every page was due so many times.
    static constexpr i64 TURNOVERS = 3, REFERENCES_PER_PAGE = 30;

    const Kind kind;
    const i64 clients;
    const i64 pages;
    const i64 kept_dirty_pages;
    const Table load_order;
    Interpreter& interpreter;
    Terminals& terminals;

    // Writes every loaded page once, in load order, through the pool and the page cache.
    void load() {
        BufferPool& pool = interpreter.pool;
        for (i64 i = 0; i < load_order.rows(); i++) {
            const Region& region = interpreter.program.regions[load_order.at(i, "region")];
            const i64 first =
                region.base + load_order.at(i, "group") * region.group_pages + load_order.at(i, "first_page");
            for (i64 page = first; page < first + load_order.at(i, "pages"); page++) {
                if (pool.has(page)) continue;
                const i32 slot = pool.next_victim();
                pool.empty(slot, interpreter.page_cache, 0);
                pool.insert(page, slot);
                if (!interpreter.direct_io) pool.set_dirty(page, 0);  // by direct I/O it is on disk, and nowhere else
                interpreter.page_cache.outbox.clear();
            }
        }
    }

    // Runs all clients in turn, every wait being over at once.
    void run_without_time() {
        const i64 most_misses = TURNOVERS * interpreter.pool.capacity;
        const i64 most_references = REFERENCES_PER_PAGE * pages;
        for (i64 round = 0; round < most_references; round++) {  // for programs that refer to no page
            i64 hits = 0, misses = 0;
            for (const TableCounters& counters : interpreter.program.table_counters) {
                hits += counters.pool_hits;
                misses += counters.pool_misses;
            }
            if (misses >= most_misses || hits + misses >= most_references) return;
            for (i32 who = 0; who < clients; who++)
                for (Wait wait = interpreter.advance(who); wait.kind != WaitKind::end;
                     wait = interpreter.advance(who)) {
                    end_wait(who, wait);
                    interpreter.page_cache.writes_in_flight = 0;
                    interpreter.page_cache.outbox.clear();
                }
        }
    }

    void end_wait(i32 who, const Wait& wait) {
        BufferPool& pool = interpreter.pool;
        switch (wait.kind) {
            case WaitKind::read:
                pool.set_busy(wait.target, false);
                if (!interpreter.direct_io) interpreter.page_cache.fill(wait.target);
                return;
            case WaitKind::fault:
                pool.make_resident(wait.target);
                pool.set_busy(pool.page_in(wait.target), false);
                return;
            case WaitKind::victim:
                pool.clear_dirty(pool.page_in(wait.target));
                pool.set_busy(pool.page_in(wait.target), false);
                return;
            case WaitKind::throttle:
                return write_page_cache();
            case WaitKind::commit:
            case WaitKind::release:
                return interpreter.locks.drop(who);
            case WaitKind::lock:
                interpreter.locks.drop(interpreter.locks.owner(wait.target));
                return interpreter.locks.grant(who, wait.target);
            case WaitKind::arrival:
                if (terminals.count > 0) terminals.seat_anybody(who);
                return;
            default:
                return;
        }
    }

    // Writes dirty buffers, those first that are replaced first, until so many are left.
    void write_pool(i64 left_dirty) {
        BufferPool& pool = interpreter.pool;
        Array<i32> pages;
        pool.find_replaced_first(std::max<i64>(pool.dirty - left_dirty, 0), pages);
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
        for (TableCounters& counters : interpreter.program.table_counters) counters = {};
        interpreter.cpu_time = {};
    }
};

}  // namespace oltpsim
