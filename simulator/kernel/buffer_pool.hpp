// The buffer pool, and the memory behind it: of its buffers some may be swapped out.
#pragma once
#include "page_cache.hpp"

namespace oltpsim {

class BufferPool : public Cache<&Place::in_pool> {
   public:
    i64 resident = 0;

    BufferPool(const Tables& system, Array<Place>& places)
        : Cache(system.fact("pool_pages"), static_cast<Replacement>(system.fact("pool_replacement")), false, places),
          resident_capacity(std::min(system.fact("resident_pages"), capacity)) {}

    // A reference to a page that is here and in memory.
    void hit(i32 slot) {
        counters.references++;
        counters.hits++;
        touch(slot);
        (*this)[slot].residence = Residence::accessed;
    }

    // Gives a slot memory; if none is left another loses its own (second chance) and must be swapped out.
    //
    // The operating system comes by in an order of its own, which has nothing to do with that of replacement. Slots
    // that are being read or written keep their memory: with all of them busy one more has some for a while.
    void make_resident(i32 slot) {
        for (i64 passed = 0; passed < 2 * used && resident >= resident_capacity; passed++) {
            hand = hand + 1 < used ? hand + 1 : 0;
            Frame& other = (*this)[static_cast<i32>(hand * SCATTER % used)];
            if (other.is_busy) continue;
            if (other.residence == Residence::idle) {
                other.residence = Residence::swapped_out;
                counters.swap_outs++;
                resident--;
            } else if (other.residence == Residence::accessed) {
                other.residence = Residence::idle;
            }
        }
        (*this)[slot].residence = Residence::accessed;
        resident++;
    }

    // Empties a slot for another page; true if its page had to be written to the page cache.
    bool empty(i32 slot, PageCache& page_cache, i64 now_ns) {
        if ((*this)[slot].residence == Residence::none) make_resident(slot);
        const i32 page = (*this)[slot].page;
        if (page == NONE) return false;
        const bool was_dirty = (*this)[slot].is_dirty;
        counters.evictions++;
        if (was_dirty) {
            counters.dirty_evictions++;
            page_cache.write(page, now_ns);
        }
        remove(slot);
        return was_dirty;
    }

   private:
    // A prime: its multiples, modulo the number of slots, are all slots in a scattered order.
    static constexpr i64 SCATTER = 2654435761;

    const i64 resident_capacity;
    i64 hand = 0;
};

}  // namespace oltpsim
