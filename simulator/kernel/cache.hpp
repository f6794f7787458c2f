// Cache of pages, as the buffer pool is: who is in, who goes next, who is dirty.
//
// Replacement: LRU (exact), CLOCK (PostgreSQL's usage counts up to 5, second chance with decrement) or a list with a
// midpoint (InnoDB's, midpoint_list.hpp). The time of a reference is that of the memory that it touches: a page's
// state, 8 bytes, is all that a hit of the first two reads. So LRU has no list: each use adds the page to the end of
// `uses`, and only a page's last entry counts. What victims leave behind and what later uses have made void is swept
// out when the array is full.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>

#include "midpoint_list.hpp"
#include "records.hpp"

namespace oltpsim {

using form::Replacement;

struct CacheCounters {
    i64 evictions = 0;
    i64 dirty_evictions = 0;
};

// What replacement frees: a slot, or NONE if every slot is busy, with its page, or NONE if the slot is a fresh one.
struct Victim {
    i32 slot;
    i32 page;
};

class Cache {
public:
    const i64 capacity;
    const Replacement replacement;
    const i64 clean_search_pages;
    CacheCounters counters;
    i64 used = 0;  // slots
    i64 dirty = 0;

    // `finds_by_slot`: pages are known by slot, as only LRU can do without. `clean_search_pages`: among how many pages,
    // 1 or more, LRU and the list with a midpoint look for a clean victim. `old_ms`: midpoint_list.hpp.
    Cache(i64 pages, i64 capacity, Replacement replacement, bool finds_by_slot, i64 clean_search_pages, i64 old_ms = 0)
        : capacity(capacity),
          replacement(replacement),
          clean_search_pages(clean_search_pages),
          states(numbered(pages, capacity)),
          page_of(pages > 0 && (finds_by_slot || replacement != Replacement::lru) ? capacity : 0, NONE),
          uses(pages > 0 && replacement == Replacement::lru ? most_uses(capacity) : 0),
          list(pages > 0 && replacement == Replacement::midpoint ? capacity : 0, old_ms) {}

    // The number of pages, if all of them can be numbered.
    static i64 numbered(i64 pages, i64 capacity) {
        if (pages > 0 && capacity < 1) throw std::invalid_argument("a cache without a slot");
        if (capacity >= EMPTY || pages > INT32_MAX)
            throw TooLarge("a cache of " + std::to_string(capacity) + " pages, of " + std::to_string(pages) +
                           " in all, is more than the kernel can number: " + std::to_string(EMPTY - 1) + ", of " +
                           std::to_string(INT32_MAX) + "; simulate a smaller system");
        return pages;
    }

    // Memory that a cache takes.
    static i64 bytes(i64 pages, i64 capacity, Replacement replacement, bool finds_by_slot) {
        const bool is_lru = replacement == Replacement::lru;
        const i64 entries = (is_lru ? most_uses(capacity) : 0) + (finds_by_slot || !is_lru ? capacity : 0);
        const i64 listed = replacement == Replacement::midpoint ? MidpointList::bytes(capacity) : 0;
        return pages * static_cast<i64>(sizeof(State)) + entries * static_cast<i64>(sizeof(i32)) + listed;
    }

    bool has(i64 page) const { return states[page].slot != EMPTY; }
    bool has_idle(i64 page) const { return states[page].slot != EMPTY && !states[page].is_busy; }
    bool is_dirty(i64 page) const { return states[page].is_dirty; }
    bool is_busy(i64 page) const { return states[page].is_busy; }
    i64 usage(i64 page) const { return replacement == Replacement::clock ? states[page].used : 0; }
    i32 slot(i64 page) const { return has(page) ? static_cast<i32>(states[page].slot) : NONE; }
    i32 page_in(i64 slot) const { return page_of[slot]; }  // of a cache that finds pages by slot

    void set_busy(i64 page, bool busy) { states[page].is_busy = busy; }  // it is being read or written

    // A page will soon be referred to.
    void prefetch(i64 page) const { __builtin_prefetch(states.data() + page); }

    // A hit: now the most recent one (LRU), one use more (CLOCK), or moved if it is due. `now_ns`: only a list with a
    // midpoint asks.
    void touch(i64 page, i64 now_ns = 0) {
        State& state = states[page];
        if (replacement == Replacement::lru) {
            if (i64{state.used} + 1 != end_of_uses) use(page);
        } else if (replacement == Replacement::clock) {
            state.used += state.used < MOST_USAGE;
        } else {
            list.touch(static_cast<i32>(state.slot), now_ns);
        }
    }

    // Puts a page into an empty slot, clean, as the most recent one; in a list with a midpoint as one that has just
    // been read.
    void insert(i64 page, i32 slot, i64 now_ns = 0) {
        put(page, slot);
        if (replacement == Replacement::lru)
            use(page);
        else if (replacement == Replacement::clock)
            states[page].used = 1;
        else
            list.insert_read(slot, now_ns);
    }

