// The operating system's page cache: what is written waits here for write-back.
#pragma once
#include "cache.hpp"
#include "tables.hpp"

namespace oltpsim {

class PageCache : public Cache {
public:
    i64 writes_in_flight = 0;
    Array<i32> outbox;  // dirty pages that had to make room: their writes start at once

    explicit PageCache(const Tables& system)
        : Cache(system.fact("direct_io") ? 0 : system.fact("pages"), system.fact("page_cache_pages"), Replacement::lru,
                true, false),
          dirty_limit(system.fact("dirty_limit_pages")),
          free_behind(system.fact("free_behind") != 0) {}

    // A page that has been read from disk.
    void fill(i64 page) {
        if (!has(page)) insert(page, make_room());
    }

    // A buffered write: the page is here, recent and dirty.
    void write(i64 page, i64 now_ns) {
        fill(page);
        touch(page);
        set_dirty(page, now_ns);
    }

    // Writers must wait for the disks.
    bool is_full_of_dirt() const { return dirty + writes_in_flight >= dirty_limit; }

    // A dirty page is handed to the disks.
    void start_write_back(i64 page) {
        clear_dirty(page);
        writes_in_flight++;
    }

    // The disks have a page. It keeps its place, or is the next to go (free-behind).
    void end_write_back(i64 page) {
        writes_in_flight--;
        if (!has(page)) return;
        if (free_behind && !is_dirty(page)) make_oldest(page);
    }

private:
    const i64 dirty_limit;  // pages, those in flight counted in
    const bool free_behind;

    // A free slot; a dirty victim is to be written at once.
    i32 make_room() {
        const auto [slot, page] = next_victim();
        if (page == NONE) return slot;
        counters.evictions++;
        if (is_dirty(page)) {
            counters.dirty_evictions++;
            writes_in_flight++;
            outbox.add(page);
        }
        remove(page);
        return slot;
    }
};

}  // namespace oltpsim
