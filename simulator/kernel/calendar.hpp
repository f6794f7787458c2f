// The calendar: what happens next. A heap of the nearest events, groups of the later ones, and queues of those that are
// due at this very instant.
//
// The order is that of SimPy: by time, and at the same nanosecond in the order of scheduling. An event without delay
// can only be scheduled at its own instant, after all that the heap has for that instant: it goes to a plain queue,
// which is emptied after the heap's events of the same time. Ahead of both come urgent events (SimPy's URGENT).
//
// Later events are grouped by the highest bit in which their time differs from a base. A lower group is earlier, and
// only the lowest is looked at, when the heap is empty; so the heap stays small.
// Source: radix heap; Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem", JACM 37(2),
// 1990.
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "array.hpp"

namespace oltpsim {

enum class EventKind : u32 {
    task,             // a task goes on
    tasks,            // a list of tasks goes on, one after the other, before anything else
    arm,              // a device's arm has done what it was doing
    terminal,         // a terminal's transaction arrives
    request,          // a request's own timer: flash has served it, limits let it pass, a drive's cache has it
    request_done,     // whoever waits for a request learns that it is done
    request_begins,   // flash takes up a request
    request_arrives,  // a request comes to a device's fair queueing
};

struct Event {
    EventKind kind;
    i32 number;
};

class Calendar {
public:
    static constexpr int NUMBER_BITS = 25;
    static constexpr i64 MOST_NUMBERS = i64{1} << NUMBER_BITS;

    i64 now_ns = 0;
    i64 events = 0;

    void at_once(EventKind kind, i32 number) { instant.add(code(kind, number)); }
    void urgently(EventKind kind, i32 number) { urgent.add(code(kind, number)); }

    void after(i64 delay_ns, EventKind kind, i32 number) {
        if (delay_ns == 0) {
            at_once(kind, number);
            return;
        }
        if (order == LAST_ORDER) renumber();
        push({now_ns + delay_ns, ++order << CODE_BITS | code(kind, number)});
    }

    // Takes the next event before `until_ns`; false, with the time at `until_ns`, if there is none.
    bool take(i64 until_ns, Event& event) {
        if (!urgent.empty()) {
            event = decoded(urgent.take());
        } else if (const i64 next_ns = first_ns(); next_ns == now_ns && now_ns < until_ns) {
            event = decoded(pop());
        } else if (!instant.empty()) {
            event = decoded(instant.take());
        } else if (next_ns < until_ns) {
            event = decoded(pop());
        } else {
            now_ns = until_ns;
            return false;
        }
        events++;
        return true;
    }

private:
    static constexpr int KIND_BITS = 3, CODE_BITS = KIND_BITS + NUMBER_BITS;
    static constexpr u64 LAST_ORDER = (u64{1} << (64 - CODE_BITS)) - 1;

    // An event of the heap, ordered by time, then by order of scheduling, which is the upper part of the key.
    struct Future {
        i64 time_ns;
        u64 key;

        bool before(const Future& other) const { return whole() < other.whole(); }
        unsigned __int128 whole() const {
            return static_cast<unsigned __int128>(static_cast<u64>(time_ns)) << 64 | key;
        }
    };

    static constexpr i64 FEW = 8;          // events of a group that go to the heap as they are
    std::array<Array<Future>, 63> groups;  // events after `near_ns`, by the highest bit that differs from `base_ns`
    u64 groups_used = 0;                   // a bit for each
    i64 base_ns = 0, near_ns = 0;

    // Four children a node. After `pop` there is a hole at the root, which the next event fills on its way down.
    Array<Future> heap{64};
    i64 count = 0;
    bool hole = false;
    u64 order = 0;
    Ring<u32> instant, urgent;

    static u32 code(EventKind kind, i32 number) {
        return static_cast<u32>(kind) << NUMBER_BITS | static_cast<u32>(number);
    }
    static Event decoded(u32 code) {
        return {static_cast<EventKind>(code >> NUMBER_BITS), static_cast<i32>(code & (MOST_NUMBERS - 1))};
    }

    void push(Future event) {
        if (event.time_ns > near_ns) {
            const int group = 63 - std::countl_zero(static_cast<u64>(event.time_ns ^ base_ns));
            groups_used |= u64{1} << group;
            groups[static_cast<std::size_t>(group)].add(event);
            return;
        }
        if (hole) {
            hole = false;
            sink(event);
            return;
        }
        if (count == heap.size()) heap.resize(2 * count);
        i64 place = count++;
        while (place > 0) {
            const i64 parent = (place - 1) >> 2;
            if (!event.before(heap[parent])) break;
            heap[place] = heap[parent];
            place = parent;
        }
        heap[place] = event;
    }

    i64 first_ns() {
        if (hole) fill_hole();
        while (count == 0 && groups_used != 0) open_group();
        return count > 0 ? heap[0].time_ns : INT64_MAX;
    }

    // Brings the lowest group nearer: into the heap if it is small, else into lower groups.
    void open_group() {
        const int group = std::countr_zero(groups_used);  // whose bit is 0 in `base_ns`, and all groups below are empty
        Array<Future>& events_of_group = groups[static_cast<std::size_t>(group)];
        groups_used &= groups_used - 1;
        base_ns = (base_ns >> group | 1) << group;
        near_ns = events_of_group.size() > FEW ? base_ns : base_ns + (i64{1} << group) - 1;
        for (const Future& event : events_of_group) push(event);
        events_of_group.clear();
    }

    u32 pop() {
        const Future first = heap[0];
        now_ns = first.time_ns;
        hole = true;
        return static_cast<u32>(first.key & ((u64{1} << CODE_BITS) - 1));
    }

    void fill_hole() {
        hole = false;
        const Future last = heap[--count];
        if (count > 0) sink(last);
    }

    // Puts an event in the root's place, and from there down to where it belongs.
    void sink(Future event) {
        i64 place = 0;
        while (true) {
            const i64 child = 4 * place + 1;
            if (child >= count) break;
            i64 least = child;
            if (child + 4 <= count) {
                const i64 left = heap[child + 1].before(heap[child]) ? child + 1 : child;
                const i64 right = heap[child + 3].before(heap[child + 2]) ? child + 3 : child + 2;
                least = heap[right].before(heap[left]) ? right : left;
            } else {
                for (i64 other = child + 1; other < count; other++)
                    if (heap[other].before(heap[least])) least = other;
            }
            if (!heap[least].before(event)) break;
            heap[place] = heap[least];
            place = least;
        }
        heap[place] = event;
    }

    // After 2^36 events: gives those that are left the lowest numbers, in their order.
    void renumber() {
        if (hole) fill_hole();
        Array<Future> all;
        for (i64 i = 0; i < count; i++) all.add(heap[i]);
        for (Array<Future>& events_of_group : groups) {
            for (const Future& event : events_of_group) all.add(event);
            events_of_group.clear();
        }
        std::sort(all.begin(), all.end(), [](const Future& a, const Future& b) { return a.before(b); });
        const u64 mask = (u64{1} << CODE_BITS) - 1;
        count = 0;
        groups_used = order = 0;
        for (const Future& event : all) push({event.time_ns, ++order << CODE_BITS | (event.key & mask)});
    }
};

}  // namespace oltpsim
