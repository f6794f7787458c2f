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

    // Draws the pages of a round, no two alike, from those that have changes waiting; one that somebody is bringing in
    // is passed over.
    void draw(i64 milli_pages, Round& round) {
        round.pages.clear(), round.next = 0;
        const i64 due_milli = round.left_milli + milli_pages, due = due_milli / MILLI_PAGES;
        round.left_milli = due_milli % MILLI_PAGES;
        BufferPool& pool = interpreter.pool;
        for (i64 left = pool.waiting.pages().size(); left > 0 && round.pages.size() < due; left--) {
            pool.waiting.swap(uniform_below(stream, left), left - 1);
            const i32 page = pool.waiting.pages()[left - 1];
            if (!pool.has(page)) round.pages.add(page);
        }
    }

    // Has the pages read that still have changes waiting, and that nobody else brings in; false if one of them finds no
    // clean buffer now.
    bool read(Round& round) {
        BufferPool& pool = interpreter.pool;
        for (; round.next < round.pages.size(); round.next++) {
            const i32 page = round.pages[round.next];
            if (pool.has(page) || !pool.waiting.has(page)) continue;
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

    const i64 page_bytes;
    Stream stream;
    Calendar& calendar;
    Devices& devices;
    Interpreter& interpreter;
};

}  // namespace oltpsim
