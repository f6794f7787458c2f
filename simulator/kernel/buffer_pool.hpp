// The buffer pool, and the memory behind it: of its buffers some may be swapped out.
#pragma once
#include "flush_list.hpp"
#include "page_cache.hpp"
#include "waiting_changes.hpp"

namespace oltpsim {

// What the operating system knows of the memory behind a buffer; none: it never had any.
enum class Residence : u8 { none, swapped_out, idle, accessed };

class BufferPool : public Cache {
    const form::Pool& given;
    FlushList changed;

    // For the list, which asks it of each page.
    auto dirty_predicate() const {
        return [this](i64 page) { return is_dirty(page); };
    }

public:
    WaitingChanges waiting;

    explicit BufferPool(const form::System& system)
        : Cache(system.program.pages, system.pool.pages, system.pool.replacement, swaps(system.pool),
                system.pool.clean_search_pages, system.pool.old_ms),
          given(system.pool),
          changed(system),
          waiting(system.program),
          most_resident(std::min(given.resident_pages, capacity)),
          residence(swaps(given) ? capacity : 0, Residence::none) {}

    // Time that a buffer for one more page is waited for, ns.
    i64 wait_for_free_ns() const { return used < capacity ? 0 : given.free_wait_ns; }

    // Whether memory has no room for all buffers.
    static bool swaps(const form::Pool& pool) { return pool.resident_pages < pool.pages; }

    // Memory that a pool takes.
    static i64 bytes(const form::System& system) {
        const form::Pool& pool = system.pool;
        return Cache::bytes(system.program.pages, pool.pages, pool.replacement, swaps(pool)) +
               FlushList::bytes(system) + WaitingChanges::bytes(system.program) +
               (swaps(pool) ? pool.pages * static_cast<i64>(sizeof(Residence)) : 0);
    }

    // A commit has logged so many bytes.
    void advance_log(i64 bytes) { changed.log_end_bytes += bytes; }

    // A page changes.
    void change(i64 page) {
        if (!is_dirty(page)) change_at(page, changed.log_end_bytes);
    }

    // A page that was clean changes, with the log's end there.
    void change_at(i64 page, i64 at_bytes) {
        set_dirty(page);
        if (changed.is_kept()) changed.add(page, at_bytes, dirty_predicate());
    }

    // A page has come: changes of it that were put aside are merged into it.
    void merge_waiting(i32 page) {
        if (waiting.take(page)) change(page);
    }

    // A page that is being read is here.
    void end_read(i32 page) {
        set_busy(page, false);
        merge_waiting(page);
    }

    // Bytes of log since the first change that isn't on the disks; 0 if all are.
    i64 age_bytes() {
        i64 age = 0;
        changed.visit(dirty_predicate(), [&](const FlushList::Entry& oldest) {
            age = changed.log_end_bytes - oldest.changed_at_bytes;
            return false;
        });
        return age;
    }

    // Dirty pages whose first change was before the log's end came to `than_bytes`, `most` at most.
    i64 count_older(i64 than_bytes, i64 most) {
        i64 older = 0;
        changed.visit(dirty_predicate(), [&](const FlushList::Entry& entry) {
            if (older >= most || entry.changed_at_bytes >= than_bytes) return false;
            older++;
            return true;
        });
        return older;
    }

    // The pages that have been dirty for longest, in order.
    void find_oldest_dirty(i64 most, Array<i32>& pages) {
        pages.clear();
        changed.visit(dirty_predicate(), [&](const FlushList::Entry& entry) {
            if (pages.size() >= most) return false;
            pages.add(entry.page);
            return true;
        });
    }

    i64 log_end_bytes() const { return changed.log_end_bytes; }

    // Buffers that have memory.
    i64 resident() const { return swaps() ? with_memory : used; }
    i64 resident_hand() const { return hand; }
    Residence residence_of(i64 slot_number) const { return swaps() ? residence[slot_number] : Residence::accessed; }
    bool is_swapped_out(i64 slot_number) const { return residence_of(slot_number) == Residence::swapped_out; }

    // A page that is here, whose memory isn't.
    bool is_page_swapped_out(i64 page) const { return swaps() && is_swapped_out(slot(page)); }

    // A reference to a page that is here and in memory.
    void touch_resident(i64 page, i64 now_ns) {
        touch(page, now_ns);
        if (swaps()) residence[slot(page)] = Residence::accessed;
    }

    // Puts a page into a slot that was emptied for it.
    void insert_resident(i64 page, i32 slot_number, bool is_new, i64 now_ns) {
        is_new ? insert_new(page, slot_number) : insert(page, slot_number, now_ns);
        if (swaps()) residence[slot_number] = Residence::accessed;
    }

    // Puts a page into a slot that was never used, in the order in which pages will be replaced; its memory may have
    // been swapped out since.
    void insert_at_start(i64 page, i64 usage, bool is_resident) {
        const i32 slot_number = next_victim().slot;
        insert_in_order(page, slot_number);
        set_usage(page, usage);
        if (!swaps()) return;
        if (is_resident)
            make_resident(slot_number);
        else
            residence[slot_number] = Residence::swapped_out;
    }

    // Gives a slot memory; if none is left another loses its own (second chance) and must be swapped out.
    //
    // The operating system comes by in an order of its own, which has nothing to do with that of replacement. Pages
    // that are being read or written keep their memory: with all of them busy one more has some for a while.
    void make_resident(i64 slot_number) {
        for (i64 passed = 0; passed < 2 * used && with_memory >= most_resident; passed++) {
            hand = hand + 1 < used ? hand + 1 : 0;
            const i64 other = hand * SCATTER % used;
            if (page_in(other) != NONE && is_busy(page_in(other))) continue;
            if (residence[other] == Residence::idle) {
                residence[other] = Residence::swapped_out;
                counters.swap_outs++;
                with_memory--;
            } else if (residence[other] == Residence::accessed) {
                residence[other] = Residence::idle;
            }
        }
        residence[slot_number] = Residence::accessed;
        with_memory++;
    }

    // Empties a slot for another page; true if its page had to be written to the page cache.
    bool empty(Victim victim, PageCache& page_cache, i64 now_ns) {
        if (residence_of(victim.slot) == Residence::none) make_resident(victim.slot);
        const i32 page = victim.page;
        if (page == NONE) return false;
        const bool was_dirty = is_dirty(page);
        counters.evictions++;
        if (was_dirty) {
            counters.dirty_evictions++;
            page_cache.write(page, now_ns);
        }
        remove(page);
        return was_dirty;
    }

private:
    // A prime: its multiples, modulo the number of slots, are all slots in a scattered order.
    static constexpr i64 SCATTER = 2654435761;

    const i64 most_resident;     // buffers that memory has room for
    Array<Residence> residence;  // by slot, of a pool that memory has no room for
    i64 with_memory = 0;         // buffers of such a pool
    i64 hand = 0;

    bool swaps() const { return !residence.empty(); }
};

}  // namespace oltpsim
