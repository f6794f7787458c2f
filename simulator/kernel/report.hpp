// Reports: what a kernel says of itself, as tables with names.
#pragma once
#include "kernel.hpp"

namespace oltpsim {

inline Report Kernel::report(const std::string& name) const {
    const i64 now_ns = calendar.now_ns;
    if (name == "system") {
        Report table(
            "now_ns events ended ended_main cpu_busy_ns io_wait_ns reads_pending_ns in_system in_system_ns ages_ns "
            "clients_at_work locks_acquired lock_waits lock_waited_ns log_bytes log_commits log_flushes user_ns "
            "client_ns system_ns writer_ns write_back_ns terminals_away deferred_inside requests requests_free");
        const CpuTime& cpu = interpreter.cpu_time;
        table.add(now_ns, calendar.events, clients.ended, clients.ended_main,
                  stations[PROCESSORS].busy.area_until(now_ns), io_wait.area_until(now_ns),
                  clients.reads_pending.area_until(now_ns), arrivals.in_system.value,
                  arrivals.in_system.area_until(now_ns), arrivals.in_system.ages_at(now_ns), clients.at_work,
                  interpreter.locks.acquired, interpreter.locks.waits, interpreter.locks.waited_ns, log.written_bytes,
                  log.commits, log.flushes, cpu.user_ns, cpu.client_ns, cpu.system_ns, cpu.writer_ns, cpu.write_back_ns,
                  terminals.away, terminals.deferred_inside, devices.requests.count(), devices.requests.free_count());
        return table;
    }
    if (name == "caches") {
        Report table(
            "references hits evictions dirty_evictions swap_ins swap_outs capacity_pages used_pages dirty_pages "
            "resident_pages hand resident_hand writes_in_flight");
        TableCounters all;
        for (const TableCounters& counters : interpreter.program.table_counters) {
            all.pool_hits += counters.pool_hits;
            all.pool_misses += counters.pool_misses;
            all.page_cache_hits += counters.page_cache_hits;
        }
        const auto add = [&](i64 references, i64 hits, const auto& cache, i64 resident, i64 hand, i64 resident_hand,
                             i64 in_flight) {
            const CacheCounters& counters = cache.counters;
            table.add(references, hits, counters.evictions, counters.dirty_evictions, counters.swap_ins,
                      counters.swap_outs, cache.capacity, cache.used, cache.dirty, resident, hand, resident_hand,
                      in_flight);
        };
        add(all.pool_hits + all.pool_misses, all.pool_hits, interpreter.pool, interpreter.pool.resident(),
            interpreter.pool.clock_hand(), interpreter.pool.resident_hand(), 0);
        add(all.page_cache_hits, all.page_cache_hits, interpreter.page_cache, interpreter.page_cache.used, 0, 0,
            interpreter.page_cache.writes_in_flight);
        return table;
    }
    if (name == "tables") {
        Report table("references pool_hits page_cache_hits disk_reads created");
        for (const TableCounters& counters : interpreter.program.table_counters)
            table.add(counters.pool_hits + counters.pool_misses, counters.pool_hits, counters.page_cache_hits,
                      counters.disk_reads, counters.created);
        return table;
    }
    if (name == "devices") {
        Report table(
            "arrived reads writes service_ns response_ns busy_ns occupied_ns queue_ns length ages_ns data_read "
            "eviction_write swap_in doublewrite swap_out write_back log writer merge_read");
        for (const Device& device : devices.requests.devices) {
            table.add(device.arrived, device.reads, device.writes, device.service_ns, device.response_ns,
                      device.busy_ns(now_ns), device.occupied.area_until(now_ns), device.queue.area_until(now_ns),
                      device.queue.value, device.queue.ages_at(now_ns));
            for (const i64 count : device.by_use) table.add(count);
        }
        return table;
    }
    if (name == "sections") {
        Report table("entries waits waited_ns busy_ns");
        for (const Section& section : stations.sections)
            table.add(section.entries, section.waits, section.waited_ns, section.busy.area_until(now_ns));
        return table;
    }
    if (name == "stations") {
        Report table("served busy_ns number_ns");
        for (i64 i = PROCESSORS + 1; i < stations.count(); i++)
            table.add(stations[i].served, stations[i].busy.area_until(now_ns), stations[i].present.area_until(now_ns));
        return table;
    }
    if (name == "limits") {
        Report table("closed_ps full_at_ps out_since_ns");
        for (const Limiter& limiter : devices.limits.all())
            table.add(limiter.closed_ps, limiter.full_at_ps, limiter.out_since_ns);
        return table;
    }
    if (name == "classes") {
        Report table(3 + ACTIVITIES + BUCKETS);
        for (const ClassCounters& counters : clients.classes) {
            table.add(counters.completed, counters.rolled_back, counters.total_ns);
            for (const i64 time_ns : counters.spent_ns) table.add(time_ns);
            for (const i64 count : counters.histogram) table.add(count);
        }
        return table;
    }
    if (name == "checkpoints") {
        Report table("began_ns ended_ns");
        for (const Daemons::Checkpoint& done : daemons.checkpoints) table.add(done.began_ns, done.ended_ns);
        return table;
    }
    if (name == "trace") {
        Report table("time_ns client class response_ns");
        for (const End& end : clients.trace) table.add(end.time_ns, end.client, end.transaction_class, end.response_ns);
        return table;
    }
    const Program& program = interpreter.program;
    if (name == "counters" || name == "registers" || name == "streams" || name == "high" || name == "windows" ||
        name == "seen" || name == "put_aside") {
        Report table(name == "registers" ? program.registers_per_task
                     : name == "streams" ? program.streams_per_task
                                         : 1);
        const auto add = [&](const auto& values) {
            for (const auto value : values) table.add(value);
        };
        if (name == "counters") add(program.counters);
        if (name == "registers") add(program.all_registers());
        if (name == "streams") add(program.all_streams());
        if (name == "high") add(program.all_high());
        if (name == "windows") add(program.all_windows());
        if (name == "seen") add(program.all_seen());
        if (name == "put_aside") add(interpreter.pool.waiting.pages());
        return table;
    }
    if (name == "locks") {
        Report table("owner");
        for (i64 i = 0; i < interpreter.locks.count(); i++) table.add(interpreter.locks.owner(i));
        return table;
    }
    if (name == "pool_slots") {
        Report table("page usage dirty busy residence");
        const BufferPool& pool = interpreter.pool;
        Array<i32> pages;
        pool.list_by_slot(pages);
        for (i64 slot = 0; slot < pool.used; slot++) {
            const i32 page = pages[slot];
            if (page != NONE)
                table.add(page, pool.usage(page), pool.is_dirty(page), pool.is_busy(page), pool.residence_of(slot));
            else
                table.add(NONE, 0, 0, 0, pool.residence_of(slot));
        }
        return table;
    }
    if (name == "page_cache_slots") {
        Report table("page usage dirty busy residence");
        Array<i32> pages;
        interpreter.page_cache.list_by_slot(pages);
        for (const i32 page : pages) table.add(page, 0, interpreter.page_cache.is_dirty(page), false, Residence::none);
        return table;
    }
    if (name == "pool_by_use" || name == "page_cache_by_use") {
        Report table("page");
        Array<i32> pages;
        name == "pool_by_use" ? interpreter.pool.list_by_use(pages) : interpreter.page_cache.list_by_use(pages);
        for (const i32 page : pages) table.add(page);
        return table;
    }
    if (name == "page_cache_by_age") {
        Report table("page since_ms");
        Array<PageCache::Dirty> pages;
        interpreter.page_cache.list_dirty(pages);
        for (const PageCache::Dirty& dirty : pages) table.add(dirty.page, dirty.since_ms);
        return table;
    }
    if (name == "tasks") {
        Report table("class user_ns system_ns client_ns log_bytes victim rolled_back");
        for (i64 who = 0; who < clients_count; who++) {
            const Task& task = tasks[who];
            table.add(task.transaction_class, task.user_ns, task.system_ns, task.client_ns, task.log_bytes, task.victim,
                      task.rolled_back);
        }
        return table;
    }
    if (name == "locks_held") {
        Report table("client lock");
        for (i64 who = 0; who < clients_count; who++)
            for (i32 lock = tasks[who].first_lock; lock != NONE; lock = interpreter.locks.next_held(lock))
                table.add(who, lock);
        return table;
    }
    if (name == "arrival_streams") {
        Report table("state");
        table.add(arrivals.stream_state());
        for (const Stream state : terminals.all_streams()) table.add(state);
        return table;
    }
    throw std::invalid_argument("there is no report " + name);
}

}  // namespace oltpsim
