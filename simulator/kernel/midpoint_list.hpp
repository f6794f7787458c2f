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

#include "array.hpp"

namespace oltpsim {

constexpr i64 NS_PER_MS = 1'000'000;

class MidpointList {
public:
    // `old_ms`: how long after it was read a page can first become young.
    MidpointList(i64 capacity, i64 old_ms)
        : old_ms(old_ms),
          far_enough(static_cast<u32>(capacity * (100 - OLD_PERCENT) / 400)),
          places(capacity, Place{}) {}

    // Memory that it takes.
    static i64 bytes(i64 capacity) { return capacity * static_cast<i64>(sizeof(Place)); }

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

    // Calls `visit` for each slot from the one that is replaced first, until it returns false.
    template <class Visit>
    void visit(const Visit& visit) const {
        for (i32 slot = oldest; slot != NONE; slot = places[slot].newer) {
            if (places[slot].newer != NONE) __builtin_prefetch(&places[places[slot].newer]);
            if (!visit(slot)) return;
        }
    }

private:
    static constexpr i64 OLD_PERCENT = 37;
    static constexpr u32 OLD = 1u << 31;
    // Added to times, so that those before the start have a number. From as long after the start on, 12 days, what is
    // read becomes young at once.
    static constexpr i64 EARLIEST_MS = i64{1} << 30;

    // `mark`: of an old page OLD and when it came, ms, 0 for long ago; of a young one the evictions before its last
    // move.
    struct Place {
        i32 older = NONE, newer = NONE;
        u32 mark = 0;
    };

    const i64 old_ms;
    const u32 far_enough;
    Array<Place> places;  // by slot
    i32 oldest = NONE, newest = NONE;
    i32 first_old = NONE;  // the newest page of the old part
    i64 length = 0, old = 0, evictions = 0;

    static i64 number_of(i64 now_ns) { return floor_div(now_ns, NS_PER_MS) + EARLIEST_MS; }

    void link(i32 slot, i32 older, i32 newer) {
        places[slot].older = older, places[slot].newer = newer;
        (older == NONE ? oldest : places[older].newer) = slot;
        (newer == NONE ? newest : places[newer].older) = slot;
        length++;
    }

    void unlink(i32 slot) {
        const auto [older, newer, mark] = places[slot];
        if (slot == first_old) first_old = older;
        old -= (mark & OLD) != 0;
        (older == NONE ? oldest : places[older].newer) = newer;
        (newer == NONE ? newest : places[newer].older) = older;
        length--;
    }

    void make_newest(i32 slot) {
        link(slot, newest, NONE);
        places[slot].mark = static_cast<u32>(evictions) & ~OLD;
    }

    // Moves the midpoint until the old part has its share.
    void balance() {
        const i64 wanted = length * OLD_PERCENT / 100;
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
