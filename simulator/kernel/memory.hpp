// Memory: which buffers of the pool have some behind them, and who loses some when it is full.
//
// Without rules of `Reclaim` the pool has a share of its own, taken by second chance. By them buffers and pages of the
// page cache share it all, in two lists each (Linux, mm/vmscan.c, mm/workingset.c, since 6.2; reference/memory.py):
//
//     comes back soon --> active --> inactive --> reclaimed: a buffer goes to swap, a page of a file is forgotten
//                            ^  used    |  ^
//                            '----------'  '-- comes
#pragma once
#include <cmath>
#include <functional>

#include "calendar.hpp"
#include "records.hpp"

namespace oltpsim {

// What the operating system knows of the memory behind a buffer; none: it never had any.
enum class Residence : u8 { none, swapped_out, idle, accessed };

// The active and the inactive list of one kind of memory, by slot. `cost`: what its reclaim cost.
class MemoryLists {
public:
    enum Flag : u8 { active = 1, working_set = 2, referenced = 4, rotated = 8, being_written = 16 };

    i64 cost = 0;
    i64 returned = 0;  // became active as they came back
    bool deactivates = false;

    MemoryLists(i64 slots, i64 numbers) : entries(slots), reclaimed(numbers, 0) {}

    static i64 bytes(i64 slots, i64 numbers) {
        return slots * static_cast<i64>(sizeof(Entry)) + numbers * static_cast<i64>(sizeof(u32));
    }

    i64 length() const { return lists[0].length + lists[1].length; }
    i64 inactive() const { return lists[0].length; }
    i64 actives() const { return lists[1].length; }
    i32 oldest_inactive() const { return lists[0].first; }
    i32 oldest_active() const { return lists[1].first; }
    i32 newer(i32 slot) const { return entries[slot].after; }

    bool is(i32 slot, Flag flag) const { return entries[slot].flags & flag; }
    void set(i32 slot, Flag flag) { entries[slot].flags = static_cast<u8>(entries[slot].flags | flag); }
    void clear(i32 slot, Flag flag) { entries[slot].flags = static_cast<u8>(entries[slot].flags & ~flag); }

    // The newest one of either list.
    void add(i32 slot, bool is_active) {
        is_active ? set(slot, active) : clear(slot, active);
        List& list = lists[is_active];
        entries[slot].before = list.last;
        entries[slot].after = NONE;
        (list.last == NONE ? list.first : entries[list.last].after) = slot;
        list.last = slot;
        list.length++;
    }

    // The inactive one that goes next.
    void add_as_oldest(i32 slot) {
        clear(slot, active);
        List& list = lists[0];
        entries[slot].before = NONE;
        entries[slot].after = list.first;
        (list.first == NONE ? list.last : entries[list.first].before) = slot;
        list.first = slot;
        list.length++;
    }

    void remove(i32 slot) {
        List& list = lists[is(slot, active)];
        const auto [before, after, flags] = entries[slot];
        (before == NONE ? list.first : entries[before].after) = after;
        (after == NONE ? list.last : entries[after].before) = before;
        list.length--;
    }

    void activate(i32 slot) {
        remove(slot);
        add(slot, true);
    }

    // Out of the lists: `number` remembers its age, and whether it was of the working set.
    void reclaim(i32 slot, i64 number, i64 age) {
        remove(slot);
        reclaimed[number] = static_cast<u32>((static_cast<u64>(age) << 1 | is(slot, working_set)) + 1);
        entries[slot].flags = 0;
    }

    // What a number remembers, which forgets it: 0 for nothing, else one more than twice the age and a bit.
    u32 take(i64 number) { return std::exchange(reclaimed[number], u32{0}); }

    // Whether there are too few inactive ones: fewer than active / sqrt(10 x GiB), below 1 GiB than active.
    bool is_low(i64 page_bytes) const {
        const i64 gib = length() * page_bytes / form::GIB;
        const i64 ratio = static_cast<i64>(std::sqrt(static_cast<double>(10 * gib)));
        return inactive() * std::max(ratio, i64{1}) < actives();
    }

    // Takes note of what reclaim will see of them.
    void look(i64 page_bytes) {
        seen_returned = returned;
        seen_low = is_low(page_bytes);
    }

