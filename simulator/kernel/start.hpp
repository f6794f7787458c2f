// The state at time 0: cold, as a load or a prewarm leaves it, or warm; and the lead-in from there, at full speed.
//
// Nobody waits here. In a lead-in only the clock moves on, so that pages that it leaves dirty have an age.
#pragma once
#include "terminals.hpp"
#include "write_back.hpp"

namespace oltpsim {

class Start : Parts {
public:
    Start(const Parts& parts, const form::StartState& state, i64 clients)
        : Parts(parts),
          state(state),
          clients(clients),
          whole_age_bytes(system.flushing ? system.flushing->whole_age_bytes : 0) {}

    void prepare() {
        const form::StartKind kind = system.interval.start;
        interpreter.program.begin(state);
        if (kind == form::StartKind::after_load) load();
        if (kind == form::StartKind::warm) load_drawn();
        if (kind == form::StartKind::after_prewarm) prewarm();
        lead_in();
        forget_counts();
    }

private:
    static constexpr i64 AHEAD = 16;  // pages that are prefetched

    const form::StartState& state;
    const i64 clients;
    const i64 whole_age_bytes;  // age that is 100 % in flushing by age; 0 without that

    i64 first_page(const form::LoadRow& row) const {
        const Region& region = system.program.regions[row.region];
        return region.base + row.group * region.group_pages + row.first_page;
    }

    // Writes every loaded page once, in load order, through the pool and the page cache.
    void load() {
        BufferPool& pool = interpreter.pool;
        for (const form::LoadRow& row : system.program.load_order) {
            const i64 first = first_page(row);
            for (i64 page = first; page < first + row.pages; page++) {
                if (pool.has(page)) continue;
                const Victim victim = pool.next_victim();
                pool.empty(victim, interpreter.page_cache, 0);
                pool.insert_new(page, victim.slot);
                if (!system.direct_io) pool.set_dirty(page);  // by direct I/O it is on disk, and nowhere else
                interpreter.memory.outbox.clear();
            }
        }
        write_pool(interpreter.pool.dirty);
        while (interpreter.page_cache.oldest_dirty() != NONE) write_oldest();
    }

    // Reads every page that a prewarm reads into the page cache, and from there into the pool.
    void prewarm() {
        BufferPool& pool = interpreter.pool;
        const i64 now_ns = -system.interval.lead_in_ns;  // before the lead-in
        for (const form::LoadRow& row : system.prewarm_order) {
            const i64 first = first_page(row);
            for (i64 page = first; page < first + row.pages; page++) {
                if (system.interval.prewarms_pool && !pool.has(page)) {
                    const Victim victim = pool.next_victim();
                    pool.empty(victim, interpreter.page_cache, 0);
                    pool.insert(page, victim.slot, now_ns);
                }
                if (system.direct_io) continue;
                interpreter.page_cache.fill(page);
                interpreter.page_cache.touch(page);
            }
        }
    }

    // Runs a transaction of each client in turn, every wait being over at once, until all are done.
    void lead_in() {
        BufferPool& pool = interpreter.pool;
        const i64 transactions = system.interval.lead_in_transactions, lasts_ns = system.interval.lead_in_ns;
        const form::LeadInMarks& marks = run.lead_in;
        Array<i32> oldest;
        for (i64 number = 0; number < transactions; number++) {
            // rounded down, in 128 bits: an hour times millions of transactions is more than 64 have
            const __int128 left = static_cast<__int128>(lasts_ns) * (transactions - number);
            calendar.now_ns = -static_cast<i64>((left + transactions - 1) / transactions);
            const i32 who = static_cast<i32>(number % clients);
            for (Wait wait = interpreter.advance(who); wait.kind != WaitKind::end; wait = interpreter.advance(who)) {
                end_wait(who, wait);
                forget_writes();
            }
            forget_writes();
            if (pool.dirty > marks.pool_high_pages) write_pool(pool.dirty - marks.pool_low_pages);
            while (whole_age_bytes > 0 && pool.age_bytes() > whole_age_bytes) {
                pool.find_oldest_dirty(1, oldest);
                pool.clear_dirty(oldest[0]);
                pool.look_at(oldest[0]);
                interpreter.keep_written(oldest[0]);
                forget_writes();
            }
            while (interpreter.page_cache.dirty > marks.cache_keep_pages ||
                   interpreter.page_cache.has_dirty_since(calendar.now_ns - marks.expire_ns))
                write_oldest();
        }
        calendar.now_ns = 0;
        interpreter.images.begin_checkpoint();
    }