    // The same for a page that is new: it hasn't been read.
    void insert_new(i64 page, i32 slot) {
        if (replacement != Replacement::midpoint) return insert(page, slot);
        put(page, slot);
        list.insert_new(slot);
    }

    // The same at the start of a run, for pages that come in the order in which they will be replaced.
    void insert_in_order(i64 page, i32 slot) {
        insert_new(page, slot);
        list.count_eviction();
    }

    void set_usage(i64 page, i64 usage) {
        if (replacement == Replacement::clock) states[page].used = static_cast<u32>(usage);
    }

    // Takes a page out; a dirty one loses its dirt (the caller has seen to it).
    void remove(i64 page) {
        clear_dirty(page);
        if (!page_of.empty()) page_of[states[page].slot] = NONE;
        if (replacement == Replacement::midpoint) list.evict(static_cast<i32>(states[page].slot));
        states[page] = State();
    }

    // The slot to use next: a fresh one, else replacement's choice, which still holds its page; busy ones are passed
    // over.
    Victim next_victim() {
        if (used < capacity) return {static_cast<i32>(used++), NONE};
        return replacement == Replacement::clock ? clock_victim() : listed_victim();
    }

    // A page that was clean joins the dirty ones.
    void set_dirty(i64 page) {
        State& state = states[page];
        if (state.is_dirty) return;
        state.is_dirty = true;
        dirty++;
        forget_clean(state);
    }

