// The operating system's page cache: what is written waits here for write-back.
#pragma once
#include "cache.hpp"
#include "tables.hpp"

namespace oltpsim {

class PageCache : public Cache<&Place::in_page_cache> {
   public:
    i64 writes_in_flight = 0;
    Array<i32> outbox;  // dirty pages that had to make room: their writes start at once

    PageCache(const Tables& system, Array<Place>& places)
        : Cache(system.fact("page_cache_pages"), Replacement::lru, true, places),
          dirty_limit(system.fact("dirty_limit_pages")),
          free_behind(system.fact("free_behind") != 0) {}

    bool has(i64 page) const { return slot_of(page) != NONE; }

    void hit(i64 page) {
        counters.references++;
        counters.hits++;
        touch(slot_of(page));
    }

    // A page that has been read from disk; returns its slot.
    i32 fill(i64 page) {
        i32 slot = slot_of(page);
        if (slot == NONE) {
            slot = make_room();
            insert(slot, page);
        }
        return slot;
    }

    // A buffered write: the page is here, recent and dirty.
    void write(i64 page, i64 now_ns) {
        const i32 slot = fill(page);
        touch(slot);
        set_dirty(slot, now_ns);
    }

    // Writers must wait for the disks.
    bool is_full_of_dirt() const { return dirty + writes_in_flight >= dirty_limit; }

    // A dirty page is handed to the disks.
    void start_write_back(i64 page) {
        const i32 slot = slot_of(page);
        clear_dirty(slot);
        (*this)[slot].is_in_flight = true;
        writes_in_flight++;
    }

    // The disks have a page. It keeps its place, or is the next to go (free-behind).
    void end_write_back(i64 page) {
        writes_in_flight--;
        const i32 slot = slot_of(page);
        if (slot == NONE) return;
        (*this)[slot].is_in_flight = false;
        if (free_behind && !(*this)[slot].is_dirty) make_oldest(slot);
    }

   private:
    const i64 dirty_limit;  // pages, those in flight counted in
    const bool free_behind;

    i32 make_room() {
        const i32 slot = next_victim();
        const Frame& frame = (*this)[slot];
        if (frame.page == NONE) return slot;
        counters.evictions++;
        if (frame.is_dirty) {
            counters.dirty_evictions++;
            writes_in_flight++;
            outbox.add(frame.page);
        }
        remove(slot);
        return slot;
    }
};

}  // namespace oltpsim
