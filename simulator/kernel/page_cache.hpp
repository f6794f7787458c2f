// The operating system's page cache: LRU (exact), or two lists where it shares its memory with the pool (memory.hpp).
// What is written waits here for write-back.
//
// There may be many more pages than it holds, and only misses of the buffer pool come here: of a page it knows the
// slot, all else is by slot, in two lists.
#pragma once
#include <algorithm>
#include <bit>

#include "cache.hpp"
#include "memory.hpp"

namespace oltpsim {

// Whole ms, rounded down: before time 0 too, where a lead-in is.
constexpr i64 whole_ms(i64 time_ns) {
    return time_ns >= 0 ? time_ns / form::NS_PER_MS : -((form::NS_PER_MS - 1 - time_ns) / form::NS_PER_MS);
}

class PageCache {
public:
    const i64 capacity;
    CacheCounters counters;
    i64 used = 0;  // slots
    i64 dirty = 0;
    i64 writes_in_flight = 0;
    const form::PageCache& given;

    PageCache(const form::System& system, Memory& memory)
        : capacity(slots_of(system)),
          given(system.page_cache),
          memory(memory),
          slot_of(Cache::numbered(cached_pages(system), capacity), NONE),
          slots(slot_of.empty() ? 0 : capacity),
          pages(system.program.pages),
          dirty_words(given.in_file_order && !slot_of.empty() ? pages / WORD_PAGES + 1 : 0, 0) {
        for (const form::RegionRow& region : system.program.regions) first_pages.add(region.base);
        std::sort(first_pages.begin(), first_pages.end());
        memory.is_dirty = [this](i32 slot) { return slots[slot].since_ms != CLEAN; };
        memory.page_in = [this](i32 slot) { return slots[slot].page; };
        memory.forget = [this](i32 slot) {
            drop(slot);
            slots[slot].page = NONE;
            free_slots.add(slot);
        };
        if (given.pages_a_pause == 0) return;
        if (std::max(given.pages_a_pause, first_pages.size()) > form::MOST_FILES)
            throw std::invalid_argument("pages_a_pause is for up to 255 pages and regions");
        for (i64 i = 0; i <= first_pages.size(); i++) locked_until_ns.add(LONG_AGO_NS);
    }

    // Memory that it takes.
    static i64 bytes(const form::System& system) {
        const i64 pages = cached_pages(system), capacity = pages > 0 ? slots_of(system) : 0;
        const i64 bits = system.page_cache.in_file_order ? pages / 8 : 0;
        return pages * static_cast<i64>(sizeof(i32)) + bits + capacity * static_cast<i64>(sizeof(Slot));
    }

    bool has(i64 page) const { return slot_of[page] != NONE; }
    bool is_dirty(i64 page) const { return has(page) && slots[slot_of[page]].since_ms != CLEAN; }

    // A page will soon be referred to.
    void prefetch(i64 page) const { __builtin_prefetch(slot_of.data() + page); }

    // A page that is here is read.
    void touch(i64 page) { memory.is_shared() ? memory.read_file(slot_of[page]) : make_recent(slot_of[page]); }

    // A page that has been read from disk, or is written.
    void fill(i64 page, bool reads = true) {
        if (has(page)) return;
        const i32 slot = make_room();
        slot_of[page] = slot;
        slots[slot].page = static_cast<i32>(page);
        memory.is_shared() ? memory.add_file(slot, page, reads) : by_use.add(slots, slot);
    }

    // A page that is written is here, recent; of shared memory a write makes none recent that was here before.
    void keep(i64 page) {
        fill(page, false);
        if (!memory.is_shared()) make_recent(slot_of[page]);
    }

    // A buffered write: the page is here, and dirty.
    void write(i64 page, i64 now_ns) {
        keep(page);
        const i32 slot = slot_of[page];
        if (slots[slot].since_ms != CLEAN) return;
        slots[slot].since_ms = static_cast<i32>(whole_ms(now_ns));
        by_age.add(slots, slot);
        if (!dirty_words.empty()) dirty_words[page / WORD_PAGES] |= u64{1} << (page % WORD_PAGES);
        dirty++;
    }

