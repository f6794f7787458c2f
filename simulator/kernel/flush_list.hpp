// The dirty pages of a pool in the order of their first change, each with the log's end then.
#pragma once
#include "records.hpp"

namespace oltpsim {

// Kept only where daemons write by age. Like `uses` of a cache it has no links: a page that becomes dirty is added to
// the end, and only its last entry counts, as long as it is dirty; what is void is swept out when the array is full.
class FlushList {
public:
    i64 log_end_bytes = 0;  // what commits have logged

    explicit FlushList(const form::System& system)
        : entries(most_entries(system)), place_of(system.flushing ? system.program.pages : 0, NEVER) {}

    static i64 bytes(const form::System& system) {
        return most_entries(system) * static_cast<i64>(sizeof(Entry)) +
               (system.flushing ? system.program.pages * 4 : 0);
    }

    bool is_kept() const { return !entries.empty(); }

    // A page has become dirty. `is_dirty`: whether a page is.
    template <class IsDirty>
    void add(i64 page, i64 changed_at_bytes, const IsDirty& is_dirty) {
        if (end == entries.size()) sweep(is_dirty);
        place_of[page] = static_cast<u32>(end);
        entries[end++] = {changed_at_bytes, static_cast<i32>(page)};
    }

    // Calls `take(entry)` for the dirty pages, oldest first, until it returns false.
    template <class IsDirty, class Take>
    void visit(const IsDirty& is_dirty, const Take& take) {
        for (; first < end && !is_current(first, is_dirty); first++) continue;
        for (i64 i = first; i < end; i++)
            if (is_current(i, is_dirty) && !take(entries[i])) return;
    }

    struct Entry {
        i64 changed_at_bytes = 0;
        i32 page = NONE;
    };

private:
    static constexpr u32 NEVER = UINT32_MAX;

    static i64 most_entries(const form::System& system) { return system.flushing ? 5 * system.pool.pages / 3 + 64 : 0; }

    Array<Entry> entries;
    Array<u32> place_of;  // by page
    i64 first = 0, end = 0;

    template <class IsDirty>
    bool is_current(i64 place, const IsDirty& is_dirty) const {
        const i32 page = entries[place].page;
        return place_of[page] == static_cast<u32>(place) && is_dirty(page);
    }

    template <class IsDirty>
    void sweep(const IsDirty& is_dirty) {
        i64 kept = 0;
        for (i64 i = first; i < end; i++) {
            if (!is_current(i, is_dirty)) continue;
            place_of[entries[i].page] = static_cast<u32>(kept);
            entries[kept++] = entries[i];
        }
        first = 0;
        end = kept;
    }
};

}  // namespace oltpsim
