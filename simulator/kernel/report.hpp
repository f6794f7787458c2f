// Reports: what a kernel says of itself, as the records that Python declares.
#pragma once
#include "kernel.hpp"

namespace oltpsim {

inline form::CacheCounters counters_of(i64 references, i64 hits, const CacheCounters& counters) {
    return {.references = references,
            .hits = hits,
            .evictions = counters.evictions,
            .dirty_evictions = counters.dirty_evictions,
            .swap_ins = 0,
            .swap_outs = 0};
}

inline form::DeviceCounters counters_of(const Device& device, i64 now_ns) {
    form::DeviceCounters counters{.arrived = device.arrived,
                                  .reads = device.reads,
                                  .writes = device.writes,
                                  .service_ns = device.service_ns,
                                  .response_ns = device.response_ns,
                                  .busy_ns = device.busy_ns(now_ns),
                                  .occupied_ns = device.occupied.area_until(now_ns),
                                  .queue_ns = device.queue.area_until(now_ns),
                                  .by_purpose = {}};
    std::copy(std::begin(device.by_use), std::end(device.by_use), counters.by_purpose);
    return counters;
}

inline form::KernelFigures Kernel::figures(Report& report) const {
    const i64 now_ns = calendar.now_ns;
    const BufferPool& pool = interpreter.pool;
    const PageCache& page_cache = interpreter.page_cache;
    report = {};
    i64 references = 0, hits = 0, cache_hits = 0;
    for (const TableCounters& table : interpreter.program.table_counters) {
        report.tables.add({.references = table.pool_hits + table.pool_misses,
                           .pool_hits = table.pool_hits,
                           .page_cache_hits = table.page_cache_hits,
                           .disk_reads = table.disk_reads,
                           .created = table.created});
        references += table.pool_hits + table.pool_misses, hits += table.pool_hits;
        cache_hits += table.page_cache_hits;
    }
    for (const Device& device : devices.requests.devices) {
        report.devices.add(counters_of(device, now_ns));
        report.queues.add({.length = device.queue.value, .ages_ns = device.queue.ages_at(now_ns)});
    }
    for (const Section& section : stations.sections)
        report.sections.add({.entries = section.entries,
                             .waits = section.waits,
                             .waited_ns = section.waited_ns,
                             .busy_ns = section.busy.area_until(now_ns)});
    for (i64 i = PROCESSORS + 1; i < stations.count(); i++)
        report.stations.add({.served = stations[i].served,
                             .busy_ns = stations[i].busy.area_until(now_ns),
                             .number_ns = stations[i].present.area_until(now_ns)});
    for (const Limiter& limiter : devices.limits.all()) {
        report.limiters.add({.closed_ps = limiter.closed_ps});
        report.limits.add({.full_at_ps = limiter.full_at_ps, .out_since_ns = limiter.out_since_ns});
    }
    report.terminals = {.away = terminals.away, .waiting = arrivals.in_system.value - terminals.deferred_inside};
    form::CacheCounters of_pool = counters_of(references, hits, interpreter.pool.counters);
    of_pool.swap_ins = interpreter.memory.swap_ins;
    of_pool.swap_outs = interpreter.memory.swap_outs;
    return {.now_ns = now_ns,
            .events = calendar.events,
            .counters = {.ended = clients.ended,
                         .ended_main = clients.ended_main,
                         .cpu_busy_ns = stations[PROCESSORS].busy.area_until(now_ns),
                         .io_wait_ns = io_wait.area_until(now_ns),
                         .cpu_time = interpreter.cpu_time,
                         .reads_pending_ns = clients.reads_pending.area_until(now_ns),
                         .in_system_ns = arrivals.in_system.area_until(now_ns),
                         .locks = interpreter.locks.counters,
                         .log = log.counters,
                         .pool = of_pool,
                         .page_cache = counters_of(cache_hits, cache_hits, page_cache.counters),
                         .tables = rows(report.tables),
                         .devices = rows(report.devices),
                         .sections = rows(report.sections),
                         .stations = rows(report.stations),
                         .limiters = rows(report.limiters)},
            .levels = {.clients_at_work = clients.at_work,
                       .ages_ns = arrivals.in_system.ages_at(now_ns),
                       .pool = {pool.capacity, pool.used, pool.dirty, interpreter.memory.resident()},
                       .page_cache = {page_cache.capacity, page_cache.used, page_cache.dirty, page_cache.held()},
                       .devices = rows(report.queues),
                       .limiters = rows(report.limits),
                       .terminals = terminals.count > 0 ? &report.terminals : nullptr},
            .classes = rows(clients.classes),
            .checkpoints = rows(daemons.checkpoints),
            .ends = rows(clients.ends)};
}

inline form::State Kernel::state(Report& report) const {
    const BufferPool& pool = interpreter.pool;
    const PageCache& page_cache = interpreter.page_cache;
    const Locks& locks = interpreter.locks;
    report = {};
    Array<i32> pages;
    pool.list_by_slot(pages);
    for (i64 slot = 0; slot < pool.used; slot++) {
        const i32 page = pages[slot];
        const i64 residence = static_cast<i64>(pool.residence_of(slot));
        report.pool.add(
            page == NONE ? form::SlotState{NONE, 0, 0, 0, residence}
                         : form::SlotState{page, pool.usage(page), pool.is_dirty(page), pool.is_busy(page), residence});
    }
    pages.clear();
    page_cache.list_by_slot(pages);
    for (const i32 page : pages) report.page_cache.add({page, 0, page != NONE && page_cache.is_dirty(page), 0, 0});
    pages.clear();
    pool.list_by_use(pages);
    report.pool_by_use = Array<i64>::of(pages);
    pages.clear();
    page_cache.list_by_use(pages);
    report.page_cache_by_use = Array<i64>::of(pages);
    page_cache.list_dirty(report.page_cache_by_age);
    report.put_aside = Array<i64>::of(pool.waiting.pages());
    for (i64 lock = 0; lock < locks.count(); lock++) report.lock_owners.add(locks.owner(lock));
    for (i64 who = 0; who < clients_count; who++) {
        const Task& task = tasks[who];
        report.clients.add({task.transaction_class, task.user_ns, task.system_ns, task.client_ns, task.log_bytes,
                            task.victim, task.rolled_back});
        for (i32 lock = task.first_lock; lock != NONE; lock = locks.next_held(lock)) report.locks_held.add({who, lock});
    }
    return {.pool = rows(report.pool),
            .page_cache = rows(report.page_cache),
            .pool_by_use = matrix(report.pool_by_use, 1),
            .page_cache_by_use = matrix(report.page_cache_by_use, 1),
            .page_cache_by_age = rows(report.page_cache_by_age),
            .pool_hand = pool.clock_hand(),
            .resident_hand = interpreter.memory.hand,
            .writes_in_flight = page_cache.writes_in_flight,
            .put_aside = matrix(report.put_aside, 1),
            .lock_owners = matrix(report.lock_owners, 1),
            .locks_held = rows(report.locks_held),
            .clients = rows(report.clients),
            .arrival_stream = static_cast<i64>(arrivals.stream_state()),
            .terminal_streams = matrix(terminals.all_streams(), 1),
            .requests = devices.requests.count(),
            .free_requests = devices.requests.free_count()};
}

}  // namespace oltpsim