    // So many bytes at the end of the log, whose files are used round and round. Their pages are written at once by
    // whoever logs, and so are never dirty here.
    void append_log(i64 bytes) {
        if (given.log_pages == 0 || bytes == 0 || slot_of.empty()) return;
        const i64 last = (log_position + bytes - 1) / given.log_page_bytes;
        for (i64 place = std::max(log_position / given.log_page_bytes, last + 1 - given.log_pages); place <= last;
             place++) {
            keep(pages + place % given.log_pages);
        }
        log_position += bytes;
    }

    // Writers must wait for the disks.
    bool is_full_of_dirt() const { return dirty + writes_in_flight >= given.dirty_limit_pages; }

    // Writers are paused.
    bool is_paced() const { return dirty + writes_in_flight > given.paced_pages; }

    // How fast writers may be, in what the disks write: twice as fast where pauses begin, as fast half way from there
    // to the limit, and not at all at the limit (Linux, mm/page-writeback.c, pos_ratio_polynom).
    double pace() const {
        const double setpoint = static_cast<double>(given.paced_pages + given.dirty_limit_pages) / 2.0;
        const double distance = setpoint - static_cast<double>(dirty + writes_in_flight);
        const double share = distance / std::max(static_cast<double>(given.dirty_limit_pages) - setpoint, 0.5);
        return std::min(std::max(1.0 + share * share * share, 0.0), 2.0);
    }

    // The number of a page's file: of those regions that begin at it or before.
    u8 file_of(i64 page) const {
        return static_cast<u8>(std::upper_bound(first_pages.begin(), first_pages.end(), page) - first_pages.begin());
    }

    // A writer is paused for so long, with its file locked, once the file is free. Returns the time until that has
    // ended.
    i64 lock(i32 file, i64 now_ns, i64 pause_ns) {
        if (given.pages_a_pause == 0) return pause_ns;
        locked_until_ns[file] = std::max(locked_until_ns[file], now_ns) + pause_ns;
        return locked_until_ns[file] - now_ns;
    }

    // How long a page's file is locked yet.
    i64 locked_ns(i64 page, i64 now_ns) const {
        return given.pages_a_pause > 0 ? std::max(locked_until_ns[file_of(page)] - now_ns, i64{0}) : 0;
    }

    // A dirty page is handed to the disks.
    void start_write_back(i64 page) {
        clear_dirty(slot_of[page]);
        if (memory.is_shared()) memory.files.set(slot_of[page], MemoryLists::being_written);
        writes_in_flight++;
    }

    // The disks have a page. It keeps its place, or is the next to go (free-behind).
    void end_write_back(i64 page) {
        writes_in_flight--;
        if (!has(page)) return;
        if (memory.is_shared()) {
            memory.file_is_written(slot_of[page], is_dirty(page));
        } else if (given.free_behind && !is_dirty(page)) {
            by_use.remove(slots, slot_of[page]);
            by_use.add_in_front(slots, slot_of[page]);
        }
    }

    // Up to `most` pages that have been dirty since `latest_ns` or longer, in whole ms, sorted.
    void find_dirty_since(i64 latest_ns, i64 most, Array<i32>& pages) const {
        pages.clear();
        const i64 wanted = std::min(most, dirty);
        for (i32 slot = by_age.first; slot != NONE && pages.size() < wanted && is_dirty_since(slot, latest_ns);
             slot = slots[slot].age.after)
            pages.add(slots[slot].page);
        std::sort(pages.begin(), pages.end());
    }

    // The first dirty page from this one on, in the order of the files, or NONE.
    i32 next_dirty(i64 from) const {
        for (i64 word = from / WORD_PAGES; word < dirty_words.size(); word++) {
            const u64 here =
                word == from / WORD_PAGES ? dirty_words[word] & (~u64{0} << (from % WORD_PAGES)) : dirty_words[word];
            if (here) return static_cast<i32>(word * WORD_PAGES + std::countr_zero(here));
        }
        return NONE;
    }

    bool has_dirty_since(i64 latest_ns) const {
        return by_age.first != NONE && is_dirty_since(by_age.first, latest_ns);
    }

    // The page that became dirty first, or NONE.
    i32 oldest_dirty() const { return by_age.first == NONE ? NONE : slots[by_age.first].page; }

    // Pages that it holds.
    i64 held() const { return used - free_slots.size(); }

    // The pages of all slots that were used, NONE of those that are free.
    void list_by_slot(Array<i32>& pages) const {
        for (i64 slot = 0; slot < used; slot++) pages.add(slots[slot].page);
    }

