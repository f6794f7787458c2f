// The buffer pool, of whose buffers some may be swapped out.
#pragma once
#include "flush_list.hpp"
#include "page_cache.hpp"
#include "waiting_changes.hpp"

namespace oltpsim {

class BufferPool : public Cache {
    const form::Pool& given;
    Memory& memory;
    FlushList changed;

    // For the list, which asks it of each page.
    auto dirty_predicate() const {
        return [this](i64 page) { return is_dirty(page); };
    }

public:
    WaitingChanges waiting;

    BufferPool(const form::System& system, Memory& memory)
        : Cache(system.program.pages, system.pool.pages, system.pool.replacement, Memory::can_swap(system),
                system.pool.clean_search_pages, system.pool.old_ms),
          given(system.pool),
          memory(memory),
          changed(system),
          waiting(system.program) {
        memory.is_busy = [this](i32 buffer) { return page_in(buffer) != NONE && Cache::is_busy(page_in(buffer)); };
    }

    // Time that a buffer for one more page is waited for, ns.
    i64 wait_for_free_ns() const { return used < capacity ? 0 : given.free_wait_ns; }

    // Memory that a pool takes.
    static i64 bytes(const form::System& system) {
        const form::Pool& pool = system.pool;
        return Cache::bytes(system.program.pages, pool.pages, pool.replacement, Memory::can_swap(system)) +
               FlushList::bytes(system) + WaitingChanges::bytes(system.program);
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

    Residence residence_of(i64 slot_number) const { return memory.residence_of(slot_number); }
    bool is_swapped_out(i64 slot_number) const { return residence_of(slot_number) == Residence::swapped_out; }

    // A page that is here, whose memory isn't.
    bool is_page_swapped_out(i64 page) const { return memory.swaps() && is_swapped_out(slot(page)); }

    // The slot to use next, as a cache's.
    Victim next_victim() {
        const Victim victim = Cache::next_victim();
        memory.used = used;
        return victim;
    }

    // A reference to a page that is here and in memory.
    void touch_resident(i64 page, i64 now_ns) {
        touch(page, now_ns);
        if (memory.swaps()) memory.set_residence(slot(page), Residence::accessed);
    }

    // A page that is here is read to be written; who has a share of memory of his own knows nothing of that.
    void look_at(i64 page) {
        if (memory.is_shared() && !is_swapped_out(slot(page))) memory.set_residence(slot(page), Residence::accessed);
    }

    // Puts a page into a slot that was emptied for it.
    void insert_resident(i64 page, i32 slot_number, bool is_new, i64 now_ns) {
        is_new ? insert_new(page, slot_number) : insert(page, slot_number, now_ns);
        memory.set_residence(slot_number, Residence::accessed);
    }

    // Puts a page into a slot that was never used, in the order in which pages will be replaced; its memory may have
    // been swapped out since.
    void insert_at_start(i64 page, i64 usage, bool is_resident) {
        const i32 slot_number = next_victim().slot;
        insert_in_order(page, slot_number);
        set_usage(page, usage);
        if (is_resident)
            memory.give(slot_number);
        else
            memory.set_residence(slot_number, Residence::swapped_out);
    }

    // A buffer is back from swap.
    void make_resident(i32 slot_number) { memory.give(slot_number); }

    // Empties a slot for another page; true if its page had to be written to the page cache.
    bool empty(Victim victim, PageCache& page_cache, i64 now_ns) {
        if (residence_of(victim.slot) == Residence::none) memory.give(victim.slot);
        const i32 page = victim.page;
        if (page == NONE) return false;
        const bool was_dirty = is_dirty(page);
        counters.evictions++;
        if (was_dirty) {
            counters.dirty_evictions++;
            set_busy(page, true);  // so that it keeps its memory
            page_cache.write(page, now_ns);
        }
        remove(page);
        return was_dirty;
    }
};

}  // namespace oltpsim