    // Active ones are looked at, too, while some come back or inactive ones are few.
    void decide() {
        deactivates = seen_low || seen_returned != returned_before;
        returned_before = seen_returned;
    }

    // As many active ones in proportion as inactive ones are; called until false for each of these.
    bool scans_active() {
        const bool may = deactivates && actives() > 0;
        if (may && !is_scanning) due += static_cast<double>(actives()) / static_cast<double>(inactive());
        is_scanning = may && due >= 1.0;
        if (is_scanning) due -= 1.0;
        return is_scanning;
    }

private:
    i64 seen_returned = 0, returned_before = 0;
    bool seen_low = false, is_scanning = false;
    double due = 0.0;

    struct Entry {
        i32 before = NONE, after = NONE;
        u8 flags = 0;
    };

    struct List {
        i32 first = NONE, last = NONE;
        i64 length = 0;
    };

    Array<Entry> entries;
    Array<u32> reclaimed;
    List lists[2];  // inactive, active
};

class Memory {
public:
    i64 swap_ins = 0;
    i64 swap_outs = 0;
    i64 used = 0;                  // buffers that were ever used
    i64 hand = 0;                  // of second chance
    Array<i32> outbox;             // pages that had to make room while dirty, and writes to swap: they start at once
    MemoryLists anonymous, files;  // by buffer; by slot of the page cache
    std::function<bool(i32)> is_busy;   // a buffer is being read or written
    std::function<bool(i32)> is_dirty;  // a slot of the page cache is
    std::function<i32(i32)> page_in;    // of a slot of the page cache
    std::function<void(i32)> forget;    // a slot of the page cache is needed

    static constexpr i32 TO_SWAP = -2;  // in the outbox

    Memory(const form::System& system, const Calendar& calendar)
        : anonymous(shares(system) ? system.pool.pages : 0, shares(system) ? system.pool.pages : 0),
          files(shares(system) ? system.reclaim->pages : 0,
                shares(system) ? system.program.pages + system.page_cache.log_pages : 0),
          calendar(calendar),
          rules(system.reclaim),
          page_bytes(system.storage.page_bytes),
          swap_out_bytes(system.storage.swap_request_bytes > 0 ? system.storage.swap_request_bytes
                                                               : system.storage.swap_cluster_pages * page_bytes),
          most_resident(std::min(system.pool.resident_pages, system.pool.pages)),
          residence(can_swap(system) ? system.pool.pages : 0, Residence::none) {}

    Memory(const Memory&) = delete;

    static bool shares(const form::System& system) { return system.reclaim != nullptr; }

    // Whether memory may have no room for all buffers.
    static bool can_swap(const form::System& system) {
        return shares(system) || system.pool.resident_pages < system.pool.pages;
    }

    static i64 bytes(const form::System& system) {
        i64 bytes = can_swap(system) ? system.pool.pages * static_cast<i64>(sizeof(Residence)) : 0;
        if (shares(system))
            bytes += MemoryLists::bytes(system.pool.pages, system.pool.pages) +
                     MemoryLists::bytes(system.reclaim->pages, system.program.pages + system.page_cache.log_pages);
        return bytes;
    }

    bool is_shared() const { return rules != nullptr; }
    bool swaps() const { return !residence.empty(); }
    i64 resident() const { return swaps() ? with_memory : used; }
    Residence residence_of(i64 buffer) const { return swaps() ? residence[buffer] : Residence::accessed; }

    void set_residence(i64 buffer, Residence value) {
        if (swaps()) residence[buffer] = value;
    }

    // Gives a buffer memory; if none is left another loses its own and must be swapped out.
    //
    // Buffers that are being read or written keep their memory: with all of them busy one more has some for a while.
    void give(i32 buffer) {
        if (!swaps()) return;
        if (is_shared()) {
            make_room();
            come(anonymous, buffer, buffer, true);
        } else {
            take_by_second_chance();
        }
        residence[buffer] = Residence::accessed;
        with_memory++;
    }

    // Bytes of the swap area that the next request in the outbox begins at, and its size.
    i64 next_swap_out() { return (written_bytes += swap_out_bytes) % std::max(area_bytes(), page_bytes); }
    i64 swap_out_size() const { return swap_out_bytes; }

