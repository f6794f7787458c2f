// InnoDB's list of pages: LRU in two parts, so that a page has to be asked for twice to stay for long.
//
// A page that was read enters at the head of the old part, 37 % of the list (innodb_old_blocks_pct), whose end is
// replaced. A hit there makes it young, if it came to the list a second ago or more (innodb_old_blocks_time): it moves
// to the head of the young part. What that makes too long hands its last page to the old one, where any hit makes it
// young again. A young page moves to the head only if a quarter of the young part has been replaced since it was there,
// and while nothing has been replaced yet no page moves at all (storage/innobase, buf/buf0lru.cc and
// buf_page_peek_if_too_old of buf0buf.ic, MySQL 8.0; there the old part's length is kept to 20 pages, here to the
// page).
#pragma once
#include <algorithm>
#include <utility>

#include "records.hpp"

namespace oltpsim {

class MidpointList {
public:
    // `old_ms`: how long after it was read a page can first become young.
    MidpointList(i64 capacity, i64 old_ms)
        : old_ms(old_ms),
          far_enough(static_cast<u32>(capacity * (100 - form::OLD_PERCENT) / 400)),
          places(capacity, Place{}) {}

    // Memory that it takes, with all slots in `dirty_in_tail`.
    static i64 bytes(i64 capacity) { return capacity * static_cast<i64>(sizeof(Place) + sizeof(i32)); }

    // A slot's page was read.
    void insert_read(i32 slot, i64 now_ns) {
        link(slot, first_old, first_old == NONE ? oldest : places[first_old].newer);
        first_old = slot, old++;
        places[slot].mark = OLD | static_cast<u32>(std::clamp<i64>(number_of(now_ns), 0, i64{OLD} - 1));
        balance();
    }

    // A slot has a page that is new: young.
    void insert_new(i32 slot) {
        make_newest(slot);
        balance();
    }

    // A slot's page is replaced; another comes in at once, so that the midpoint stays.
    void evict(i32 slot) {
        unlink(slot);
        count_eviction();
    }

    void count_eviction() { evictions++; }

    void touch(i32 slot, i64 now_ns) {
        if (evictions == 0) return;
        const u32 mark = places[slot].mark;
        if ((mark & OLD) != 0) {
            if (number_of(now_ns) - i64{mark & ~OLD} < old_ms) return;
        } else if (((static_cast<u32>(evictions) - mark) & ~OLD) < far_enough) {
            return;
        }
        unlink(slot);
        make_newest(slot);
        balance();
    }

    // A slot's page has become dirty.
    void note_dirty(i32 slot) {
        if (tail_length > 0 && places[slot].in_tail) list_in_tail(slot);
    }

    // Calls `take(slot)` for the dirty ones, by `is_dirty(slot)`, among the `depth` that are replaced first, in any
    // order. It costs what has changed since the last call, and those that are dirty still, not the depth, if that is
    // the same.
    template <class IsDirty, class Take>
    void visit_dirty_in_tail(i64 depth, const IsDirty& is_dirty, const Take& take) {
        if (depth != tail_depth) forget_tail(depth);
        while (tail_length < tail_depth) {
            const i32 next = tail_end == NONE ? oldest : places[tail_end].newer;
            if (next == NONE) break;
            places[next].in_tail = true;
            tail_end = next, tail_length++;
            if (is_dirty(next)) list_in_tail(next);
        }
        i64 kept = 0;
        for (const i32 slot : dirty_in_tail) {
            Place& place = places[slot];
            place.is_listed = place.in_tail && is_dirty(slot);
            if (!place.is_listed) continue;
            dirty_in_tail[kept++] = slot;
            take(slot);
        }
        dirty_in_tail.resize(kept);
    }

    // Calls `visit` for each slot from the one that is replaced first, until it returns false.
    template <class Visit>
    void visit(const Visit& visit) const {
        for (i32 slot = oldest; slot != NONE; slot = places[slot].newer) {
            if (places[slot].newer != NONE) __builtin_prefetch(&places[places[slot].newer]);
            if (!visit(slot)) return;
        }
    }

private:
    static constexpr u32 OLD = 1u << 31;
    // Added to times, so that those before the start have a number. From as long after the start on, 12 days, what is
    // read becomes young at once.
    static constexpr i64 EARLIEST_MS = i64{1} << 30;

    // `mark`: of an old page OLD and when it came, ms, 0 for long ago; of a young one the evictions before its last
    // move.
    struct Place {
        i32 older = NONE, newer = NONE;
        u32 mark = 0;
        bool in_tail = false;    // among the `tail_length` that are replaced first
        bool is_listed = false;  // in `dirty_in_tail`
    };

    const i64 old_ms;
    const u32 far_enough;
    Array<Place> places;  // by slot
    i32 oldest = NONE, newest = NONE;
    i32 first_old = NONE;  // the newest page of the old part
    i64 length = 0, old = 0, evictions = 0;

    // The tail that was last asked for: its newest slot, which is no further from the oldest than the depth, and slots
    // of it that were dirty when they came into it or have become dirty since. Some have left it or are clean again.
    i64 tail_depth = 0, tail_length = 0;
    i32 tail_end = NONE;
    Array<i32> dirty_in_tail;

    static i64 number_of(i64 now_ns) { return floor_div(now_ns, form::NS_PER_MS) + EARLIEST_MS; }

    void link(i32 slot, i32 older, i32 newer) {
        places[slot].older = older, places[slot].newer = newer;
        (older == NONE ? oldest : places[older].newer) = slot;
        (newer == NONE ? newest : places[newer].older) = slot;
        length++;
        if (newer != NONE && places[newer].in_tail) join_tail(slot);
    }

    void unlink(i32 slot) {
        const i32 older = places[slot].older, newer = places[slot].newer;
        if (slot == first_old) first_old = older;
        old -= (places[slot].mark & OLD) != 0;
        if (places[slot].in_tail) leave_tail(slot);
        (older == NONE ? oldest : places[older].newer) = newer;
        (newer == NONE ? newest : places[newer].older) = older;
        length--;
    }

    // A slot that came in before one of the tail's is of it; its page is clean.
    void join_tail(i32 slot) {
        places[slot].in_tail = true;
        tail_length++;
        if (tail_length > tail_depth) leave_tail(tail_end);
    }

    void leave_tail(i32 slot) {
        places[slot].in_tail = false;
        tail_length--;
        if (slot == tail_end) tail_end = places[slot].older;
    }

    void list_in_tail(i32 slot) {
        if (std::exchange(places[slot].is_listed, true)) return;
        dirty_in_tail.add(slot);
    }

    void forget_tail(i64 depth) {
        while (tail_end != NONE) leave_tail(tail_end);
        tail_depth = depth;
    }

    void make_newest(i32 slot) {
        link(slot, newest, NONE);
        places[slot].mark = static_cast<u32>(evictions) & ~OLD;
    }

    // Moves the midpoint until the old part has its share.
    void balance() {
        const i64 wanted = length * form::OLD_PERCENT / 100;
        for (; old < wanted; old++) {
            first_old = first_old == NONE ? oldest : places[first_old].newer;
            places[first_old].mark = OLD;
        }
        for (; old > wanted; old--) {
            places[first_old].mark = static_cast<u32>(evictions) & ~OLD;
            first_old = places[first_old].older;
        }
    }
};

}  // namespace oltpsim