    void clear_dirty(i64 page) {
        State& state = states[page];
        if (!state.is_dirty) return;
        state.is_dirty = false;
        dirty--;
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

    // Dirty pages among the `depth` that replacement would reach first, sorted; not of CLOCK.
    void find_in_tail(i64 depth, Array<i32>& pages) {
        pages.clear();
        if (replacement == Replacement::midpoint)
            list.visit_dirty_in_tail(
                depth, [&](i32 slot) { return is_dirty(page_of[slot]); }, [&](i32 slot) { pages.add(page_of[slot]); });
        else
            visit_by_use([&](i32 page) {
                if (depth-- <= 0) return false;
                if (is_dirty(page)) pages.add(page);
                return true;
            });
        std::sort(pages.begin(), pages.end());
    }

    // Of so many slots from `slot` on, which moves on, at most so many dirty pages that CLOCK's hand has left no use,
    // sorted. Others count no uses down: none.
    void find_unused(i64 slots, i64 most, i64& slot, Array<i32>& pages) const {
        pages.clear();
        if (replacement != Replacement::clock) return;
        for (i64 passed = 0; passed < slots && pages.size() < most; passed++) {
            const i32 page = page_of[slot];
            slot = slot + 1 < capacity ? slot + 1 : 0;
            if (page == NONE) continue;
            const State& state = states[page];
            if (state.used == 0 && state.is_dirty && !state.is_busy) pages.add(page);
        }
        std::sort(pages.begin(), pages.end());
    }

    // All pages, the one that is replaced first at the front; not of CLOCK.
    void list_by_use(Array<i32>& pages) const {
        visit_by_use([&](i32 page) {
            pages.add(page);
            return true;
        });
    }

    // The pages of all slots that were used, NONE for an empty one.
    void list_by_slot(Array<i32>& pages) const {
        pages = Array<i32>(used, NONE);
        for (i64 page = 0; page < states.size(); page++)
            if (has(page)) pages[slot(page)] = static_cast<i32>(page);
    }

    i64 clock_hand() const { return hand; }

private:
    static constexpr u32 MOST_USAGE = form::MOST_USAGE;
    static constexpr u32 EMPTY = (1u << 28) - 1;
    static constexpr u32 NEVER = UINT32_MAX;
    static constexpr i64 AHEAD = 16;  // entries that a sweep prefetches

    struct State {
        u32 used = NEVER;  // LRU: the place of its last use in `uses`; CLOCK: its usage count
        u32 slot : 28 = EMPTY;
        u32 is_dirty : 1 = false;
        u32 is_busy : 1 = false;
    };
    static_assert(sizeof(State) == 8);

    Array<State> states;  // by page
    Array<i32> page_of;   // by slot, if anybody asks
    Array<i32> uses;
    MidpointList list;
    i64 first_of_uses = 0;  // whatever is before has been replaced
    i64 end_of_uses = 0;
    i64 hand = 0;  // CLOCK

    // Who looks for the dirty pages that replacement reaches first would pass the same clean ones each time: no page
    // before this one of `uses` is dirty, and none of so many slots from CLOCK's hand on.
    i64 clean_before = 0;
    i64 clean_from_hand = 0;

    bool is_current(i64 place) const { return states[uses[place]].used == place; }

    // Entries of `uses`: with less memory it would be swept more often.
    static i64 most_uses(i64 capacity) { return 5 * capacity / 3 + 64; }

    void put(i64 page, i32 slot) {
        State& state = states[page];
        state.slot = static_cast<u32>(slot) & EMPTY;
        state.is_dirty = state.is_busy = false;
        if (!page_of.empty()) page_of[slot] = static_cast<i32>(page);
    }

    // Calls `visit` for each page in the order of replacement, until it returns false; not of CLOCK.
    template <class Visit>
    void visit_by_use(const Visit& visit) const {
        if (replacement == Replacement::midpoint) return list.visit([&](i32 slot) { return visit(page_of[slot]); });
        for (i64 i = first_of_uses; i < end_of_uses; i++) {
            if (i + AHEAD < end_of_uses) prefetch(uses[i + AHEAD]);
            if (is_current(i) && !visit(uses[i])) return;
        }
    }

    void use(i64 page) {
        if (end_of_uses == uses.size()) sweep();
        states[page].used = static_cast<u32>(end_of_uses);
        uses[end_of_uses++] = static_cast<i32>(page);
    }

    // Closes the gaps that void entries leave.
    void sweep() {
        i64 kept = 0, clean = 0;
        for (i64 i = first_of_uses; i < end_of_uses; i++) {
            if (i + AHEAD < end_of_uses) prefetch(uses[i + AHEAD]);
            if (i == clean_before) clean = kept;
            if (!is_current(i)) continue;
            states[uses[i]].used = static_cast<u32>(kept);
            uses[kept++] = uses[i];
        }
        clean_before = clean_before < end_of_uses ? clean : kept;
        first_of_uses = 0;
        end_of_uses = kept;
    }

    // Of LRU and of a list with a midpoint.
    Victim listed_victim() {
        for (; first_of_uses < end_of_uses && !is_current(first_of_uses); first_of_uses++)
            if (first_of_uses + AHEAD < end_of_uses) prefetch(uses[first_of_uses + AHEAD]);
        Victim first{NONE, NONE};
        i64 left = clean_search_pages;
        visit_by_use([&](i32 page) {
            if (is_busy(page)) return true;
            if (first.slot == NONE) first = victim(page);
            if (is_dirty(page) && --left > 0) return true;
            if (!is_dirty(page)) first = victim(page);
            return false;
        });
        return first;
    }

    Victim victim(i32 page) const { return {slot(page), page}; }

    Victim clock_victim() {
        for (i64 passed = 0; passed < (MOST_USAGE + 1) * capacity; passed++) {
            const i64 slot = hand;
            hand = hand + 1 < capacity ? hand + 1 : 0;
            clean_from_hand = std::max<i64>(clean_from_hand - 1, 0);
            prefetch(page_of[hand + AHEAD < capacity ? hand + AHEAD : hand]);
            State& state = states[page_of[slot]];
            if (state.is_busy) continue;
            if (state.used == 0) return victim(page_of[slot]);
            state.used--;
        }
        return {NONE, NONE};
    }

    // A page has become dirty: what is known to be clean ends before it.
    void forget_clean(const State& state) {
        if (replacement == Replacement::clock) {
            const i64 ahead = state.slot >= hand ? state.slot - hand : state.slot - hand + capacity;
            clean_from_hand = std::min(clean_from_hand, ahead);
        } else if (replacement == Replacement::lru) {
            clean_before = std::min<i64>(clean_before, state.used);
        } else {
            list.note_dirty(static_cast<i32>(state.slot));
        }
    }

    void find_from_hand(i64 wanted, Array<i32>& pages) {
        const i64 known = std::min(clean_from_hand, used);
        i64 slot = hand + known < used ? hand + known : hand + known - used;
        for (i64 passed = known; passed < used && pages.size() < wanted; passed++) {
            if (page_of[slot] != NONE && is_dirty(page_of[slot]))
                pages.add(page_of[slot]);
            else if (pages.empty())
                clean_from_hand = passed + 1;
            slot = slot + 1 < used ? slot + 1 : 0;
        }
    }

    void find_from_oldest(i64 wanted, Array<i32>& pages) {
        if (replacement == Replacement::midpoint)
            return list.visit([&](i32 slot) {
                if (pages.size() >= wanted) return false;
                if (is_dirty(page_of[slot])) pages.add(page_of[slot]);
                return true;
            });
        for (i64 i = std::max(first_of_uses, clean_before); i < end_of_uses && pages.size() < wanted; i++) {
            if (i + AHEAD < end_of_uses) prefetch(uses[i + AHEAD]);
            if (is_current(i) && is_dirty(uses[i]))
                pages.add(uses[i]);
            else if (pages.empty())
                clean_before = i + 1;
        }
    }
};

}  // namespace oltpsim
