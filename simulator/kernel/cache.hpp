// Caches of pages: who is in, who goes next, who is dirty. The buffer pool is one, the page cache another.
//
// Replacement: LRU (exact list) or CLOCK (PostgreSQL's usage counts up to 5, second chance with decrement). A reference
// costs the same whatever the cache's size: its time is that of the memory it touches, so frames have 16 bytes.
#pragma once
#include <algorithm>

#include "array.hpp"

namespace oltpsim {

constexpr i64 NS_PER_MS = 1'000'000;

enum class Replacement : i64 { lru, clock };

// What the operating system knows of the memory behind a frame; none: it never had any.
enum class Residence : u8 { none, swapped_out, idle, accessed };

struct Frame {
    i32 newer = NONE;  // towards the most recently used
    i32 older = NONE;
    i32 page = NONE;
    u16 epoch = 0;  // of its last use, LRU
    u8 usage = 0;   // CLOCK
    bool is_dirty : 1 = false;
    bool is_in_flight : 1 = false;  // a write-back of it is under way
    bool is_busy : 1 = false;       // it is being read or written
    bool is_awaited : 1 = false;    // tasks wait for it
    Residence residence : 2 = Residence::none;
};
static_assert(sizeof(Frame) == 16);

// Where a page is: its slot in each cache.
struct Place {
    i32 in_pool = NONE;
    i32 in_page_cache = NONE;
};

struct CacheCounters {
    i64 references = 0;
    i64 hits = 0;
    i64 evictions = 0;
    i64 dirty_evictions = 0;
    i64 swap_ins = 0;
    i64 swap_outs = 0;
};

template <i32 Place::* SLOT>
class Cache {
   public:
    const i64 capacity;
    const Replacement replacement;
    CacheCounters counters;
    i64 used = 0;
    i64 dirty = 0;

    // `keeps_ages`: dirty pages are known in the order in which they became so.
    Cache(i64 capacity, Replacement replacement, bool keeps_ages, Array<Place>& places)
        : capacity(capacity), replacement(replacement), places(places), frames(capacity), ages(keeps_ages ? capacity : 0),
          uses_per_epoch(std::max<i64>(capacity / 256, 64)) {}

    Frame& operator[](i32 slot) { return frames[slot]; }
    const Frame& operator[](i32 slot) const { return frames[slot]; }
    i32 slot_of(i64 page) const { return places[page].*SLOT; }

    // A hit: to the recent end (LRU), or one use more (CLOCK).
    void touch(i32 slot) {
        if (replacement == Replacement::clock) {
            if (frames[slot].usage < MOST_USAGE) frames[slot].usage++;
        } else if (recent != slot) {
            unlink(slot);
            link_recent(slot);
        }
    }

    // Puts a page into an empty slot, clean, as the most recent one.
    void insert(i32 slot, i64 page) {
        places[page].*SLOT = slot;
        Frame& frame = frames[slot];
        frame.page = static_cast<i32>(page);
        frame.is_dirty = frame.is_in_flight = frame.is_busy = false;
        if (replacement == Replacement::lru)
            link_recent(slot);
        else
            frame.usage = 1;
    }

    // Empties a slot that holds a page; a dirty page loses its dirt (the caller has seen to it).
    void remove(i32 slot) {
        clear_dirty(slot);
        if (replacement == Replacement::lru) unlink(slot);
        places[frames[slot].page].*SLOT = NONE;
        frames[slot].page = NONE;
    }

    // Puts a slot of an LRU cache at the end that is used up first.
    void make_oldest(i32 slot) {
        if (oldest == slot) return;
        unlink(slot);
        clean_to = NONE;
        frames[slot].newer = oldest;
        frames[slot].older = NONE;
        frames[oldest].older = slot;
        frames[slot].epoch = frames[oldest].epoch;
        oldest = slot;
    }

    // The slot to use next: a fresh one, else replacement's choice, which still holds its page; busy ones are passed
    // over. NONE where every slot is busy.
    i32 next_victim() {
        if (used < capacity) return static_cast<i32>(used++);
        if (replacement == Replacement::clock) return clock_victim();
        i32 slot = oldest;
        while (slot != NONE && frames[slot].is_busy) slot = frames[slot].newer;
        return slot;
    }

    // A page that was clean joins the dirty ones.
    void set_dirty(i32 slot, i64 now_ns) {
        Frame& frame = frames[slot];
        if (frame.is_dirty) return;
        frame.is_dirty = true;
        dirty++;
        forget_clean(slot);
        if (ages.empty()) return;
        ages[slot] = {last_dirty, NONE, static_cast<i32>(now_ns / NS_PER_MS)};
        (last_dirty == NONE ? first_dirty : ages[last_dirty].newer) = slot;
        last_dirty = slot;
    }

    void clear_dirty(i32 slot) {
        Frame& frame = frames[slot];
        if (!frame.is_dirty) return;
        frame.is_dirty = false;
        dirty--;
        if (ages.empty()) return;
        const Age& age = ages[slot];
        (age.older == NONE ? first_dirty : ages[age.older].newer) = age.newer;
        (age.newer == NONE ? last_dirty : ages[age.newer].older) = age.older;
    }