    void forget_counts() {
        swap_ins = swap_outs = queued_bytes = written_bytes = 0;
        outbox.clear();
    }

    // A page comes into a slot of the page cache, whose room has been made, by a read or by a write.
    void add_file(i32 slot, i64 page, bool reads) {
        come(files, slot, page, reads);
        if (reads) files.set(slot, MemoryLists::referenced);
    }

    // A page of a file is read in the page cache: the second time it becomes active. Writes don't count.
    void read_file(i32 slot) {
        if (files.is(slot, MemoryLists::active) || !files.is(slot, MemoryLists::referenced)) {
            files.set(slot, MemoryLists::referenced);
            return;
        }
        files.clear(slot, MemoryLists::referenced);
        files.activate(slot);
        age++;
    }

    // The disks have a page of a file; if reclaim has passed over it, it is the next to go.
    void file_is_written(i32 slot, bool dirty) {
        files.clear(slot, MemoryLists::being_written);
        if (!files.is(slot, MemoryLists::rotated)) return;
        files.clear(slot, MemoryLists::rotated);
        if (dirty) return;
        files.remove(slot);
        files.add_as_oldest(slot);
    }

    // Reclaims until there is memory for one page more, or nothing more can be.
    void make_room() {
        while (anonymous.length() + files.length() >= rules->pages && reclaim()) {
        }
    }

private:
    // A prime: its multiples, modulo the number of buffers, are all buffers in a scattered order.
    static constexpr i64 SCATTER = 2654435761;
    static constexpr i64 ALL_WEIGHTS = 200;
    // Cost of a page that is read again or swapped out, in pages that were looked at and kept (mm/swap.c).
    static constexpr i64 IO_COST = 32;

    const Calendar& calendar;
    const form::Reclaim* const rules;
    const i64 page_bytes;
    const i64 swap_out_bytes;
    const i64 most_resident;     // buffers that memory has room for, where it isn't shared
    Array<Residence> residence;  // by buffer, if they may be swapped out
    i64 with_memory = 0;         // buffers
    i64 queued_bytes = 0;        // of what was swapped out, in requests that are in the outbox or were
    i64 written_bytes = 0;       // of those, handed to the disks
    i64 age = 0;                 // pages reclaimed and activated
    i64 figures_until_ns = INT64_MIN;
    bool enough = false;
    i64 left_in_batch = 0;
    bool only_files = false;
    double buffer_weight = 0, file_weight = 0, turn = 0;

    i64 area_bytes() const { return residence.size() * page_bytes - swap_out_bytes; }

    // The operating system comes by in an order of its own, which has nothing to do with that of replacement.
    void take_by_second_chance() {
        for (i64 passed = 0; passed < 2 * used && with_memory >= most_resident; passed++) {
            hand = hand + 1 < used ? hand + 1 : 0;
            const i32 other = static_cast<i32>(hand * SCATTER % used);
            if (!is_busy(other) && !was_used(other)) take(other);
        }
    }

    // Whether a buffer was used since this was last asked, or has no memory to lose.
    bool was_used(i32 buffer) {
        if (residence[buffer] != Residence::accessed) return residence[buffer] != Residence::idle;
        residence[buffer] = Residence::idle;
        return true;
    }

    void take(i32 buffer) {
        residence[buffer] = Residence::swapped_out;
        swap_outs++;
        with_memory--;
        while (swap_outs * page_bytes - queued_bytes >= swap_out_bytes) {
            queued_bytes += swap_out_bytes;
            outbox.add(TO_SWAP);
        }
    }

    // Memory is filled; active if, with as many more pages, it would not have been reclaimed.
    void come(MemoryLists& lists, i32 slot, i64 number, bool reads) {
        const u32 before = lists.take(number);
        const i64 resting = &lists == &anonymous ? files.inactive() : anonymous.inactive();
        const bool is_active =
            before != 0 && reads &&
            age - static_cast<i64>((before - 1) >> 1) <= files.actives() + anonymous.actives() + resting;
        if (is_active) {
            age++;
            lists.returned++;
            if ((before - 1) & 1) {
                lists.set(slot, MemoryLists::working_set);
                count_cost(lists, IO_COST);
            }
        }
        lists.add(slot, is_active);
    }

