// Merges: pages whose changes were put aside are read and changed in the background, many at once.
#pragma once
#include "write_back.hpp"

namespace oltpsim {

class Merges : Parts {
public:
    const i64 page_cpu_ns;  // of a page that is read

    explicit Merges(const Parts& parts)
        : Parts(parts),
          page_cpu_ns(system.costs.read_ns + system.costs.request_ns + system.costs.miss_ns),
          stream(static_cast<Stream>(run.merge_stream)) {}

    // Draws so many of the pages that have changes waiting, no two alike; one that somebody is bringing in is passed
    // over.
    void draw(i64 due, Array<i32>& pages) {
        pages.clear();
        BufferPool& pool = interpreter.pool;
        for (i64 left = pool.waiting.pages().size(); left > 0 && pages.size() < due; left--) {
            pool.waiting.swap(uniform_below(stream, left), left - 1);
            const i32 page = pool.waiting.pages()[left - 1];
            if (!pool.has(page)) pages.add(page);
        }
    }

    // Has a page read, unless nothing waits for it any more; false if there is no clean buffer for it now.
    bool read(i32 page) {
        BufferPool& pool = interpreter.pool;
        if (pool.has(page) || !pool.waiting.has(page)) return true;
        const Victim victim = pool.next_victim();
        if (victim.slot == NONE || pool.is_swapped_out(victim.slot)) return false;
        if (victim.page != NONE && pool.is_dirty(victim.page)) return false;
        pool.empty(victim, interpreter.page_cache, calendar.now_ns);
        write_back.write_evicted();
        pool.insert_resident(page, victim.slot, false, calendar.now_ns);
        pool.set_busy(page, true);
        const i32 number = devices.submit(devices.device_of(page), devices.byte_of(page), system.storage.page_bytes,
                                          Transfer::read, Use::merge_read, MERGES);
        devices.requests[number].first_page = page;
        return true;
    }

private:
    Stream stream;
};

}  // namespace oltpsim