    // Up to `most` dirty pages that replacement would reach first, sorted.
    void find_replaced_first(i64 most, Array<i32>& pages) {
        pages.clear();
        const i64 wanted = std::min(most, dirty);
        if (replacement == Replacement::clock)
            find_from_hand(wanted, pages);
        else
            find_from_oldest(wanted, pages);
        std::sort(pages.begin(), pages.end());
    }

    // Up to `most` pages that have been dirty since `latest_ns` or longer, in whole ms, sorted.
    void find_dirty_since(i64 latest_ns, i64 most, Array<i32>& pages) const {
        pages.clear();
        const i64 wanted = std::min(most, dirty);
        for (i32 slot = first_dirty; slot != NONE && pages.size() < wanted && is_dirty_since(slot, latest_ns);
             slot = ages[slot].newer)
            pages.add(frames[slot].page);
        std::sort(pages.begin(), pages.end());
    }

    bool has_dirty_since(i64 latest_ns) const { return first_dirty != NONE && is_dirty_since(first_dirty, latest_ns); }
    i32 oldest_dirty() const { return first_dirty; }

    // Slots in the order of the list, the most recent first (LRU).
    void list_slots(Array<i32>& slots) const {
        slots.clear();
        for (i32 slot = recent; slot != NONE; slot = frames[slot].older) slots.add(slot);
    }
    void list_dirty(Array<i32>& slots) const {
        slots.clear();
        for (i32 slot = first_dirty; slot != NONE; slot = ages[slot].newer) slots.add(slot);
    }
    i64 clock_hand() const { return hand; }

   private:
    static constexpr u8 MOST_USAGE = 5;  // as PostgreSQL

    // Neighbours in the order in which pages became dirty.
    struct Age {
        i32 older = NONE, newer = NONE;
        i32 since_ms = 0;
    };

    Array<Place>& places;
    Array<Frame> frames;
    Array<Age> ages;
    i32 recent = NONE, oldest = NONE;  // ends of the list, LRU
    i64 hand = 0;                      // CLOCK
    i32 first_dirty = NONE, last_dirty = NONE;

    // Who looks for the dirty pages that replacement reaches first would pass the same clean ones each time. LRU: all
    // slots from the oldest to `clean_to` (NONE: none) are clean. CLOCK: the first `clean_from_hand` slots are.
    i32 clean_to = NONE;
    i64 clean_from_hand = 0;
    // Recency in steps: of two slots the one with the later epoch was used later; of one epoch it isn't known.
    const i64 uses_per_epoch;
    i64 uses_left = 0;
    u16 epoch = 0;

    bool is_dirty_since(i32 slot, i64 latest_ns) const { return ages[slot].since_ms <= latest_ns / NS_PER_MS; }

    void link_recent(i32 slot) {
        Frame& frame = frames[slot];
        frame.newer = NONE;
        frame.older = recent;
        (recent == NONE ? oldest : frames[recent].newer) = slot;
        recent = slot;
        if (uses_left-- == 0) begin_epoch();
        frame.epoch = epoch;
    }

    void begin_epoch() {
        uses_left = uses_per_epoch;
        if (++epoch != 0) return;
        for (Frame& frame : frames) frame.epoch = 0;
        clean_to = NONE;
        epoch = 1;
    }

    void unlink(i32 slot) {
        const i32 newer = frames[slot].newer, older = frames[slot].older;
        if (clean_to == slot) clean_to = older;
        (newer == NONE ? recent : frames[newer].older) = older;
        (older == NONE ? oldest : frames[older].newer) = newer;
    }

    i32 clock_victim() {
        for (i64 passed = 0; passed < (MOST_USAGE + 1) * capacity; passed++) {
            const i32 slot = static_cast<i32>(hand);
            hand = hand + 1 < capacity ? hand + 1 : 0;
            clean_from_hand = std::max<i64>(clean_from_hand - 1, 0);
            if (frames[slot].is_busy) continue;
            if (frames[slot].usage == 0) return slot;
            frames[slot].usage--;
        }
        return NONE;
    }

    // A slot has become dirty: what was known to be clean ends before it.
    void forget_clean(i32 slot) {
        if (replacement == Replacement::clock) {
            const i64 ahead = slot >= hand ? slot - hand : slot - hand + capacity;
            clean_from_hand = std::min(clean_from_hand, ahead);
        } else if (clean_to != NONE && frames[slot].epoch <= frames[clean_to].epoch) {
            clean_to = slot == clean_to || frames[slot].epoch < frames[clean_to].epoch ? frames[slot].older : NONE;
        }
    }

    void find_from_hand(i64 wanted, Array<i32>& pages) {
        const i64 known = std::min(clean_from_hand, used);
        i64 slot = hand + known < used ? hand + known : hand + known - used;
        for (i64 passed = known; passed < used && pages.size() < wanted; passed++) {
            if (frames[slot].is_dirty)
                pages.add(frames[slot].page);
            else if (pages.empty())
                clean_from_hand = passed + 1;
            slot = slot + 1 < used ? slot + 1 : 0;
        }
    }

    void find_from_oldest(i64 wanted, Array<i32>& pages) {
        i32 slot = clean_to == NONE ? oldest : frames[clean_to].newer;
        while (slot != NONE && pages.size() < wanted) {
            if (frames[slot].is_dirty)
                pages.add(frames[slot].page);
            else if (pages.empty())
                clean_to = slot;
            slot = frames[slot].newer;
        }
    }
};

}  // namespace oltpsim