    void count_cost(MemoryLists& lists, i64 cost) {
        lists.cost += cost;
        if (anonymous.cost + files.cost <= (anonymous.length() + files.length()) / 4) return;
        anonymous.cost /= 2;
        files.cost /= 2;
    }

    // Reclaims a page; false if there is none. If all are dirty or in use the oldest page of a file goes anyway.
    bool reclaim() {
        if (left_in_batch == 0) begin_batch();
        left_in_batch--;
        const i64 most = 2 * (anonymous.length() + files.length()), patience = files.inactive();
        for (i64 looks = 0; looks < most; looks++) {
            if (looks > patience) only_files = false;
            if (is_buffer_next() ? look_at_buffer() : look_at_file()) return true;
        }
        const i32 slot = files.oldest_inactive() != NONE ? files.oldest_inactive() : files.oldest_active();
        if (slot != NONE) reclaim_file(slot);
        return slot != NONE;
    }

    // Decides by the figures that reclaim sees which kinds are scanned and deactivated (prepare_scan_control), and
    // weighs both anew by what their reclaim has cost (get_scan_count).
    void begin_batch() {
        left_in_batch = rules->batch_pages;
        const i64 now_ns = calendar.now_ns;
        if (now_ns >= figures_until_ns) {
            figures_until_ns = now_ns + rules->figures_ns;
            anonymous.look(page_bytes);
            files.look(page_bytes);
            enough = files.inactive() >= rules->batch_pages;
        }
        anonymous.decide();
        files.decide();
        only_files = !files.deactivates && enough;
        const i64 total = anonymous.cost + files.cost;
        const i64 of_buffers = total + anonymous.cost, of_files = total + files.cost, both = of_buffers + of_files + 1;
        buffer_weight = static_cast<double>(rules->swappiness * both) / static_cast<double>(of_buffers + 1);
        file_weight = static_cast<double>((ALL_WEIGHTS - rules->swappiness) * both) / static_cast<double>(of_files + 1);
    }

    // Whether a buffer is looked at next, or else a page of a file: in turn, by weight and length of both lists.
    bool is_buffer_next() {
        if (anonymous.inactive() == 0 && anonymous.actives() > 0) was_used(deactivated(anonymous));
        if (files.inactive() == 0 && files.actives() > 0) deactivated(files);
        const i64 buffers = anonymous.inactive(), pages = files.inactive();
        if (buffers == 0 || pages == 0 || only_files) return pages == 0;
        const double of_buffers = static_cast<double>(buffers) * buffer_weight;
        const double of_files = static_cast<double>(pages) * file_weight;
        turn += of_buffers / (of_buffers + of_files);
        if (turn < 1.0) return false;
        turn -= 1.0;
        return true;
    }

    static i32 deactivated(MemoryLists& lists) {
        const i32 slot = lists.oldest_active();
        lists.remove(slot);
        lists.add(slot, false);
        lists.set(slot, MemoryLists::working_set);
        return slot;
    }

    // Whether the oldest inactive buffer loses its memory; one that is used or busy becomes active.
    bool look_at_buffer() {
        while (anonymous.scans_active()) was_used(deactivated(anonymous));
        const i32 buffer = anonymous.oldest_inactive();
        if (is_busy(buffer) || was_used(buffer)) {
            anonymous.activate(buffer);
            count_cost(anonymous, 1);
            return false;
        }
        anonymous.reclaim(buffer, buffer, age++);
        count_cost(anonymous, IO_COST);
        take(buffer);
        return true;
    }

    // Whether the oldest inactive page of a file goes; one that is dirty or being written is passed over.
    bool look_at_file() {
        while (files.scans_active()) deactivated(files);
        const i32 slot = files.oldest_inactive();
        if (is_dirty(slot) || files.is(slot, MemoryLists::being_written)) {
            files.set(slot, MemoryLists::rotated);
            files.activate(slot);
            count_cost(files, 1);
            return false;
        }
        reclaim_file(slot);
        return true;
    }

    void reclaim_file(i32 slot) {
        files.reclaim(slot, page_in(slot), age++);
        forget(slot);
    }
};

}  // namespace oltpsim