    // Ends a client's wait at once: what it waits for is done.
    void end_wait(i32 who, const Wait& wait) {
        BufferPool& pool = interpreter.pool;
        switch (wait.kind) {
            case WaitKind::read:
                pool.end_read(wait.target);
                if (!system.direct_io) interpreter.page_cache.fill(wait.target);
                return;
            case WaitKind::fault:
                pool.make_resident(wait.target);
                pool.set_busy(pool.page_in(wait.target), false);
                return;
            case WaitKind::victim:
                pool.clear_dirty(wait.target);
                interpreter.keep_written(wait.target);
                pool.set_busy(wait.target, false);
                return;
            case WaitKind::throttle:
                write_oldest();
                return;
            case WaitKind::pause:
                if (interpreter.page_cache.is_full_of_dirt()) write_oldest();
                return;
            case WaitKind::commit:
                pool.advance_log(wait.amount);
                if (!system.direct_io) interpreter.page_cache.append_log(wait.amount);
                if (wait.target == 0) interpreter.locks.drop(who);
                return;
            case WaitKind::release:
                interpreter.locks.drop(who);
                return;
            default:
                return;
        }
    }

    // What the page cache gave up is on disk at once.
    void forget_writes() {
        interpreter.memory.outbox.clear();
        interpreter.page_cache.writes_in_flight = 0;
    }

    // The state of caches that has been drawn (simulator/expectation/warm_start.py).
    void load_drawn() {
        BufferPool& pool = interpreter.pool;
        const i64 oldest_bytes = whole_age_bytes / 2;
        i64 dirty = 0, left = 0;
        for (const form::PoolSlot& slot : state.pool) dirty += slot.dirty;
        left = dirty;
        for (i64 i = 0; i < state.pool.size(); i++) {
            if (i + AHEAD < state.pool.size()) pool.prefetch(state.pool[i + AHEAD].page);
            const form::PoolSlot& slot = state.pool[i];
            pool.insert_at_start(slot.page, slot.usage, slot.resident != 0);
            if (slot.dirty) pool.change_at(slot.page, -(oldest_bytes * left-- / dirty));
        }
        for (const i64 page : state.page_cache) interpreter.page_cache.fill(page);
    }

    // Writes so many dirty buffers, those first that are replaced first.
    void write_pool(i64 most) {
        BufferPool& pool = interpreter.pool;
        Array<i32> pages;
        pool.find_replaced_first(most, pages);
        for (const i32 page : pages) {
            pool.clear_dirty(page);
            pool.look_at(page);
            if (!system.direct_io) interpreter.page_cache.write(page, calendar.now_ns);
        }
        forget_writes();
    }

    // Writes back the page that has been dirty in the page cache for longest.
    void write_oldest() {
        PageCache& page_cache = interpreter.page_cache;
        const i32 page = page_cache.oldest_dirty();
        page_cache.start_write_back(page);
        page_cache.end_write_back(page);
    }

    // What happened before the run is not the run's.
    void forget_counts() {
        interpreter.pool.counters = interpreter.page_cache.counters = {};
        interpreter.page_cache.writes_in_flight = 0;
        interpreter.memory.forget_counts();
        for (TableCounters& counters : interpreter.program.table_counters) counters = {};
        interpreter.cpu_time = {};
    }
};

}  // namespace oltpsim