    // All pages, the one that is replaced first at the front.
    void list_by_use(Array<i32>& pages) const {
        for (i32 slot = by_use.first; slot != NONE; slot = slots[slot].use.after) pages.add(slots[slot].page);
        for (const i32 oldest : {memory.files.oldest_inactive(), memory.files.oldest_active()})
            for (i32 slot = oldest; slot != NONE; slot = memory.files.newer(slot)) pages.add(slots[slot].page);
    }

    // All dirty pages, the one that became so first at the front.
    void list_dirty(Array<form::DirtyPage>& pages) const {
        for (i32 slot = by_age.first; slot != NONE; slot = slots[slot].age.after)
            pages.add({slots[slot].page, slots[slot].since_ms});
    }

private:
    static constexpr i32 CLEAN = INT32_MIN;
    static constexpr i64 WORD_PAGES = 64;
    static constexpr i64 LONG_AGO_NS = i64{-1} << 62;

    // Neighbours in a list, by slot.
    struct Neighbours {
        i32 before = NONE, after = NONE;
    };

    struct Slot {
        i32 page = NONE;
        i32 since_ms = CLEAN;  // dirty
        Neighbours use, age;
    };

    // Slots in an order.
    template <Neighbours Slot::* neighbours>
    struct List {
        i32 first = NONE, last = NONE;

        void add(Array<Slot>& slots, i32 slot) {
            slots[slot].*neighbours = {last, NONE};
            (last == NONE ? first : (slots[last].*neighbours).after) = slot;
            last = slot;
        }

        void add_in_front(Array<Slot>& slots, i32 slot) {
            slots[slot].*neighbours = {NONE, first};
            (first == NONE ? last : (slots[first].*neighbours).before) = slot;
            first = slot;
        }

        void remove(Array<Slot>& slots, i32 slot) {
            const auto [before, after] = slots[slot].*neighbours;
            (before == NONE ? first : (slots[before].*neighbours).after) = after;
            (after == NONE ? last : (slots[after].*neighbours).before) = before;
        }
    };

    Memory& memory;
    Array<i32> slot_of;  // by page
    Array<Slot> slots;
    List<&Slot::use> by_use;     // the one that is replaced first at the front
    List<&Slot::age> by_age;     // dirty ones, the one that became so first at the front
    const i64 pages;             // of the data; the log's come after them
    Array<u64> dirty_words;      // a bit for each page of the data, if they are written back in file order
    Array<i64> first_pages;      // of regions, sorted
    Array<i64> locked_until_ns;  // by file
    i64 log_position = 0;        // bytes logged
    Array<i32> free_slots;       // slots that were used and are free, of shared memory

    static i64 slots_of(const form::System& system) {
        return system.reclaim ? system.reclaim->pages : system.page_cache.pages;
    }

    static i64 cached_pages(const form::System& system) {
        return system.direct_io ? 0 : system.program.pages + system.page_cache.log_pages;
    }

    bool is_dirty_since(i32 slot, i64 latest_ns) const { return slots[slot].since_ms <= whole_ms(latest_ns); }

    void clear_dirty(i32 slot) {
        if (slots[slot].since_ms == CLEAN) return;
        slots[slot].since_ms = CLEAN;
        by_age.remove(slots, slot);
        const i64 page = slots[slot].page;
        if (!dirty_words.empty()) dirty_words[page / WORD_PAGES] &= ~(u64{1} << (page % WORD_PAGES));
        dirty--;
    }

    void make_recent(i32 slot) {
        if (by_use.last == slot) return;
        by_use.remove(slots, slot);
        by_use.add(slots, slot);
    }

    // A free slot.
    i32 make_room() {
        if (memory.is_shared()) {
            memory.make_room();
            if (!free_slots.empty()) {
                const i32 slot = free_slots.back();
                free_slots.remove_last();
                return slot;
            }
        }
        if (used < capacity) return static_cast<i32>(used++);
        const i32 slot = by_use.first;
        drop(slot);
        by_use.remove(slots, slot);
        return slot;
    }

    // A page has to go; a dirty one is to be written at once.
    void drop(i32 slot) {
        const i32 page = slots[slot].page;
        counters.evictions++;
        if (slots[slot].since_ms != CLEAN) {
            counters.dirty_evictions++;
            writes_in_flight++;
            memory.outbox.add(page);
            clear_dirty(slot);
        }
        slot_of[page] = NONE;
    }
};

}  // namespace oltpsim
