// Merges: pages whose changes were put aside are read and changed in the background, many at once.
#pragma once
#include "devices.hpp"
#include "interpreter.hpp"

namespace oltpsim {

class Merges {
public:
    // Pages that one daemon reads, and what was due before and is no whole page.
    struct Round {
        i64 left_milli = 0;
        Array<i32> pages;
        i64 next = 0;
    };

    const i64 page_cpu_ns;  // of a page that is read

    Merges(const Tables& system, Calendar& calendar, Devices& devices, Interpreter& interpreter)
        : page_cpu_ns(interpreter.costs.read_ns + interpreter.costs.request_ns + interpreter.costs.miss_ns),
          page_bytes(system.fact("page_bytes")),
          stream(static_cast<Stream>(system.fact("merge_stream"))),
          calendar(calendar),
          devices(devices),
          interpreter(interpreter) {}

    // Draws the pages of a round from those that aren't in the pool: a change that waits, and any page of its region.
    // The page has its share of the region's changes, one or more, which wait no longer.
    void draw(i64 milli_pages, Round& round) {
        round.pages.clear(), round.next = 0;
        const i64 due_milli = round.left_milli + milli_pages, due = due_milli / MILLI_PAGES;
        round.left_milli = due_milli % MILLI_PAGES;
        Array<i64>& put_aside = interpreter.program.put_aside;
        i64 waiting = 0;
        for (const i64 changes : put_aside) waiting += changes;
        for (i64 looks = LOOKS * due; looks > 0 && round.pages.size() < due && waiting > 0; looks--) {
            i64 drawn = uniform_below(stream, waiting), number = 0;
            while (drawn >= put_aside[number]) drawn -= put_aside[number++];
            const Region& region = interpreter.program.regions[number];
            const i64 pages = region.groups * region.group_pages;
            const i64 page = region.base + uniform_below(stream, pages);
            const i64 merged = std::max(put_aside[number] / pages, i64{1});
            put_aside[number] -= merged, waiting -= merged;
            if (!interpreter.pool.has(page)) round.pages.add(static_cast<i32>(page));
        }
    }

    // Has the pages read that somebody else hasn't brought in since; false if one of them finds no clean buffer now.
    bool read(Round& round) {
        BufferPool& pool = interpreter.pool;
        for (; round.next < round.pages.size(); round.next++) {
            const i32 page = round.pages[round.next];
            if (pool.has(page)) continue;
            const Victim victim = pool.next_victim();
            if (victim.slot == NONE || pool.is_swapped_out(victim.slot)) return false;
            if (victim.page != NONE && pool.is_dirty(victim.page)) return false;
            pool.empty(victim, interpreter.page_cache, calendar.now_ns);
            pool.insert_resident(page, victim.slot, false, calendar.now_ns);
            pool.set_busy(page, true);
            const i32 number = devices.submit(devices.device_of(page), devices.byte_of(page), page_bytes,
                                              Transfer::read, Use::merge_read, MERGES);
            devices.requests[number].first_page = page;
        }
        return true;
    }

private:
    static constexpr i64 MILLI_PAGES = 1000;
    static constexpr i64 LOOKS = 10;  // for each page that is due, at most

    const i64 page_bytes;
    Stream stream;
    Calendar& calendar;
    Devices& devices;
    Interpreter& interpreter;
};

}  // namespace oltpsim
